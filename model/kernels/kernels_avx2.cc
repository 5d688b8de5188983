#define COBRA_KERNELS_TARGET avx2
#define COBRA_KERNELS_NAME "avx2"
#include "model/kernels/kernels.inc"
