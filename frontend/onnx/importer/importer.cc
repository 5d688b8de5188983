#include "frontend/onnx/importer/importer.h"

#include <algorithm>
#include <cmath>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/onnx/importer/fusion.h"
#include "frontend/onnx/importer/node_context.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/importer/tensor_data.h"
#include "graph/builder/untrusted.h"
#include "graph/constants/const_eval.h"

namespace cobra::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::GraphProto;
using ::onnx::NodeProto;

constexpr int kMinOpset = 6, kMaxOpset = 24;

// Whether all opsets before 6 define the operator in the same way as opset 6.
bool IsSameBeforeOpset6(absl::string_view op_type) {
  static const auto* const kSame = new absl::flat_hash_set<absl::string_view>{
      "AveragePool",   "Constant", "Conv",    "ConvTranspose", "Flatten",  "Gather",  "GlobalAveragePool",
      "GlobalMaxPool", "Identity", "LRN",     "LogSoftmax",    "MaxPool",  "Not",     "Shape",
      "Size",          "Slice",    "Softmax", "Softplus",      "Softsign", "Squeeze", "Transpose",
      "Unsqueeze"};
  return kSame->contains(op_type);
}

bool DependsOnValues(absl::string_view op_type) { return op_type == "NonMaxSuppression" || op_type == "Unique"; }

Diagnostic::Kind KindOf(absl::StatusCode code) {
  switch (code) {
    case absl::StatusCode::kUnimplemented: return Diagnostic::Kind::kUnsupported;
    case absl::StatusCode::kFailedPrecondition: return Diagnostic::Kind::kDataDependent;
    case absl::StatusCode::kResourceExhausted: return Diagnostic::Kind::kLimit;
    default: return Diagnostic::Kind::kModelError;
  }
}

// With what to do, which only this place knows. AtNode and Import add where it is.
absl::Status UnsupportedWithHint(std::string message, absl::string_view hint) {
  return UserError(Diagnostic::Kind::kUnsupported, std::move(message), std::string(hint));
}

std::string OpsetHint() {
  return absl::StrCat("export it for opset ", kMaxOpset,
                      " or an earlier one (torch.onnx.export: opset_version), or convert the file: "
                      "onnx.version_converter.convert_version(model, ",
                      kMaxOpset, ")");
}

constexpr absl::string_view kOtherOperatorsHint =
    "export the model without it, or write the operator as a function of the file; or give the program that the file "
    "was made from";

// Collects the names that the subgraphs of a node read; some of them belong to the enclosing graph.
void CollectSubgraphReads(const NodeProto& node, std::vector<std::string>* names) {
  const auto visit = [&](const GraphProto& graph) {
    for (const NodeProto& inner : graph.node()) {
      names->insert(names->end(), inner.input().begin(), inner.input().end());
      CollectSubgraphReads(inner, names);
    }
    for (const auto& output : graph.output()) names->push_back(output.name());
  };
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.has_g()) visit(attribute.g());
    for (const GraphProto& graph : attribute.graphs()) visit(graph);
  }
}

std::shared_ptr<const Consumers> ConsumersOf(const GraphProto& graph) {
  auto consumers = std::make_shared<Consumers>();
  for (int i = 0; i < graph.node_size(); ++i) {
    const NodeProto& node = graph.node(i);
    std::vector<std::string> names(node.input().begin(), node.input().end());
    CollectSubgraphReads(node, &names);
    for (std::string& name : names) (*consumers)[std::move(name)].push_back(i);
  }
  for (const auto& output : graph.output()) (*consumers)[output.name()].push_back(-1);
  return consumers;
}

std::string LabelOf(const NodeProto& node) { return node.name().empty() ? node.op_type() : node.name(); }

}  // namespace

const Value* GraphRun::Find(const std::string& name) const {
  for (const GraphRun* run = this; run != nullptr; run = run->outer) {
    const auto it = run->values.find(name);
    if (it != run->values.end()) return &it->second;
  }
  return nullptr;
}

