// The part of nn.Module that is C++ (module.cc), as classes of torch.
#ifndef COBRA_FRONTEND_PYTHON_TORCH_LAYERS_MODULE_H_
#define COBRA_FRONTEND_PYTHON_TORCH_LAYERS_MODULE_H_

#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

void DefineModuleClass(Interpreter& interp, NativeModuleBuilder& m);
Result<void> DefineParameterClass(Interpreter& interp, NativeModuleBuilder& m);  // REQUIRES: the tensor class is there

// The pending Python exception, which stays pending; null if there is none, or a failure that a
// program cannot catch.
const Object* PendingException(Interpreter& interp);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_LAYERS_MODULE_H_
