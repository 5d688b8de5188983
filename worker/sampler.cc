#include "worker/sampler.h"

#include "absl/strings/str_cat.h"
#include "graph/cost.h"

namespace cobra {

absl::Status CheckCaps(const Graph& graph, bool is_network, const SampleCaps& caps) {
  const auto too_large = [&](const TensorType& type, int64_t limit) { return type.num_bytes() > limit; };
  for (const NamedTensor& parameter : graph.parameters()) {
    if (too_large(parameter.type, caps.weight_bytes)) return absl::OutOfRangeError("weight too large");
  }
  for (const NamedTensor& input : graph.inputs()) {
    if (too_large(input.type, caps.tensor_bytes)) return absl::OutOfRangeError("input too large");
  }
  for (const Node& node : graph.nodes()) {
    for (const TensorType& output : node.outputs) {
      if (too_large(output, caps.tensor_bytes)) return absl::OutOfRangeError("output too large");
      if (output.num_elements() == 0) return absl::OutOfRangeError("output is empty");
    }
  }
  int64_t macs = 0, grouped_macs = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const int64_t of_node = CostOf(graph, static_cast<int32_t>(i)).macs;
    macs += of_node;
    if (graph.nodes()[i].attributes.Int("groups", 1) > 1) grouped_macs += of_node;
  }
  if (macs > (is_network ? caps.network_macs : caps.layer_macs)) return absl::OutOfRangeError("too many operations");
  if (!is_network && grouped_macs > caps.grouped_macs) return absl::OutOfRangeError("too many grouped operations");
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(absl::string_view space, const SamplerOptions& options) {
  if (space == "paper-layers") return MakePaperLayerSampler(options);
  if (space == "real-layers") return MakeRealLayerSampler(options);
  if (space == "paper-networks") return MakePaperNetworkSampler(options);
  if (space == "real-networks") return MakeRealNetworkSampler(options);
  return absl::InvalidArgumentError(
      absl::StrCat("no space '", space, "'; there are paper-layers, real-layers, paper-networks, real-networks"));
}

}  // namespace cobra
