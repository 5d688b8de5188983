#include "frontend/tflite/importer.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/tflite/handlers.h"
#include "graph/builder/untrusted.h"
#include "graph/constants/const_eval.h"

namespace cobra::tflite {
namespace {

// Null if the code is unknown.
Handler HandlerOf(schema::BuiltinOperator code) {
  switch (code) {
#define COBRA_TFLITE(name, handler, calls, note) \
  case schema::BuiltinOperator_##name:           \
    return handlers::handler;
#include "frontend/tflite/operators.def"
#undef COBRA_TFLITE
    default: return nullptr;
  }
}

std::optional<graph::DType> DTypeOf(schema::TensorType type) {
  switch (type) {
    case schema::TensorType_FLOAT32: return graph::DType::float32;
    case schema::TensorType_FLOAT16: return graph::DType::float16;
    case schema::TensorType_FLOAT64: return graph::DType::float64;
    case schema::TensorType_INT64: return graph::DType::int64;
    case schema::TensorType_INT32: return graph::DType::int32;
    case schema::TensorType_INT16: return graph::DType::int16;
    case schema::TensorType_INT8: return graph::DType::int8;
    case schema::TensorType_UINT8: return graph::DType::uint8;
    case schema::TensorType_BOOL: return graph::DType::bool_;
    default: return std::nullopt;
  }
}

template <typename T>
void Decode(const uint8_t* data, size_t n, Values* values) {
  values->resize(n);
  for (size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, data + i * sizeof(T), sizeof(T));
    (*values)[i] = static_cast<double>(value);
  }
}

// Decodes the numbers of a constant; returns false for types whose values are not used.
bool DecodeAs(graph::DType dtype, const uint8_t* data, size_t n, Values* values) {
  switch (dtype) {
    case graph::DType::float32: Decode<float>(data, n, values); return true;
    case graph::DType::float64: Decode<double>(data, n, values); return true;
    case graph::DType::int64: Decode<int64_t>(data, n, values); return true;
    case graph::DType::int32: Decode<int32_t>(data, n, values); return true;
    case graph::DType::int16: Decode<int16_t>(data, n, values); return true;
    case graph::DType::int8: Decode<int8_t>(data, n, values); return true;
    case graph::DType::uint8:
    case graph::DType::bool_: Decode<uint8_t>(data, n, values); return true;
    default: return false;
  }
}

std::string Printable(absl::string_view text) {
  std::string out(text.substr(0, 200));
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 32 || c == 127; }, '?');
  return out;
}

}  // namespace

Importer::Importer(const schema::Model& model, const TfliteRequest& request, const Limits& limits)
    : model_(model),
      request_(request),
      limits_(limits),
      deadline_(limits.wall_time_ms > 0 ? absl::Now() + absl::Milliseconds(limits.wall_time_ms)
                                        : absl::InfiniteFuture()),
      builder_(limits.graph),
      file_(std::make_shared<const std::string>(request.name)) {}

// The whole sequence: the file's tables, its tensors, the inputs, the operators in order, the
// outputs.
absl::StatusOr<TfliteModel> Importer::Import() {
  COBRA_RETURN_IF_ERROR(CheckModel());
  COBRA_RETURN_IF_ERROR(ReadTensors());
  COBRA_RETURN_IF_ERROR(BindInputs());
  const int operators = network_->operators() == nullptr ? 0 : static_cast<int>(network_->operators()->size());
  for (int i = 0; i < operators; ++i) {
    COBRA_RETURN_IF_ERROR(Step(*network_->operators()->Get(i)));
    COBRA_ASSIGN_OR_RETURN(const OpCall call, ReadCall(i));
    COBRA_RETURN_IF_ERROR(RunOperator(call));
  }
  std::vector<graph::ValueRef> outputs;
  for (int tensor : *network_->outputs()) {
    if (tensor < 0 || tensor >= static_cast<int>(states_.size()) || !states_[tensor].known) {
      return FileError(absl::StrCat("output ", NameOf(tensor), " is computed by no operator"));
    }
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef ref, File(tensor));
    outputs.push_back(ref);
  }
  return TfliteModel{std::move(builder_).Build(std::move(outputs)), std::move(weights_)};
}

