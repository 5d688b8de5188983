#define COBRA_KERNELS_TARGET avx512
#define COBRA_KERNELS_NAME "avx512"
#include "model/kernels/kernels.inc"
