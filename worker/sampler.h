// What is measured. A sample is determined by (seed, space, index): a series can be resumed, and anyone can draw it
// again.
#ifndef COBRA_WORKER_SAMPLER_H_
#define COBRA_WORKER_SAMPLER_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra {

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
  Graph graph;
};

class Sampler {
 public:
  virtual ~Sampler() = default;
  virtual absl::string_view space() const = 0;
  // NotFound when no sample within the caps came up in many tries: the index is skipped.
  virtual absl::StatusOr<Sample> At(int64_t index) const = 0;
};

struct SamplerOptions {
  uint64_t seed = 1;
  SampleCaps caps;
  std::string real_layers_path = "data/layers/real_layers.jsonl.gz";
};

// "paper-layers", "real-layers", "paper-networks", "real-networks".
absl::StatusOr<std::unique_ptr<Sampler>> MakeSampler(absl::string_view space, const SamplerOptions& options);

std::unique_ptr<Sampler> MakePaperLayerSampler(const SamplerOptions& options);
absl::StatusOr<std::unique_ptr<Sampler>> MakeRealLayerSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakePaperNetworkSampler(const SamplerOptions& options);
std::unique_ptr<Sampler> MakeRealNetworkSampler(const SamplerOptions& options);

// OK if the graph lies within the caps; OutOfRange otherwise.
absl::Status CheckCaps(const Graph& graph, bool is_network, const SampleCaps& caps);

}  // namespace cobra

#endif  // COBRA_WORKER_SAMPLER_H_
