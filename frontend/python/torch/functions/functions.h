// What the sources of this folder define for each other, for layers, and for the modules of torch
// (library.cc).
#ifndef COBRA_FRONTEND_PYTHON_TORCH_FUNCTIONS_FUNCTIONS_H_
#define COBRA_FRONTEND_PYTHON_TORCH_FUNCTIONS_FUNCTIONS_H_

#include <optional>

#include "frontend/python/torch/tensor/tensor.h"

namespace cobra::python {

// torch.empty(size, dtype=dtype), as a Parameter or as a plain tensor.
Result<Value> NewEmpty(Interpreter& interp, absl::Span<const Value> size, Value dtype, bool parameter);
// 1j as a tensor without dimensions, which promotes in the same way. REQUIRES: IsComplex().
Value ComplexScalar(Interpreter& interp, Value number);

// nonzero, unique, equal ...: computed on constants with known values, rejected as data-dependent
// on other tensors (values.cc).
void DefineValueFunctions(NativeModuleBuilder& m);
void DefineValueMethods(NativeClassBuilder& tensor_class);
Result<Value> WhereIndices(Interpreter& interp, Tensor* condition);  // torch.where(condition)

void DefineCasts(NativeClassBuilder& tensor_class);  // to(), float(), contiguous() ...

// x[index] and x[index] = value.
Result<Value> TensorGetItem(Interpreter& interp, Value self, Value index);
Result<void> TensorSetItem(Interpreter& interp, Value self, Value index, Value value);

// torch.tensor(data): nested lists of numbers.
Result<Value> TensorFromData(Interpreter& interp, Value data, std::optional<graph::DType> dtype,
                             absl::string_view label);
// Nested lists (numbers for a scalar).
Result<Value> TensorToList(Interpreter& interp, Tensor* tensor);

Result<void> DefineTensorClass(Interpreter& interp, NativeModuleBuilder& m);
Result<void> DefineTensorMethods(Interpreter& interp, NativeClassBuilder& tensor_class);
void DefineCreation(Interpreter& interp, NativeModuleBuilder& m);
// The functions of functions.def: `space` is 't' (torch), 'F' (torch.nn.functional), 'f'
// (torch.fft), 'l' (torch.linalg), 's' (torch.special).
void DefineFunctions(NativeModuleBuilder& m, char space, const TorchState& state);
void DefineTableMethods(Interpreter& interp, NativeClassBuilder& tensor_class);
// One function of the table by name, for operators; REQUIRES: it is there.
NativeFunction TableFunction(absl::string_view name, char space);

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_TORCH_FUNCTIONS_FUNCTIONS_H_
