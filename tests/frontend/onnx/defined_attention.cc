#include "tests/frontend/onnx/defined_attention.h"

#include <cmath>
#include <vector>

#include "base/status_macros.h"
#include "graph/builder/builder.h"

namespace cobra::onnx {
namespace {

using graph::ValueRef;
using graph::ValueRefs;

class Copy {
 public:
  explicit Copy(const graph::Graph& from) : from_(from) { builder_.AddTensorsOf(from); }

  absl::StatusOr<graph::Graph> Run() {
    for (const graph::Node& node : from_.nodes()) {
      ValueRefs inputs;
      for (const ValueRef& ref : node.inputs) inputs.push_back(Here(ref));
      if (node.op == graph::Op::scaled_dot_product_attention) {
        COBRA_ASSIGN_OR_RETURN(const ValueRef output, Attention(node, std::move(inputs)));
        places_.push_back({output});
        continue;
      }
      COBRA_ASSIGN_OR_RETURN(const int32_t at,
                             builder_.Add(node.op, node.attributes, std::move(inputs), node.origin, node.inplace));
      std::vector<ValueRef> outputs;
      for (size_t k = 0; k < node.outputs.size(); ++k) outputs.push_back(ValueRef::Node(at, static_cast<int32_t>(k)));
      places_.push_back(std::move(outputs));
    }
    std::vector<ValueRef> outputs;
    for (const ValueRef& ref : from_.outputs()) outputs.push_back(Here(ref));
    return std::move(builder_).Build(std::move(outputs));
  }

 private:
  ValueRef Here(const ValueRef& ref) const { return ref.is_node() ? places_[ref.index][ref.output] : ref; }

  absl::StatusOr<ValueRef> Call(graph::Op op, graph::Attributes attributes, ValueRefs inputs) {
    COBRA_ASSIGN_OR_RETURN(const int32_t at, builder_.Add(op, std::move(attributes), std::move(inputs)));
    return ValueRef::Node(at);
  }

  absl::StatusOr<ValueRef> Attention(const graph::Node& node, ValueRefs inputs) {
    const graph::Shape &query = from_.TypeOf(node.inputs[0]).shape, &key = from_.TypeOf(node.inputs[1]).shape;
    if (node.attributes.Bool("enable_gqa")) {
      const int64_t repeats = query[query.size() - 3] / key[key.size() - 3];
      for (int i : {1, 2}) {
        COBRA_ASSIGN_OR_RETURN(
            inputs[i], Call(graph::Op::repeat_interleave, {{"repeats", repeats}, {"dim", int64_t{-3}}}, {inputs[i]}));
      }
    }
    if (node.attributes.Find("scale") != nullptr) {
      const double factor = node.attributes.Double("scale") * std::sqrt(static_cast<double>(query.back()));
      COBRA_ASSIGN_OR_RETURN(inputs[0], Call(graph::Op::mul, {{"other", factor}}, {inputs[0], ValueRef::None()}));
    }
    const bool causal = node.attributes.Bool("is_causal");
    COBRA_ASSIGN_OR_RETURN(
        const ValueRef y,
        Call(node.op, {{"dropout_p", 0.0}, {"is_causal", causal}, {"enable_gqa", false}}, std::move(inputs)));
    if (node.inputs[3].is_none()) return y;
    return Call(graph::Op::nan_to_num, {{"nan", 0.0}}, {y});
  }

  const graph::Graph& from_;
  graph::GraphBuilder builder_;
  std::vector<std::vector<ValueRef>> places_;  // of each node's outputs
};

}  // namespace

absl::StatusOr<graph::Graph> WithDefinedAttention(const graph::Graph& graph) { return Copy(graph).Run(); }

}  // namespace cobra::onnx
