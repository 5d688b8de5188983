#define COBRA_INFER_TARGET avx512
#define COBRA_INFER_NAME "avx512"
#include "model/infer/kernels.inc"
