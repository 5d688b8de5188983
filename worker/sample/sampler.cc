#include "worker/sample/sampler.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/data_path.h"
#include "graph/cost/cost.h"

namespace cobra::worker {

absl::Status CheckCaps(const graph::Graph& graph, bool is_network, const SampleCaps& caps) {
  const auto too_large = [&](const graph::TensorType& type, int64_t limit) { return type.num_bytes() > limit; };
  for (const graph::NamedTensor& parameter : graph.parameters()) {
    if (too_large(parameter.type, caps.weight_bytes)) return absl::OutOfRangeError("weight too large");
  }
  for (const graph::NamedTensor& input : graph.inputs()) {
    if (too_large(input.type, caps.tensor_bytes)) return absl::OutOfRangeError("input too large");
  }
  for (const graph::Node& node : graph.nodes()) {
    for (const graph::TensorType& output : node.outputs) {
      if (too_large(output, caps.tensor_bytes)) return absl::OutOfRangeError("output too large");
      if (output.num_elements() == 0) return absl::OutOfRangeError("output is empty");
    }
  }
  int64_t macs = 0, grouped_macs = 0;
  for (size_t i = 0; i < graph.nodes().size(); ++i) {
    const int64_t of_node = graph::CostOf(graph, static_cast<int32_t>(i)).macs;
    macs += of_node;
    if (graph.nodes()[i].attributes.Int("groups", 1) > 1) grouped_macs += of_node;
  }
  if (macs > (is_network ? caps.network_macs : caps.layer_macs)) return absl::OutOfRangeError("too many operations");
  if (!is_network && grouped_macs > caps.grouped_macs) return absl::OutOfRangeError("too many grouped operations");
  return absl::OkStatus();
}

const std::vector<SpaceInfo>& Spaces() {
  static const auto* const spaces = new std::vector<SpaceInfo>{
      {"paper-layers", false},
      {"real-layers", false},
      {"program-layers", false},
      {"lookup-layers", false},
      {"constant-layers", false},
      {"paper-networks", true},
      {"real-networks", true},
      {"small-networks", true},
      {"nas-bench-201", true},
      {"perfsage-cnn-cifar10", true},
      {"perfsage-cnn-imagenet", true},
      {"perfsage-cnn-kws", true},
      {"perfsage-vit-cifar100", true},
      {"torchvision", true},
      {"timm", true},
      {"graphs", true},
      {"layers-of-networks", false},
  };
  return *spaces;
}

std::string SpaceNames() {
  return absl::StrJoin(Spaces(), ", ",
                       [](std::string* out, const SpaceInfo& space) { absl::StrAppend(out, space.name); });
}

bool IsNetworkSpace(absl::string_view name) {
  for (const SpaceInfo& space : Spaces()) {
    if (space.name == name) return space.is_network;
  }
  return false;
}

absl::StatusOr<std::vector<std::string>> ExpandSpace(absl::string_view name) {
  std::vector<std::string> found;
  for (const SpaceInfo& space : Spaces()) {
    const bool in_group = space.name == "nas-bench-201" || absl::StartsWith(space.name, "perfsage-");
    if (space.name == name || (name == "spaces" && in_group)) found.emplace_back(space.name);
  }
  if (!found.empty()) return found;
  return absl::InvalidArgumentError(
      absl::StrCat("no space '", name, "'; there are ", SpaceNames(), ", and the group spaces"));
}

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(absl::string_view space, const SamplerOptions& options) {
  if (space == "paper-layers") return MakePaperLayerSampler(options);
  if (space == "real-layers") return MakeRealLayerSampler(options);
  if (space == "program-layers") return MakeProgramLayerSampler(options);
  if (space == "lookup-layers") return MakeLookupLayerSampler(options);
  if (space == "constant-layers") return MakeConstantLayerSampler(options);
  if (space == "paper-networks") return MakePaperNetworkSampler(options);
  if (space == "real-networks") return MakeRealNetworkSampler(options);
  if (space == "small-networks") return MakeSmallNetworkSampler(options);
  if (space == "nas-bench-201") return MakeNasBench201Sampler(options);
  if (absl::StartsWith(space, "perfsage-") && IsNetworkSpace(space)) return MakePerfSageSampler(space, options);
  if (space == "torchvision" || space == "timm") {
    const absl::string_view shipped = space == "timm" ? kTimmNetworks : kTorchvisionNetworks;
    return MakeNetworkListSampler(space, options.networks_path.empty() ? DataPath(shipped) : options.networks_path,
                                  options);
  }
  if (space == "layers-of-networks") {
    return MakeNetworkLayerSampler(options.networks_path.empty() ? DataPath(kMeasuredNetworks) : options.networks_path);
  }
  if (space == "graphs") {
    if (options.networks_path.empty())
      return absl::InvalidArgumentError("space 'graphs' needs a file of graphs: --networks FILE");
    return MakeNetworkListSampler(space, options.networks_path, options);
  }
  return absl::InvalidArgumentError(absl::StrCat("no space '", space, "'; there are ", SpaceNames()));
}

}  // namespace cobra::worker
