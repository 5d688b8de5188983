// Every network space is something that LibTorch runs: a few networks of each, and the smallest of
// each family of torchvision, with every shape compared.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "graph/cost/cost.h"
#include "gtest/gtest.h"
#include "worker/execute/executor.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {
namespace {

constexpr int64_t kFewMacs = 1'500'000'000;  // a twentieth of a second

void ExpectRuns(const graph::Graph& graph, const std::string& what) {
  const auto executor = Executor::Create(graph, 1);
  ASSERT_TRUE(executor.ok()) << what << ": " << executor.status();
  EXPECT_TRUE((*executor)->RunChecked().ok()) << what << ": " << (*executor)->RunChecked();
}

class SpacesTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ConfigureLibTorch(1); }
};

TEST_F(SpacesTest, LibTorchRunsTheirNetworks) {
  const auto spaces = ExpandSpace("spaces");
  ASSERT_TRUE(spaces.ok()) << spaces.status();
  for (const std::string& space : *spaces) {
    const auto sampler = MakeSampler(space, SamplerOptions());
    ASSERT_TRUE(sampler.ok()) << sampler.status();
    int run = 0;
    for (int i = 0; i < 20 && run < 3; ++i) {
      const auto sample = (*sampler)->At(i);
      ASSERT_TRUE(sample.ok()) << sample.status();
      if (graph::CostOf(sample->graph).macs > kFewMacs) continue;
      ExpectRuns(sample->graph, absl::StrCat(space, "/", i));
      ++run;
    }
    EXPECT_EQ(run, 3) << space;
  }
}

TEST_F(SpacesTest, LibTorchRunsTorchvisionsFamilies) {
  SamplerOptions options;
  options.networks_path = absl::StrCat(COBRA_SOURCE_DIR, "/", kTorchvisionNetworks);
  const auto sampler = MakeSampler("torchvision", options);
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  std::map<std::string, std::pair<int64_t, int64_t>> smallest;  // family -> multiply-accumulates, index
  for (int64_t i = 0; i < (*sampler)->size(); ++i) {
    const auto sample = (*sampler)->At(i);
    if (!sample.ok()) continue;
    const std::pair<int64_t, int64_t> found = {graph::CostOf(sample->graph).macs, i};
    const auto [it, is_new] = smallest.try_emplace(sample->label, found);
    if (!is_new) it->second = std::min(it->second, found);
  }
  for (const auto& [family, found] : smallest) ExpectRuns((*sampler)->At(found.second)->graph, family);
}

}  // namespace
}  // namespace cobra::worker