absl::Status Importer::CheckModel() {
  if (model_.version() != 3) {
    return FileError(absl::StrCat("a file of schema version ", model_.version(), "; version 3 is the one in use"));
  }
  if (model_.subgraphs() == nullptr || model_.subgraphs()->size() == 0) return FileError("there is no network in it");
  network_ = model_.subgraphs()->Get(0);
  if (network_->tensors() == nullptr || network_->inputs() == nullptr || network_->outputs() == nullptr ||
      network_->outputs()->size() == 0) {
    return FileError("the network has no tensors, inputs or outputs");
  }
  if (network_->tensors()->size() > limits_.tflite.max_tensors) {
    return LimitError(LimitMessage("", network_->tensors()->size(), limits_.tflite.max_tensors, "tensors"));
  }
  if (network_->operators() != nullptr && network_->operators()->size() > limits_.tflite.max_operators) {
    return LimitError(LimitMessage("", network_->operators()->size(), limits_.tflite.max_operators, "operators"));
  }
  return absl::OkStatus();
}

absl::Status Importer::ReadTensors() {
  const size_t n = network_->tensors()->size();
  file_types_.resize(n);
  states_.resize(n);
  for (size_t i = 0; i < n; ++i) {
    const int tensor = static_cast<int>(i);
    const schema::Tensor* in = network_->tensors()->Get(i);
    const std::optional<graph::DType> dtype = DTypeOf(in->type());
    // A tensor of another type matters only if an operator that we support uses it, because it then
    // has no state.
    if (!dtype.has_value()) continue;
    graph::TensorType& type = file_types_[i];
    type.dtype = *dtype;
    if (in->shape() != nullptr) {
      if (static_cast<int>(in->shape()->size()) > limits_.tflite.max_rank) {
        return LimitError(LimitMessage(absl::StrCat("tensor ", NameOf(tensor)), in->shape()->size(),
                                       limits_.tflite.max_rank, "dimensions"));
      }
      for (int32_t d : *in->shape()) {
        if (d < 0) return FileError(absl::StrCat("tensor ", NameOf(tensor), " has a dimension of ", d));
        type.shape.push_back(d);
      }
      if (graph::IsTooLarge(type, limits_.graph.max_tensor_bytes)) {
        return LimitError(
            LimitMessage(absl::StrCat("tensor ", NameOf(tensor)), limits_.graph.max_tensor_bytes, "bytes"));
      }
    }
    states_[i].type = type;
    if (in->buffer() == 0) continue;
    if (model_.buffers() == nullptr || in->buffer() >= model_.buffers()->size()) {
      return FileError(
          absl::StrCat("tensor ", NameOf(tensor), " has its data in buffer ", in->buffer(), ", which is not there"));
    }
    COBRA_RETURN_IF_ERROR(ReadConstant(tensor, model_.buffers()->Get(in->buffer())));
  }
  return absl::OkStatus();
}

absl::Status Importer::ReadConstant(int tensor, const schema::Buffer* buffer) {
  if (buffer->offset() > 1) return FileError("weights behind the flatbuffer (a file beyond 2 GB) are not supported");
  if (buffer->data() == nullptr || buffer->data()->size() == 0)
    return absl::OkStatus();  // filled while the network runs
  TensorState& state = states_[tensor];
  if (network_->tensors()->Get(tensor)->sparsity() != nullptr) {
    return FileError(absl::StrCat("tensor ", NameOf(tensor), ": sparse weights are not supported"));
  }
  const int64_t elements = state.type.num_elements();
  if (static_cast<int64_t>(buffer->data()->size()) != state.type.num_bytes()) {
    return FileError(absl::StrCat("tensor ", NameOf(tensor), " is ", graph::TypeText(state.type), ", its buffer has ",
                                  buffer->data()->size(), " bytes"));
  }
  state.known = state.constant = true;
  state.source = tensor;
  // Sizes and axes are integers. Constants of other types are decoded only if they are small.
  constexpr int64_t kSmall = 1024;
  const bool sizes = state.type.dtype == graph::DType::int32 || state.type.dtype == graph::DType::int64;
  if (elements > (sizes ? limits_.tflite.max_const_elements : std::min(kSmall, limits_.tflite.max_const_elements)))
    return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(CountValues(elements));
  Values values;
  if (DecodeAs(state.type.dtype, buffer->data()->data(), static_cast<size_t>(elements), &values)) {
    state.values = std::make_shared<const Values>(std::move(values));
  }
  return absl::OkStatus();
}