Importer::Importer(const OnnxRequest& request, const Limits& limits, bool keep_values)
    : request_(request),
      limits_(limits),
      keep_values_(keep_values),
      deadline_(limits.wall_time_ms > 0 ? absl::Now() + absl::Milliseconds(limits.wall_time_ms)
                                        : absl::InfiniteFuture()),
      builder_(limits.graph),
      file_(std::make_shared<const std::string>(request.name)) {}

absl::Status Importer::Step(int64_t count) {
  const int64_t before = steps_;
  steps_ += count;
  if (steps_ > limits_.onnx.max_steps) {
    return absl::ResourceExhaustedError(
        LimitMessage("what is executed, turns of loops included", limits_.onnx.max_steps, "nodes"));
  }
  if (steps_ / 64 == before / 64) return absl::OkStatus();
  if (limits_.cancelled != nullptr && limits_.cancelled->load()) return absl::CancelledError("cancelled");
  if (absl::Now() > deadline_) {
    return absl::ResourceExhaustedError(LimitMessage("reading", limits_.wall_time_ms, "ms"));
  }
  return absl::OkStatus();
}

// ---- tensors

absl::StatusOr<TensorPtr> Importer::Constant(graph::TensorType type, Values values, absl::string_view name) {
  const_bytes_ += static_cast<int64_t>(values.size() * sizeof(double));
  if (!keep_values_ && const_bytes_ > limits_.onnx.max_const_bytes) {
    return absl::ResourceExhaustedError(LimitMessage("the values of constants", limits_.onnx.max_const_bytes, "bytes"));
  }
  auto tensor = std::make_shared<Tensor>();
  for (double& v : values) v = graph::RoundTo(type.dtype, v);
  tensor->type = std::move(type);
  tensor->constant = true;
  tensor->name = std::string(name);
  tensor->values = std::make_shared<const Values>(std::move(values));
  return tensor;
}

absl::StatusOr<TensorPtr> Importer::FromProto(const ::onnx::TensorProto& proto, bool weight, absl::string_view name) {
  auto tensor = std::make_shared<Tensor>();
  COBRA_ASSIGN_OR_RETURN(tensor->type, TypeOf(proto));
  tensor->constant = true;
  tensor->weight = weight && (graph::IsFloatingPoint(tensor->type.dtype) || graph::DTypeBytes(tensor->type.dtype) == 1);
  tensor->name = std::string(name.empty() ? proto.name() : name);
  tensor->proto = &proto;
  if (OnnxTypeOf(*tensor) != proto.data_type()) tensor->onnx_type = proto.data_type();
  if (IsElsewhere(proto)) {
    const std::string file = LocationOf(proto);
    tensor->elsewhere = std::make_shared<const std::string>(absl::StrCat(
        "\"", tensor->name, "\"", file.empty() ? ", which was left out" : absl::StrCat(" in the file \"", file, "\"")));
  }
  return tensor;
}

absl::StatusOr<std::shared_ptr<const Values>> Importer::TryValues(const TensorPtr& tensor) {
  if (!tensor->constant) return nullptr;
  if (tensor->values == nullptr && tensor->proto != nullptr && tensor->elsewhere == nullptr &&
      !graph::IsComplex(tensor->type.dtype) &&
      (keep_values_ || tensor->type.num_elements() <= limits_.onnx.max_const_elements)) {
    const_bytes_ += tensor->type.num_elements() * static_cast<int64_t>(sizeof(double));
    if (!keep_values_ && const_bytes_ > limits_.onnx.max_const_bytes) {
      return absl::ResourceExhaustedError(
          LimitMessage("the values of constants", limits_.onnx.max_const_bytes, "bytes"));
    }
    tensor->values = std::make_shared<const Values>(Decode(*tensor->proto));
  }
  return tensor->values;
}

