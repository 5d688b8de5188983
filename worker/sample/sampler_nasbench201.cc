// The cells of NAS-Bench-201 (Dong and Yang, ICLR 2020), each once, in an order determined by the
// seed. The sample is the whole network for CIFAR-10 as frontend/nas builds it (16 channels, five
// cells a stage, batch 1, 3 x 32 x 32).
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/nas/reader.h"
#include "worker/sample/random.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

class NasBench201Sampler final : public Sampler {
 public:
  explicit NasBench201Sampler(const SamplerOptions& options)
      : caps_(options.caps), order_(Random(options.seed, "nas-bench-201/order", 0).Permutation(kNasBench201Cells)) {}
  absl::string_view space() const override { return "nas-bench-201"; }
  int64_t size() const override { return kNasBench201Cells; }

  absl::StatusOr<Sample> At(int64_t index) const override {
    if (index < 0 || index >= kNasBench201Cells) {
      return absl::NotFoundError(absl::StrCat(space(), "/", index, ": the space has ", kNasBench201Cells, " cells"));
    }
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph,
                           nas::ReadArchitecture({absl::StrCat("nasbench201:", NasBench201Cell(order_[index])), {}}));
    if (!CheckCaps(graph, true, caps_).ok())
      return absl::NotFoundError(absl::StrCat(space(), "/", index, ": above the caps"));
    return Sample{true, std::string(space()), std::move(graph)};
  }

 private:
  const SampleCaps caps_;
  const std::vector<int64_t> order_;
};

}  // namespace

std::string NasBench201Cell(int64_t number) {
  constexpr absl::string_view kOperations[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};
  std::string cell;
  for (int to = 1; to < 4; ++to) {
    absl::StrAppend(&cell, to > 1 ? "+|" : "|");
    for (int from = 0; from < to; ++from, number /= 5) absl::StrAppend(&cell, kOperations[number % 5], "~", from, "|");
  }
  return cell;
}

std::unique_ptr<Sampler> MakeNasBench201Sampler(const SamplerOptions& options) {
  return std::make_unique<NasBench201Sampler>(options);
}

}  // namespace cobra::worker
