#include "graph/builder/builder.h"

#include <algorithm>
#include <cmath>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "graph/builder/untrusted.h"
#include "graph/distinct_calls.h"
#include "graph/shape/shape_rules.h"

namespace cobra::graph {
namespace {

constexpr ShapeRule kRules[] = {
#define COBRA_OP(name, cost_class, inputs, attributes, shape, work) shape_rules::shape,
#include "graph/ops.def"
#undef COBRA_OP
};

absl::Status CheckArity(const OpInfo& info, absl::Span<const TensorType* const> inputs) {
  const int n = static_cast<int>(inputs.size());
  if (n < info.min_inputs || n > info.max_inputs) {
    return absl::InvalidArgumentError(absl::StrCat(info.name, ": got ", n, " tensors, takes ",
                                                   n < info.min_inputs ? "at least " : "at most ",
                                                   n < info.min_inputs ? info.min_inputs : info.max_inputs));
  }
  for (int i = 0; i < n; ++i) {
    const OpInputSpec& spec = info.input(static_cast<size_t>(i));
    if (inputs[i] == nullptr && !spec.optional) {
      return absl::InvalidArgumentError(absl::StrCat(info.name, ": argument '", spec.name, "' must be a Tensor"));
    }
  }
  return absl::OkStatus();
}

// Whether every attribute belongs to the operator, and they stand in the operator's order.
bool IsOrdered(const OpInfo& info, const Attributes& attributes) {
  auto known = info.attributes.begin();
  for (const auto& [name, value] : attributes) {
    while (known != info.attributes.end() && known->name != name) ++known;
    if (known == info.attributes.end()) return false;
    ++known;
  }
  return true;
}

// Checks the attributes of a sliding window. A value beyond 2^24 is a mistake or an attack, and its
// sums and products with sizes could overflow.
absl::Status CheckWindow(const OpInfo& info, const Attributes& attributes) {
  constexpr absl::string_view kNames[] = {"stride", "padding", "dilation", "kernel_size", "output_padding", "groups"};
  constexpr int64_t kMost = int64_t{1} << 24;
  const auto check = [&](absl::string_view name, int64_t value) -> absl::Status {
    if ((value <= kMost && value >= -kMost) || !absl::c_linear_search(kNames, name)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat(info.name, ": ", name, "=", value, " is out of range"));
  };
  for (const auto& [name, value] : attributes) {
    if (const auto* one = std::get_if<int64_t>(&value)) COBRA_RETURN_IF_ERROR(check(name, *one));
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value)) {
      for (int64_t item : *list) COBRA_RETURN_IF_ERROR(check(name, item));
    }
  }
  return absl::OkStatus();
}

// NaN is allowed in an attribute that becomes a value of a tensor, but not in a setting of a layer.
absl::Status CheckNumbers(const OpInfo& info, const Attributes& attributes) {
  constexpr absl::string_view kValues[] = {"value", "other",  "input",  "fill_value", "padding_value",
                                           "nan",   "posinf", "neginf", "min",        "max"};
  for (const auto& [name, value] : attributes) {
    const auto* number = std::get_if<double>(&value);
    const auto* numbers = std::get_if<std::vector<double>>(&value);
    const bool nan = (number != nullptr && std::isnan(*number)) ||
                     (numbers != nullptr && absl::c_any_of(*numbers, [](double d) { return std::isnan(d); }));
    if (nan && !absl::c_linear_search(kValues, name)) {
      return absl::InvalidArgumentError(absl::StrCat(info.name, ": ", name, " is not a number (nan)"));
    }
  }
  return absl::OkStatus();
}

// Of lists and texts among the arguments, which rules go through as they go through dimensions.
int64_t NumbersAndLetters(const Attributes& attributes) {
  size_t count = 0;
  for (const auto& [name, value] : attributes) {
    if (const auto* text = std::get_if<std::string>(&value)) count += text->size();
    if (const auto* whole = std::get_if<std::vector<int64_t>>(&value)) count += whole->size();
    if (const auto* real = std::get_if<std::vector<double>>(&value)) count += real->size();
  }
  return static_cast<int64_t>(count);
}

constexpr absl::string_view kQuantized = "quantized";

