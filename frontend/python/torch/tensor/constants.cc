// Constants and what they hold, the Python values that stand for them, and where a tensor is in the
// graph.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/torch/tensor/tensor.h"
#include "graph/constants/const_eval.h"

namespace cobra::python {

InstanceObject* NewTensor(Interpreter& interp, graph::TensorType type, TensorValues values, absl::string_view label) {
  Tensor* tensor = interp.heap().New<Tensor>(label);
  tensor->type = std::move(type);
  interp.heap().Allocate(values.OwnBytes());  // counted as memory
  tensor->values = std::move(values);
  return interp.NewInstance(Torch(interp).tensor_class, tensor);
}

InstanceObject* NewGraphTensor(Interpreter& interp, graph::TensorType type, graph::ValueRef ref) {
  Tensor* tensor = interp.heap().New<Tensor>();
  tensor->type = std::move(type);
  tensor->ref = ref;
  return interp.NewInstance(Torch(interp).tensor_class, tensor);
}

std::shared_ptr<const ConstValues> FilledValues(Interpreter& interp, int64_t n, double value) {
  if (n > graph::kMaxConstElements) return nullptr;
  std::shared_ptr<const ConstValues>& fill = Torch(interp).fills[{n, value}];
  if (fill == nullptr) {
    interp.heap().Allocate(static_cast<size_t>(n) * 8 + 64);
    fill = std::make_shared<const ConstValues>(n, value);
  }
  return fill;
}

TensorValues TensorValues::Filled(Interpreter& interp, int64_t n, double value) {
  TensorValues made;
  if (n <= graph::kMaxConstElements) made.interp_ = &interp;
  made.count_ = n;
  made.value_ = value;
  return made;
}

const TensorValues::Shared& TensorValues::shared() const {
  if (interp_ != nullptr) values_ = FilledValues(*std::exchange(interp_, nullptr), count_, value_);
  return values_;
}

std::optional<double> TensorValues::uniform() const {
  if (count_ > 0) return value_;
  if (values_ == nullptr || values_->empty()) return std::nullopt;
  const double first = values_->front();
  const bool equal = std::all_of(values_->begin(), values_->end(), [&](double v) { return v == first; });
  return equal ? std::optional<double>(first) : std::nullopt;
}

void KeepValues(Interpreter& interp, Tensor* tensor) {
  TorchState& torch = Torch(interp);
  if (!torch.keep_values || tensor->is_random) return;
  Refresh(interp, tensor);
  const graph::ValueRef ref = tensor->computed.is_none() ? tensor->ref : tensor->computed;
  if (tensor->values == nullptr || torch.builder.graph().KnownValues(ref) != nullptr) return;
  // A copy: what the interpreter owns may be gone before the graph is.
  torch.builder.SetKnownValues(ref, std::make_shared<const ConstValues>(*tensor->values));
}

graph::ValueRef RefOf(Interpreter& interp, Tensor* tensor) {
  if (!tensor->computed.is_none()) {
    KeepValues(interp, tensor);
    return tensor->computed;
  }
  if (tensor->ref.is_none()) {
    TorchState& torch = Torch(interp);
    tensor->ref = torch.builder.AddConstant(absl::StrCat(tensor->label, ".", torch.next_constant++), tensor->type);
    KeepValues(interp, tensor);
  }
  return tensor->ref;
}

Result<const ConstValues*> ReadValues(Interpreter& interp, Tensor* tensor, absl::string_view what, bool complex) {
  Refresh(interp, tensor);
  const bool known = tensor->ref.is_node() && tensor->values != nullptr;  // recorded, but the same in every run
  if ((!tensor->is_const() && !known) || tensor->is_random) {
    return interp.DataDependent(
        what,
        "a latency cannot depend on the values of a tensor: compute this from shapes, configuration or constants; an "
        "input can be a constant: --arg 'mask=torch.ones(1, 16)'");
  }
  if (tensor->values == nullptr) {
    return interp.Unsupported(
        absl::StrCat(what, " of a constant whose values are not computed here (", tensor->label, ")"),
        "compute it with Python numbers instead");
  }
  if (graph::IsComplex(tensor->type.dtype) && !complex)
    return interp.Unsupported(absl::StrCat(what, " of a complex constant"), "take .real or .imag of it");
  return tensor->values.get();
}

Value NumberOf(graph::DType dtype, double value) {
  if (dtype == graph::DType::bool_) return Value::Bool(value != 0);
  if (graph::IsIntegral(dtype)) return Value::Int(static_cast<int64_t>(value));
  return Value::Float(value);
}

Value ElementOf(Interpreter& interp, graph::DType dtype, const ConstValues& values, int64_t n) {
  const size_t at = static_cast<size_t>(n);
  return graph::IsComplex(dtype) ? interp.NewComplex(values[2 * at], values[2 * at + 1]) : NumberOf(dtype, values[at]);
}

namespace {

// The class of the exception that PyTorch raises with that message (exceptions.def).
ClassObject* ExceptionClass(Interpreter& interp, absl::string_view message) {
  const TorchState& torch = Torch(interp);
  const BuiltinTypes& types = interp.types();
#define COBRA_TORCH_EXCEPTION(text, type, major, minor) \
  if (torch.AtLeast(major, minor) && absl::StrContains(message, text)) return types.type;
#include "frontend/python/torch/tensor/exceptions.def"
#undef COBRA_TORCH_EXCEPTION
  return types.RuntimeError;
}

}  // namespace

std::optional<graph::AttributeValue> AsNumber(Value v) {
  if (v.IsBool()) return graph::AttributeValue(v.as_bool());
  if (v.IsInt()) return graph::AttributeValue(v.as_int());
  if (v.IsFloat()) return graph::AttributeValue(v.as_float());
  if (v.IsFloatBox()) return graph::AttributeValue(v.as<FloatBoxObject>()->value);
  if (!v.IsBigInt()) return std::nullopt;
  const BigInt& big = v.as<BigIntObject>()->value;
  return big.FitsInt64() ? graph::AttributeValue(big.ToInt64()) : graph::AttributeValue(big.ToDouble());
}

Value UnwrapArray(Interpreter& interp, Value v) {
  const ClassObject* array = Torch(interp).array_class;
  if (array == nullptr || !v.IsInstance()) return v;
  const ClassObject* cls = interp.class_of(v);
  if (cls->name->view() == "bool_" && cls->module.IsStr() && cls->module.str() == "numpy") {
    const Result<bool> truth = interp.Truth(v);
    return truth.ok() ? Value::Bool(*truth) : v;
  }
  if (!Interpreter::IsSubclassOf(cls, array)) return v;
  DictObject* attrs = v.object()->attrs;
  const Value* tensor = attrs == nullptr ? nullptr : attrs->table.GetStr(interp.Intern("_t"));
  return tensor == nullptr ? v : *tensor;
}

Failure RaiseShapeError(Interpreter& interp, const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
      if (ClassObject* type = ExceptionClass(interp, status.message()); type != interp.types().RuntimeError)
        return interp.Raise(type, status.message());
      return interp.FromStatus(status);
    case absl::StatusCode::kOutOfRange: return interp.Raise(interp.types().IndexError, status.message());
    case absl::StatusCode::kUnimplemented: return interp.DataDependent(status.message());
    case absl::StatusCode::kResourceExhausted: return interp.LimitReached(status.message());
    default: return interp.FromStatus(status);
  }
}

}  // namespace cobra::python
