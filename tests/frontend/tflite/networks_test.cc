#include "tests/frontend/tflite/networks.h"

#include <map>

#include "frontend/tflite/reader.h"
#include "graph/cost.h"
#include "graph/json.h"
#include "graph/layout.h"
#include "gtest/gtest.h"

namespace cobra {
namespace {

Graph Read(const std::string& bytes, std::vector<std::string> inputs = {}) {
  absl::StatusOr<Graph> graph = ReadTfliteModel(bytes, {"net.tflite", std::move(inputs)});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : GraphBuilder().graph();
}

std::map<std::string, int> Calls(const Graph& graph) {
  std::map<std::string, int> calls;
  for (const Node& node : graph.nodes()) ++calls[std::string(OpName(node.op))];
  return calls;
}

TEST(TfliteNetworks, MobileNetV1HasItsPublishedWork) {
  const Graph graph = Read(MobileNetV1(224, false));
  EXPECT_NEAR(static_cast<double>(CostOf(graph).macs) / 1e6, 568.7, 0.1);
  EXPECT_NEAR(static_cast<double>(graph.num_parameters()) / 1e6, 4.22, 0.02);
  const std::map<std::string, int> calls = Calls(graph);
  EXPECT_EQ(calls.at("conv2d"), 28);
  EXPECT_EQ(calls.at("relu6"), 27);
  EXPECT_EQ(calls.at("pad"), 5);  // SAME at stride 2 on even sizes pads one pixel at the end
  EXPECT_EQ(ShapeText(graph.inputs()[0].type.shape), "1x224x224x3");
  EXPECT_EQ(ShapeText(graph.TypeOf(graph.outputs()[0]).shape), "1x1001");
}

TEST(TfliteNetworks, MobileNetV2HasItsPublishedWork) {
  const Graph graph = Read(MobileNetV2(224, false));
  EXPECT_NEAR(static_cast<double>(CostOf(graph).macs) / 1e6, 300.8, 0.2);
  EXPECT_EQ(Calls(graph).at("add"), 10);
}

TEST(TfliteNetworks, ResNet18HasItsPublishedWork) {
  EXPECT_NEAR(static_cast<double>(CostOf(Read(ResNet18(224, false))).macs) / 1e6, 1814, 1);
}

TEST(TfliteNetworks, EveryActivationKeepsTheFilesOrderAndNoViewCopies) {
  for (const std::string& file :
       {MobileNetV1(64, false), MobileNetV2(64, true), ResNet18(64, true), EfficientNetLike(64, false)}) {
    const Graph graph = Read(file);
    const Layout layout = ComputeLayout(graph);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      EXPECT_FALSE(layout.copies[i]) << i << " " << OpName(graph.nodes()[i].op);
      const Shape& shape = graph.nodes()[i].outputs[0].shape;
      if (graph.nodes()[i].op != Op::conv2d || shape[1] == 1) continue;
      EXPECT_EQ(layout.outputs[i][0][1], 1) << i;  // channels are next to each other
    }
  }
}

TEST(TfliteNetworks, QuantizedNetworksKeepTheirTypes) {
  const std::string file = EfficientNetLike(64, true);
  const Graph quantized = Read(file), real = Read(EfficientNetLike(64, false));
  ASSERT_EQ(quantized.nodes().size(), real.nodes().size());
  EXPECT_EQ(CostOf(quantized).macs, CostOf(real).macs);
  EXPECT_EQ(quantized.inputs()[0].type.dtype, DType::int8);
  for (size_t i = 0; i < quantized.nodes().size(); ++i) {
    EXPECT_EQ(quantized.nodes()[i].op, real.nodes()[i].op);
    EXPECT_EQ(quantized.nodes()[i].outputs[0].shape, real.nodes()[i].outputs[0].shape);
    EXPECT_EQ(quantized.nodes()[i].outputs[0].dtype, DType::int8) << OpName(quantized.nodes()[i].op);
  }
  std::map<DType, int> parameters;
  for (const NamedTensor& parameter : quantized.parameters()) ++parameters[parameter.type.dtype];
  EXPECT_GT(parameters[DType::int8], 10);
  EXPECT_EQ(parameters[DType::int8], parameters[DType::int32]);  // a bias each
  EXPECT_EQ(parameters.size(), 2u);
}

TEST(TfliteNetworks, ComeBackFromJsonAsTheyWere) {
  for (const bool quantized : {false, true}) {
    const Graph graph = Read(MobileNetV2(96, quantized));
    const std::string json = GraphToJson(graph);
    const absl::StatusOr<Graph> back = GraphFromJson(json);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(GraphToJson(*back), json);
  }
}

TEST(TfliteNetworks, InputSizesCanBeReplaced) {
  EXPECT_EQ(CostOf(Read(MobileNetV2(96, false), {"4x96x96x3"})).macs, 4 * CostOf(Read(MobileNetV2(96, false))).macs);
  const Graph batch = Read(MobileNetV1(64, false), {"2x64x64x3"});  // its reshape names the batch
  EXPECT_EQ(ShapeText(batch.TypeOf(batch.outputs()[0]).shape), "2x1001");
}

TEST(TfliteNetworks, AFileMayStandAtAnyAddress) {
  const std::string file = MobileNetV2(64, false);
  for (int shift = 1; shift < 16; ++shift) {
    const std::string padded = std::string(static_cast<size_t>(shift), '.') + file;
    EXPECT_TRUE(ReadTfliteModel(absl::string_view(padded).substr(shift), {}).ok()) << shift;
  }
}

}  // namespace
}  // namespace cobra