absl::Status Importer::CountValues(int64_t elements) {
  value_bytes_ += elements * static_cast<int64_t>(sizeof(double));
  if (value_bytes_ <= limits_.tflite.max_const_bytes) return absl::OkStatus();
  return LimitError(LimitMessage("the values of its constants", limits_.tflite.max_const_bytes, "bytes"));
}

absl::Status Importer::BindInputs() {
  const size_t n = network_->inputs()->size();
  if (!request_.inputs.empty() && request_.inputs.size() != n) {
    return UsageError(
        absl::StrCat("--input: ", request_.inputs.size(), " given, ", request_.name, " has ", Counted(n, "input")),
        "give one for each input, in the file's order and without names, or none: then its own sizes are taken");
  }
  for (size_t i = 0; i < n; ++i) {
    const int tensor = network_->inputs()->Get(i);
    if (tensor < 0 || tensor >= static_cast<int>(states_.size())) {
      return FileError(absl::StrCat("input ", i, " is tensor ", tensor, ", which is not there"));
    }
    TensorState& state = states_[tensor];
    if (state.known) return FileError(absl::StrCat("input ", NameOf(tensor), " is a constant, or named twice"));
    if (!DTypeOf(network_->tensors()->Get(tensor)->type()).has_value()) {
      return FileError(absl::StrCat("input ", NameOf(tensor), " has a type that is not supported: ",
                                    schema::EnumNameTensorType(network_->tensors()->Get(tensor)->type())));
    }
    if (!request_.inputs.empty()) {
      const std::string& text = request_.inputs[i];
      COBRA_ASSIGN_OR_RETURN(const graph::TensorType wanted, graph::ParseTensorType(text));
      // For a text without a type, the parser returns float32; the type is the file's.
      const bool other_type = absl::StrContains(text, ':') && wanted.dtype != state.type.dtype;
      if (wanted.rank() != state.type.rank() || other_type) {
        return UsageError(
            absl::StrCat("--input ", text, ": input ", NameOf(tensor), " is ", graph::TypeText(state.type)),
            other_type ? "leave the type out: it is the file's"
                       : "sizes are in the file's own order, images as batch x height x width x channels");
      }
      resized_ = resized_ || wanted.shape != state.type.shape;
      state.type.shape = wanted.shape;
      if (graph::IsTooLarge(state.type, limits_.graph.max_tensor_bytes)) {
        return LimitError(
            LimitMessage(absl::StrCat("input ", NameOf(tensor)), limits_.graph.max_tensor_bytes, "bytes"));
      }
    }
    const flatbuffers::String* name = network_->tensors()->Get(tensor)->name();
    state.file = builder_.AddInput(name == nullptr ? absl::StrCat("input", i) : Printable(name->str()), state.type);
    state.known = true;
  }
  return absl::OkStatus();
}

absl::Status Importer::Step(const schema::Operator& op) {
  for (const auto* list : {op.inputs(), op.outputs()}) uses_ += list == nullptr ? 0 : list->size();
  if (uses_ > limits_.tflite.max_uses) {
    return LimitError(LimitMessage("what its operators use", limits_.tflite.max_uses, "tensors"));
  }
  if (limits_.cancelled != nullptr && limits_.cancelled->load()) return LimitError("the request was cancelled");
  if (absl::Now() > deadline_) {
    return LimitError(LimitMessage("reading", limits_.wall_time_ms, "ms"));
  }
  return absl::OkStatus();
}

