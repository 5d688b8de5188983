#include "frontend/onnx/importer/fusion.h"

#include <cmath>
#include <optional>

#include "absl/algorithm/container.h"
#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/node_context.h"
#include "frontend/onnx/importer/registry.h"

namespace cobra::onnx {
namespace {

using ::onnx::AttributeProto;
using ::onnx::NodeProto;

class Chain {
 public:
  Chain(Importer* importer, GraphRun* run, int head) : importer_(importer), run_(run) { nodes_.push_back(head); }

  const NodeProto& node(int index) const { return run_->graph->node(index); }
  const NodeProto& last() const { return node(nodes_.back()); }
  const std::string& value() const { return last().output(0); }

  // Appends the only consumer of the chain's current value if it is a node of type `op_type`.
  bool Then(absl::string_view op_type) {
    const auto readers = run_->consumers->find(value());
    if (readers == run_->consumers->end() || readers->second.size() != 1) return false;
    return Append(readers->second[0], op_type);
  }
  bool Append(int index, absl::string_view op_type) {
    if (index < 0 || node(index).op_type() != op_type || !IsDefaultDomain(node(index).domain()) ||
        node(index).output_size() != 1)
      return false;
    nodes_.push_back(index);
    return true;
  }

  // The other operand of the last node; empty if the node is not binary.
  const std::string& Other(const std::string& operand) const {
    static const std::string* const kNone = new std::string;
    if (last().input_size() != 2) return *kNone;
    return last().input(last().input(0) == operand ? 1 : 0);
  }
  // The value of the other operand if it is a constant of one element.
  std::optional<double> OtherNumber(const std::string& operand) {
    const Value* other = run_->Find(Other(operand));
    if (other == nullptr || !other->is_tensor() || !other->tensor->constant || other->tensor->type.num_elements() != 1)
      return std::nullopt;
    const auto values = importer_->TryValues(other->tensor);
    if (!values.ok() || *values == nullptr) return std::nullopt;
    return (**values)[0];
  }
  bool OtherIs(const std::string& operand, double wanted) {
    const std::optional<double> number = OtherNumber(operand);
    return number.has_value() && std::abs(*number - wanted) <= 1e-5 * std::abs(wanted);
  }
  TensorPtr Weight(const std::string& name) const {
    const Value* value = run_->Find(name);
    return value != nullptr && value->is_tensor() && value->tensor->weight ? value->tensor : nullptr;
  }
  TensorPtr Input() const {
    const Value* value = run_->Find(node(nodes_[0]).input(0));
    return value != nullptr && value->is_tensor() && !value->tensor->constant ? value->tensor : nullptr;
  }

  absl::StatusOr<bool> Becomes(graph::Op op, graph::Attributes attributes, const std::vector<TensorPtr>& inputs) {
    COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> outputs, importer_->Call(op, std::move(attributes), inputs));
    run_->values[value()] = Value(outputs[0]);
    MarkDone();
    return true;
  }
  void MarkDone() {
    for (int index : nodes_) run_->done[index] = true;
  }

 private:
  Importer* importer_;
  GraphRun* run_;
  std::vector<int> nodes_;
};

// x * sigmoid(x), x * hard_sigmoid(x).
absl::StatusOr<bool> Gated(Importer* importer, GraphRun* run, int head, graph::Op op) {
  Chain chain(importer, run, head);
  const std::string x = chain.last().input(0), gate = chain.value();
  if (chain.Input() == nullptr || !chain.Then("Mul") || chain.Other(gate) != x || x == gate) return false;
  return chain.Becomes(op, {}, {chain.Input()});
}

bool IsPyTorchHardSigmoid(const NodeProto& node) {
  double alpha = 0.2, beta = 0.5;
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "alpha") alpha = attribute.f();
    if (attribute.name() == "beta") beta = attribute.f();
  }
  return std::abs(alpha - 1.0 / 6) < 1e-6 && beta == 0.5;
}

// x * (erf(x / sqrt(2)) + 1) * 0.5
absl::StatusOr<bool> Gelu(Importer* importer, GraphRun* run, int head) {
  Chain chain(importer, run, head);
  const std::string x = chain.last().input(0);
  if (chain.Input() == nullptr || !chain.OtherIs(x, std::sqrt(2.0)) || !chain.Then("Erf")) return false;
  const std::string erf = chain.value();
  if (!chain.Then("Add")) return false;
  if (!chain.OtherIs(erf, 1)) return false;
  std::string before = chain.value();
  if (!chain.Then("Mul") || chain.Other(before) != x) return false;
  before = chain.value();
  if (!chain.Then("Mul") || !chain.OtherIs(before, 0.5)) return false;
  return chain.Becomes(graph::Op::gelu, {{"approximate", std::string("none")}}, {chain.Input()});
}

// Whether a ReduceMean reduces only the last dimension and keeps it with size 1.
bool ReducesLast(const NodeProto& node, int rank) {
  bool last = false, keeps = true;
  for (const AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "axes")
      last = attribute.ints_size() == 1 && (attribute.ints(0) == -1 || attribute.ints(0) == rank - 1);
    if (attribute.name() == "keepdims") keeps = attribute.i() != 0;
  }
  return last && keeps;
}

