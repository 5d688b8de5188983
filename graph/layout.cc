#include "graph/layout.h"

#include <algorithm>
#include <numeric>

#include "graph/getitem.h"
#include "graph/op_rules.h"
#include "graph/shape_rules.h"

namespace cobra::graph {

Strides ContiguousStrides(const Shape& shape) {
  Strides strides(shape.size());
  int64_t step = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    strides[i] = step;
    step *= std::max<int64_t>(1, shape[i]);
  }
  return strides;
}

bool IsContiguous(const Shape& shape, const Strides& strides) {
  int64_t step = 1;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] == 1) continue;
    if (strides[i] != step) return false;
    step *= shape[i];
  }
  return true;
}

std::optional<Strides> ViewStrides(const Shape& shape, const Strides& strides, const Shape& view) {
  // As in PyTorch: walk both shapes from the right over groups of dimensions that are contiguous in memory.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return ContiguousStrides(view);
  Strides out(view.size());
  int v = static_cast<int>(view.size()) - 1;
  int64_t base = shape.empty() ? 1 : strides.back();
  int64_t elements = 1, placed = 1;
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    elements *= shape[d];
    const bool chunk_ends = d == 0 || (shape[d - 1] != 1 && strides[d - 1] != elements * base);
    if (!chunk_ends) continue;
    while (v >= 0 && (placed < elements || view[v] == 1)) {
      out[v] = placed * base;
      placed *= view[v--];
    }
    if (placed != elements) return std::nullopt;
    if (d > 0) {
      base = strides[d - 1];
      elements = placed = 1;
    }
  }
  for (; v >= 0; --v) out[v] = placed * base;
  return out;
}

namespace {

// Whether the strides reach every element once without gaps, in any order of dimensions.
bool IsDense(const Shape& shape, const Strides& strides) {
  int64_t next = 1;
  int i = static_cast<int>(shape.size()) - 1;
  for (; i >= 0 && (shape[i] == 1 || strides[i] == next); --i) next *= shape[i];
  if (i < 0) return true;  // in row-major order
  absl::InlinedVector<int, 8> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return strides[a] < strides[b]; });
  int64_t step = 1;
  for (int d : order) {
    if (shape[d] == 1) continue;
    if (strides[d] != step) return false;
    step *= shape[d];
  }
  return true;
}

bool IsChannelsLast(const Shape& shape, const Strides& strides) {
  if (shape.size() != 4 || shape[1] == 1) return false;
  return strides[1] == 1 && strides[3] == shape[1] && strides[2] == shape[1] * shape[3];
}

Strides ChannelsLastStrides(const Shape& s) { return {s[1] * s[2] * s[3], 1, s[1] * s[3], s[1]}; }

// The arguments of a stride rule for one view call: the rule turns `strides` of the input (shape `in`) into strides of
// the output (shape `out`).
struct ViewCall {
  const Node& node;
  const Shape& in;
  const Strides& strides;
  const Shape& out;

  int rank() const { return static_cast<int>(in.size()); }
  int Wrapped(int64_t d) const { return static_cast<int>(d < 0 ? d + std::max(rank(), 1) : d); }
  int Dim(absl::string_view name) const { return Wrapped(node.attributes.Int(name)); }
};

Strides Permuted(const ViewCall& call) {
  Strides moved;
  for (int64_t d : call.node.attributes.Ints("dims")) moved.push_back(call.strides[call.Wrapped(d)]);
  return moved;
}

Strides Transposed(const ViewCall& call) {
  Strides moved = call.strides;
  if (call.rank() > 0) std::swap(moved[call.Dim("dim0")], moved[call.Dim("dim1")]);
  return moved;
}

Strides LastTwoSwapped(const ViewCall& call) {
  Strides moved = call.strides;
  if (call.rank() > 1) std::swap(moved[call.rank() - 1], moved[call.rank() - 2]);
  return moved;
}

Strides DimDropped(const ViewCall& call) {
  Strides moved = call.strides;
  moved.erase(moved.begin() + call.Dim("dim"));
  return moved;
}

Strides Unsqueezed(const ViewCall& call) {
  Strides moved = call.strides;
  const int64_t dim = call.node.attributes.Int("dim");
  const int at = static_cast<int>(dim < 0 ? dim + call.rank() + 1 : dim);
  moved.insert(moved.begin() + at, at < call.rank() ? call.strides[at] * call.in[at] : 1);
  return moved;
}

Strides Squeezed(const ViewCall& call) {
  const int rank = call.rank();
  std::vector<int64_t> dims = call.node.attributes.Ints("dim");
  Strides moved;
  for (int i = 0; i < rank; ++i) {
    bool named = call.node.attributes.Find("dim") == nullptr;
    for (int64_t d : dims) named = named || d == i || d + rank == i;
    if (!named || call.in[i] != 1) moved.push_back(call.strides[i]);
  }
  return moved;
}

Strides Expanded(const ViewCall& call) {
  Strides moved(call.out.size(), 0);
  const int lead = static_cast<int>(call.out.size()) - call.rank();
  for (int i = 0; i < call.rank(); ++i) moved[lead + i] = call.in[i] == call.out[lead + i] ? call.strides[i] : 0;
  return moved;
}

