#include "model/predict/as_run/run_on_gpu.h"

#include <cstddef>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "graph/builder/builder.h"
#include "model/predict/as_run/attention_parts.h"

namespace cobra::predict {
namespace {

using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

// By call: whether another one or the network's results refer to it.
std::vector<bool> AreRead(const graph::Graph& graph) {
  std::vector<bool> are_read(graph.nodes().size());
  const auto mark = [&](const ValueRef& value) {
    if (value.is_node()) are_read[static_cast<size_t>(value.index)] = true;
  };
  for (const graph::Node& call : graph.nodes()) absl::c_for_each(call.inputs, mark);
  absl::c_for_each(graph.outputs(), mark);
  return are_read;
}

// num_batches_tracked += 1, of a normalization in training mode.
bool IsCounter(const graph::Graph& graph, const graph::Node& call) {
  if (call.op != Op::add || !call.inplace || call.inputs[0].kind != ValueRef::Kind::kBuffer) return false;
  const graph::TensorType& type = graph.TypeOf(call.inputs[0]);
  return type.shape.empty() && type.dtype == graph::DType::int64;
}

class Writing {
 public:
  explicit Writing(const graph::Graph& graph) : graph_(graph), are_read_(AreRead(graph)) {}

  std::optional<RunOnGpu> Run() {
    builder_.AddTensorsOf(graph_);
    std::vector<int32_t> first_part;
    bool is_other = false;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const graph::Node& call = graph_.nodes()[i];
      first_part.push_back(static_cast<int32_t>(builder_.nodes().size()));
      ValueRefs inputs;
      for (const ValueRef& input : call.inputs) inputs.push_back(Here(input));
      if (!are_read_[i] && IsCounter(graph_, call)) {
        is_other = true;
        results_.emplace_back();
      } else if (HasAttentionParts(call)) {
        is_other = true;
        auto results = AddAttentionParts(call, inputs, &builder_);
        if (!results.ok()) return std::nullopt;
        results_.push_back(*std::move(results));
      } else if (!AddAsIs(call, std::move(inputs))) {
        return std::nullopt;
      }
    }
    if (!is_other || builder_.nodes().empty()) return std::nullopt;
    first_part.push_back(static_cast<int32_t>(builder_.nodes().size()));
    std::vector<ValueRef> outputs;
    for (const ValueRef& output : graph_.outputs()) outputs.push_back(Here(output));
    return RunOnGpu{std::move(builder_).Build(std::move(outputs)), std::move(first_part)};
  }

 private:
  ValueRef Here(const ValueRef& value) const {
    return value.is_node() ? results_[static_cast<size_t>(value.index)][static_cast<size_t>(value.output)] : value;
  }

  bool AddAsIs(const graph::Node& call, ValueRefs inputs) {
    const auto added = builder_.Add(call.op, call.attributes, std::move(inputs), call.origin, call.inplace);
    if (!added.ok()) return false;
    std::vector<ValueRef>& results = results_.emplace_back();
    for (size_t i = 0; i < call.outputs.size(); ++i) results.push_back(ValueRef::Node(*added, static_cast<int32_t>(i)));
    return true;
  }

  const graph::Graph& graph_;
  const std::vector<bool> are_read_;
  std::vector<std::vector<ValueRef>> results_;  // of each call, here
  graph::GraphBuilder builder_;
};

}  // namespace

LatencyPrediction RunOnGpu::ExpandToOriginalCalls(LatencyPrediction prediction) const {
  std::vector<double> latency_us;
  std::vector<float> alone_us;
  std::vector<std::string> unknown;
  for (size_t call = 0; call + 1 < first_part.size(); ++call) {
    latency_us.push_back(0);
    alone_us.push_back(0);
    unknown.emplace_back();
    for (auto part = static_cast<size_t>(first_part[call]); part < static_cast<size_t>(first_part[call + 1]); ++part) {
      latency_us.back() += prediction.node_latency_us[part];
      alone_us.back() += prediction.node_alone_us[part];
      if (unknown.back().empty()) unknown.back() = std::move(prediction.node_unknown[part]);
    }
  }
  prediction.node_latency_us = std::move(latency_us);
  prediction.node_alone_us = std::move(alone_us);
  prediction.node_unknown = std::move(unknown);
  return prediction;
}

std::optional<RunOnGpu> AsRunOnGpu(const graph::Graph& graph, const TargetSpec& spec) {
  if (spec.kind != "gpu" || !IsPyTorch(spec)) return std::nullopt;
  const bool has_any = absl::c_any_of(
      graph.nodes(), [&](const graph::Node& call) { return HasAttentionParts(call) || IsCounter(graph, call); });
  return has_any ? Writing(graph).Run() : std::nullopt;
}

}  // namespace cobra::predict
