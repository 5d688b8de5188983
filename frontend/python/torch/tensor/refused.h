// Values that PyTorch has as tensors and that no graph has (library/torch/_refused.py): sparse
// tensors, selections by a mask of unknown values. They are refused where a call takes one.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_TENSOR_REFUSED_H_
#define COBRA_FRONTEND_PYTHON_TORCH_TENSOR_REFUSED_H_

#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

bool IsRefused(Interpreter& interp, Value v);
// REQUIRES: IsRefused(interp, v).
Failure RefuseUse(Interpreter& interp, Value v);

// Whether the values of the mask are unknown, so that nobody knows how much it selects.
bool IsUnknownMask(Interpreter& interp, Value v);
// tensor[mask]. REQUIRES: IsUnknownMask(interp, mask), and the shapes fit.
Result<Value> NewSelection(Interpreter& interp, Value tensor, Value mask);
// target[mask] = selection.
Result<void> WriteSelection(Interpreter& interp, Value target, Value mask, Value selection);

// torch._is_same_value, and Tensor.to_sparse().
void DefineRefused(NativeModuleBuilder& m);
void DefineRefusedMethods(NativeClassBuilder& tensor_class);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_TENSOR_REFUSED_H_
