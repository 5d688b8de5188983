#include "graph/shape/layout.h"

#include <algorithm>

#include "graph/op_rules.h"

namespace cobra::graph {

bool Layout::IsContiguous(const Graph& graph, ValueRef ref) const {
  if (ref.is_node()) return contiguous[static_cast<size_t>(ref.index)];
  return !channels_last || ref.kind != ValueRef::Kind::kInput || graph.TypeOf(ref).shape.size() != 4;
}

bool Layout::IsContiguous() const {
  return strides.empty() && std::find(copies.begin(), copies.end(), true) == copies.end();
}

bool Layout::SuggestsChannelsLast(const Graph& graph, ValueRef ref) const {
  return graph::SuggestsChannelsLast(graph.TypeOf(ref).shape, Of(graph, ref));
}

Strides Layout::Of(const Graph& graph, ValueRef ref) const {
  if (IsContiguous(graph, ref)) return ContiguousStrides(graph.TypeOf(ref).shape);
  if (!ref.is_node()) return ChannelsLastStrides(graph.TypeOf(ref).shape);
  return strides.at(ref.index)[static_cast<size_t>(ref.output)];
}

const Layout& LayoutTracker::Update() {
  const auto nodes = graph_.nodes();
  for (size_t k = layout_.contiguous.size(); k < nodes.size(); ++k) {
    const Node& node = nodes[k];
    bool contiguous = true, copies = false;
    absl::InlinedVector<Strides, 1> outputs;
    const bool is_asked = !StaysContiguous(node);
    absl::InlinedVector<StridedShape, 4> inputs;
    if (is_asked) inputs = InputsOf(node);
    const bool is_alike = RulesOf(node.op).strides != StrideRule::kEach;
    for (size_t j = 0; j < node.outputs.size() && is_asked; ++j) {
      if (is_alike && j > 0 && node.outputs[j] == node.outputs[j - 1]) {  // unbind has thousands
        outputs.push_back(outputs.back());
        continue;
      }
      outputs.push_back(ContiguousStrides(node.outputs[j].shape));
      std::optional<Strides> strides = StridesOf(node, j, inputs);
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

void LayoutTracker::SkipContiguous() {
  layout_.contiguous.resize(graph_.nodes().size(), true);
  layout_.copies.resize(graph_.nodes().size(), false);
}

// Whether StridesOf() need not be asked: nearly every call of most networks reads contiguous
// tensors, makes one, and copies nothing.
bool LayoutTracker::StaysContiguous(const Node& node) const {
  const auto is_contiguous = [this](const ValueRef& ref) { return ref.is_none() || layout_.IsContiguous(graph_, ref); };
  if (MakesImagesChannelsLast(node)) return false;
  switch (RulesOf(node.op).strides) {
    case StrideRule::kContiguous: return !node.inplace;
    case StrideRule::kDense:
    case StrideRule::kChannelsLast:
    case StrideRule::kSuggested:
    case StrideRule::kPooledLine:
    case StrideRule::kOrdered:
    case StrideRule::kInnermost: return node.inputs.empty() || is_contiguous(node.inputs[0]);
    case StrideRule::kElementwise:
    case StrideRule::kConcatenated: return std::all_of(node.inputs.begin(), node.inputs.end(), is_contiguous);
    default: return false;  // views
  }
}

// By its weight, whatever the order of the image (ATen/native/ConvUtils.h,
// cudnn_conv_suggest_memory_format).
bool LayoutTracker::MakesImagesChannelsLast(const Node& node) const {
  return layout_.channels_last && (node.op == Op::conv2d || node.op == Op::conv_transpose2d) &&
         node.outputs[0].shape.size() == 4;
}

absl::InlinedVector<StridedShape, 4> LayoutTracker::InputsOf(const Node& node) const {
  absl::InlinedVector<StridedShape, 4> inputs;
  for (const ValueRef& ref : node.inputs) {
    inputs.emplace_back();
    if (!ref.is_none()) inputs.back() = {graph_.TypeOf(ref).shape, Of(ref)};
  }
  return inputs;
}

// Returns nullopt for a new contiguous tensor.
std::optional<Strides> LayoutTracker::StridesOf(const Node& node, size_t output,
                                                absl::Span<const StridedShape> inputs) const {
  if (node.inputs.empty()) return std::nullopt;
  if (MakesImagesChannelsLast(node)) return ChannelsLastStrides(node.outputs[output].shape);
  const bool first = !node.inputs[0].is_none();
  if (first && node.op != Op::as_base &&
      ((node.inplace && graph_.TypeOf(node.inputs[0]).shape == node.outputs[output].shape) || IsAlias(graph_, node)))
    return Of(node.inputs[0]);
  if (!first) return std::nullopt;  // pow(2, x)
  return StridesByRule(node, output, inputs);
}

Layout ComputeLayout(const Graph& graph, bool channels_last) {
  LayoutTracker tracker(graph, channels_last);
  tracker.Update();
  return std::move(tracker).Take();
}

}  // namespace cobra::graph
