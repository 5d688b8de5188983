#include "worker/sampler.h"

#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "graph/cost.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "gtest/gtest.h"
#include "worker/families.h"

namespace cobra {
namespace {

SamplerOptions Options(uint64_t seed = 1) {
  SamplerOptions options;
  options.seed = seed;
  options.real_layers_path = COBRA_SOURCE_DIR "/data/layers/real_layers.jsonl.gz";
  return options;
}

std::unique_ptr<Sampler> Make(absl::string_view space, uint64_t seed = 1) {
  absl::StatusOr<std::unique_ptr<Sampler>> sampler = MakeSampler(space, Options(seed));
  EXPECT_TRUE(sampler.ok()) << sampler.status();
  return *std::move(sampler);
}

struct Space {
  const char* name;
  bool is_network;
  int samples;
};
constexpr Space kSpaces[] = {{"paper-layers", false, 150},
                             {"real-layers", false, 300},
                             {"paper-networks", true, 15},
                             {"real-networks", true, 30}};

class SpaceTest : public ::testing::TestWithParam<Space> {};

TEST_P(SpaceTest, IsDeterminedBySeedAndIndex) {
  const auto one = Make(GetParam().name), same = Make(GetParam().name), other = Make(GetParam().name, 2);
  int different = 0;
  for (int i = 0; i < 10; ++i) {
    const auto a = one->At(i), b = same->At(i), c = other->At(i);
    ASSERT_TRUE(a.ok() && b.ok() && c.ok());
    EXPECT_EQ(GraphToJson(a->graph), GraphToJson(b->graph));
    different += GraphToJson(a->graph) != GraphToJson(c->graph);
  }
  EXPECT_GE(different, 8);
}

TEST_P(SpaceTest, StaysWithinTheCaps) {
  const auto sampler = Make(GetParam().name);
  SampleCaps caps;
  std::set<std::string> fingerprints;
  for (int i = 0; i < GetParam().samples; ++i) {
    const auto sample = sampler->At(i);
    ASSERT_TRUE(sample.ok()) << sample.status();
    EXPECT_EQ(sample->is_network, GetParam().is_network);
    EXPECT_FALSE(sample->label.empty());
    // The heavy networks of real-networks go up to VGG-16's 15.5e9.
    if (GetParam().is_network) caps.network_macs = 17'000'000'000;
    EXPECT_TRUE(CheckCaps(sample->graph, sample->is_network, caps).ok());
    fingerprints.insert(Fingerprint(sample->graph).ToHex());
  }
  EXPECT_GT(fingerprints.size(), GetParam().samples * 0.9);
}

TEST_P(SpaceTest, GraphsSurviveTheirJson) {
  const auto sampler = Make(GetParam().name);
  for (int i = 0; i < 10; ++i) {
    const auto sample = sampler->At(i);
    ASSERT_TRUE(sample.ok());
    const auto back = GraphFromJson(GraphToJson(sample->graph, {/*origins=*/false}));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(Fingerprint(*back), Fingerprint(sample->graph));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpaceTest, ::testing::ValuesIn(kSpaces), [](const auto& info) {
  std::string name = info.param.name;
  name[name.find('-')] = '_';
  return name;
});

TEST(SamplerTest, PaperLayersHaveTheProportionsOfTable4) {
  const auto sampler = Make("paper-layers");
  std::map<std::string, int> count;
  for (int i = 0; i < 1000; ++i) ++count[sampler->At(i)->label];
  EXPECT_NEAR(count["conv2d"], 430, 50);
  EXPECT_NEAR(count["relu"], 242, 45);
  EXPECT_NEAR(count["batch_norm"], 142, 35);
  EXPECT_NEAR(count["linear"], 75, 27);
  EXPECT_GT(count["adaptive_avg_pool2d"], 25);
  EXPECT_GT(count["add"], 15);
  EXPECT_GT(count["avg_pool2d"] + count["max_pool2d"], 8);
}

TEST(SamplerTest, RealLayersCoverManyOperators) {
  const auto sampler = Make("real-layers");
  std::set<std::string> labels;
  bool inplace = false, grouped = false, depthwise = false, batched = false;
  for (int i = 0; i < 800; ++i) {
    const auto sample = sampler->At(i);
    ASSERT_TRUE(sample.ok());
    labels.insert(sample->label);
    const Node& node = sample->graph.nodes().back();
    inplace = inplace || node.inplace;
    if (node.op != Op::conv2d) continue;
    const int64_t groups = node.attributes.Int("groups", 1), channels = sample->graph.TypeOf(node.inputs[0]).shape[1];
    depthwise = depthwise || (groups > 1 && groups == channels);
    grouped = grouped || (groups > 1 && groups != channels);
    batched = batched || sample->graph.TypeOf(node.inputs[0]).shape[0] > 1;
  }
  EXPECT_GT(labels.size(), 30u);
  EXPECT_TRUE(inplace);
  EXPECT_TRUE(depthwise);
  EXPECT_TRUE(grouped);
  EXPECT_TRUE(batched);
}

TEST(SamplerTest, EveryFamilyCanBeDrawn) {
  for (const Family& family : Families()) {
    Random random(3);
    int drawn = 0;
    for (int i = 0; i < 40; ++i) drawn += family.draw(&random).ok();
    EXPECT_GT(drawn, 10) << family.name;
  }
}

TEST(SamplerTest, PaperNetworksAreConnectedAndPruned) {
  const auto sampler = Make("paper-networks");
  for (int i = 0; i < 10; ++i) {
    const auto sample = sampler->At(i);
    ASSERT_TRUE(sample.ok());
    std::set<int> used;
    for (const Node& node : sample->graph.nodes()) {
      for (ValueRef ref : node.inputs) {
        if (ref.is_node()) used.insert(ref.index);
      }
    }
    // Everything but the last node is read by another.
    EXPECT_EQ(used.size() + 1, sample->graph.nodes().size());
  }
}

TEST(SamplerTest, AnUnknownSpaceIsRefusedByName) {
  const auto sampler = MakeSampler("papr-layers", Options());
  ASSERT_FALSE(sampler.ok());
  EXPECT_NE(sampler.status().message().find("papr-layers"), absl::string_view::npos);
}

TEST(SamplerTest, AMissingLayerFileIsAnError) {
  SamplerOptions options;
  options.real_layers_path = "/nonexistent/layers";
  EXPECT_FALSE(MakeSampler("real-layers", options).ok());
}

}  // namespace
}  // namespace cobra
