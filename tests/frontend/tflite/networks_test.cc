#include "tests/frontend/tflite/networks.h"

#include <map>

#include "frontend/tflite/reader.h"
#include "graph/cost/cost.h"
#include "graph/form/json.h"
#include "graph/shape/layout.h"
#include "gtest/gtest.h"

namespace cobra::tflite {
namespace {

graph::Graph Read(const std::string& bytes, std::vector<std::string> inputs = {}) {
  absl::StatusOr<graph::Graph> graph = ReadTfliteModel(bytes, {"net.tflite", std::move(inputs)});
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *std::move(graph) : graph::GraphBuilder().graph();
}

std::map<std::string, int> Calls(const graph::Graph& graph) {
  std::map<std::string, int> calls;
  for (const graph::Node& node : graph.nodes()) ++calls[std::string(graph::OpName(node.op))];
  return calls;
}

TEST(TfliteNetworks, MobileNetV1HasItsPublishedWork) {
  const graph::Graph graph = Read(MobileNetV1(224, false));
  EXPECT_NEAR(static_cast<double>(graph::CostOf(graph).macs) / 1e6, 568.7, 0.1);
  EXPECT_NEAR(static_cast<double>(graph.num_parameters()) / 1e6, 4.22, 0.02);
  const std::map<std::string, int> calls = Calls(graph);
  EXPECT_EQ(calls.at("conv2d"), 28);
  EXPECT_EQ(calls.at("relu6"), 27);
  EXPECT_EQ(calls.at("pad"), 5);  // SAME at stride 2 on even sizes pads one pixel at the end
  EXPECT_EQ(graph::ShapeText(graph.inputs()[0].type.shape), "1x224x224x3");
  EXPECT_EQ(graph::ShapeText(graph.TypeOf(graph.outputs()[0]).shape), "1x1001");
}

TEST(TfliteNetworks, MobileNetV2HasItsPublishedWork) {
  const graph::Graph graph = Read(MobileNetV2(224, false));
  EXPECT_NEAR(static_cast<double>(graph::CostOf(graph).macs) / 1e6, 300.8, 0.2);
  EXPECT_EQ(Calls(graph).at("add"), 10);
}

TEST(TfliteNetworks, ResNet18HasItsPublishedWork) {
  EXPECT_NEAR(static_cast<double>(graph::CostOf(Read(ResNet18(224, false))).macs) / 1e6, 1814, 1);
}

TEST(TfliteNetworks, EveryActivationKeepsTheFilesOrderAndNoViewCopies) {
  for (const std::string& file :
       {MobileNetV1(64, false), MobileNetV2(64, true), ResNet18(64, true), EfficientNetLike(64, false)}) {
    const graph::Graph graph = Read(file);
    const graph::Layout layout = graph::ComputeLayout(graph);
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      EXPECT_FALSE(layout.copies[i]) << i << " " << graph::OpName(graph.nodes()[i].op);
      const graph::Shape& shape = graph.nodes()[i].outputs[0].shape;
      if (graph.nodes()[i].op != graph::Op::conv2d || shape[1] == 1) continue;
      const graph::ValueRef output = graph::ValueRef::Node(static_cast<int32_t>(i));
      EXPECT_EQ(layout.Of(graph, output)[1], 1) << i;  // channels are next to each other
    }
  }
}

TEST(TfliteNetworks, QuantizedNetworksKeepTheirTypes) {
  const std::string file = EfficientNetLike(64, true);
  const graph::Graph quantized = Read(file), real = Read(EfficientNetLike(64, false));
  ASSERT_EQ(quantized.nodes().size(), real.nodes().size());
  EXPECT_EQ(graph::CostOf(quantized).macs, graph::CostOf(real).macs);
  EXPECT_EQ(quantized.inputs()[0].type.dtype, graph::DType::int8);
  for (size_t i = 0; i < quantized.nodes().size(); ++i) {
    EXPECT_EQ(quantized.nodes()[i].op, real.nodes()[i].op);
    EXPECT_EQ(quantized.nodes()[i].outputs[0].shape, real.nodes()[i].outputs[0].shape);
    EXPECT_EQ(quantized.nodes()[i].outputs[0].dtype, graph::DType::int8) << graph::OpName(quantized.nodes()[i].op);
  }
  std::map<graph::DType, int> parameters;
  for (const graph::NamedTensor& parameter : quantized.parameters()) ++parameters[parameter.type.dtype];
  EXPECT_GT(parameters[graph::DType::int8], 10);
  EXPECT_EQ(parameters[graph::DType::int8], parameters[graph::DType::int32]);  // a bias each
  EXPECT_EQ(parameters.size(), 2u);
}

TEST(TfliteNetworks, ComeBackFromJsonAsTheyWere) {
  for (const bool quantized : {false, true}) {
    const graph::Graph graph = Read(MobileNetV2(96, quantized));
    const std::string json = graph::GraphToJson(graph);
    const absl::StatusOr<graph::Graph> back = graph::GraphFromJson(json);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(graph::GraphToJson(*back), json);
  }
}

TEST(TfliteNetworks, InputSizesCanBeReplaced) {
  EXPECT_EQ(graph::CostOf(Read(MobileNetV2(96, false), {"4x96x96x3"})).macs,
            4 * graph::CostOf(Read(MobileNetV2(96, false))).macs);
  const graph::Graph batch = Read(MobileNetV1(64, false), {"2x64x64x3"});  // its reshape names the batch
  EXPECT_EQ(graph::ShapeText(batch.TypeOf(batch.outputs()[0]).shape), "2x1001");
}

TEST(TfliteNetworks, AFileMayStandAtAnyAddress) {
  const std::string file = MobileNetV2(64, false);
  for (int shift = 1; shift < 16; ++shift) {
    const std::string padded = std::string(static_cast<size_t>(shift), '.') + file;
    EXPECT_TRUE(ReadTfliteModel(absl::string_view(padded).substr(shift), {}).ok()) << shift;
  }
}

}  // namespace
}  // namespace cobra::tflite