// Infers the types for real numbers, then replaces the outputs' dtype by the quantized one.
absl::StatusOr<TensorTypes> InferQuantized(Op op, const Attributes& attributes,
                                           absl::Span<const TensorType* const> inputs) {
  const std::string name = attributes.String(kQuantized);
  const std::optional<DType> dtype = DTypeFromName(name);
  if (!dtype ||
      (*dtype != DType::int8 && *dtype != DType::uint8 && *dtype != DType::int16 && *dtype != DType::float32)) {
    return absl::InvalidArgumentError(
        absl::StrCat(GetOpInfo(op).name, ": quantized must be int8, uint8, int16 or float32, not '", name, "'"));
  }
  TensorTypes reals;
  std::vector<const TensorType*> pointers;
  reals.reserve(inputs.size());
  for (const TensorType* input : inputs) {
    if (input == nullptr) {
      pointers.push_back(nullptr);
      continue;
    }
    reals.push_back({input->shape, IsIntegral(input->dtype) ? DType::float32 : input->dtype});
    pointers.push_back(&reals.back());
  }
  Attributes rest;
  for (const auto& [key, value] : attributes) {
    if (key != kQuantized) rest.Set(key, value);
  }
  COBRA_ASSIGN_OR_RETURN(TensorTypes outputs, InferTypes(op, rest, pointers));
  for (TensorType& type : outputs) type.dtype = *dtype;
  return outputs;
}

// Room for `more`, without growing anew for every block.
template <typename T>
void Reserve(size_t more, std::vector<T>* list) {
  if (list->capacity() - list->size() < more) list->reserve(std::max(list->size() + more, 2 * list->capacity()));
}

}  // namespace

absl::StatusOr<TensorTypes> InferTypes(Op op, const Attributes& attributes,
                                       absl::Span<const TensorType* const> inputs) {
  if (attributes.Find(kQuantized) != nullptr) return InferQuantized(op, attributes, inputs);
  COBRA_RETURN_IF_ERROR(CheckArity(GetOpInfo(op), inputs));
  COBRA_RETURN_IF_ERROR(CheckWindow(GetOpInfo(op), attributes));
  COBRA_RETURN_IF_ERROR(CheckNumbers(GetOpInfo(op), attributes));
  ShapeResult types = kRules[static_cast<size_t>(op)](Call{op, attributes, inputs});
  if (!types.ok()) return types;
  for (const TensorType& type : *types) {
    for (int64_t d : type.shape) {
      // An output size can be a product of input sizes: if it exceeds every limit, it may even have
      // wrapped around.
      if (d < 0 || d > shape_rules::kMaxDimension) {
        return shape_rules::TooManyElements(GetOpInfo(op).name);
      }
    }
  }
  return types;
}

GraphBuilder::GraphBuilder(GraphLimits limits) : limits_(limits) { contents().nodes.reserve(16); }

ValueRef GraphBuilder::AddInput(absl::string_view name, TensorType type) {
  contents().inputs.push_back({std::string(name), std::move(type)});
  return ValueRef::Input(static_cast<int32_t>(contents().inputs.size()) - 1);
}

ValueRef GraphBuilder::AddParameter(absl::string_view name, TensorType type) {
  contents().parameters.push_back({std::string(name), std::move(type)});
  return ValueRef::Parameter(static_cast<int32_t>(contents().parameters.size()) - 1);
}

ValueRef GraphBuilder::AddBuffer(absl::string_view name, TensorType type) {
  contents().buffers.push_back({std::string(name), std::move(type)});
  return ValueRef::Buffer(static_cast<int32_t>(contents().buffers.size()) - 1);
}

ValueRef GraphBuilder::AddConstant(absl::string_view name, TensorType type) {
  contents().constants.push_back({std::string(name), std::move(type)});
  return ValueRef::Constant(static_cast<int32_t>(contents().constants.size()) - 1);
}

void GraphBuilder::SetKnownValues(ValueRef ref, std::shared_ptr<const std::vector<double>> values) {
  contents().known_values.emplace_back(ref, std::move(values));
}

void GraphBuilder::AddParameterAlias(absl::string_view name, ValueRef parameter) {
  contents().parameter_aliases.emplace_back(std::string(name), parameter.index);
}

void GraphBuilder::AddTensorsOf(const Graph& graph, absl::FunctionRef<TensorType(ValueRef)> type_of) {
  const auto add = [&](absl::Span<const NamedTensor> from, ValueRef ref, std::vector<NamedTensor>* to) {
    for (const NamedTensor& tensor : from) {
      to->push_back({tensor.name, type_of(ref)});
      ++ref.index;
    }
  };
  add(graph.inputs(), ValueRef::Input(0), &contents().inputs);
  add(graph.parameters(), ValueRef::Parameter(0), &contents().parameters);
  add(graph.buffers(), ValueRef::Buffer(0), &contents().buffers);
  add(graph.constants(), ValueRef::Constant(0), &contents().constants);
  contents().parameter_aliases = graph.contents_->parameter_aliases;
  contents().known_values = graph.contents_->known_values;
}

