#include "graph/index_bounds.h"

#include <algorithm>
#include <optional>

#include "graph/op.h"

namespace cobra::graph {
namespace {

// The exclusive upper bound for the integers of input `i`; nullopt if every integer is valid.
std::optional<int64_t> IndexLimit(const Graph& graph, const Node& node, size_t i) {
  const OpInfo& info = GetOpInfo(node.op);
  const auto shape_of = [&](size_t input) -> const Shape& { return graph.TypeOf(node.inputs[input]).shape; };
  const auto size_of_first = [&](int64_t dim) {
    const Shape& shape = shape_of(0);
    const int64_t rank = static_cast<int64_t>(shape.size());
    return rank == 0 ? int64_t{1} : shape[(dim + rank) % rank];
  };
  switch (info.input(i).selects) {
    case Selects::kNothing:
    case Selects::kMask:
    case Selects::kCount: return std::nullopt;
    case Selects::kDim: return size_of_first(node.attributes.Int("dim"));
    case Selects::kEach: return size_of_first(static_cast<int64_t>(i + 1 - info.inputs.size()));
    case Selects::kAny:
      // The dimension that an index selects is not needed: an index below the smallest dimension fits all of them.
      if (shape_of(0).empty()) return std::nullopt;
      return *std::min_element(shape_of(0).begin(), shape_of(0).end());
    case Selects::kElement: return std::max<int64_t>(1, graph.TypeOf(node.inputs[0]).num_elements());
    case Selects::kLast: return size_of_first(-1);
    case Selects::kLastTwo: return size_of_first(-1) * size_of_first(-2);
    case Selects::kLastThree: return size_of_first(-1) * size_of_first(-2) * size_of_first(-3);
    case Selects::kClass: return size_of_first(shape_of(0).size() > 1 ? 1 : 0);
    case Selects::kRow: return shape_of(1).empty() ? 1 : shape_of(1)[0];
    case Selects::kValue: return node.outputs[0].shape.back();
    case Selects::kBag: return 1;    // every bag begins at the first index
    case Selects::kGroup: return 1;  // SpreadGroups()
  }
  return std::nullopt;
}

}  // namespace

IntegerBounds IndexBounds(const Graph& graph) {
  IntegerBounds bounds;
  for (const Node& node : graph.nodes()) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const ValueRef ref = node.inputs[i];
      if (ref.is_none() || IsFloatingPoint(graph.TypeOf(ref).dtype)) continue;
      const std::optional<int64_t> limit = IndexLimit(graph, node, i);
      if (!limit) continue;
      const auto [it, is_new] = bounds.try_emplace({ref.kind, ref.index}, *limit);
      if (!is_new) it->second = std::min(it->second, *limit);
    }
  }
  return bounds;
}

}  // namespace cobra::graph