absl::StatusOr<std::shared_ptr<const Values>> Importer::NeedValues(const TensorPtr& tensor, absl::string_view what) {
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, TryValues(tensor));
  if (values != nullptr) return values;
  if (tensor->constant && tensor->elsewhere != nullptr &&
      tensor->type.num_elements() <= limits_.onnx.max_const_elements) {
    Diagnostic d;
    d.kind = Diagnostic::Kind::kUnsupported;
    d.message = absl::StrCat(what, " depends on the values of the tensor ", *tensor->elsewhere);
    d.hint =
        "cobra-client reads small tensors from that file if it is in the folder of the model; otherwise save the model "
        "with this tensor inside";
    return DiagnosticToStatus(d);
  }
  if (tensor->constant) {
    return absl::ResourceExhaustedError(LimitMessage(absl::StrCat("the values of ", what), tensor->type.num_elements(),
                                                     limits_.onnx.max_const_elements, "elements"));
  }
  Diagnostic d;
  d.kind = Diagnostic::Kind::kDataDependent;
  const std::vector<std::string> inputs = UpstreamInputs(tensor->ref);
  d.message = absl::StrCat(what, " depends on the values of ", inputs.size() == 1 ? "input " : "inputs ",
                           absl::StrJoin(inputs, ", "));
  if (!inputs.empty())
    d.hint = absl::StrCat("give them in advance if they are always the same: --arg ",
                          absl::StrJoin(inputs, "=VALUE --arg "), "=VALUE");
  return DiagnosticToStatus(d);
}

std::vector<std::string> Importer::UpstreamInputs(graph::ValueRef ref) const {
  const graph::Graph& graph = builder_.graph();
  std::vector<graph::ValueRef> stack{ref};
  std::vector<bool> seen(graph.nodes().size()), found(graph.inputs().size());
  while (!stack.empty()) {
    const graph::ValueRef at = stack.back();
    stack.pop_back();
    if (at.kind == graph::ValueRef::Kind::kInput) found[at.index] = true;
    if (!at.is_node() || seen[at.index]) continue;
    seen[at.index] = true;
    const graph::Node& node = graph.nodes()[at.index];
    stack.insert(stack.end(), node.inputs.begin(), node.inputs.end());
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i]) names.push_back(graph.inputs()[i].name);
  }
  return names;
}

void Importer::MarkAsBuffer(const TensorPtr& tensor) { buffers_[tensor.get()] = true; }

absl::StatusOr<graph::ValueRef> Importer::RefOf(const TensorPtr& tensor) {
  if (tensor == nullptr) return graph::ValueRef::None();
  if (!tensor->ref.is_none()) return tensor->ref;
  if (graph::IsTooLarge(tensor->type, limits_.graph.max_tensor_bytes)) {
    return absl::ResourceExhaustedError(LimitMessage(absl::StrCat("a constant of ", graph::TypeText(tensor->type)),
                                                     limits_.graph.max_tensor_bytes, "bytes"));
  }
  std::string name = tensor->name.empty() ? absl::StrCat("constant", next_constant_++) : tensor->name;
  while (!names_.insert(name).second) absl::StrAppend(&name, ".", next_constant_++);
  if (tensor->weight && buffers_.contains(tensor.get())) {
    tensor->ref = builder_.AddBuffer(name, tensor->type);
  } else if (tensor->weight) {
    tensor->ref = builder_.AddParameter(name, tensor->type);
  } else {
    tensor->ref = builder_.AddConstant(name, tensor->type);
    if (request_.keep_values) {
      COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, TryValues(tensor));
      if (values != nullptr) builder_.SetKnownValues(tensor->ref, std::move(values));
    }
  }
  placed_.push_back(tensor);
  return tensor->ref;
}

// ---- calls

absl::StatusOr<std::vector<TensorPtr>> Importer::Call(graph::Op op, graph::Attributes attributes,
                                                      const std::vector<TensorPtr>& inputs) {
  COBRA_RETURN_IF_ERROR(Step());
  const bool constant = !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [](const TensorPtr& input) {
    return input == nullptr || input->constant;
  });
  if (constant) {
    COBRA_ASSIGN_OR_RETURN(std::optional<std::vector<TensorPtr>> results, Folded(op, attributes, inputs));
    if (results.has_value()) return *std::move(results);
  }
  return Recorded(op, std::move(attributes), inputs);
}

