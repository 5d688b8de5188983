#define COBRA_KERNELS_TARGET neon
#define COBRA_KERNELS_NAME "neon"
#define COBRA_KERNELS_NEON
#include "model/kernels/kernels.inc"