void GraphBuilder::AddTensorsOf(const Graph& graph) {
  AddTensorsOf(graph, [&graph](ValueRef ref) { return graph.TypeOf(ref); });
}

absl::StatusOr<int32_t> GraphBuilder::Add(Op op, Attributes attributes, ValueRefs inputs, Origin origin, bool inplace) {
  if (static_cast<int64_t>(contents().nodes.size()) >= limits_.max_nodes) {
    return absl::ResourceExhaustedError(LimitMessage("the network", limits_.max_nodes, "calls"));
  }
  const OpInfo& info = GetOpInfo(op);
  const bool variadic = info.max_inputs > static_cast<int>(info.inputs.size());
  if (!variadic && inputs.size() < info.inputs.size()) inputs.resize(info.inputs.size(), ValueRef::None());

  absl::InlinedVector<const TensorType*, 8> types;
  for (const ValueRef& ref : inputs) {
    if (!graph_.Contains(ref)) return absl::InternalError(absl::StrCat(info.name, ": an input is not of this graph"));
    types.push_back(ref.is_none() ? nullptr : &graph_.TypeOf(ref));
  }

  Attributes ordered;
  if (IsOrdered(info, attributes)) {
    ordered = std::move(attributes);
    attributes = Attributes();
  }
  for (const Attributes::Entry& entry : attributes) {
    if (entry.first != kQuantized && info.FindAttribute(entry.first) == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(info.name, "() got an unexpected argument '", entry.first, "'"));
    }
  }
  for (const OpAttributeSpec& attribute :
       attributes.empty() ? absl::Span<const OpAttributeSpec>() : absl::MakeConstSpan(info.attributes)) {
    for (const Attributes::Entry& entry : attributes) {
      if (entry.first == attribute.name) ordered.Append(entry.first, entry.second);
    }
  }
  if (const AttributeValue* quantized = attributes.Find(kQuantized)) ordered.Set(kQuantized, *quantized);

  Amount amount;
  amount.dimensions = NumbersAndLetters(ordered);
  for (const TensorType* type : types) {
    if (type != nullptr) amount.Add(*type);
  }
  COBRA_RETURN_IF_ERROR(CheckRoom(amount));
  COBRA_ASSIGN_OR_RETURN(TensorTypes outputs, InferTypes(op, ordered, types));
  amount.results = static_cast<int64_t>(outputs.size());
  for (const TensorType& type : outputs) amount.Add(type);
  COBRA_RETURN_IF_ERROR(CheckRoom(amount));
  for (const TensorType& type : outputs) {
    if (type.rank() > limits_.max_rank) {
      return absl::InvalidArgumentError(
          absl::StrCat(info.name, ": tensors of more than ", limits_.max_rank, " dimensions are not supported"));
    }
    if (IsTooLarge(type, limits_.max_tensor_bytes)) {
      return absl::ResourceExhaustedError(LimitMessage(absl::StrCat(info.name, " makes a tensor of ", TypeText(type)),
                                                       limits_.max_tensor_bytes, "bytes"));
    }
  }
  if (inplace) COBRA_RETURN_IF_ERROR(shape_rules::CheckInplace(info.name, types, &outputs));
  Count(amount);
  contents().nodes.push_back(
      Node{op, std::move(ordered), std::move(inputs), std::move(outputs), inplace, std::move(origin)});
  return static_cast<int32_t>(contents().nodes.size()) - 1;
}

absl::Status GraphBuilder::CheckRoom(const Amount& more) const {
  if (amount_.results + more.results > limits_.max_results)
    return absl::ResourceExhaustedError(LimitMessage("the network", limits_.max_results, "results of calls"));
  if (amount_.dimensions + more.dimensions > limits_.max_dimensions)
    return absl::ResourceExhaustedError(LimitMessage("the network", limits_.max_dimensions,
                                                     "dimensions, numbers and letters of arguments and results"));
  return absl::OkStatus();
}

void GraphBuilder::Count(const Amount& more) {
  amount_.results += more.results;
  amount_.dimensions += more.dimensions;
}

