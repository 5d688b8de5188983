#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/cost/cost.h"
#include "worker/sample/families.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

// One network in eight may be as heavy as VGG-16 at 224 x 224, so that the training data does not
// end below it.
constexpr double kHeavyShare = 0.12;
constexpr int64_t kHeavyMacs = 17'000'000'000;
constexpr int64_t kLeastMacs = 30'000'000;

class RealNetworkSampler final : public Sampler {
 public:
  explicit RealNetworkSampler(const SamplerOptions& options) : options_(options) {}
  absl::string_view space() const override { return "real-networks"; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    Random random(options_.seed, space(), index);
    SampleCaps caps = options_.caps;
    if (random.Chance(kHeavyShare)) caps.network_macs = kHeavyMacs;
    double at = random.Unit();
    const Family* family = &Families().back();
    for (const Family& candidate : Families()) {
      if ((at -= candidate.weight) < 0) {
        family = &candidate;
        break;
      }
    }
    // A floor drawn log-uniformly spreads the networks over the range. A family that does not reach
    // it gives its largest network of many draws.
    const int64_t least_macs = random.LogBetween(kLeastMacs, caps.network_macs / 2);
    std::optional<graph::Graph> largest;
    int64_t largest_macs = -1;
    for (int tries = 0; tries < 60 || (!largest && tries < 1000); ++tries) {
      absl::StatusOr<graph::Graph> graph = family->draw(&random);
      if (!graph.ok() || !CheckCaps(*graph, true, caps).ok()) continue;
      const int64_t macs = graph::CostOf(*graph).macs;
      if (macs > largest_macs) {
        largest_macs = macs;
        largest = *std::move(graph);
      }
      if (macs >= least_macs) break;
    }
    if (!largest) return absl::NotFoundError(absl::StrCat(space(), "/", index, ": nothing within the caps"));
    return Sample{true, family->name, *std::move(largest)};
  }

 private:
  const SamplerOptions options_;
};

}  // namespace

std::unique_ptr<Sampler> MakeRealNetworkSampler(const SamplerOptions& options) {
  return std::make_unique<RealNetworkSampler>(options);
}

}  // namespace cobra::worker