absl::StatusOr<OpCall> Importer::ReadCall(int index) const {
  OpCall call;
  call.op = network_->operators()->Get(index);
  call.index = index;
  const auto* codes = model_.operator_codes();
  if (codes == nullptr || call.op->opcode_index() >= codes->size()) {
    return FileError(
        absl::StrCat("operator ", index, " has code number ", call.op->opcode_index(), ", which is not there"));
  }
  const schema::OperatorCode* code = codes->Get(call.op->opcode_index());
  // As in TFLite: the larger one is valid, since each version of the format fills in one of the
  // two.
  call.code = std::max(static_cast<schema::BuiltinOperator>(code->deprecated_builtin_code()), code->builtin_code());
  const int tensors = static_cast<int>(states_.size());
  for (const auto& [list, out] :
       {std::pair{call.op->inputs(), &call.inputs}, std::pair{call.op->outputs(), &call.outputs}}) {
    if (list == nullptr) continue;
    for (int32_t tensor : *list) {
      if (tensor < -1 || tensor >= tensors) {
        return FileError(absl::StrCat("operator ", index, " uses tensor ", tensor, ", which is not there"));
      }
      out->push_back(tensor);
    }
  }
  return call;
}

namespace {

// Inputs that a file may omit (-1): a bias, Reshape's shape if the options contain it, the value
// that PadV2 pads with.
bool IsOptionalInput(schema::BuiltinOperator code, size_t input) {
  switch (code) {
    case schema::BuiltinOperator_CONV_2D:
    case schema::BuiltinOperator_DEPTHWISE_CONV_2D:
    case schema::BuiltinOperator_FULLY_CONNECTED:
    case schema::BuiltinOperator_PADV2: return input == 2;
    case schema::BuiltinOperator_TRANSPOSE_CONV: return input == 3;
    case schema::BuiltinOperator_RESHAPE: return input == 1;
    default: return false;
  }
}

}  // namespace

absl::Status Importer::RunOperator(const OpCall& call) {
  const Handler handler = HandlerOf(call.code);
  if (handler == nullptr) {
    const flatbuffers::String* custom = model_.operator_codes()->Get(call.op->opcode_index())->custom_code();
    return UserError(
        Diagnostic::Kind::kUnsupported,
        absl::StrCat(Label(call), custom == nullptr ? "" : absl::StrCat(" '", Printable(custom->str()), "'"),
                     ": this operator is not supported"),
        "docs/tflite_support.md lists those that are", {request_.name});
  }
  for (size_t k = 0; k < call.inputs.size(); ++k) {
    const int tensor = call.inputs[k];
    if (tensor < 0 && !IsOptionalInput(call.code, k)) return Wrong(call, absl::StrCat("input ", k, " is left out"));
    if (tensor < 0) continue;
    if (!DTypeOf(network_->tensors()->Get(tensor)->type()).has_value()) {
      return Unsupported(call, absl::StrCat("input ", NameOf(tensor), " is ",
                                            schema::EnumNameTensorType(network_->tensors()->Get(tensor)->type())));
    }
    if (!states_[tensor].known) return Wrong(call, absl::StrCat("input ", NameOf(tensor), " is not computed before"));
  }
  if (call.inputs.empty()) return Wrong(call, "it has no input");
  if (call.outputs.empty()) return Wrong(call, "it has no output");
  for (int tensor : call.outputs) {
    if (tensor < 0) return Wrong(call, "an output is left out");
    if (states_[tensor].known) return Wrong(call, absl::StrCat("output ", NameOf(tensor), " is there already"));
  }
  COBRA_RETURN_IF_ERROR(handler(*this, call));
  for (size_t k = 0; k < call.outputs.size(); ++k) COBRA_RETURN_IF_ERROR(CheckOutput(call, k));
  return absl::OkStatus();
}

// Compares the file's own shape of the output with the one that follows from the operator: if they
// differ, one of the two was read wrongly.
absl::Status Importer::CheckOutput(const OpCall& call, size_t k) const {
  const int tensor = call.outputs[k];
  if (!states_[tensor].known) return Wrong(call, absl::StrCat("output ", NameOf(tensor), " was not computed"));
  const schema::Tensor* in = network_->tensors()->Get(tensor);
  const bool open =
      in->shape_signature() != nullptr &&
      std::any_of(in->shape_signature()->begin(), in->shape_signature()->end(), [](int32_t d) { return d < 0; });
  if (resized_ || open || in->shape() == nullptr || in->shape()->size() == 0) return absl::OkStatus();
  if (states_[tensor].type.shape == file_types_[tensor].shape) return absl::OkStatus();
  return Wrong(call, absl::StrCat("output ", NameOf(tensor), " is ", graph::ShapeText(file_types_[tensor].shape),
                                  " in the file, the operator gives ", graph::ShapeText(states_[tensor].type.shape)));
}

