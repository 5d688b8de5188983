#include "frontend/python/torch/refused.h"

#include "frontend/python/runtime/import.h"

namespace cobra::python {
namespace {

constexpr absl::string_view kModule = "torch._refused";

Result<Value> ClassNamed(Interpreter& interp, absl::string_view name) {
  COBRA_TRY_ASSIGN(const Value module, interp.importer().ImportValue(kModule));
  return interp.GetAttr(module, interp.Intern(name));
}

// What the tensor holds now, in a tensor of its own: a later write does not reach it.
Value Snapshot(Interpreter& interp, Value v) {
  Tensor* tensor = AsTensor(v);
  Refresh(interp, tensor);
  InstanceObject* copy = NewTensor(interp, tensor->type, tensor->values, tensor->label);
  Tensor* to = AsTensor(copy);
  to->ref = tensor->is_const() && tensor->values == nullptr ? RefOf(interp, tensor) : tensor->ref;
  to->computed = tensor->computed;
  to->is_random = tensor->is_random;
  to->is_drawn = tensor->is_drawn;
  return copy;
}

Result<Value> ToSparse(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const Value sparse, ClassNamed(interp, "_Sparse"));
  return interp.Call(sparse, {args.self});
}

Result<Value> IsSameValue(Interpreter& interp, const CallArgs& args) {
  Tensor *a, *b;
  ArgReader reader(interp, "_is_same_value", args);
  COBRA_TRY(reader.Required("a", &a).Required("b", &b).Finish());
  return Value::Bool(a->type == b->type && RefOf(interp, a) == RefOf(interp, b));
}

}  // namespace

bool IsRefused(Interpreter& interp, Value v) {
  if (!v.IsInstance()) return false;
  for (const ClassObject* base : interp.class_of(v)->mro) {
    if (base->name->view() == "_Refused" && base->module.IsStr() && base->module.str() == kModule) return true;
  }
  return false;
}

Failure RefuseUse(Interpreter& interp, Value v) {
  (void)interp.CallMethod(v, "_refuse");
  return Failure();
}

bool IsUnknownMask(Interpreter& interp, Value v) {
  Tensor* mask = AsTensor(v);
  if (mask == nullptr || mask->type.dtype != graph::DType::bool_ || mask->type.rank() == 0) return false;
  Refresh(interp, mask);
  const bool known = mask->ref.is_node() && mask->values != nullptr;
  return (!mask->is_const() && !known) || mask->is_random;
}

Result<Value> NewSelection(Interpreter& interp, Value tensor, Value mask) {
  COBRA_TRY_ASSIGN(const Value selection, ClassNamed(interp, "_Selection"));
  return interp.Call(selection, {Snapshot(interp, tensor), Snapshot(interp, mask)});
}

Result<void> WriteSelection(Interpreter& interp, Value target, Value mask, Value selection) {
  COBRA_TRY(interp.CallMethod(selection, "_write", {target, mask}));
  return {};
}

void DefineRefused(NativeModuleBuilder& m) { m.Function("_is_same_value", IsSameValue); }

void DefineRefusedMethods(NativeClassBuilder& tensor_class) {
  for (const char* name : {"to_sparse", "to_sparse_coo", "to_sparse_csr", "to_sparse_csc", "to_sparse_bsr"})
    tensor_class.Method(name, ToSparse);
}

}  // namespace cobra::python
