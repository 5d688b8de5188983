#define COBRA_KERNELS_TARGET base
#define COBRA_KERNELS_NAME "base"
#include "model/kernels/kernels.inc"