absl::StatusOr<std::vector<std::shared_ptr<const Values>>> Importer::ConstantValues(
    graph::Op op, const graph::Attributes& attributes, const std::vector<graph::ConstInput>& inputs,
    const graph::TensorTypes& outputs) {
  for (const graph::ConstInput& input : inputs) {
    if (input.type != nullptr && input.values == nullptr)
      return std::vector<std::shared_ptr<const Values>>(outputs.size());
  }
  // Computing values counts as steps too: 65,536 values cost as much as 256 nodes.
  int64_t elements = 0;
  for (const graph::TensorType& type : outputs)
    elements += std::min(type.num_elements(), limits_.onnx.max_const_elements);
  if (!keep_values_) COBRA_RETURN_IF_ERROR(Step(elements / 256));
  const int64_t most = keep_values_ ? int64_t{1} << 28 : limits_.onnx.max_const_elements;
  return graph::EvalConst(op, attributes, inputs, outputs, most);
}

absl::StatusOr<std::optional<std::vector<TensorPtr>>> Importer::Folded(graph::Op op,
                                                                       const graph::Attributes& attributes,
                                                                       const std::vector<TensorPtr>& inputs) {
  std::vector<const graph::TensorType*> types;
  std::vector<graph::ConstInput> known;
  std::vector<std::shared_ptr<const Values>> held;
  bool all_known = true, weight = false;
  std::shared_ptr<const std::string> elsewhere;
  for (const TensorPtr& input : inputs) {
    types.push_back(input == nullptr ? nullptr : &input->type);
    if (input == nullptr) {
      known.push_back({});
      continue;
    }
    COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, TryValues(input));
    all_known = all_known && values != nullptr;
    weight = weight || input->weight;
    if (elsewhere == nullptr && values == nullptr) elsewhere = input->elsewhere;
    held.push_back(std::move(values));
    known.push_back({&input->type, held.back().get()});
  }
  COBRA_ASSIGN_OR_RETURN(graph::TensorTypes outputs, graph::InferTypes(op, attributes, types));
  for (const graph::TensorType& type : outputs) {
    if (graph::IsTooLarge(type, limits_.graph.max_tensor_bytes)) {
      return absl::ResourceExhaustedError(
          LimitMessage(absl::StrCat(graph::OpName(op), " makes a tensor of ", graph::TypeText(type)),
                       limits_.graph.max_tensor_bytes, "bytes"));
    }
  }
  COBRA_ASSIGN_OR_RETURN(const auto values, ConstantValues(op, attributes, known, outputs));
  bool folded = true;
  std::vector<TensorPtr> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    // A result that is too large to keep is computed once when the network is loaded; then it is an
    // ordinary weight.
    folded = folded && (values[i] != nullptr ||
                        (!keep_values_ && (!all_known || outputs[i].num_elements() > limits_.onnx.max_const_elements)));
    auto tensor = std::make_shared<Tensor>();
    tensor->type = std::move(outputs[i]);
    tensor->constant = true;
    tensor->weight = weight && graph::IsFloatingPoint(tensor->type.dtype);
    tensor->values = values[i];
    if (values[i] == nullptr) tensor->elsewhere = elsewhere;
    if (values[i] != nullptr) const_bytes_ += static_cast<int64_t>(values[i]->size() * sizeof(double));
    results.push_back(std::move(tensor));
  }
  if (!keep_values_ && const_bytes_ > limits_.onnx.max_const_bytes)
    return absl::ResourceExhaustedError(LimitMessage("the values of constants", limits_.onnx.max_const_bytes, "bytes"));
  if (!folded) return std::nullopt;
  if (!results.empty() && inputs[0] != nullptr && !inputs[0]->name.empty())
    results[0]->name = absl::StrCat(inputs[0]->name, ".", graph::OpName(op));
  return std::optional<std::vector<TensorPtr>>(std::move(results));
}