bool Importer::IsQuantized(int tensor) const {
  const graph::DType dtype = file_types_[tensor].dtype;
  if (dtype != graph::DType::int8 && dtype != graph::DType::uint8 && dtype != graph::DType::int16) return false;
  const schema::QuantizationParameters* q = Quantization(tensor);
  return q != nullptr && q->scale() != nullptr && q->scale()->size() > 0;
}

const schema::QuantizationParameters* Importer::Quantization(int tensor) const {
  return network_->tensors()->Get(tensor)->quantization();
}

absl::StatusOr<graph::ValueRef> Importer::Permuted(graph::ValueRef ref, std::vector<int64_t> dims) {
  graph::Origin origin;
  origin.file = file_;
  const absl::StatusOr<int32_t> node =
      builder_.Add(graph::Op::permute, {{"dims", std::move(dims)}}, {ref}, std::move(origin));
  if (!node.ok()) return LimitError(node.status().message());
  return graph::ValueRef::Node(*node);
}

absl::StatusOr<graph::ValueRef> Importer::File(int tensor) {
  TensorState& state = states_[tensor];
  if (!state.file.is_none()) return state.file;
  if (state.constant) {
    std::vector<int> order(state.type.rank());
    std::iota(order.begin(), order.end(), 0);
    COBRA_ASSIGN_OR_RETURN(state.file, Weight(tensor, order));
    return state.file;
  }
  COBRA_ASSIGN_OR_RETURN(state.file, Permuted(state.image, {0, 2, 3, 1}));
  return state.file;
}

absl::StatusOr<graph::ValueRef> Importer::Image(int tensor) {
  TensorState& state = states_[tensor];
  if (state.constant) return Weight(tensor, {0, 3, 1, 2});
  if (!state.image.is_none()) return state.image;
  COBRA_ASSIGN_OR_RETURN(state.image, Permuted(state.file, {0, 3, 1, 2}));
  return state.image;
}

absl::StatusOr<graph::ValueRef> Importer::Weight(int tensor, std::vector<int> permutation, const graph::Shape* shape) {
  TensorState& state = states_[tensor];
  std::vector<int64_t> key(permutation.begin(), permutation.end());
  if (shape != nullptr) key.insert(key.end(), shape->begin(), shape->end());
  const auto found = placed_.find({tensor, key});
  if (found != placed_.end()) return found->second;
  graph::Shape filled = state.type.shape;
  while (filled.size() < permutation.size()) filled.insert(filled.begin(), 1);
  graph::Shape permuted(filled.size());
  for (size_t i = 0; i < permutation.size(); ++i) permuted[i] = filled[permutation[i]];
  const graph::TensorType type{shape == nullptr ? permuted : *shape, state.type.dtype};
  std::string name = NameOf(tensor);
  for (int& n = weight_names_[name]; n++ > 0;) {
    // The next number for that name, or a later one if another tensor already has the numbered
    // name.
    std::string numbered = absl::StrCat(name, "#", n);
    if (weight_names_.emplace(numbered, 1).second) {
      name = std::move(numbered);
      break;
    }
  }
  // A result that was computed from constants is a constant; data in the file is a weight.
  const graph::ValueRef ref = state.source >= 0 ? builder_.AddParameter(name, type) : builder_.AddConstant(name, type);
  if (state.source >= 0) weights_.push_back({ref, state.source, filled, permutation});
  placed_[{tensor, key}] = ref;
  return ref;
}

std::optional<double> Importer::Number(int tensor) const {
  const TensorState& state = states_[tensor];
  if (!state.constant || state.values == nullptr || state.values->size() != 1 || IsQuantized(tensor))
    return std::nullopt;
  return (*state.values)[0];
}

