// torch.autocast('cpu'): which operators take their inputs in the lower precision, and which in
// float32. PyTorch casts inside the dispatcher. Here a cast is a call of the graph, because it is
// work for the network.
#include "frontend/python/torch/tensor/tensor.h"
#include "frontend/python/torch/tensor/torch_rules.h"
#include "graph/cost/cost.h"

namespace cobra::python {
namespace {

// The policy of one call; resolves kOfPadding and kOfSum.
AutocastPolicy PolicyOf(graph::Op op, const graph::Attributes& attributes, const std::vector<Value>& inputs) {
  const AutocastPolicy policy = TorchRulesOf(op).autocast;
  if (policy == AutocastPolicy::kOfPadding) {
    const std::string mode = attributes.String("mode", "constant");
    return mode == "reflect" || mode == "replicate" ? AutocastPolicy::kFloat32 : AutocastPolicy::kNone;
  }
  if (policy == AutocastPolicy::kOfSum) {
    std::vector<const graph::TensorType*> types;
    for (Value input : inputs) types.push_back(&AsTensor(input)->type);
    const absl::StatusOr<graph::TensorTypes> outputs = graph::InferTypes(op, attributes, types);
    if (!outputs.ok() || types.size() < 2) return AutocastPolicy::kNone;
    const bool sums = graph::MacsOfCall(op, attributes, types, *outputs) > 0;
    return sums ? AutocastPolicy::kLower : AutocastPolicy::kNone;
  }
  return policy;
}

Result<Value> Cast(Interpreter& interp, Value tensor, graph::DType dtype) {
  AutocastState& state = Torch(interp).autocast;
  const Tensor* key = AsTensor(tensor);
  const bool kept = state.caches && key->ref.kind == graph::ValueRef::Kind::kParameter && key->requires_grad &&
                    key->type.dtype == graph::DType::float32;
  if (kept) {
    const auto found = state.casts.find(key);
    if (found != state.casts.end()) return found->second;
  }
  COBRA_TRY_ASSIGN(Value made,
                   Apply(interp, graph::Op::to, {{"dtype", std::string(graph::DTypeName(dtype))}}, {tensor}));
  if (kept) state.casts[key] = made;
  return made;
}

// torch._set_autocast(enabled, dtype, caches): returns the three previous values.
Result<Value> SetAutocast(Interpreter& interp, const CallArgs& args) {
  bool enabled, caches;
  Value dtype;
  ArgReader reader(interp, "_set_autocast", args);
  COBRA_TRY(reader.Required("enabled", &enabled).Required("dtype", &dtype).Required("cache_enabled", &caches).Finish());
  AutocastState& state = Torch(interp).autocast;
  const Value before[] = {Value::Bool(state.enabled), Torch(interp).dtypes[static_cast<int>(state.dtype)],
                          Value::Bool(state.caches)};
  state.enabled = enabled;
  state.dtype = AsDType(interp, dtype).value_or(graph::DType::bfloat16);
  state.caches = caches;
  return interp.NewTuple(before);
}

// torch._nest_autocast(by): a context manager begins (1) or ends (-1). When the outermost one ends,
// the cached casts of parameters are dropped.
Result<Value> NestAutocast(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(int64_t by, OnlyArgument<int64_t>(interp, "_nest_autocast", "by", args));
  AutocastState& state = Torch(interp).autocast;
  state.depth += static_cast<int>(by);
  if (state.depth == 0) state.casts.clear();
  return Value::None();
}

}  // namespace

Result<void> CastInputs(Interpreter& interp, graph::Op op, const graph::Attributes& attributes,
                        std::vector<Value>* inputs) {
  const AutocastPolicy policy = PolicyOf(op, attributes, *inputs);
  if (policy == AutocastPolicy::kNone) return {};
  graph::DType target = policy == AutocastPolicy::kLower ? Torch(interp).autocast.dtype : graph::DType::float32;
  if (policy == AutocastPolicy::kWidest) {
    target = Torch(interp).autocast.dtype;
    for (Value input : *inputs) {
      if (AsTensor(input) != nullptr && AsTensor(input)->type.dtype == graph::DType::float32)
        target = graph::DType::float32;
    }
  }
  for (Value& input : *inputs) {
    const Tensor* tensor = input.IsNone() ? nullptr : AsTensor(input);
    const graph::DType dtype = tensor == nullptr ? target : tensor->type.dtype;
    if (!graph::IsFloatingPoint(dtype) || dtype == graph::DType::float64 || dtype == target) continue;
    COBRA_TRY_SET(input, Cast(interp, input, target));
  }
  return {};
}

void DefineAutocast(NativeModuleBuilder& m) {
  m.Function("_set_autocast", SetAutocast).Function("_nest_autocast", NestAutocast);
}

}  // namespace cobra::python