Strides Indexed(const ViewCall& call) {
  absl::StatusOr<IndexList> index = ParseIndex(call.node.attributes.String("index"));
  if (!index.ok()) return ContiguousStrides(call.out);
  const Shape& in = call.in;
  size_t consumed = 0;
  for (const IndexItem& item : *index) {
    consumed += item.kind == IndexItem::Kind::kInt || item.kind == IndexItem::Kind::kSlice;
  }
  Strides moved;
  size_t dim = 0;
  for (const IndexItem& item : *index) {
    if (item.kind == IndexItem::Kind::kNone || item.kind == IndexItem::Kind::kBool) moved.push_back(0);
    if (item.kind == IndexItem::Kind::kInt || item.kind == IndexItem::Kind::kSlice) --consumed;
    if (item.kind == IndexItem::Kind::kInt) ++dim;
    if (item.kind == IndexItem::Kind::kSlice) {
      moved.push_back(call.strides[dim] * std::min(item.step.value_or(1), std::max<int64_t>(1, in[dim])));
      ++dim;
    }
    if (item.kind == IndexItem::Kind::kEllipsis) {
      while (in.size() - dim > consumed) moved.push_back(call.strides[dim++]);
    }
  }
  while (dim < in.size()) moved.push_back(call.strides[dim++]);
  return moved.size() == call.out.size() ? moved : ContiguousStrides(call.out);
}

}  // namespace

Strides Layout::Of(const Graph& graph, ValueRef ref) const {
  if (!ref.is_node() || contiguous[static_cast<size_t>(ref.index)]) return ContiguousStrides(graph.TypeOf(ref).shape);
  return strides.at(ref.index)[static_cast<size_t>(ref.output)];
}

const Layout& LayoutTracker::Update() {
  const auto nodes = graph_.nodes();
  for (size_t k = layout_.contiguous.size(); k < nodes.size(); ++k) {
    const Node& node = nodes[k];
    bool contiguous = true, copies = false;
    absl::InlinedVector<Strides, 1> outputs;
    for (size_t j = 0; j < node.outputs.size() && !StaysContiguous(node); ++j) {
      outputs.push_back(ContiguousStrides(node.outputs[j].shape));
      std::optional<Strides> strides = StridesOf(node, j);
      if (!strides && GetOpInfo(node.op).cost_class == CostClass::kView) copies = true;
      if (!strides || *strides == outputs[j]) continue;
      outputs[j] = *std::move(strides);
      contiguous = false;
    }
    if (!contiguous) layout_.strides[static_cast<int32_t>(k)] = std::move(outputs);
    layout_.contiguous.push_back(contiguous);
    layout_.copies.push_back(copies);
  }
  return layout_;
}

// Whether StridesOf() need not be asked: nearly every call of most networks reads a contiguous tensor, makes one, and
// copies nothing.
bool LayoutTracker::StaysContiguous(const Node& node) const {
  if (!node.inputs.empty() && node.inputs[0].is_node() &&
      !layout_.contiguous[static_cast<size_t>(node.inputs[0].index)])
    return false;
  switch (RulesOf(node.op).strides) {
    case StrideRule::kDense:
    case StrideRule::kContiguous:
    case StrideRule::kChannelsLast:
    case StrideRule::kConcatenated: return true;
    default: return false;  // views
  }
}

// Returns nullopt for a new contiguous tensor.
std::optional<Strides> LayoutTracker::StridesOf(const Node& node, size_t output) const {
  if (node.inputs.empty() || node.inputs[0].is_none()) return std::nullopt;
  const Shape& in = graph_.TypeOf(node.inputs[0]).shape;
  const Strides strides = Of(node.inputs[0]);
  const Shape& out = node.outputs[output].shape;
  if ((node.inplace && in == out) || IsAlias(graph_, node)) return strides;
  const ViewCall view{node, in, strides, out};
  const auto if_true = [](bool condition, Strides s) {
    return condition ? std::optional<Strides>(std::move(s)) : std::nullopt;
  };
  switch (RulesOf(node.op).strides) {
    case StrideRule::kDense: return if_true(in == out && IsDense(in, strides), strides);
    case StrideRule::kContiguous: return std::nullopt;
    case StrideRule::kChannelsLast:
      if (out.size() != 4 || !IsChannelsLast(in, strides)) return std::nullopt;
      return ChannelsLastStrides(out);
    case StrideRule::kConcatenated:
      for (const ValueRef& ref : node.inputs) {
        if (!IsChannelsLast(graph_.TypeOf(ref).shape, Of(ref))) return std::nullopt;
      }
      if (out.size() != 4) return std::nullopt;
      return ChannelsLastStrides(out);
    case StrideRule::kMadeContiguous: return if_true(IsContiguous(in, strides), strides);
    case StrideRule::kViewed:
      if (!node.attributes.String("dtype").empty()) return ContiguousStrides(out);  // the memory read as another dtype
      return ViewStrides(in, strides, out);
    case StrideRule::kReshaped: return ViewStrides(in, strides, out);
    case StrideRule::kKept: return out.size() == in.size() ? strides : ContiguousStrides(out);
    case StrideRule::kPermuted: return Permuted(view);
    case StrideRule::kTransposed: return Transposed(view);
    case StrideRule::kLastTwoSwapped: return LastTwoSwapped(view);
    case StrideRule::kReversed: return Strides(strides.rbegin(), strides.rend());
    case StrideRule::kDimDropped: return DimDropped(view);
    case StrideRule::kUnsqueezed: return Unsqueezed(view);
    case StrideRule::kSqueezed: return Squeezed(view);
    case StrideRule::kExpanded: return Expanded(view);
    case StrideRule::kIndexed:
      if (!IsView(node)) return std::nullopt;
      return Indexed(view);
  }
  return std::nullopt;
}

Layout ComputeLayout(const Graph& graph) {
  LayoutTracker tracker(graph);
  tracker.Update();
  return std::move(tracker).Take();
}

}  // namespace cobra::graph
