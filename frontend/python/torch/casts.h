// Methods of a tensor that give the same values in another element type, on another device or in
// another layout: to(), type(), float(), contiguous() ...
#ifndef COBRA_FRONTEND_PYTHON_TORCH_CASTS_H_
#define COBRA_FRONTEND_PYTHON_TORCH_CASTS_H_

#include "frontend/python/runtime/interpreter/native.h"

namespace cobra::python {

void DefineCasts(NativeClassBuilder& tensor_class);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_CASTS_H_
