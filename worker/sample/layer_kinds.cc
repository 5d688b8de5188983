#include "worker/sample/layer_kinds.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cobra::worker {
namespace {

class KindSampler final : public Sampler {
 public:
  KindSampler(absl::string_view space, absl::Span<const LayerKind> kinds, const SamplerOptions& options)
      : space_(space), kinds_(kinds), options_(options) {}
  absl::string_view space() const override { return space_; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    Random random(options_.seed, space(), index);
    // The kind is drawn once: samples that the caps refuse must not change the proportions.
    const LayerKind& kind = Draw(&random);
    for (int tries = 0; tries < 2000; ++tries) {
      graph::NetBuilder builder;
      const graph::ValueRef output = kind.draw(&random, &builder);
      absl::StatusOr<graph::Graph> graph = std::move(builder).Finish({output});
      if (!graph.ok() || !CheckCaps(*graph, false, options_.caps).ok()) continue;
      return Sample{false, kind.label, *std::move(graph)};
    }
    return absl::NotFoundError(absl::StrCat(space(), "/", index, ": nothing within the caps"));
  }

 private:
  const LayerKind& Draw(Random* random) const {
    int64_t total = 0;
    for (const LayerKind& kind : kinds_) total += kind.share;
    int64_t at = random->Between(0, total - 1);
    const LayerKind* kind = kinds_.data();
    while (at >= kind->share) at -= (kind++)->share;
    return *kind;
  }

  const absl::string_view space_;
  const absl::Span<const LayerKind> kinds_;
  const SamplerOptions options_;
};

}  // namespace

std::unique_ptr<Sampler> MakeKindSampler(absl::string_view space, absl::Span<const LayerKind> kinds,
                                         const SamplerOptions& options) {
  return std::make_unique<KindSampler>(space, kinds, options);
}

}  // namespace cobra::worker
