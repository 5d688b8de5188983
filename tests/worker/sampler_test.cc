#include "worker/sample/sampler.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "frontend/nas/reader.h"
#include "graph/cost/cost.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "worker/sample/families.h"

namespace cobra::worker {
namespace {

SamplerOptions Options(uint64_t seed = 1) {
  SamplerOptions options;
  options.seed = seed;
  options.real_layers_path = COBRA_SOURCE_DIR "/data/layers/real_layers.jsonl.xz";
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
constexpr Space kSpaces[] = {
    {"paper-layers", false, 150},       {"real-layers", false, 300},         {"program-layers", false, 300},
    {"lookup-layers", false, 300},      {"constant-layers", false, 300},     {"paper-networks", true, 15},
    {"real-networks", true, 30},        {"small-networks", true, 60},        {"nas-bench-201", true, 50},
    {"perfsage-cnn-cifar10", true, 50}, {"perfsage-cnn-imagenet", true, 50}, {"perfsage-cnn-kws", true, 50},
    {"perfsage-vit-cifar100", true, 50}};

class SpaceTest : public ::testing::TestWithParam<Space> {};

TEST_P(SpaceTest, IsDeterminedBySeedAndIndex) {
  const auto one = Make(GetParam().name), same = Make(GetParam().name), other = Make(GetParam().name, 2);
  int different = 0;
  for (int i = 0; i < 10; ++i) {
    const auto a = one->At(i), b = same->At(i), c = other->At(i);
    ASSERT_TRUE(a.ok() && b.ok() && c.ok());
    EXPECT_EQ(graph::GraphToJson(a->graph), graph::GraphToJson(b->graph));
    different += graph::GraphToJson(a->graph) != graph::GraphToJson(c->graph);
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
    fingerprints.insert(graph::Fingerprint(sample->graph).ToHex());
  }
  EXPECT_GT(fingerprints.size(), GetParam().samples * 0.9);
}

TEST_P(SpaceTest, GraphsSurviveTheirJson) {
  const auto sampler = Make(GetParam().name);
  for (int i = 0; i < 10; ++i) {
    const auto sample = sampler->At(i);
    ASSERT_TRUE(sample.ok());
    const auto back = graph::GraphFromJson(graph::GraphToJson(sample->graph, {/*origins=*/false}));
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(graph::Fingerprint(*back), graph::Fingerprint(sample->graph));
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpaceTest, ::testing::ValuesIn(kSpaces), [](const auto& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '-', '_');
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
    const graph::Node& node = sample->graph.nodes().back();
    inplace = inplace || node.inplace;
    if (node.op != graph::Op::conv2d) continue;
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
    for (const graph::Node& node : sample->graph.nodes()) {
      for (graph::ValueRef ref : node.inputs) {
        if (ref.is_node()) used.insert(ref.index);
      }
    }
    // Everything but the last node is read by another.
    EXPECT_EQ(used.size() + 1, sample->graph.nodes().size());
  }
}

int64_t ParametersOf(const graph::Graph& graph) {
  int64_t count = 0;
  for (const graph::NamedTensor& parameter : graph.parameters()) count += parameter.type.num_elements();
  return count;
}

TEST(NasBench201SamplerTest, NumbersAreCells) {
  EXPECT_EQ(NasBench201Cell(0), "|none~0|+|none~0|none~1|+|none~0|none~1|none~2|");
  EXPECT_EQ(NasBench201Cell(1), "|skip_connect~0|+|none~0|none~1|+|none~0|none~1|none~2|");
  EXPECT_EQ(NasBench201Cell(kNasBench201Cells - 1),
            "|avg_pool_3x3~0|+|avg_pool_3x3~0|avg_pool_3x3~1|+|avg_pool_3x3~0|avg_pool_3x3~1|avg_pool_3x3~2|");
  std::set<std::string> cells;
  for (int64_t i = 0; i < kNasBench201Cells; ++i) cells.insert(NasBench201Cell(i));
  EXPECT_EQ(cells.size(), static_cast<size_t>(kNasBench201Cells));
}

// The space's API prints 220.119680 M and 1.531546 M parameters for the cell of 3x3 convolutions
// alone, batch norms counted.
TEST(NasBench201SamplerTest, HasEveryCellOnceAndTheReadersNetwork) {
  const auto sampler = Make("nas-bench-201", 5);
  ASSERT_EQ(sampler->size(), kNasBench201Cells);
  const int64_t largest = 3 * (1 + 5 + 25 + 125 + 625 + 3125);
  ASSERT_EQ(NasBench201Cell(largest),
            "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|nor_conv_3x3~0|nor_conv_3x3~1|nor_conv_3x3~2|");
  const auto read = nas::ReadArchitecture({absl::StrCat("nasbench201:", NasBench201Cell(largest)), {}});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(ParametersOf(*read), 1'531'546);
  const std::vector<int64_t> order = Random(5, "nas-bench-201/order", 0).Permutation(kNasBench201Cells);
  EXPECT_EQ(std::set<int64_t>(order.begin(), order.end()).size(), order.size());
  const int64_t index = std::find(order.begin(), order.end(), largest) - order.begin();
  const auto sample = sampler->At(index);
  ASSERT_TRUE(sample.ok()) << sample.status();
  EXPECT_EQ(graph::Fingerprint(sample->graph), graph::Fingerprint(*read));
  EXPECT_EQ(graph::CostOf(sample->graph).macs, graph::CostOf(*read).macs);
  EXPECT_NEAR(static_cast<double>(graph::CostOf(sample->graph).macs), 220.1e6, 4e6);
  EXPECT_EQ(sampler->At(kNasBench201Cells).status().code(), absl::StatusCode::kNotFound);
}

int CallsOf(const graph::Graph& graph, graph::Op op) {
  int count = 0;
  for (const graph::Node& node : graph.nodes()) count += node.op == op;
  return count;
}

struct Range {
  double least = 1e30, most = 0;
  void Add(double value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

// Table 2: parameters (bytes of int8 weights) lie where the paper's networks lie; CIFAR-10's upper
// end is out of reach of what its text says.
TEST(PerfSageSamplerTest, NetworksHaveThePublishedSizes) {
  struct Published {
    const char* space;
    double least_million, most_million;
  };
  for (const Published& p :
       {Published{"perfsage-cnn-cifar10", 0.02, 18.25}, Published{"perfsage-cnn-imagenet", 1.3, 26},
        Published{"perfsage-cnn-kws", 0.02, 6}, Published{"perfsage-vit-cifar100", 1.8, 54}}) {
    const auto sampler = Make(p.space);
    Range parameters;
    for (int i = 0; i < 150; ++i) parameters.Add(static_cast<double>(ParametersOf(sampler->At(i)->graph)) / 1e6);
    EXPECT_GT(parameters.least, p.least_million) << p.space;
    EXPECT_LT(parameters.most, p.most_million) << p.space;
    EXPECT_GT(parameters.most, 3 * parameters.least) << p.space;
  }
}

// 7 to 21 operators: reshape, convolution, one to eight pairs of depthwise and 1x1 convolution,
// pool, classifier, reshape. Kernels are not all square.
TEST(PerfSageSamplerTest, KeywordSpottingHasOneToEightSeparableBlocks) {
  const auto sampler = Make("perfsage-cnn-kws");
  Range convolutions;
  bool rectangular = false;
  for (int i = 0; i < 600; ++i) {
    const auto sample = sampler->At(i);
    ASSERT_TRUE(sample.ok()) << sample.status();
    convolutions.Add(CallsOf(sample->graph, graph::Op::conv2d));
    for (const graph::NamedTensor& p : sample->graph.parameters())
      rectangular = rectangular || (p.type.rank() == 4 && p.type.shape[2] != p.type.shape[3]);
    for (const graph::Node& node : sample->graph.nodes()) {
      if (node.op != graph::Op::conv2d || node.outputs[0].shape[2] == 1) continue;
      EXPECT_EQ(graph::ShapeText({node.outputs[0].shape[2], node.outputs[0].shape[3]}), "25x5");
    }
  }
  EXPECT_EQ(convolutions.least, 2 + 2);
  EXPECT_EQ(convolutions.most, 2 + 16);
  EXPECT_TRUE(rectangular);
}

TEST(PerfSageSamplerTest, SpacesHaveTheOperatorsOfTable2) {
  std::map<std::string, std::map<graph::Op, int>> calls;
  for (const char* space :
       {"perfsage-cnn-cifar10", "perfsage-cnn-imagenet", "perfsage-cnn-kws", "perfsage-vit-cifar100"}) {
    const auto sampler = Make(space);
    for (int i = 0; i < 40; ++i) {
      const auto sample = sampler->At(i);
      ASSERT_TRUE(sample.ok()) << sample.status();
      for (const graph::Node& node : sample->graph.nodes()) ++calls[space][node.op];
    }
  }
  for (const char* space : {"perfsage-cnn-cifar10", "perfsage-cnn-imagenet"}) {
    EXPECT_GT(calls[space][graph::Op::pad], 0);
    EXPECT_GT(calls[space][graph::Op::add], 0);
    EXPECT_EQ(calls[space][graph::Op::linear], 0);
  }
  EXPECT_EQ(calls["perfsage-cnn-kws"][graph::Op::add] + calls["perfsage-cnn-kws"][graph::Op::pad] +
                calls["perfsage-cnn-kws"][graph::Op::linear],
            0);
  for (graph::Op op :
       {graph::Op::linear, graph::Op::add, graph::Op::mul, graph::Op::pow, graph::Op::tanh, graph::Op::softmax,
        graph::Op::reshape, graph::Op::transpose, graph::Op::select, graph::Op::cat}) {
    EXPECT_GT(calls["perfsage-vit-cifar100"][op], 0) << graph::OpName(op);
  }
  EXPECT_EQ(calls["perfsage-vit-cifar100"][graph::Op::conv2d], 0);
}

SamplerOptions TorchvisionOptions(uint64_t seed = 1) {
  SamplerOptions options = Options(seed);
  options.networks_path = absl::StrCat(COBRA_SOURCE_DIR, "/", kTorchvisionNetworks);
  return options;
}

// 80 classification models at two batches and two sizes; maxvit_t has one size.
TEST(NetworkListSamplerTest, TorchvisionsModelsAreEachThereOnce) {
  const auto sampler = MakeSampler("torchvision", TorchvisionOptions());
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_EQ((*sampler)->size(), 318);
  std::map<std::string, int> families;
  std::set<std::string> fingerprints;
  bool resnet18 = false;
  for (int64_t i = 0; i < (*sampler)->size(); ++i) {
    const auto sample = (*sampler)->At(i);
    ASSERT_TRUE(sample.ok()) << sample.status();
    EXPECT_TRUE(sample->is_network);
    ++families[sample->label];
    fingerprints.insert(graph::Fingerprint(sample->graph).ToHex());
    // docs/torchvision_models.md
    resnet18 =
        resnet18 || (ParametersOf(sample->graph) == 11'689'512 && graph::CostOf(sample->graph).macs == 1'814'073'344);
  }
  EXPECT_EQ(fingerprints.size(), 318u);
  EXPECT_EQ(families.size(), 17u);
  EXPECT_EQ(families["torchvision/densenet"], 16);
  EXPECT_TRUE(resnet18);
}

TEST(NetworkListSamplerTest, TheSeedGivesTheOrder) {
  const auto one = MakeSampler("torchvision", TorchvisionOptions(1)),
             same = MakeSampler("torchvision", TorchvisionOptions(1)),
             other = MakeSampler("torchvision", TorchvisionOptions(2));
  ASSERT_TRUE(one.ok() && same.ok() && other.ok());
  int different = 0;
  for (int i = 0; i < 12; ++i) {
    const auto a = (*one)->At(i), b = (*same)->At(i), c = (*other)->At(i);
    ASSERT_EQ(a.ok(), b.ok());
    if (a.ok()) {
      EXPECT_EQ(graph::Fingerprint(a->graph), graph::Fingerprint(b->graph));
    }
    different += !a.ok() || !c.ok() || !(graph::Fingerprint(a->graph) == graph::Fingerprint(c->graph));
  }
  EXPECT_GE(different, 9);
}

TEST(NetworkListSamplerTest, AFileOfGraphsIsASpace) {
  const std::string path = absl::StrCat(::testing::TempDir(), "/graphs_", getpid(), ".jsonl");
  const std::string graph = graph::GraphToJson(Make("nas-bench-201")->At(0)->graph);
  ASSERT_TRUE(WriteFileAtomic(path, absl::StrCat("{\"name\":\"mine\",\"graph\":", graph,
                                                 "}\n{\"name\":\"b\",\"family\":\"f\",\"graph\":", graph, "}\n"))
                  .ok());
  SamplerOptions options;
  options.networks_path = path;
  const auto sampler = MakeSampler("graphs", options);
  ASSERT_TRUE(sampler.ok()) << sampler.status();
  ASSERT_EQ((*sampler)->size(), 2);
  const std::set<std::string> labels = {(*sampler)->At(0)->label, (*sampler)->At(1)->label};
  EXPECT_EQ(labels, (std::set<std::string>{"graphs/mine", "graphs/f"}));
  ASSERT_TRUE(WriteFileAtomic(
                  path, absl::StrCat("{\"name\":\"mine\",\"graph\":", graph, "}\n{\"name\":\"bad\",\"graph\":{}}\n"))
                  .ok());
  const auto bad = MakeSampler("graphs", options);
  ASSERT_FALSE(bad.ok());
  EXPECT_TRUE(absl::StrContains(bad.status().message(), absl::StrCat(path, ":2: "))) << bad.status();
  unlink(path.c_str());
  EXPECT_FALSE(MakeSampler("graphs", SamplerOptions()).ok());
}

TEST(SamplerTest, AGroupStandsForItsSpaces) {
  const auto spaces = ExpandSpace("spaces");
  ASSERT_TRUE(spaces.ok()) << spaces.status();
  EXPECT_EQ(*spaces, (std::vector<std::string>{"nas-bench-201", "perfsage-cnn-cifar10", "perfsage-cnn-imagenet",
                                               "perfsage-cnn-kws", "perfsage-vit-cifar100"}));
  EXPECT_EQ(*ExpandSpace("paper-layers"), std::vector<std::string>{"paper-layers"});
  EXPECT_FALSE(ExpandSpace("space").ok());
  for (const SpaceInfo& space : Spaces()) EXPECT_EQ(space.is_network, IsNetworkSpace(space.name));
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
}  // namespace cobra::worker
