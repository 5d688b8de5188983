#define COBRA_INFER_TARGET base
#define COBRA_INFER_NAME "base"
#include "model/infer/kernels.inc"
