#define COBRA_PLAIN_TARGET plain_avx2
#include "worker/meter/plain_kernels.inc"
