// The layers of measured networks, each distinct layer once. The sum of their times measured alone
// is compared with the time of the network (lab/results/layer_sum.md).
//
// The order completes networks: one network of each family, then a second one of each, and so on.
// Each adds the layers that earlier networks do not have. So any budget completes as many networks
// as possible, of all families equally.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "graph/builder/extract.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "store/measurement_json.h"
#include "store/record_file.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::string_view kSpace = "layers-of-networks";

using NetworksByFamily = std::map<std::string, std::vector<graph::Graph>>;

struct Layer {
  size_t network;
  int32_t node;
};

class NetworkLayerSampler final : public Sampler {
 public:
  NetworkLayerSampler(std::vector<graph::Graph> networks, std::vector<Layer> layers)
      : networks_(std::move(networks)), layers_(std::move(layers)) {}
  absl::string_view space() const override { return kSpace; }
  int64_t size() const override { return static_cast<int64_t>(layers_.size()); }

  // The caps do not apply: the networks were measured as they are.
  absl::StatusOr<Sample> At(int64_t index) const override {
    if (index < 0 || index >= size())
      return absl::NotFoundError(absl::StrCat(kSpace, "/", index, ": there are ", size()));
    const Layer& layer = layers_[static_cast<size_t>(index)];
    const graph::Graph& network = networks_[layer.network];
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::ExtractLayer(network, layer.node));
    return Sample{false, std::string(graph::OpName(network.nodes()[static_cast<size_t>(layer.node)].op)),
                  std::move(graph)};
  }

 private:
  const std::vector<graph::Graph> networks_;
  const std::vector<Layer> layers_;
};

// The label of a record, or the "family" of a list of networks.
std::string FamilyOf(const store::Subject& subject, const Json& line) {
  const auto family = line.find("family");
  if (!subject.label.empty() || family == line.end() || !family->is_string()) return subject.label;
  return family->get<std::string>();
}

// By family, in the order of the file; lines that are not networks are skipped.
absl::StatusOr<NetworksByFamily> ReadNetworks(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, store::ReadRecordFile(path));
  NetworksByFamily families;
  std::set<Hash128> seen;
  int line_number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++line_number;
    if (line.empty()) continue;
    const store::RecordParts parts = store::SplitRecord(line);
    const Json& json = parts.fields;
    if (!json.is_object())
      return absl::InvalidArgumentError(absl::StrCat(path, ":", line_number, ": is not a JSON object"));
    const auto wrong = [&](const absl::Status& status) {
      return absl::InvalidArgumentError(absl::StrCat(path, ":", line_number, ": ", status.message()));
    };
    store::Measurement listed;
    listed.subject.is_network = true;  // lists of networks do not have the field
    if (const absl::Status status = store::MergeFields(json, &listed); !status.ok()) return wrong(status);
    const store::Subject& subject = listed.subject;
    if (parts.graph_json.empty() || !subject.is_network || listed.outcome != store::Outcome::ok) continue;
    absl::StatusOr<graph::Graph> graph = graph::GraphFromJson(parts.graph_json);
    if (!graph.ok()) return wrong(graph.status());
    if (!seen.insert(graph::Fingerprint(*graph)).second) continue;
    families[FamilyOf(subject, json)].push_back(*std::move(graph));
  }
  if (families.empty()) return absl::InvalidArgumentError(absl::StrCat(path, ": has no networks"));
  return families;
}

// One of each family, then the second of each.
std::vector<graph::Graph> InTurns(NetworksByFamily families) {
  std::vector<graph::Graph> networks;
  for (size_t turn = 0, added = 1; added > 0; ++turn) {
    added = 0;
    for (auto& [family, members] : families) {
      if (turn >= members.size()) continue;
      networks.push_back(std::move(members[turn]));
      ++added;
    }
  }
  return networks;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Sampler>> MakeNetworkLayerSampler(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(NetworksByFamily families, ReadNetworks(path));
  std::vector<graph::Graph> networks = InTurns(std::move(families));
  std::vector<Layer> layers;
  std::set<Hash128> seen;
  for (size_t i = 0; i < networks.size(); ++i) {
    for (size_t k = 0; k < networks[i].nodes().size(); ++k) {
      const graph::Node& node = networks[i].nodes()[k];
      if (graph::IsView(node) || graph::IsAlias(networks[i], node)) continue;
      COBRA_ASSIGN_OR_RETURN(const graph::Graph layer, graph::ExtractLayer(networks[i], static_cast<int32_t>(k)));
      if (seen.insert(graph::Fingerprint(layer)).second) layers.push_back({i, static_cast<int32_t>(k)});
    }
  }
  return std::make_unique<NetworkLayerSampler>(std::move(networks), std::move(layers));
}

}  // namespace cobra::worker