absl::StatusOr<std::vector<int64_t>> Importer::Ints(const OpCall& call, size_t input, absl::string_view what) const {
  if (!call.has(input)) return Wrong(call, absl::StrCat(what, " is missing"));
  const TensorState& state = states_[call.inputs[input]];
  if (state.values == nullptr) {
    if (state.constant) return Unsupported(call, LimitMessage(what, limits_.tflite.max_const_elements, "numbers"));
    return UserError(
        Diagnostic::Kind::kDataDependent,
        absl::StrCat(Label(call), ": ", what, " (", NameOf(call.inputs[input]), ") depends on the values of the input"),
        "", {request_.name});
  }
  constexpr double kMost = 9e15;  // integers are exact below
  std::vector<int64_t> values;
  for (double v : *state.values) {
    if (!(v > -kMost && v < kMost)) return Wrong(call, absl::StrCat(what, " has a number out of range"));
    values.push_back(static_cast<int64_t>(v));
  }
  return values;
}

absl::StatusOr<int64_t> Importer::Int(const OpCall& call, size_t input, absl::string_view what) const {
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> values, Ints(call, input, what));
  if (values.size() != 1) return Wrong(call, absl::StrCat(what, " is one number, not ", values.size()));
  return values[0];
}

absl::StatusOr<graph::ValueRef> Importer::AddNode(const OpCall& call, graph::Op op, graph::Attributes attributes,
                                                  graph::ValueRefs inputs, bool inplace) {
  graph::Origin origin;
  origin.file = file_;
  origin.line = call.index + 1;
  const std::string name = call.outputs.empty() ? "" : NameOf(call.outputs[0]);
  origin.module_path = name;
  const absl::StatusOr<int32_t> node =
      builder_.Add(op, std::move(attributes), std::move(inputs), std::move(origin), inplace);
  if (!node.ok()) {
    if (absl::IsResourceExhausted(node.status()))
      return LimitError(absl::StrCat(Label(call), ": ", node.status().message()));
    return Wrong(call, node.status().message());
  }
  return graph::ValueRef::Node(*node);
}

absl::StatusOr<graph::ValueRef> Importer::Move(const OpCall& call, graph::Op op, graph::Attributes attributes,
                                               graph::ValueRefs inputs) {
  return AddNode(call, op, std::move(attributes), std::move(inputs), /*inplace=*/false);
}

absl::StatusOr<graph::ValueRef> Importer::Compute(const OpCall& call, graph::Op op, graph::Attributes attributes,
                                                  graph::ValueRefs inputs, bool inplace) {
  bool quantized = IsQuantized(call.outputs[0]);
  for (int tensor : call.inputs)
    quantized = quantized || (tensor >= 0 && IsQuantized(tensor) && states_[tensor].source >= 0 &&
                              !graph::IsFloatingPoint(states_[tensor].type.dtype));
  const graph::DType out = file_types_[call.outputs[0]].dtype;
  if (quantized && out != graph::DType::bool_) attributes.Set("quantized", std::string(graph::DTypeName(out)));
  return AddNode(call, op, std::move(attributes), std::move(inputs), inplace);
}

absl::StatusOr<graph::ValueRef> Importer::Activate(const OpCall& call, graph::ValueRef x,
                                                   schema::ActivationFunctionType activation) {
  switch (activation) {
    case schema::ActivationFunctionType_NONE: return x;
    case schema::ActivationFunctionType_RELU: return Compute(call, graph::Op::relu, {}, {x}, /*inplace=*/true);
    case schema::ActivationFunctionType_RELU6: return Compute(call, graph::Op::relu6, {}, {x}, /*inplace=*/true);
    case schema::ActivationFunctionType_RELU_N1_TO_1:
      return Compute(call, graph::Op::hardtanh, {{"min_val", -1.0}, {"max_val", 1.0}}, {x}, /*inplace=*/true);
    case schema::ActivationFunctionType_TANH: return Compute(call, graph::Op::tanh, {}, {x}, /*inplace=*/true);
    default: return Unsupported(call, absl::StrCat("fused activation ", static_cast<int>(activation)));
  }
}

