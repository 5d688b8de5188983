// One operator call: a node of the graph, and of constants what they hold.
#include <memory>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/text/limit_message.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/torch/tensor/tensor.h"
#include "frontend/python/torch/tensor/torch_rules.h"
#include "graph/builder/untrusted.h"
#include "graph/constants/const_eval.h"
#include "graph/constants/constant_calls.h"
#include "graph/cost/cost.h"
#include "graph/getitem.h"
#include "graph/op_rules.h"
#include "graph/shape/shape_rules.h"

namespace cobra::python {

namespace {
// A call runs a shape rule and adds a node with its strides: this takes microseconds, where a step
// takes nanoseconds.
constexpr int64_t kStepsOfACall = 20;
constexpr size_t kNodeBytes = 1024;  // of a node outside the heap, including names and strides
constexpr size_t kViewBytes = 1280;  // of a view of a constant, outside the heap too

int64_t AttributeBytes(const graph::Attributes& attributes) {
  int64_t bytes = 0;
  for (const auto& [name, value] : attributes) {
    if (const auto* text = std::get_if<std::string>(&value)) bytes += static_cast<int64_t>(text->size());
    if (const auto* ints = std::get_if<std::vector<int64_t>>(&value)) bytes += static_cast<int64_t>(ints->size()) * 8;
    if (const auto* doubles = std::get_if<std::vector<double>>(&value))
      bytes += static_cast<int64_t>(doubles->size()) * 8;
  }
  return bytes;
}
// Shape rules read long lists and texts (an einsum equation) several times.
int64_t StepsOfAttributes(const graph::Attributes& attributes) {
  int64_t steps = AttributeBytes(attributes) / 16;
  for (const auto& [name, value] : attributes) {
    if (const auto* text = std::get_if<std::string>(&value)) steps += static_cast<int64_t>(text->size()) / 64 * 32;
  }
  return steps;
}
}  // namespace

NativeObject* Tensor::Copy(Interpreter& interp) {
  // While the network does not run, a copy is a separate tensor (deepcopy of a layer). While it
  // runs, PyTorch's copy is a clone, so no other call is recorded.
  Refresh(interp, this);
  Tensor* copy = interp.heap().New<Tensor>(*this);
  copy->base = nullptr;
  copy->view = nullptr;
  if (ref.kind != graph::ValueRef::Kind::kNode)
    copy->ref = ref.kind == graph::ValueRef::Kind::kConstant ? ref : graph::ValueRef::None();
  return copy;
}

bool OverwriteConstant(Interpreter& interp, Value v, std::optional<double> fill) {
  const TorchState& torch = Torch(interp);
  Tensor* tensor = AsTensor(v);
  if (tensor == nullptr || torch.tracing || torch.recording) return false;
  if (v.object()->cls != torch.parameter_class && v.object()->cls != torch.tensor_class) return false;
  if (!graph::IsFloatingPoint(tensor->type.dtype) || tensor->is_uninitialized || tensor->base != nullptr) return false;
  interp.Spend(kStepsOfACall);
  tensor->values =
      fill ? TensorValues::Filled(interp, tensor->type.num_elements(), graph::RoundTo(tensor->type.dtype, *fill))
           : TensorValues();
  tensor->is_random = !fill.has_value();
  if (tensor->ref.kind == graph::ValueRef::Kind::kConstant) tensor->ref = graph::ValueRef::None();
  return true;
}

namespace {

// The file name that all nodes of a file share. `latest` is the file of the last lookup.
const std::shared_ptr<const std::string>& FileOf(TorchState& torch, const CodeUnit* unit,
                                                 TorchState::NamedFile* latest) {
  if (unit != latest->unit) {
    std::shared_ptr<const std::string>& file = torch.files[unit->display_name];
    if (file == nullptr) file = std::make_shared<const std::string>(unit->display_name);
    *latest = {unit, file};
  }
  return latest->name;
}

// The line in the program's own file, not in the layer library that runs for it. If a torch.nn
// module calls its own layers, one line of the program makes many calls; then the origin also has
// the line where the called layer was constructed.
graph::Origin CurrentOrigin(Interpreter& interp) {
  TorchState& torch = Torch(interp);
  graph::Origin origin;
  const auto& stack = torch.module_stack;
  if (!stack.empty()) origin.module_path = stack.back()->path;
  if (stack.size() > 1 && stack.back()->made.unit != nullptr && stack[stack.size() - 2]->is_library_module) {
    origin.made_file = FileOf(torch, stack.back()->made.unit, &torch.made_file);
    origin.made_line = stack.back()->made.line;
  }
  for (const Frame* f = interp.state().frame; f != nullptr; f = f->back) {
    if (f->position == nullptr || f->unit->internal) continue;
    origin.file = FileOf(torch, f->unit, &torch.origin_file);
    origin.line = static_cast<int>(f->position->line);
    break;
  }
  return origin;
}

struct Call {
  graph::Op op;
  graph::Attributes attributes;
  std::vector<Value> inputs;
  absl::InlinedVector<Tensor*, 8> tensors;  // of inputs; null for None
};

Result<Value> Returned(Interpreter& interp, graph::Op op, absl::Span<const Value> outputs, Returns returns) {
  switch (returns) {
    case Returns::kTensor: return outputs[0];
    case Returns::kList: return interp.NewList(outputs);
    case Returns::kValuesIndices:
      if (outputs.size() == 1) return outputs[0];
      return interp.Call(Torch(interp).values_indices_class, {interp.NewTuple(outputs)});
    case Returns::kNamed:
      return interp.Call(Torch(interp).named_outputs, {interp.NewStr(graph::OpName(op)), interp.NewTuple(outputs)});
    case Returns::kOneOrTuple: return outputs.size() == 1 ? outputs[0] : Value(interp.NewTuple(outputs));
    case Returns::kTuple: return interp.NewTuple(outputs);
  }
  return outputs[0];
}

bool IsRandom(graph::Op op) { return graph::RulesOf(op).randomness != graph::Randomness::kFixed; }

bool HidesBase(const graph::Node& node, absl::Span<Tensor* const> inputs) {
  switch (TorchRulesOf(node.op).base) {
    case BaseRule::kSeen:
    case BaseRule::kEach: return false;
    case BaseRule::kHidden: return true;
    case BaseRule::kHiddenByBias: return inputs.size() > 2 && inputs[2] != nullptr && inputs[0]->type.rank() == 3;
    case BaseRule::kHiddenBySum:
      return inputs.size() > 1 && graph::FlopsOfCall(node.op, node.attributes, {&inputs[0]->type, &inputs[1]->type},
                                                     node.outputs) > node.outputs[0].num_elements();
  }
  return false;
}

// Whether each output is a view of its own input.
bool ReturnsOnePerInput(graph::Op op) { return TorchRulesOf(op).base == BaseRule::kEach; }

// The base of a view; an in-place call on the view also changes the base.
InstanceObject* BaseOf(const Call& call, size_t output) {
  const size_t of = ReturnsOnePerInput(call.op) && output < call.tensors.size() ? output : 0;
  Tensor* self = call.tensors[of];
  return self->base != nullptr ? self->base : call.inputs[of].as<InstanceObject>();
}

// How output `output` of a call on constants views its base; null if this is not tracked.
std::shared_ptr<const ConstView> ViewOf(const Call& call, const std::vector<const graph::TensorType*>& types,
                                        size_t output) {
  const Tensor* self = call.tensors[0];
  if (ReturnsOnePerInput(call.op) || (self->base != nullptr && self->view == nullptr)) return nullptr;
  constexpr int kMostLinks = 100;  // the destructor of each view destroys its parent, recursively
  int links = 0;
  for (const ConstView* v = self->view.get(); v != nullptr; v = v->parent.get()) {
    if (++links == kMostLinks) return nullptr;
  }
  auto view = std::make_shared<ConstView>();
  view->op = call.op;
  view->attributes = call.attributes;
  view->output = output;
  for (const graph::TensorType* type : types) {
    if (type != nullptr) view->inputs.push_back(*type);
  }
  if (self->base != nullptr) view->parent = self->view;
  return view;
}

// The cost in steps of a call that computes values; `elements` is the number of output elements.
// The input may be much larger than the output.
int64_t StepsOfConstants(const Call& call, const std::vector<const graph::TensorType*>& types,
                         const graph::TensorTypes& outputs, int64_t elements) {
  constexpr int64_t kSmall = 1024;
  int64_t most = elements;
  for (const graph::TensorType* type : types) most = std::max(most, type == nullptr ? 0 : type->num_elements());
  if (most < kSmall || graph::GetOpInfo(call.op).cost_class == graph::CostClass::kView) return elements / 64;
  const bool sorts = TorchRulesOf(call.op).constants == ConstantRule::kSorts;
  const int64_t more = std::max<int64_t>(0, graph::FlopsOfCall(call.op, call.attributes, types, outputs) - elements);
  // The distance of each pair reads all coordinates.
  const int64_t read = call.op == graph::Op::cdist && types[0]->rank() > 0 ? elements * types[0]->shape.back() / 64 : 0;
  return elements / 6 + more / 5 + read + (sorts ? most : 0);  // most of the cost is new pages
}

// The arguments of a call on constants.
struct ConstantInputs {
  std::vector<const graph::TensorType*> types;
  std::vector<graph::ConstInput> values;
  bool known = true;    // the values of all inputs that the call reads are known
  bool random = false;  // some of these values are random
};

ConstantInputs ConstantInputsOf(Interpreter& interp, const Call& call, bool inplace) {
  const bool overwrites = inplace && TorchRulesOf(call.op).constants == ConstantRule::kOverwrites;
  ConstantInputs inputs;
  for (size_t i = 0; i < call.tensors.size(); ++i) {
    Tensor* tensor = call.tensors[i];
    if (tensor != nullptr) Refresh(interp, tensor);
    inputs.types.push_back(tensor == nullptr ? nullptr : &tensor->type);
    inputs.values.push_back({inputs.types.back(), tensor == nullptr ? nullptr : tensor->values.get()});
    if (tensor == nullptr) continue;
    if (graph::ReadsOnlyTheType(call.op, i)) {  // and no number of it, however many there are
      static const auto* const kUnread = new ConstValues();
      inputs.values.back().values = kUnread;
      continue;
    }
    inputs.known = inputs.known && (tensor->values != nullptr || (overwrites && i == 0));
    inputs.random = inputs.random || (tensor->is_random && !overwrites);
  }
  return inputs;
}

// How many numbers the outputs hold, with a limit per output, or the error that an output is too
// large.
Result<int64_t> NumbersOf(Interpreter& interp, graph::Op op, const graph::TensorTypes& outputs) {
  int64_t numbers = 0;
  for (const graph::TensorType& type : outputs) {
    if (type.rank() > 64)
      return interp.Raise(interp.types().RuntimeError, "tensors of more than 64 dimensions are not supported");
    if (graph::IsTooLarge(type, interp.limits().graph.max_tensor_bytes))
      return interp.LimitReached(
          LimitMessage(absl::StrCat(graph::OpName(op), " makes a tensor of ", graph::TypeText(type)),
                       interp.limits().graph.max_tensor_bytes, "bytes"));
    numbers += std::min(type.num_elements(), graph::kMaxConstElements) * (graph::IsComplex(type.dtype) ? 2 : 1);
  }
  return numbers;
}

using OutputValues = std::vector<TensorValues>;

// What a call makes of constants whose elements are all equal, where they are too many to compute.
void FillUniform(Interpreter& interp, const Call& call, const graph::TensorTypes& outputs, OutputValues& values) {
  std::vector<graph::UniformInput> inputs;
  for (const Tensor* tensor : call.tensors) {
    inputs.push_back({tensor == nullptr ? nullptr : &tensor->type});
    if (tensor == nullptr) continue;
    const std::optional<double> value = tensor->values.uniform();
    if (!value) return;
    interp.Spend(std::min(tensor->type.num_elements(), graph::kMaxConstElements) / 64);
    inputs.back().value = *value;
  }
  const std::optional<double> value = graph::EvalUniform(call.op, call.attributes, inputs, outputs);
  if (!value) return;
  for (size_t i = 0; i < outputs.size(); ++i)
    values[i] = TensorValues::Filled(interp, outputs[i].num_elements(), *value);
}

// The values of a call's outputs; null if they are not known.
Result<OutputValues> ComputeConstants(Interpreter& interp, const Call& call, const ConstantInputs& inputs,
                                      const graph::TensorTypes& outputs, int64_t numbers) {
  OutputValues values(outputs.size());
  if (outputs.empty()) return values;  // unbind() along a dimension without elements
  const bool fills = call.op == graph::Op::zero ||
                     (call.op == graph::Op::fill && (call.tensors.size() == 1 || call.tensors[1] == nullptr));
  if (fills && !graph::IsComplex(outputs[0].dtype)) {
    const double value = graph::RoundTo(outputs[0].dtype, call.attributes.Double("value"));
    values[0] = TensorValues::Filled(interp, outputs[0].num_elements(), value);
    return values;
  }
  if (IsRandom(call.op)) return values;
  if (!inputs.known || std::any_of(outputs.begin(), outputs.end(), [](const graph::TensorType& type) {
        return type.num_elements() > graph::kMaxConstElements;
      })) {
    FillUniform(interp, call, outputs, values);
    return values;
  }
  if (!interp.heap().CanAllocate(numbers * 8)) return values;
  // A complex call splits its numbers into parts and joins them again.
  const bool complex = graph::IsComplex(outputs[0].dtype) || (!inputs.types.empty() && inputs.types[0] != nullptr &&
                                                              graph::IsComplex(inputs.types[0]->dtype));
  COBRA_TRY(interp.Charge(StepsOfConstants(call, inputs.types, outputs, numbers) + (complex ? numbers / 2 : 0)));
  interp.heap().Allocate(static_cast<size_t>(numbers) * 8);  // outside the heap, but counted
  const auto computed = graph::EvalConst(call.op, call.attributes, inputs.values, outputs);
  std::copy(computed.begin(), computed.end(), values.begin());
  if (values[0] == nullptr) FillUniform(interp, call, outputs, values);
  return values;
}

// Whether PyTorch runs what is computed: arrays of numpy hold tensors here only (library/numpy).
bool IsRunByPyTorch(Interpreter& interp) {
  for (const Frame* f = interp.state().frame; f != nullptr && f->unit->internal; f = f->back) {
    if (f->module != nullptr && absl::StartsWith(f->module->name->view(), "numpy")) return false;
  }
  return true;
}

// Appends the call to the graph.
Result<int32_t> AddCall(Interpreter& interp, const Call& call, graph::Attributes attributes, bool inplace) {
  graph::ValueRefs refs;
  refs.reserve(std::max(call.tensors.size(), graph::GetOpInfo(call.op).inputs.size()));
  for (Tensor* tensor : call.tensors)
    refs.push_back(tensor == nullptr ? graph::ValueRef::None() : RefOf(interp, tensor));
  const absl::StatusOr<int32_t> index =
      Torch(interp).builder.Add(call.op, std::move(attributes), std::move(refs), CurrentOrigin(interp), inplace);
  if (!index.ok()) return RaiseShapeError(interp, index.status());
  return *index;
}

// What the base of a view is after the view became `changed`. None: no program sees that base.
Result<graph::ValueRef> BaseAfterWrite(Interpreter& interp, const Tensor* view, graph::ValueRef changed) {
  if (view->base == nullptr || AsTensor(view->base)->has_hidden_base) return graph::ValueRef::None();
  const absl::StatusOr<int32_t> update = Torch(interp).builder.Add(
      graph::Op::as_base, {}, {changed, RefOf(interp, AsTensor(view->base))}, CurrentOrigin(interp));
  if (!update.ok()) return RaiseShapeError(interp, update.status());
  return graph::ValueRef::Node(*update);
}

// The call of the graph, if the network runs.
Result<std::optional<int32_t>> RecordConstant(Interpreter& interp, const Call& call, bool inplace) {
  TorchState& torch = Torch(interp);
  if (!torch.recording || !IsRunByPyTorch(interp)) return std::optional<int32_t>();
  COBRA_TRY_ASSIGN(const int32_t index, AddCall(interp, call, call.attributes, inplace));
  const graph::Node& node = torch.builder.nodes()[index];
  interp.heap().Allocate(kNodeBytes + node.inputs.size() * 16 + node.outputs.size() * 64 +
                         static_cast<size_t>(AttributeBytes(call.attributes)));
  torch.has_constant_calls = true;
  return std::optional<int32_t>(index);
}

// What an in-place call on a constant makes of it, and of the tensor that it is a view of.
Result<void> NoteComputed(Interpreter& interp, Tensor* self, int32_t node) {
  self->computed = graph::ValueRef::Node(node);
  COBRA_TRY_ASSIGN(const graph::ValueRef of_base, BaseAfterWrite(interp, self, self->computed));
  if (!of_base.is_none()) AsTensor(self->base)->computed = of_base;
  return {};
}

// The first argument of an in-place call now holds the result.
Result<Value> WriteConstant(Interpreter& interp, const Call& call, const graph::TensorType& type,
                            const TensorValues& values, bool random, std::optional<int32_t> node) {
  Tensor* self = call.tensors[0];
  if (node.has_value()) COBRA_TRY(NoteComputed(interp, self, *node));
  self->type = {type.shape, self->type.dtype};
  self->values = values;
  self->is_random = random;
  if (self->ref.kind == graph::ValueRef::Kind::kConstant) self->ref = graph::ValueRef::None();
  NoteWrite(interp, self, call.op);
  return call.inputs[0];
}

// x[index] = value where nothing else refers to the values of x: loops write to one tensor many
// times. False if it is another call, or must be computed anew.
bool WriteElements(Interpreter& interp, const Call& call, const ConstantInputs& inputs) {
  if (call.op != graph::Op::setitem || !inputs.known || call.tensors[0]->values.OwnBytes() == 0) return false;
  for (const graph::TensorType* type : inputs.types) {
    if (type == nullptr || graph::IsComplex(type->dtype)) return false;
  }
  const std::optional<graph::ElementWrites> writes = graph::WritesOfSetItem(call.attributes, inputs.values);
  if (!writes) return false;
  interp.Spend(kStepsOfACall + static_cast<int64_t>(writes->at.size()) / 4);
  const Tensor* self = call.tensors[0];
  ConstValues& values = const_cast<ConstValues&>(*self->values);  // the only reference
  for (size_t i = 0; i < writes->at.size(); ++i)
    values[static_cast<size_t>(writes->at[i])] = graph::RoundTo(self->type.dtype, writes->values[i]);
  return true;
}

// Checks that x.view(size) is possible with the strides of x.
Result<void> CheckViewable(Interpreter& interp, const Call& call) {
  const Tensor* self = call.tensors[0];
  absl::StatusOr<graph::TensorTypes> types = graph::InferTypes(call.op, call.attributes, {&self->type});
  if (!types.ok()) return RaiseShapeError(interp, types.status());
  if (graph::ViewStrides(self->type.shape, StridesNow(interp, self), (*types)[0].shape)) return {};
  return interp.Raise(interp.types().RuntimeError,
                      "view size is not compatible with input tensor's size and stride (at least one dimension spans "
                      "across two contiguous subspaces). Use "
                      ".reshape(...) instead.");
}

Result<Value> ApplyToConstants(Interpreter& interp, const Call& call, bool inplace, Returns returns) {
  const ConstantInputs inputs = ConstantInputsOf(interp, call, inplace);
  absl::StatusOr<graph::TensorTypes> outputs = graph::InferTypes(call.op, call.attributes, inputs.types);
  if (!outputs.ok()) return RaiseShapeError(interp, outputs.status());
  if (inplace) {
    const absl::Status fits = graph::shape_rules::CheckInplace(graph::OpName(call.op), inputs.types, &*outputs);
    if (!fits.ok()) return RaiseShapeError(interp, fits);
  }
  if (call.op == graph::Op::view && call.attributes.Find("size") != nullptr) COBRA_TRY(CheckViewable(interp, call));
  COBRA_TRY_ASSIGN(const std::optional<int32_t> node, RecordConstant(interp, call, inplace));
  if (inplace && WriteElements(interp, call, inputs))
    return WriteConstant(interp, call, (*outputs)[0], TensorValues(call.tensors[0]->values), inputs.random, node);
  COBRA_TRY_ASSIGN(const int64_t numbers, NumbersOf(interp, call.op, *outputs));
  COBRA_TRY_ASSIGN(const OutputValues values, ComputeConstants(interp, call, inputs, *outputs, numbers));
  const bool random = inputs.random || IsRandom(call.op);
  if (inplace) return WriteConstant(interp, call, (*outputs)[0], values[0], random, node);
  const graph::CostClass cost_class = graph::GetOpInfo(call.op).cost_class;
  const bool gathers = graph::RulesOf(call.op).storage == graph::Storage::kViewOrGather &&
                       (call.tensors.size() > 1 || graph::Gathers(call.attributes.String("index")));
  const bool view = cost_class == graph::CostClass::kView && call.tensors[0] != nullptr && !gathers;
  // Each view has a copy of the attributes: the sizes that split() is given may be as many as its
  // outputs.
  constexpr size_t kMostAttributeBytes = 1 << 20;
  const auto attribute_bytes = static_cast<size_t>(AttributeBytes(call.attributes));
  const bool tracked = attribute_bytes * outputs->size() <= kMostAttributeBytes;
  size_t view_bytes = 0;  // counted at once: pages between tensors would be touched
  std::vector<Value> results;
  for (size_t i = 0; i < outputs->size(); ++i) {
    InstanceObject* result = NewTensor(interp, std::move((*outputs)[i]), values[i], graph::OpName(call.op));
    Tensor* tensor = AsTensor(result);
    tensor->is_random = random;
    if (node.has_value()) tensor->computed = graph::ValueRef::Node(*node, static_cast<int32_t>(i));
    if (view) {
      tensor->base = BaseOf(call, i);
      tensor->seen = AsTensor(tensor->base)->writes;
      if (values[i] != nullptr && tracked) {
        tensor->view = ViewOf(call, inputs.types, i);
        view_bytes += kViewBytes + attribute_bytes;
      }
    }
    tensor->is_conj = IsConjugated(call.op, call.tensors.empty() ? nullptr : call.tensors[0], *tensor);
    results.push_back(result);
  }
  interp.heap().Allocate(view_bytes);
  return Returned(interp, call.op, results, returns);
}

// The values of a recorded call whose inputs are nevertheless known, such as batch_sizes of a
// packed sequence; empty if some are not known.
std::vector<std::shared_ptr<const ConstValues>> KnownValues(Interpreter& interp, const Call& call,
                                                            const graph::Node& node) {
  std::vector<graph::ConstInput> inputs;
  bool recorded = false;
  for (Tensor* tensor : call.tensors) {
    if (tensor == nullptr) {
      inputs.push_back({});
      continue;
    }
    if (tensor->values == nullptr || tensor->is_random) return {};
    if (!tensor->ref.is_node() && !tensor->is_const()) return {};
    Refresh(interp, tensor);
    if (tensor->values == nullptr) return {};
    recorded = recorded || tensor->ref.is_node();
    inputs.push_back({&tensor->type, tensor->values.get()});
  }
  if (!recorded || IsRandom(node.op)) return {};
  for (const graph::TensorType& type : node.outputs) {
    if (type.num_elements() > graph::kMaxConstElements) return {};
  }
  return graph::EvalConst(node.op, node.attributes, inputs, node.outputs);
}

Result<Value> Record(Interpreter& interp, Call& call, bool inplace, Returns returns) {
  TorchState& torch = Torch(interp);
  // Long lists and index texts are stored in the graph once for every call, so they count as memory
  // of the program.
  if (const int64_t bytes = AttributeBytes(call.attributes); bytes > 1024)
    interp.heap().Allocate(static_cast<size_t>(bytes));
  const graph::Op op = call.op;
  if (op == graph::Op::view && call.tensors[0]->ref.is_node() && call.attributes.Find("size") != nullptr)
    COBRA_TRY(CheckViewable(interp, call));
  COBRA_TRY_ASSIGN(const int32_t index, AddCall(interp, call, std::move(call.attributes), inplace));
  const graph::Node& node = torch.builder.nodes()[index];
  const auto known = KnownValues(interp, call, node);
  if (inplace) {
    Tensor* self = call.tensors[0];
    self->ref = graph::ValueRef::Node(index);
    self->computed = graph::ValueRef::None();
    self->type = node.outputs[0];
    self->values = known.empty() ? nullptr : known[0];
    COBRA_TRY_ASSIGN(const graph::ValueRef of_base, BaseAfterWrite(interp, self, self->ref));
    if (!of_base.is_none()) {
      Tensor* base = AsTensor(self->base);
      base->ref = of_base;
      base->computed = graph::ValueRef::None();
      base->values = nullptr;
    }
    return call.inputs[0];
  }
  interp.heap().Allocate(kNodeBytes + node.inputs.size() * 16 + node.outputs.size() * 64 +
                         node.origin.module_path.size());  // counted as memory
  absl::InlinedVector<Value, 4> results;
  const bool view = graph::IsView(node) && !torch.layout->Update().copies[index];
  const bool hidden = HidesBase(node, call.tensors);
  for (size_t j = 0; j < node.outputs.size(); ++j) {
    InstanceObject* result =
        NewGraphTensor(interp, node.outputs[j], graph::ValueRef::Node(index, static_cast<int32_t>(j)));
    if (view) AsTensor(result)->base = BaseOf(call, j);
    AsTensor(result)->has_hidden_base = hidden && j == 0;
    if (j < known.size()) AsTensor(result)->values = known[j];
    AsTensor(result)->is_conj = IsConjugated(op, call.tensors.empty() ? nullptr : call.tensors[0], *AsTensor(result));
    results.push_back(result);
  }
  return Returned(interp, op, results, returns);
}

}  // namespace

Result<Value> Created(Interpreter& interp, graph::Op op, InstanceObject* made, graph::Attributes attributes) {
  if (!Torch(interp).recording) return made;
  Tensor* tensor = AsTensor(made);
  const graph::Shape& shape = tensor->type.shape;
  attributes.Set("size", std::vector<int64_t>(shape.begin(), shape.end()));
  attributes.Set("dtype", std::string(graph::DTypeName(tensor->type.dtype)));
  COBRA_TRY(interp.Charge(kStepsOfACall));
  COBRA_TRY_ASSIGN(const std::optional<int32_t> node,
                   RecordConstant(interp, {op, std::move(attributes), {}, {}}, /*inplace=*/false));
  if (node.has_value()) tensor->computed = graph::ValueRef::Node(*node);
  return made;
}

Result<Value> Apply(Interpreter& interp, graph::Op op, graph::Attributes attributes, std::vector<Value> inputs,
                    bool inplace, Returns returns) {
  COBRA_TRY(interp.Step());
  Call call{op, std::move(attributes), std::move(inputs), {}};
  bool constant = true;
  for (Value input : call.inputs) {
    call.tensors.push_back(input.IsNone() ? nullptr : AsTensor(input));
    constant = constant && (call.tensors.back() == nullptr || call.tensors.back()->is_const() ||
                            graph::ReadsOnlyTheType(op, call.tensors.size() - 1));
  }
  COBRA_TRY(
      interp.Charge(kStepsOfACall + static_cast<int64_t>(call.inputs.size()) + StepsOfAttributes(call.attributes)));
  if (Torch(interp).autocast.enabled && !inplace) {
    COBRA_TRY(CastInputs(interp, op, call.attributes, &call.inputs));
    for (size_t i = 0; i < call.inputs.size(); ++i)
      call.tensors[i] = call.inputs[i].IsNone() ? nullptr : AsTensor(call.inputs[i]);
  }
  constant = constant && !(graph::DrawsRandomNumbers(op) && !call.tensors.empty());
  if (constant || !Torch(interp).recording) return ApplyToConstants(interp, call, inplace, returns);
  return Record(interp, call, inplace, returns);
}

}  // namespace cobra::python
