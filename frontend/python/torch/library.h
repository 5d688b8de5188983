// The libraries that programs import (torch, numpy, einops): the modules of
// frontend/python/library, with what C++ defines in them.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_LIBRARY_H_
#define COBRA_FRONTEND_PYTHON_TORCH_LIBRARY_H_

#include "frontend/python/runtime/interpreter/native.h"

namespace cobra::python {

// Needs InterpreterOptions::host to be a TorchState (tensor/tensor.h).
void AddTorch(NativeRegistry* registry);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_LIBRARY_H_
