#include "model/predict/as_run/folded_norms.h"

#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/builder/builder.h"
#include "graph/constants/constant_calls.h"
#include "model/predict/as_run/half_precision.h"
#include "model/predict/as_run/run_on_gpu.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

constexpr Op kTakesNorm[] = {Op::conv1d,           Op::conv2d,           Op::conv3d, Op::conv_transpose1d,
                             Op::conv_transpose2d, Op::conv_transpose3d, Op::linear};
constexpr size_t kBias = 2;  // of each of these

std::vector<int> ReadersOf(const graph::Graph& graph) {
  std::vector<int> readers(graph.nodes().size());
  const auto count = [&](const ValueRef& value) {
    if (value.is_node()) ++readers[static_cast<size_t>(value.index)];
  };
  for (const graph::Node& call : graph.nodes()) absl::c_for_each(call.inputs, count);
  absl::c_for_each(graph.outputs(), count);
  return readers;
}

// By call that a normalization is folded into: the normalization. -1: none.
std::vector<int32_t> NormsOf(const graph::Graph& graph) {
  std::vector<int32_t> norm_of(graph.nodes().size(), -1);
  const std::vector<int> readers = ReadersOf(graph);
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const graph::Node& call = graph.nodes()[i];
    if (call.op != Op::batch_norm || call.attributes.Bool("training") || !call.inputs[0].is_node()) continue;
    const auto before = static_cast<size_t>(call.inputs[0].index);
    if (readers[before] == 1 && absl::c_linear_search(kTakesNorm, graph.nodes()[before].op))
      norm_of[before] = static_cast<int32_t>(i);
  }
  return norm_of;
}

// A tensor of the size of a bias: the normalization's own, or else its means.
ValueRef BiasOf(const graph::Node& norm) {
  for (size_t i = norm.inputs.size(); i-- > 1;) {
    if (!norm.inputs[i].is_none()) return norm.inputs[i];
  }
  return ValueRef::None();
}

class Folding {
 public:
  explicit Folding(const graph::Graph& graph) : graph_(graph), norm_of_(NormsOf(graph)) {}

  std::optional<FoldedNorms> Run() {
    if (absl::c_all_of(norm_of_, [](int32_t norm) { return norm < 0; })) return std::nullopt;
    builder_.AddTensorsOf(graph_);
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      if (!AddCall(i)) return std::nullopt;
    }
    std::vector<ValueRef> outputs;
    for (const ValueRef& output : graph_.outputs()) outputs.push_back(Here(output));
    return FoldedNorms{std::move(builder_).Build(std::move(outputs)), std::move(place_of_call_)};
  }

 private:
  ValueRef Here(const ValueRef& value) const {
    if (!value.is_node()) return value;
    const auto call = static_cast<size_t>(value.index);
    const int32_t place = place_of_call_[call];
    return place == FoldedNorms::kFolded ? Here(graph_.nodes()[call].inputs[0]) : ValueRef::Node(place, value.output);
  }

  bool AddCall(size_t index) {
    const graph::Node& call = graph_.nodes()[index];
    if (call.op == Op::batch_norm && call.inputs[0].is_node() &&
        norm_of_[static_cast<size_t>(call.inputs[0].index)] == static_cast<int32_t>(index)) {
      place_of_call_.push_back(FoldedNorms::kFolded);
      return true;
    }
    ValueRefs inputs;
    for (const ValueRef& input : call.inputs) inputs.push_back(Here(input));
    if (norm_of_[index] >= 0 && inputs[kBias].is_none())
      inputs[kBias] = BiasOf(graph_.nodes()[static_cast<size_t>(norm_of_[index])]);
    const auto added = builder_.Add(call.op, call.attributes, std::move(inputs), call.origin, call.inplace);
    if (!added.ok()) return false;
    place_of_call_.push_back(*added);
    return true;
  }

  const graph::Graph& graph_;
  const std::vector<int32_t> norm_of_;
  std::vector<int32_t> place_of_call_;
  graph::GraphBuilder builder_;
};

template <typename T>
void Spread(const std::vector<int32_t>& place_of_call, std::vector<T>* values) {
  std::vector<T> of_all;
  of_all.reserve(place_of_call.size());
  for (const int32_t place : place_of_call) {
    if (place == FoldedNorms::kFolded) {
      of_all.emplace_back();
    } else {
      of_all.push_back(std::move((*values)[static_cast<size_t>(place)]));
    }
  }
  *values = std::move(of_all);
}

}  // namespace

LatencyPrediction FoldedNorms::ExpandToOriginalCalls(LatencyPrediction prediction) const {
  Spread(place_of_call, &prediction.node_latency_us);
  Spread(place_of_call, &prediction.node_alone_us);
  Spread(place_of_call, &prediction.node_unknown);
  return prediction;
}

std::optional<FoldedNorms> WithFoldedNorms(const graph::Graph& graph) { return Folding(graph).Run(); }

bool FoldsConstants(const TargetSpec& target) {
  constexpr absl::string_view kPrepare[] = {"onnxruntime", "openvino", "ncnn", "tflite"};
  return absl::c_linear_search(kPrepare, RuntimeFamily(target)) ||
         (IsPyTorch(target) && target.compile == "inductor-freezing");
}

bool RunsConvertedFiles(const TargetSpec& target, bool is_adapted) {
  return RuntimeFamily(target) == "ncnn" && (is_adapted || RuntimeVersion(target).empty());
}

std::optional<graph::Graph> AsRunBy(const TargetSpec& machine, const graph::Graph& graph) {
  std::optional<graph::Graph> full = InFloat32(graph, machine.precision);
  if (FoldsConstants(machine)) {
    std::optional<graph::WithoutCalls> prepared =
        graph::WithoutConstantCalls(full.has_value() ? *full : graph, /*of_parameters=*/true);
    if (prepared.has_value()) full = std::move(prepared->graph);
  }
  if (std::optional<RunOnGpu> on_gpu = AsRunOnGpu(full.has_value() ? *full : graph, machine); on_gpu.has_value())
    full = std::move(on_gpu->graph);
  if (!RunsConvertedFiles(machine, /*is_adapted=*/true)) return full;
  std::optional<FoldedNorms> folded = WithFoldedNorms(full.has_value() ? *full : graph);
  return folded.has_value() ? std::move(folded->graph) : std::move(full);
}

}  // namespace cobra::predict
