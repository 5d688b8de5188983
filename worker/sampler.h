// What is measured. A sample is determined by (seed, space, index): a series can be resumed, and anyone can draw it
// again.
#ifndef COBRA_WORKER_SAMPLER_H_
#define COBRA_WORKER_SAMPLER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::worker {

// What lies above is not drawn: one core must stay within some 50 ms a layer and 400 ms a network. The README of
// data/measurements states these numbers beside every table.
struct SampleCaps {
  int64_t layer_macs = 2'000'000'000;
  int64_t grouped_macs = 300'000'000;         // grouped convolutions of odd widths reach a tenth of the speed
  int64_t tensor_bytes = int64_t{64} << 20;   // one activation
  int64_t weight_bytes = int64_t{450} << 20;  // VGG's first fully connected layer has 411 MB
  int64_t network_macs = 16'500'000'000;      // VGG-16 at 224 x 224 has 15.5e9: what users ask for must lie inside
};

struct Sample {
  bool is_network = false;
  std::string label;  // operator of a layer, family of a network
  graph::Graph graph;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual absl::string_view space() const = 0;
  // How many indices there are: a finite space has each of its networks once.
  virtual int64_t size() const { return std::numeric_limits<int64_t>::max(); }
  // NotFound when no sample within the caps came up in many tries, or beyond size(): the index is skipped.
  virtual absl::StatusOr<Sample> At(int64_t index) const = 0;
};

struct SamplerOptions {
  uint64_t seed = 1;
  SampleCaps caps;
  std::string real_layers_path = "data/layers/real_layers.jsonl.gz";
  std::string networks_path;  // of `graphs`; of `torchvision` and `layers-of-networks` where it is not the file below
};

inline constexpr absl::string_view kTorchvisionNetworks = "data/networks/torchvision.jsonl.gz";
inline constexpr absl::string_view kMeasuredNetworks = "data/measurements/cpu-epyc-genoa-1t/networks.jsonl.gz";

// Name and kind of every space. Groups ("spaces") stand for several: ExpandSpace.
struct SpaceInfo {
  absl::string_view name;
  bool is_network = false;
};
const std::vector<SpaceInfo>& Spaces();
bool IsNetworkSpace(absl::string_view name);
// The space itself, or what the group stands for; InvalidArgument for an unknown name.
absl::StatusOr<std::vector<std::string>> ExpandSpace(absl::string_view name);
std::string SpaceNames();  // for messages and help

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(absl::string_view space, const SamplerOptions& options);

std::unique_ptr<Sampler> MakePaperLayerSampler(const SamplerOptions& options);
absl::StatusOr<std::unique_ptr<Sampler>> MakeRealLayerSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakePaperNetworkSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeRealNetworkSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeNasBench201Sampler(const SamplerOptions& options);
// `space` is one of the four names that begin with "perfsage-".
std::unique_ptr<Sampler> MakePerfSageSampler(absl::string_view space, const SamplerOptions& options);
// A file of graphs: one JSON object a line, {"name", "family"?, "graph"} (data/networks/README.md).
absl::StatusOr<std::unique_ptr<Sampler>> MakeNetworkListSampler(absl::string_view space, absl::string_view path,
                                                                const SamplerOptions& options);

// The cells of NAS-Bench-201 by number: a digit of base 5 for each of the six edges, the first edge's least. The string
// is the space's own ("|nor_conv_3x3~0|+|..."), as frontend/nas reads it.
inline constexpr int64_t kNasBench201Cells = 15625;
std::string NasBench201Cell(int64_t number);

// The layers of measured networks, each once. The file: records (store/record.h), or graphs as above.
absl::StatusOr<std::unique_ptr<Sampler>> MakeNetworkLayerSampler(absl::string_view path);

// OK if the graph lies within the caps; OutOfRange otherwise.
absl::Status CheckCaps(const graph::Graph& graph, bool is_network, const SampleCaps& caps);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SAMPLER_H_
