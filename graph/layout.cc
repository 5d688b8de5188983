#include "graph/layout.h"

#include <algorithm>
#include <numeric>

#include "graph/getitem.h"
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
  // As in PyTorch: walk both shapes from the right over chunks of dimensions that are one run in memory.
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

// Every element once and without gaps, in any order of dimensions.
bool IsDense(const Shape& shape, const Strides& strides) {
  int64_t next = 1;
  int i = static_cast<int>(shape.size()) - 1;
  for (; i >= 0 && (shape[i] == 1 || strides[i] == next); --i) next *= shape[i];
  if (i < 0) return true;  // in the usual order
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

Strides Squeezed(const Node& node, const Shape& in, const Strides& strides) {
  const int rank = static_cast<int>(in.size());
  std::vector<int64_t> dims = node.attributes.Ints("dim");
  Strides moved;
  for (int i = 0; i < rank; ++i) {
    bool named = dims.empty();
    for (int64_t d : dims) named = named || d == i || d + rank == i;
    if (!named || in[i] != 1) moved.push_back(strides[i]);
  }
  return moved;
}

Strides Indexed(const Node& node, const Shape& in, const Strides& strides, const Shape& out) {
  absl::StatusOr<IndexList> index = ParseIndex(node.attributes.String("index"));
  if (!index.ok()) return ContiguousStrides(out);
  size_t consumed = 0;
  for (const IndexItem& item : *index) {
    consumed += item.kind == IndexItem::Kind::kInt || item.kind == IndexItem::Kind::kSlice;
  }
  Strides moved;
  size_t dim = 0;
  for (const IndexItem& item : *index) {
    if (item.kind == IndexItem::Kind::kNone || item.kind == IndexItem::Kind::kBool) moved.push_back(0);
    if (item.kind == IndexItem::Kind::kInt) ++dim;
    if (item.kind == IndexItem::Kind::kSlice) {
      moved.push_back(strides[dim] * std::min(item.step.value_or(1), std::max<int64_t>(1, in[dim])));
      ++dim;
    }
    if (item.kind == IndexItem::Kind::kEllipsis) {
      for (size_t n = in.size() - consumed; n > 0; --n) moved.push_back(strides[dim++]);
    }
  }
  while (dim < in.size()) moved.push_back(strides[dim++]);
  return moved.size() == out.size() ? moved : ContiguousStrides(out);
}

Strides Moved(const Node& node, const Shape& in, const Strides& strides, const Shape& out) {
  const int rank = static_cast<int>(in.size());
  const auto wrap = [rank](int64_t d) { return static_cast<int>(d < 0 ? d + std::max(rank, 1) : d); };
  switch (node.op) {
    case Op::permute: {
      Strides moved;
      for (int64_t d : node.attributes.Ints("dims")) moved.push_back(strides[wrap(d)]);
      return moved;
    }
    case Op::transpose: {
      Strides moved = strides;
      if (rank > 0) std::swap(moved[wrap(node.attributes.Int("dim0"))], moved[wrap(node.attributes.Int("dim1"))]);
      return moved;
    }
    case Op::mT:
    case Op::mH:
    case Op::adjoint: {
      Strides moved = strides;
      if (rank > 1) std::swap(moved[rank - 1], moved[rank - 2]);
      return moved;
    }
    case Op::t:
    case Op::T:
    case Op::H: return Strides(strides.rbegin(), strides.rend());
    case Op::select: {
      Strides moved = strides;
      moved.erase(moved.begin() + wrap(node.attributes.Int("dim")));
      return moved;
    }
    case Op::unbind: {
      Strides moved = strides;
      moved.erase(moved.begin() + wrap(node.attributes.Int("dim")));
      return moved;
    }
    case Op::unsqueeze: {
      Strides moved = strides;
      const int64_t dim = node.attributes.Int("dim");
      const int at = static_cast<int>(dim < 0 ? dim + rank + 1 : dim);
      moved.insert(moved.begin() + at, at < rank ? strides[at] * in[at] : 1);
      return moved;
    }
    case Op::squeeze: return Squeezed(node, in, strides);
    case Op::expand:
    case Op::expand_as:
    case Op::broadcast_to: {
      Strides moved(out.size(), 0);
      const int lead = static_cast<int>(out.size()) - rank;
      for (int i = 0; i < rank; ++i) moved[lead + i] = in[i] == out[lead + i] ? strides[i] : 0;
      return moved;
    }
    case Op::getitem: return Indexed(node, in, strides, out);
    default:
      // split, chunk, narrow, detach ...: same rank, same steps. Rarer views: taken for contiguous.
      return out.size() == in.size() ? strides : ContiguousStrides(out);
  }
}

}  // namespace

