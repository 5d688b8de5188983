#include "frontend/python/torch/tensor/refused.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "frontend/python/runtime/interpreter/import.h"

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

// What masks are made of: these have the same result each time. Random numbers do not.
bool IsOfMasks(graph::Op op) {
  constexpr graph::Op kOps[] = {graph::Op::eq,          graph::Op::ne,         graph::Op::lt,
                                graph::Op::le,          graph::Op::gt,         graph::Op::ge,
                                graph::Op::logical_and, graph::Op::logical_or, graph::Op::logical_not,
                                graph::Op::bitwise_and, graph::Op::bitwise_or, graph::Op::bitwise_not,
                                graph::Op::isnan,       graph::Op::isfinite,   graph::Op::getitem};
  return std::find(std::begin(kOps), std::end(kOps), op) != std::end(kOps);
}

// Whether two results are the same because the same was computed twice: `y[x > 0] = y[x > 0] * 2`.
bool IsSameResult(absl::Span<const graph::Node> nodes, graph::ValueRef a, graph::ValueRef b, int depth = 0) {
  if (a == b) return true;
  constexpr int kDeepest = 8;
  if (!a.is_node() || !b.is_node() || depth > kDeepest) return false;
  const auto [first, last] = std::minmax(a.index, b.index);
  // A write in between may have changed what both are made of, through a view.
  for (int32_t i = first; i <= last; ++i) {
    if (nodes[static_cast<size_t>(i)].inplace) return false;
  }
  const graph::Node &one = nodes[static_cast<size_t>(first)], &other = nodes[static_cast<size_t>(last)];
  if (one.op != other.op || !IsOfMasks(one.op) || !(one.attributes == other.attributes) ||
      one.inputs.size() != other.inputs.size())
    return false;
  for (size_t i = 0; i < one.inputs.size(); ++i) {
    if (!IsSameResult(nodes, one.inputs[i], other.inputs[i], depth + 1)) return false;
  }
  return true;
}

Result<Value> IsSameValue(Interpreter& interp, const CallArgs& args) {
  Tensor *a, *b;
  COBRA_TRY(ArgReader(interp, "_is_same_value", args).Required("a", &a).Required("b", &b).Finish());
  if (!(a->type == b->type)) return Value::Bool(false);
  const graph::ValueRef of_a = RefOf(interp, a), of_b = RefOf(interp, b);
  const absl::Span<const graph::Node> nodes = Torch(interp).builder.nodes();
  if (of_a.is_node() && of_b.is_node()) COBRA_TRY(interp.Charge(std::abs(of_a.index - of_b.index) + 1));
  return Value::Bool(IsSameResult(nodes, of_a, of_b));
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