absl::Status Importer::SetFile(const OpCall& call, size_t k, absl::StatusOr<graph::ValueRef> ref) {
  if (!ref.ok()) return ref.status();
  if (k >= call.outputs.size())
    return Wrong(call, absl::StrCat("it has ", call.outputs.size(), " outputs, ", k + 1, " or more expected"));
  TensorState& state = states_[call.outputs[k]];
  state.file = *ref;
  state.type = builder_.TypeOf(*ref);
  state.known = true;
  return absl::OkStatus();
}

absl::Status Importer::SetImage(const OpCall& call, size_t k, absl::StatusOr<graph::ValueRef> ref) {
  if (!ref.ok()) return ref.status();
  if (k >= call.outputs.size())
    return Wrong(call, absl::StrCat("it has ", call.outputs.size(), " outputs, ", k + 1, " or more expected"));
  TensorState& state = states_[call.outputs[k]];
  const graph::TensorType& type = builder_.TypeOf(*ref);
  state.image = *ref;
  state.is_image = true;
  state.type = {{type.shape[0], type.shape[2], type.shape[3], type.shape[1]}, type.dtype};
  state.known = true;
  return absl::OkStatus();
}

absl::Status Importer::SetConstant(const OpCall& call, size_t k, graph::TensorType type, Values values) {
  if (k >= call.outputs.size()) return Wrong(call, "it has too few outputs");
  if (static_cast<int64_t>(values.size()) > limits_.tflite.max_const_elements) {
    return Unsupported(call, LimitMessage("a computed constant", limits_.tflite.max_const_elements, "numbers"));
  }
  COBRA_RETURN_IF_ERROR(CountValues(static_cast<int64_t>(values.size())));
  TensorState& state = states_[call.outputs[k]];
  state.type = std::move(type);
  state.known = state.constant = true;
  state.values = std::make_shared<const Values>(std::move(values));
  return absl::OkStatus();
}

absl::Status Importer::SetWeight(const OpCall& call, size_t k, int tensor, graph::DType dtype,
                                 std::shared_ptr<const Values> values) {
  TensorState& state = states_[call.outputs[k]];
  state.type = {states_[tensor].type.shape, dtype};
  state.known = state.constant = true;
  state.values = std::move(values);
  state.source = states_[tensor].source;
  return absl::OkStatus();
}

absl::Status Importer::SetSame(const OpCall& call, size_t k) {
  states_[call.outputs[k]] = states_[call.inputs[0]];
  return absl::OkStatus();
}

std::string Importer::NameOf(int tensor) const {
  if (tensor < 0 || tensor >= static_cast<int>(network_->tensors()->size())) return absl::StrCat("tensor ", tensor);
  const flatbuffers::String* name = network_->tensors()->Get(tensor)->name();
  // Names may repeat or be missing; the number identifies a tensor.
  return name == nullptr || name->size() == 0 ? absl::StrCat("tensor", tensor) : Printable(name->str());
}

std::string Importer::Label(const OpCall& call) const {
  const char* name = schema::EnumNameBuiltinOperator(call.code);
  return absl::StrCat("operator ", call.index, " (",
                      *name == '\0' ? absl::StrCat("code ", static_cast<int>(call.code)) : name, ")");
}

absl::Status Importer::Unsupported(const OpCall& call, absl::string_view what) const {
  return UserError(Diagnostic::Kind::kUnsupported, absl::StrCat(Label(call), ": ", what, " is not supported"),
                   "docs/tflite_support.md lists what is supported", {request_.name});
}

absl::Status Importer::Wrong(const OpCall& call, absl::string_view what) const {
  return FileError(absl::StrCat(Label(call), ": ", what));
}

absl::Status Importer::FileError(absl::string_view message) const {
  return UserError(Diagnostic::Kind::kModelError, std::string(message), "", {request_.name});
}

absl::Status Importer::LimitError(absl::string_view message) const {
  return UserError(Diagnostic::Kind::kLimit, std::string(message), "", {request_.name});
}

}  // namespace cobra::tflite