absl::StatusOr<std::vector<TensorPtr>> Importer::Recorded(graph::Op op, graph::Attributes attributes,
                                                          const std::vector<TensorPtr>& inputs) {
  graph::ValueRefs refs;
  for (const TensorPtr& input : inputs) {
    COBRA_ASSIGN_OR_RETURN(graph::ValueRef ref, RefOf(input));
    refs.push_back(ref);
  }
  graph::Origin origin;
  origin.file = file_;
  origin.line = origin_line_;
  origin.module_path = node_label_;
  COBRA_ASSIGN_OR_RETURN(const int32_t node,
                         builder_.Add(op, std::move(attributes), std::move(refs), std::move(origin)));
  const graph::Node& added = builder_.nodes()[node];
  std::vector<TensorPtr> results;
  for (size_t i = 0; i < added.outputs.size(); ++i) {
    auto tensor = std::make_shared<Tensor>();
    tensor->type = added.outputs[i];
    tensor->ref = graph::ValueRef::Node(node, static_cast<int32_t>(i));
    results.push_back(std::move(tensor));
  }
  return results;
}

// ---- graphs

absl::Status Importer::AtNode(const absl::Status& status, const NodeProto& node, int index) const {
  std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
  if (diagnostic.has_value() && !diagnostic->position.file.empty()) return status;  // the position is in a subgraph
  if (!diagnostic.has_value()) {
    if (absl::IsInternal(status) || absl::IsCancelled(status)) return status;
    diagnostic.emplace();
    diagnostic->kind = KindOf(status.code());
    diagnostic->message = std::string(status.message());
  }
  const std::string domain = node.domain().empty() ? "" : absl::StrCat(node.domain(), ".");
  const std::string name = node.name().empty() ? "" : absl::StrCat(" \"", node.name(), "\"");
  diagnostic->message =
      absl::StrCat(domain, node.op_type(), name, " (node ", index + 1, ", opset ", opset_, "): ", diagnostic->message);
  diagnostic->position.file = *file_;
  return DiagnosticToStatus(*diagnostic);
}

// The body of a loop runs many times, so the consumers of its values are computed only once.
void Importer::StartRun(GraphRun* run) {
  run->done.assign(run->graph->node_size(), false);
  std::shared_ptr<const Consumers>& consumers = consumers_[run->graph];
  if (consumers == nullptr) consumers = ConsumersOf(*run->graph);
  run->consumers = consumers;
}