// (x - mean) / sqrt(mean((x - mean)^2) + eps) * weight + bias
absl::StatusOr<bool> LayerNorm(Importer* importer, GraphRun* run, int head) {
  Chain chain(importer, run, head);
  const TensorPtr input = chain.Input();
  const std::string x = chain.last().input(0);
  if (input == nullptr || !ReducesLast(chain.last(), input->type.rank())) return false;
  const std::string mean = chain.value();
  if (!chain.Then("Sub") || chain.last().input(0) != x || chain.last().input(1) != mean) return false;
  const std::string centred = chain.value();
  const auto readers = run->consumers->find(centred);
  if (readers == run->consumers->end() || readers->second.size() != 2) return false;
  int pow = readers->second[0], div = readers->second[1];
  if (pow < 0 || div < 0) return false;
  if (chain.node(pow).op_type() == "Div") std::swap(pow, div);
  if (!chain.Append(pow, "Pow") || !chain.OtherIs(centred, 2) || !chain.Then("ReduceMean") ||
      !ReducesLast(chain.last(), input->type.rank()))
    return false;
  const std::string variance = chain.value();
  if (!chain.Then("Add")) return false;
  const std::optional<double> eps = chain.OtherNumber(variance);
  if (!eps.has_value() || !chain.Then("Sqrt")) return false;
  const std::string deviation = chain.value();
  if (!chain.Then("Div") || chain.last().input(0) != centred || chain.last().input(1) != deviation) return false;
  const std::string normal = chain.value();
  Chain affine = chain;  // weight and bias may be missing
  const graph::Shape width{input->type.shape.back()};
  TensorPtr weight, bias;
  if (affine.Then("Mul") && (weight = affine.Weight(affine.Other(normal))) != nullptr && weight->type.shape == width) {
    const std::string scaled = affine.value();
    chain = affine;
    if (affine.Then("Add") && (bias = affine.Weight(affine.Other(scaled))) != nullptr && bias->type.shape == width) {
      chain = affine;
    } else {
      bias = nullptr;
    }
  } else {
    weight = nullptr;
  }
  return chain.Becomes(graph::Op::layer_norm,
                       {{"normalized_shape", std::vector<int64_t>{width[0]}}, {"eps", Shortest(*eps)}},
                       {input, weight, bias});
}

// PyTorch's exporter writes an average pool that counts its padding as a Pad and an AveragePool:
// merges them again.
absl::StatusOr<bool> PaddedAverage(Importer* importer, GraphRun* run, int head) {
  Chain chain(importer, run, head);
  if (chain.Input() == nullptr || chain.Input()->type.rank() < 3) return false;
  const NodeProto& pad = chain.last();
  for (const AttributeProto& attribute : pad.attribute()) {
    if (attribute.name() == "mode" && attribute.s() != "constant") return false;
    if (attribute.name() == "value" && attribute.f() != 0) return false;
  }
  const auto known = [&](int i) -> std::shared_ptr<const Values> {
    const Value* value = i < pad.input_size() && !pad.input(i).empty() ? run->Find(pad.input(i)) : nullptr;
    if (value == nullptr || !value->is_tensor()) return nullptr;
    auto values = importer->TryValues(value->tensor);
    return values.ok() ? *values : nullptr;
  };
  std::vector<double> pads;
  if (const auto values = known(1)) pads = *values;
  for (const AttributeProto& attribute : pad.attribute()) {
    if (attribute.name() == "pads") pads.assign(attribute.ints().begin(), attribute.ints().end());
  }
  if (pad.input_size() > 2 && !pad.input(2).empty()) {
    const auto value = known(2);
    if (value == nullptr || value->size() != 1 || (*value)[0] != 0) return false;
  }
  const size_t rank = chain.Input()->type.shape.size();
  if (pads.size() != 2 * rank || pads[0] != 0 || pads[1] != 0 || pads[rank] != 0 || pads[rank + 1] != 0) return false;
  if (!chain.Then("AveragePool")) return false;
  NodeProto pool = chain.last();
  pool.clear_attribute();
  for (const AttributeProto& attribute : chain.last().attribute()) {
    if (attribute.name() == "auto_pad" ||
        (attribute.name() == "pads" && absl::c_any_of(attribute.ints(), [](int64_t p) { return p != 0; })))
      return false;
    if (attribute.name() != "pads" && attribute.name() != "count_include_pad") *pool.add_attribute() = attribute;
  }
  AttributeProto* own = pool.add_attribute();
  own->set_name("pads");
  own->set_type(AttributeProto::INTS);
  for (size_t half : {size_t{0}, rank}) {
    for (size_t d = 2; d < rank; ++d) own->add_ints(static_cast<int64_t>(pads[half + d]));
  }
  AttributeProto* count = pool.add_attribute();
  count->set_name("count_include_pad");
  count->set_type(AttributeProto::INT);
  count->set_i(1);
  pool.set_input(0, pad.input(0));
  COBRA_RETURN_IF_ERROR(importer->RunNode(run, pool));
  chain.MarkDone();
  return true;
}

}  // namespace

absl::StatusOr<bool> RunFused(Importer* importer, GraphRun* run, int index) {
  const NodeProto& node = run->graph->node(index);
  if (importer->opset() < 7 || !IsDefaultDomain(node.domain()) || node.input_size() == 0 || node.output_size() != 1)
    return false;
  const std::string& op_type = node.op_type();
  if (op_type == "Sigmoid") return Gated(importer, run, index, graph::Op::silu);
  if (op_type == "HardSigmoid" && IsPyTorchHardSigmoid(node)) return Gated(importer, run, index, graph::Op::hardswish);
  if (op_type == "Div") return Gelu(importer, run, index);
  if (op_type == "ReduceMean") return LayerNorm(importer, run, index);
  if (op_type == "Pad") return PaddedAverage(importer, run, index);
  return false;
}

}  // namespace cobra::onnx
