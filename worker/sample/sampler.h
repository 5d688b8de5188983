// Samples to measure. A sample is determined by (seed, space, index), so that a series can be
// resumed and reproduced.
#ifndef COBRA_WORKER_SAMPLE_SAMPLER_H_
#define COBRA_WORKER_SAMPLE_SAMPLER_H_

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/file/data_path.h"
#include "graph/graph.h"

namespace cobra::worker {

// Larger samples are not drawn, so that one core needs at most some 50 ms per layer and 400 ms per
// network. The README of data/measurements states these numbers beside every table.
struct SampleCaps {
  int64_t layer_macs = 2'000'000'000;
  // Grouped convolutions of odd widths run at a tenth of the speed.
  int64_t grouped_macs = 300'000'000;
  // One activation.
  int64_t tensor_bytes = int64_t{64} << 20;
  // VGG's first fully connected layer has 411 MB.
  int64_t weight_bytes = int64_t{450} << 20;
  // VGG-16 at 224 x 224 has 15.5e9; common networks must be inside.
  int64_t network_macs = 16'500'000'000;
  // Lists, whose networks somebody named, have a hundred times this limit, unless it was asked for.
  bool network_macs_asked = false;
};

struct Sample {
  bool is_network = false;
  // Operator of a layer, family of a network.
  std::string label;
  graph::Graph graph;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual absl::string_view space() const = 0;
  // The number of indices: a finite space has each of its networks once.
  virtual int64_t size() const { return std::numeric_limits<int64_t>::max(); }
  // NotFound if many tries gave no sample within the caps, or beyond size(); the index is then
  // skipped.
  virtual absl::StatusOr<Sample> At(int64_t index) const = 0;
};

struct SamplerOptions {
  uint64_t seed = 1;
  SampleCaps caps;
  std::string real_layers_path = DataPath("data/layers/real_layers.jsonl.xz");
  // File of the space `graphs`; for `torchvision`, `timm` and `layers-of-networks` it replaces the
  // files below.
  std::string networks_path;
};

inline constexpr absl::string_view kTorchvisionNetworks = "data/networks/torchvision.jsonl.xz";
inline constexpr absl::string_view kTimmNetworks = "data/networks/timm.jsonl.xz";
inline constexpr absl::string_view kMeasuredNetworks = "data/measurements/cpu-epyc-genoa-1t/networks.jsonl.xz";

// Name and kind of every space. Groups ("spaces") contain several spaces: ExpandSpace.
struct SpaceInfo {
  absl::string_view name;
  bool is_network = false;
};
const std::vector<SpaceInfo>& Spaces();
bool IsNetworkSpace(absl::string_view name);
// The space itself, or the spaces of the group; InvalidArgument for an unknown name.
absl::StatusOr<std::vector<std::string>> ExpandSpace(absl::string_view name);
// For messages and help.
std::string SpaceNames();

absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(absl::string_view space, const SamplerOptions& options);

std::unique_ptr<Sampler> MakePaperLayerSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeProgramLayerSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeLookupLayerSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeConstantLayerSampler(const SamplerOptions& options);
absl::StatusOr<std::unique_ptr<Sampler>> MakeRealLayerSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakePaperNetworkSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeRealNetworkSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeSmallNetworkSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeNasBench201Sampler(const SamplerOptions& options);
// `space` is one of the four names that begin with "perfsage-".
std::unique_ptr<Sampler> MakePerfSageSampler(absl::string_view space, const SamplerOptions& options);
// A file of graphs: one JSON object a line, {"name", "family"?, "graph"} (data/networks/README.md).
absl::StatusOr<std::unique_ptr<Sampler>> MakeNetworkListSampler(absl::string_view space, absl::string_view path,
                                                                const SamplerOptions& options);

// The cells of NAS-Bench-201 by number: a digit of base 5 for each of the six edges, the first
// edge's least. The string is in the space's own form ("|nor_conv_3x3~0|+|..."), which frontend/nas
// reads.
inline constexpr int64_t kNasBench201Cells = 15625;
std::string NasBench201Cell(int64_t number);

// The layers of measured networks, each once. The file: records (store/record_file.h), or graphs as
// above.
absl::StatusOr<std::unique_ptr<Sampler>> MakeNetworkLayerSampler(absl::string_view path);

// OK if the graph lies within the caps; OutOfRange otherwise.
absl::Status CheckCaps(const graph::Graph& graph, bool is_network, const SampleCaps& caps);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SAMPLE_SAMPLER_H_
