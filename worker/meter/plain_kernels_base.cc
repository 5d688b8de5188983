#define COBRA_PLAIN_TARGET plain_base
#include "worker/meter/plain_kernels.inc"
