#include "model/training/rows/larger_network.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"

namespace cobra::training {
namespace {

using graph::ValueRef;

// Whether the outputs that were inferred are the old ones, each with `factor` times as many
// elements.
bool AreTimes(absl::Span<const graph::TensorType> now, absl::Span<const graph::TensorType> before, int64_t factor) {
  if (now.size() != before.size()) return false;
  for (size_t i = 0; i < now.size(); ++i) {
    if (now[i].shape.size() != before[i].shape.size() || now[i].num_bytes() != factor * before[i].num_bytes())
      return false;
  }
  return true;
}

// Sizes of a view that begin with the batch, or with a product of it and something else. False if
// it has none.
bool DoubleFirstSize(graph::Attributes* attributes) {
  for (const absl::string_view name : {"size", "shape"}) {
    std::vector<int64_t> sizes = attributes->Ints(name);
    if (sizes.empty() || sizes[0] < 1) continue;
    sizes[0] *= 2;
    attributes->Set(name, std::move(sizes));
    return true;
  }
  return false;
}

class Doubling {
 public:
  explicit Doubling(const graph::Graph& graph) : graph_(graph) {}

  std::optional<graph::Graph> Run() {
    int64_t batch = 0;
    for (const graph::NamedTensor& input : graph_.inputs()) {
      const auto& shape = input.type.shape;
      if (shape.empty() || (batch > 0 && shape[0] != batch)) return std::nullopt;
      batch = shape[0];
    }
    if (batch == 0) return std::nullopt;
    builder_.AddTensorsOf(graph_, [this](ValueRef ref) {
      graph::TensorType type = graph_.TypeOf(ref);
      if (ref.kind == ValueRef::Kind::kInput) type.shape[0] *= 2;
      return type;
    });
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!AddCall(static_cast<int32_t>(i))) return std::nullopt;
    }
    return std::move(builder_).Build(std::vector<ValueRef>(graph_.outputs().begin(), graph_.outputs().end()));
  }

 private:
  bool IsDoubled(ValueRef ref) const {
    return ref.kind == ValueRef::Kind::kInput || (ref.is_node() && doubled_[static_cast<size_t>(ref.index)]);
  }

  // Nodes and tensors keep their numbers, so that references do.
  bool AddCall(int32_t index) {
    const graph::Node& call = graph_.nodes()[static_cast<size_t>(index)];
    std::vector<const graph::TensorType*> types;
    bool is_doubled = false;
    for (const ValueRef& input : call.inputs) {
      types.push_back(input.kind == ValueRef::Kind::kNone ? nullptr : &builder_.TypeOf(input));
      is_doubled = is_doubled || IsDoubled(input);
    }
    const int64_t factor = is_doubled ? 2 : 1;
    graph::Attributes attributes = call.attributes;
    auto inferred = graph::InferTypes(call.op, attributes, types);
    if (!inferred.ok() || !AreTimes(*inferred, call.outputs, factor)) {
      if (!is_doubled || !DoubleFirstSize(&attributes)) return false;
      inferred = graph::InferTypes(call.op, attributes, types);
      if (!inferred.ok() || !AreTimes(*inferred, call.outputs, factor)) return false;
    }
    doubled_.push_back(is_doubled);
    const auto added = builder_.Add(call.op, std::move(attributes), call.inputs, call.origin, call.inplace);
    return added.ok() && *added == index;
  }

  const graph::Graph& graph_;
  graph::GraphBuilder builder_;
  std::vector<bool> doubled_;  // of each call
};

}  // namespace

std::optional<graph::Graph> WithTwiceTheBatch(const graph::Graph& graph) { return Doubling(graph).Run(); }

std::vector<graph::Graph> PerceptronsByWidth(std::mt19937_64* random) {
  const auto draw = [random](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(*random);
  };
  const int64_t rows = int64_t{1} << draw(0, 8), layers = draw(1, 6), norms = draw(0, 1), activations = draw(0, 1);
  std::vector<graph::Graph> by_width;
  for (int64_t width = draw(16, 128); width <= 2048; width *= draw(2, 4)) {
    graph::NetBuilder net;
    ValueRef x = net.Input({rows, width});
    for (int64_t layer = 0; layer < layers; ++layer) {
      x = net.Linear(norms == 1 ? net.LayerNorm(x) : x, width);
      if (activations == 1) x = net.Relu(x);
    }
    absl::StatusOr<graph::Graph> graph = std::move(net).Finish({x});
    if (graph.ok()) by_width.push_back(*std::move(graph));
  }
  return by_width;
}

}  // namespace cobra::training
