#include "graph/graph.h"

namespace cobra::graph {

const TensorType& Graph::TypeOf(ValueRef ref) const {
  switch (ref.kind) {
    case ValueRef::Kind::kInput: return inputs_[ref.index].type;
    case ValueRef::Kind::kParameter: return parameters_[ref.index].type;
    case ValueRef::Kind::kBuffer: return buffers_[ref.index].type;
    case ValueRef::Kind::kConstant: return constants_[ref.index].type;
    default: return nodes_[ref.index].outputs[ref.output];
  }
}

bool Graph::Contains(ValueRef ref) const {
  const auto within = [&](size_t size) { return ref.index >= 0 && static_cast<size_t>(ref.index) < size; };
  switch (ref.kind) {
    case ValueRef::Kind::kNone: return true;
    case ValueRef::Kind::kInput: return within(inputs_.size());
    case ValueRef::Kind::kParameter: return within(parameters_.size());
    case ValueRef::Kind::kBuffer: return within(buffers_.size());
    case ValueRef::Kind::kConstant: return within(constants_.size());
    case ValueRef::Kind::kNode:
      return within(nodes_.size()) && ref.output >= 0 &&
             static_cast<size_t>(ref.output) < nodes_[ref.index].outputs.size();
  }
  return false;
}

int64_t Graph::num_parameters() const {
  int64_t n = 0;
  for (const NamedTensor& parameter : parameters_) n += parameter.type.num_elements();
  return n;
}

bool IsForTraining(Op op, absl::string_view attribute) {
  switch (op) {
    case Op::multi_head_attention_forward: return attribute == "dropout_p";
    case Op::lstm:
    case Op::gru:
    case Op::rnn_tanh:
    case Op::rnn_relu: return attribute == "dropout";
    default: return false;
  }
}

bool IsAlias(const Graph& graph, const Node& node) {
  switch (node.op) {
    case Op::dropout:
    case Op::dropout1d:
    case Op::dropout2d:
    case Op::dropout3d:
    case Op::alpha_dropout:
    case Op::feature_alpha_dropout:
    case Op::feature_dropout: return !node.attributes.Bool("training");
    case Op::positive:
    case Op::resolve_neg: return true;
    case Op::conj:
    case Op::resolve_conj: return !IsComplex(node.outputs[0].dtype);
    case Op::to:
    case Op::type:
    case Op::type_as:
    case Op::float_:
    case Op::half:
    case Op::bfloat16:
    case Op::double_:
    case Op::long_:
    case Op::int_:
    case Op::bool_:
    case Op::byte:
    case Op::char_:
    case Op::short_:
    case Op::cfloat:
    case Op::cdouble: return graph.TypeOf(node.inputs[0]).dtype == node.outputs[0].dtype;
    default: return false;
  }
}

bool IsView(const Node& node) {
  if (GetOpInfo(node.op).cost_class != CostClass::kView) return false;
  if (node.op != Op::getitem) return true;
  // ", " separates items, so a bracket can only open a list.
  return node.inputs.size() == 1 && node.attributes.String("index").find('[') == std::string::npos;
}

}  // namespace cobra::graph
