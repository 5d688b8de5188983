#define COBRA_PLAIN_TARGET plain_avx512
#include "worker/meter/plain_kernels.inc"
