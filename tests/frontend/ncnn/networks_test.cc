// The networks of ncnn's own benchmark, read at their published sizes. Where the work of a network
// is published, it is the same here.
#include <map>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "frontend/ncnn/reader.h"
#include "graph/cost/cost.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"

namespace cobra::ncnn {
namespace {

constexpr char kFolder[] = COBRA_SOURCE_DIR "/data/lists/ncnn/";

std::string FileText(const std::string& path) { return ReadFile(absl::StrCat(kFolder, path), 1 << 20).value(); }

struct Published {
  std::string name, file, size;
};
std::vector<Published> AllPublished() {
  std::vector<Published> all;
  for (const absl::string_view line : absl::StrSplit(FileText("models.csv"), '\n', absl::SkipEmpty())) {
    const std::vector<std::string> cells = absl::StrSplit(line, ',');
    if (cells[0] == "model") continue;
    all.push_back({cells[0], cells[1], absl::StrCat("1x", cells[2], "x", cells[3], "x", cells[4])});
  }
  return all;
}

absl::StatusOr<graph::Graph> Read(const std::string& name, const std::string& input = "") {
  NcnnRequest request{absl::StrCat(name, ".param")};
  if (!input.empty()) request.inputs.push_back(input);
  return ReadNcnnModel(FileText(absl::StrCat(name, ".param")), request);
}

TEST(NcnnNetworks, All35AreReadAtTheirPublishedSizes) {
  const std::vector<Published> all = AllPublished();
  EXPECT_EQ(all.size(), 35u);
  for (const Published& network : all) {
    const absl::StatusOr<graph::Graph> graph = Read(network.name, network.size);
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_GT(graph::CostOf(*graph).macs, 10'000'000) << network.name;
    const absl::StatusOr<graph::Graph> batch = Read(network.name, absl::StrCat("3", network.size.substr(1)));
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ(graph::CostOf(*batch).macs, 3 * graph::CostOf(*graph).macs) << network.name;
    // The file's own sizes are those.
    if (network.name == "FastestDet" || network.name == "vision_transformer") continue;
    const absl::StatusOr<graph::Graph> alone = Read(network.name);
    ASSERT_TRUE(alone.ok()) << alone.status();
    EXPECT_EQ(graph::GraphToJson(*alone), graph::GraphToJson(*graph)) << network.name;
  }
}

// Millions of multiply-accumulates and of parameters as their authors, or torchvision and timm,
// have published them. Differences: AlexNet is Caffe's with groups, GoogLeNet has no auxiliary
// classifiers, ResNet-50 has its strides in the first convolution of a block (4.09 thousand with
// them in the second).
TEST(NcnnNetworks, TheirWorkIsThePublishedOne) {
  const struct {
    const char* name;
    double macs, parameters, tolerance;
  } kKnown[] = {
      {"alexnet", 724, 60.97, 0.01},      {"efficientnet_b0", 390, 5.3, 0.02}, {"googlenet", 1582, 7.0, 0.01},
      {"mnasnet", 315, 4.38, 0.01},       {"mobilenet", 569, 4.23, 0.01},      {"mobilenet_v2", 300, 3.5, 0.05},
      {"regnety_400m", 400, 4.34, 0.02},  {"resnet18", 1814, 11.69, 0.01},     {"resnet50", 3860, 25.56, 0.01},
      {"shufflenet_v2", 146, 2.28, 0.01}, {"vgg16", 15470, 138.36, 0.01},
  };
  for (const auto& known : kKnown) {
    const absl::StatusOr<graph::Graph> graph = Read(known.name);
    ASSERT_TRUE(graph.ok()) << graph.status();
    const double macs = static_cast<double>(graph::CostOf(*graph).macs) / 1e6;
    EXPECT_NEAR(macs, known.macs, known.macs * known.tolerance) << known.name;
    const double parameters = static_cast<double>(graph->num_parameters()) / 1e6;
    EXPECT_NEAR(parameters, known.parameters, known.parameters * known.tolerance) << known.name;
  }
}

TEST(NcnnNetworks, AnInt8NetworkIsTheFloatOneWithIntegers) {
  for (const std::string name : {"googlenet", "mobilenet", "resnet18", "resnet50", "squeezenet", "vgg16"}) {
    const graph::Graph real = Read(name).value(), quantized = Read(name + "_int8").value();
    EXPECT_EQ(graph::CostOf(real).macs, graph::CostOf(quantized).macs) << name;
    EXPECT_EQ(real.num_parameters(), quantized.num_parameters()) << name;
    std::map<std::string, int> calls, quantized_calls;
    for (const graph::Node& node : real.nodes()) ++calls[std::string(graph::OpName(node.op))];
    for (const graph::Node& node : quantized.nodes()) {
      if (node.op != graph::Op::quantize_per_tensor) ++quantized_calls[std::string(graph::OpName(node.op))];
      if (node.op == graph::Op::conv2d) EXPECT_NE(node.attributes.Find("quantized"), nullptr);
    }
    EXPECT_EQ(calls, quantized_calls) << name;
  }
}

TEST(NcnnNetworks, ABatchAndOtherSizesAreTheRequests) {
  const graph::Graph one = Read("mobilenet").value(), four = Read("mobilenet", "data=4x3x224x224").value();
  EXPECT_EQ(graph::CostOf(four).macs, 4 * graph::CostOf(one).macs);
  EXPECT_EQ(four.num_parameters(), one.num_parameters());
  EXPECT_EQ(graph::ShapeText(four.TypeOf(four.outputs()[0]).shape), "4x1000");
  // The file's hints are of its own size.
  const graph::Graph smaller = Read("squeezenet", "1x3x160x160").value();
  EXPECT_LT(graph::CostOf(smaller).macs, graph::CostOf(Read("squeezenet").value()).macs);
  EXPECT_TRUE(Read("efficientnetv2_b0", "3x3x224x224").ok());  // with constants of the file
}

TEST(NcnnNetworks, ACallSaysItsLineAndLayer) {
  const graph::Graph graph = Read("squeezenet").value();
  EXPECT_EQ(*graph.nodes()[0].origin.file, "squeezenet.param");
  EXPECT_EQ(graph.nodes()[0].origin.line, 4);
  EXPECT_EQ(graph.nodes()[0].origin.module_path, "conv1");
  EXPECT_EQ(graph.parameters()[0].name, "conv1.weight");
}

}  // namespace
}  // namespace cobra::ncnn