absl::Status Importer::AddInitializers(GraphRun* run) {
  if (run->graph->sparse_initializer_size() > 0)
    return absl::UnimplementedError("sparse initializers are not supported");
  for (const ::onnx::TensorProto& proto : run->graph->initializer()) {
    COBRA_RETURN_IF_ERROR(Step());
    absl::StatusOr<TensorPtr> tensor = FromProto(proto, /*weight=*/true);
    if (!tensor.ok())
      return absl::Status(tensor.status().code(),
                          absl::StrCat("initializer \"", proto.name(), "\": ", tensor.status().message()));
    run->values[proto.name()] = Value(*std::move(tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<const Entry*> Importer::FindEntry(const NodeProto& node) const {
  const Registry* registry = OperatorsOf(node.domain());
  if (registry == nullptr) {
    const bool layout = node.domain() == "com.microsoft.nchwc" || node.domain() == "com.ms.internal.nhwc";
    return UnsupportedWithHint(absl::StrCat("operators of the domain ", node.domain(), " are not supported"),
                               layout ? "they are for one type of processor: let ONNX Runtime optimise up to the level "
                                        "extended"
                                      : kOtherOperatorsHint);
  }
  const Entry* entry = registry->Find(node.op_type());
  if (entry != nullptr && entry->handler != nullptr) {
    if (opset_ >= kMinOpset || !IsDefaultDomain(node.domain()) || IsSameBeforeOpset6(node.op_type())) return entry;
    return UnsupportedWithHint(absl::StrCat("opset ", opset_, " has another form of this operator; opsets ", kMinOpset,
                                            " to ", kMaxOpset, " are supported"),
                               OpsetHint());
  }
  if (IsDefaultDomain(node.domain()) && DependsOnValues(node.op_type())) {
    return absl::FailedPreconditionError(
        "how many elements it gives depends on the values of its inputs, which are not known before a run");
  }
  const std::string why = entry == nullptr ? "" : absl::StrCat(": ", entry->note);
  return UnsupportedWithHint(absl::StrCat("this operator is not supported", why),
                             absl::StrCat("docs/onnx_support.md lists those that are; ", kOtherOperatorsHint));
}

absl::Status Importer::RunNode(GraphRun* run, const NodeProto& node) {
  COBRA_RETURN_IF_ERROR(Step());
  if (!functions_.empty()) {
    const auto function = functions_.find(absl::StrCat(node.domain(), ":", node.op_type()));
    if (function != functions_.end()) return RunFunction(run, node, *function->second);
  }
  COBRA_ASSIGN_OR_RETURN(const Entry* entry, FindEntry(node));
  std::vector<Value> inputs;
  for (const std::string& name : node.input()) {
    if (name.empty()) {
      inputs.emplace_back();
      continue;
    }
    const Value* value = run->Find(name);
    if (value == nullptr) return Invalid("its input \"", name, "\" is computed by no node before it");
    if (!entry->sequences && !value->is_tensor()) return Invalid("its input \"", name, "\" must be a tensor");
    inputs.push_back(*value);
  }
  for (int i = 0; i < entry->required; ++i) {
    if (i < static_cast<int>(inputs.size()) && inputs[i].kind != Value::Kind::kAbsent) continue;
    return Invalid("takes at least ", entry->required, " inputs; input ", i, " is missing");
  }
  NodeContext context(this, run, node, std::move(inputs));
  absl::StatusOr<Outputs> outputs = entry->handler(context);
  COBRA_RETURN_IF_ERROR(context.attribute_error());
  if (!outputs.ok()) return outputs.status();
  for (int k = 0; k < node.output_size(); ++k) {
    if (node.output(k).empty()) continue;
    if (k >= static_cast<int>(outputs->size()) || (*outputs)[k].kind == Value::Kind::kAbsent) {
      return absl::UnimplementedError(absl::StrCat("its output ", k, " (\"", node.output(k), "\") is not supported"));
    }
    run->values[node.output(k)] = std::move((*outputs)[k]);
  }
  return absl::OkStatus();
}

absl::Status Importer::RunNodes(GraphRun* run) {
  const std::string outer_label = node_label_;
  const int outer_line = origin_line_;
  // Constants run first, so that code that looks ahead (fusion.h) finds their values.
  for (const bool constants : {true, false}) {
    for (int i = 0; i < run->graph->node_size(); ++i) {
      const NodeProto& node = run->graph->node(i);
      const bool is_constant = node.op_type() == "Constant" && IsDefaultDomain(node.domain());
      if (run->done[i] || (constants && !is_constant)) continue;
      node_label_ = outer_label.empty() ? LabelOf(node) : absl::StrCat(outer_label, "/", LabelOf(node));
      if (nesting_ == 0) origin_line_ = i + 1;
      absl::StatusOr<bool> fused = RunFused(this, run, i);
      absl::Status status = fused.status();
      if (fused.ok() && !*fused) status = RunNode(run, node);
      if (!status.ok()) return AtNode(status, node, i);
      run->done[i] = true;
    }
  }
  node_label_ = outer_label;
  origin_line_ = outer_line;
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Value>> Importer::RunGraph(const GraphProto& graph, std::vector<Value> inputs,
                                                      const GraphRun* outer) {
  if (++nesting_ > limits_.onnx.max_nesting) {
    return absl::ResourceExhaustedError(LimitMessage("the nesting of graphs", limits_.onnx.max_nesting, "levels"));
  }
  GraphRun run;
  run.graph = &graph;
  run.outer = outer;
  if (graph.input_size() != static_cast<int>(inputs.size())) {
    return Invalid("the graph inside takes ", graph.input_size(), " inputs, gets ", inputs.size());
  }
  for (int i = 0; i < graph.input_size(); ++i) run.values[graph.input(i).name()] = std::move(inputs[i]);
  COBRA_RETURN_IF_ERROR(AddInitializers(&run));
  StartRun(&run);
  COBRA_RETURN_IF_ERROR(RunNodes(&run));
  std::vector<Value> outputs;
  for (const auto& output : graph.output()) {
    const Value* value = run.Find(output.name());
    if (value == nullptr)
      return Invalid("the output \"", output.name(), "\" of the graph inside is computed by no node");
    outputs.push_back(*value);
  }
  --nesting_;
  return outputs;
}

absl::Status Importer::CollectOutputs(const Value& value, const std::string& name, std::vector<graph::ValueRef>* refs,
                                      OnnxModel* model) {
  if (value.is_tensor()) {
    COBRA_ASSIGN_OR_RETURN(graph::ValueRef ref, RefOf(value.tensor));
    refs->push_back(ref);
    model->output_names.push_back(name);
  }
  for (const Value& item : value.items) COBRA_RETURN_IF_ERROR(CollectOutputs(item, name, refs, model));
  return absl::OkStatus();
}

absl::Status Importer::CheckOpset(int opset) const {
  if (opset >= 1 && opset <= kMaxOpset) return absl::OkStatus();
  return UnsupportedWithHint(
      absl::StrCat("is of opset ", opset, "; opsets ", kMinOpset, " to ", kMaxOpset, " are supported"), OpsetHint());
}

absl::Status Importer::CheckModel(const ::onnx::ModelProto& model) {
  if (!model.has_graph()) return Invalid("has no graph: is it an ONNX file?");
  for (const auto& set : model.opset_import()) {
    if (set.domain().empty() || set.domain() == "ai.onnx")
      opset_ = static_cast<int>(std::clamp<int64_t>(set.version(), 0, 1000));
  }
  if (opset_ == 0 && model.opset_import_size() == 0) opset_ = 1;  // IR versions before 3 name no opset
  if (opset_ == 0) return absl::OkStatus();                       // only other domains
  return CheckOpset(opset_);
}

absl::StatusOr<OnnxModel> Importer::Import(const ::onnx::ModelProto& model) {
  const auto at_file = [this](const absl::Status& status) {
    std::optional<Diagnostic> diagnostic = DiagnosticFromStatus(status);
    if (diagnostic.has_value() && (!diagnostic->position.file.empty() || diagnostic->kind == Diagnostic::Kind::kUsage))
      return status;
    if (!diagnostic.has_value()) {
      if (absl::IsInternal(status) || absl::IsCancelled(status)) return status;
      diagnostic.emplace();
      diagnostic->kind = KindOf(status.code());
      diagnostic->message = std::string(status.message());
    }
    diagnostic->position.file = *file_;
    return DiagnosticToStatus(*diagnostic);
  };
  GraphRun run;
  run.graph = &model.graph();
  OnnxModel result;
  std::vector<graph::ValueRef> refs;
  const auto import = [&]() -> absl::Status {
    COBRA_RETURN_IF_ERROR(CheckModel(model));
    COBRA_RETURN_IF_ERROR(AddFunctions(model));
    COBRA_RETURN_IF_ERROR(AddInitializers(&run));
    COBRA_RETURN_IF_ERROR(BindInputs(model.graph(), &run));
    StartRun(&run);
    COBRA_RETURN_IF_ERROR(RunNodes(&run));
    for (const auto& output : model.graph().output()) {
      const Value* value = run.Find(output.name());
      if (value == nullptr) return Invalid("the output \"", output.name(), "\" is computed by no node");
      COBRA_RETURN_IF_ERROR(CollectOutputs(*value, output.name(), &refs, &result));
    }
    if (keep_values_) {
      for (const TensorPtr& tensor : placed_) {
        COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> values, TryValues(tensor));
        if (values != nullptr) result.values.push_back({tensor->ref, std::move(values)});
      }
    }
    return absl::OkStatus();
  };
  if (absl::Status status = import(); !status.ok()) return at_file(status);
  result.graph = std::move(builder_).Build(std::move(refs));
  return result;
}

}  // namespace cobra::onnx
