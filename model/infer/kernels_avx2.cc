#define COBRA_INFER_TARGET avx2
#define COBRA_INFER_NAME "avx2"
#include "model/infer/kernels.inc"
