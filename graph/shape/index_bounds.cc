#include "graph/shape/index_bounds.h"

#include <algorithm>
#include <optional>

#include "absl/status/statusor.h"
#include "graph/getitem.h"
#include "graph/op.h"

namespace cobra::graph {
namespace {

// How many dimensions an item of an index selects in.
int64_t DimensionsOf(const Graph& graph, const Node& node, const IndexItem& item) {
  switch (item.kind) {
    case IndexItem::Kind::kEllipsis:
    case IndexItem::Kind::kNone:
    case IndexItem::Kind::kBool: return 0;
    case IndexItem::Kind::kInt:
    case IndexItem::Kind::kSlice:
    case IndexItem::Kind::kList: return 1;
    case IndexItem::Kind::kTensor: break;
  }
  const TensorType& type = graph.TypeOf(node.inputs[static_cast<size_t>(item.value) + 1]);
  return type.dtype == DType::bool_ || type.dtype == DType::uint8 ? type.rank() : 1;
}

// The size of the dimension that input `i` of a getitem or a setitem selects in. Of the value of a
// setitem, or where the index cannot be read, the smallest of all, so that an index fits
// everywhere.
int64_t SizeOfIndexed(const Graph& graph, const Node& node, size_t i) {
  const Shape& shape = graph.TypeOf(node.inputs[0]).shape;
  const int64_t smallest = *std::min_element(shape.begin(), shape.end());
  const absl::StatusOr<IndexList> index = ParseIndex(node.attributes.String("index"));
  if (!index.ok()) return smallest;
  int64_t selected = 0;
  for (const IndexItem& item : *index) selected += DimensionsOf(graph, node, item);
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t at = 0;
  for (const IndexItem& item : *index) {
    if (item.kind == IndexItem::Kind::kTensor && item.value + 1 == static_cast<int64_t>(i))
      return at >= 0 && at < rank ? shape[static_cast<size_t>(at)] : smallest;
    at += item.kind == IndexItem::Kind::kEllipsis ? rank - selected : DimensionsOf(graph, node, item);
  }
  return smallest;
}

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
    case Selects::kAny: return shape_of(0).empty() ? std::nullopt : std::optional(SizeOfIndexed(graph, node, i));
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
