#include "model/predict/target/operator_group.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace cobra::predict {
namespace {

bool HasOneByOneKernel(const graph::Graph& graph, const graph::Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1].is_none()) return false;
  const graph::Shape& weight = graph.TypeOf(node.inputs[1]).shape;
  return std::all_of(weight.begin() + std::min<size_t>(2, weight.size()), weight.end(),
                     [](int64_t d) { return d == 1; });
}

}  // namespace

OperatorGroup OperatorGroupOf(const graph::Graph& graph, const graph::Node& node) {
  const absl::string_view name = graph::OpName(node.op);
  if (absl::StartsWith(name, "conv")) {
    if (node.attributes.Int("groups", 1) > 1) return kConvGrouped;
    return HasOneByOneKernel(graph, node) ? kConvPointwise : kConvDense;
  }
  if (graph::GetOpInfo(node.op).cost_class == graph::CostClass::kCompute) return kProduct;
  if (graph::GetOpInfo(node.op).cost_class == graph::CostClass::kView) return kOther;
  if (absl::EndsWith(name, "_norm")) return kNorm;
  if (absl::StrContains(name, "pool")) return kPool;
  return kElementwise;
}

}  // namespace cobra::predict