const Layout& LayoutTracker::Update() {
  const auto nodes = graph_.nodes();
  layout_.copies.resize(nodes.size());
  for (size_t k = layout_.outputs.size(); k < nodes.size(); ++k) {
    const Node& node = nodes[k];
    absl::InlinedVector<Strides, 1> outputs(node.outputs.size());
    for (size_t j = 0; j < outputs.size(); ++j) {
      std::optional<Strides> strides = StridesOf(node, j);
      if (!strides && GetOpInfo(node.op).cost_class == CostClass::kView) layout_.copies[k] = true;
      outputs[j] = strides ? *strides : ContiguousStrides(node.outputs[j].shape);
    }
    layout_.outputs.push_back(std::move(outputs));
  }
  return layout_;
}

Strides LayoutTracker::Of(ValueRef ref) const {
  if (ref.is_node()) return layout_.outputs[ref.index][ref.output];
  return ContiguousStrides(graph_.TypeOf(ref).shape);
}

// nullopt: a fresh contiguous tensor.
std::optional<Strides> LayoutTracker::StridesOf(const Node& node, size_t output) const {
  if (node.inputs.empty() || node.inputs[0].is_none()) return std::nullopt;
  const Shape& in = graph_.TypeOf(node.inputs[0]).shape;
  const Strides strides = Of(node.inputs[0]);
  const Shape& out = node.outputs[output].shape;
  if ((node.inplace && in == out) || IsAlias(graph_, node)) return strides;
  switch (node.op) {
    case Op::cat:  // channels last only if every part is
      for (const ValueRef& ref : node.inputs) {
        if (!IsChannelsLast(graph_.TypeOf(ref).shape, Of(ref))) return std::nullopt;
      }
      return out.size() == 4 ? std::optional<Strides>(ChannelsLastStrides(out)) : std::nullopt;
    case Op::pad:
    case Op::conv2d:
    case Op::conv_transpose2d:
    case Op::max_pool2d:
    case Op::avg_pool2d:
    case Op::adaptive_avg_pool2d:
    case Op::interpolate:
      if (IsChannelsLast(in, strides) && out.size() == 4) return ChannelsLastStrides(out);
      return std::nullopt;
    case Op::contiguous: return IsContiguous(in, strides) ? std::optional<Strides>(strides) : std::nullopt;
    case Op::view:
      if (!node.attributes.String("dtype").empty()) return ContiguousStrides(out);  // other elements, the same memory
      return ViewStrides(in, strides, out);
    case Op::reshape:
    case Op::view_as:
    case Op::reshape_as:
    case Op::flatten:
    case Op::unflatten:
    case Op::ravel: return ViewStrides(in, strides, out);
    default: break;
  }
  if (GetOpInfo(node.op).cost_class == CostClass::kView) {
    return IsView(node) ? std::optional<Strides>(Moved(node, in, strides, out)) : std::nullopt;
  }
  // Elementwise calls, batch_norm and copies keep a dense order of dimensions.
  const bool same = in == out && node.op != Op::layer_norm && node.op != Op::matmul && node.op != Op::linear;
  if (same && IsDense(in, strides)) return strides;
  return std::nullopt;
}

Layout ComputeLayout(const Graph& graph) { return LayoutTracker(graph).Update(); }

}  // namespace cobra::graph