absl::StatusOr<std::vector<ValueRef>> GraphBuilder::Append(const Graph& block, absl::Span<const ValueRef> inputs,
                                                           std::optional<absl::string_view> path) {
  if (static_cast<int64_t>(contents().nodes.size() + block.nodes().size()) > limits_.max_nodes)
    return absl::ResourceExhaustedError(LimitMessage("the network", limits_.max_nodes, "calls"));
  const Amount amount{block.contents_->num_results, block.contents_->num_dimensions};
  COBRA_RETURN_IF_ERROR(CheckRoom(amount));
  if (inputs.size() != block.inputs().size())
    return absl::InvalidArgumentError(absl::StrCat("the block has ", block.inputs().size(), " inputs"));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].is_none() || !graph_.Contains(inputs[i]) || TypeOf(inputs[i]) != block.inputs()[i].type)
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " is not ", TypeText(block.inputs()[i].type)));
  }
  const auto named = [path](absl::string_view name) { return path ? absl::StrCat(*path, name) : std::string(); };
  const auto append = [&named](absl::Span<const NamedTensor> from, std::vector<NamedTensor>* to) {
    const auto first = static_cast<int32_t>(to->size());
    Reserve(from.size(), to);
    for (const NamedTensor& tensor : from) to->push_back({named(tensor.name), tensor.type});
    return first;
  };
  Count(amount);
  const auto first_node = static_cast<int32_t>(contents().nodes.size());
  const int32_t first_parameter = append(block.parameters(), &contents().parameters);
  const int32_t first_buffer = append(block.buffers(), &contents().buffers);
  const int32_t first_constant = append(block.constants(), &contents().constants);
  const auto here = [&](ValueRef ref) {
    switch (ref.kind) {
      case ValueRef::Kind::kNone: break;
      case ValueRef::Kind::kInput: return inputs[static_cast<size_t>(ref.index)];
      case ValueRef::Kind::kNode: ref.index += first_node; break;
      case ValueRef::Kind::kParameter: ref.index += first_parameter; break;
      case ValueRef::Kind::kBuffer: ref.index += first_buffer; break;
      case ValueRef::Kind::kConstant: ref.index += first_constant; break;
    }
    return ref;
  };
  AppendKeys(block, inputs);
  Reserve(block.nodes().size(), &contents().nodes);
  for (const Node& node : block.nodes()) {
    ValueRefs refs = node.inputs;
    for (ValueRef& ref : refs) ref = here(ref);
    const Origin& made = node.origin;
    contents().nodes.push_back({node.op, node.attributes, std::move(refs), node.outputs, node.inplace,
                                Origin{made.file, made.line, named(made.module_path), made.made_file, made.made_line}});
  }
  for (const auto& [ref, values] : block.contents_->known_values) SetKnownValues(here(ref), values);
  for (const auto& [name, parameter] : block.parameter_aliases())
    contents().parameter_aliases.emplace_back(named(name), parameter + first_parameter);
  std::vector<ValueRef> outputs;
  for (const ValueRef& ref : block.outputs()) outputs.push_back(here(ref));
  return outputs;
}

void GraphBuilder::AddCallKeys() {
  std::vector<CallKey>& keys = contents().call_keys;
  keys.resize(contents().nodes.size());
  std::string bytes;
  for (size_t call = 0; call < keys.size(); ++call) {
    if (keys[call].bytes == 0) keys[call] = KeyOfCall(graph_, static_cast<int32_t>(call), &bytes);
  }
}

// The block's calls read activations where it has inputs, and here too: else they have other keys.
void GraphBuilder::AppendKeys(const Graph& block, absl::Span<const ValueRef> inputs) {
  const std::vector<CallKey>& keys = block.contents_->call_keys;
  const auto is_activation = [](const ValueRef& ref) { return ref.is_node() || ref.kind == ValueRef::Kind::kInput; };
  if (keys.empty() || !absl::c_all_of(inputs, is_activation)) return;
  std::vector<CallKey>& here = contents().call_keys;
  here.resize(contents().nodes.size());
  here.insert(here.end(), keys.begin(), keys.end());
}

Graph GraphBuilder::Build(std::vector<ValueRef> outputs) && {
  contents().outputs = std::move(outputs);
  contents().num_results = amount_.results;
  contents().num_dimensions = amount_.dimensions;
  contents().is_built = true;
  return std::move(graph_);
}

}  // namespace cobra::graph
