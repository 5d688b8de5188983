#include "frontend/onnx/without_weights.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "tests/frontend/onnx/test_model.h"

namespace cobra::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TensorProto* External(Model* model, const std::string& name, const Dims& dims, int type, int64_t offset = -1) {
  TensorProto* tensor = model->graph().add_initializer();
  tensor->set_name(name);
  tensor->set_data_type(type);
  for (int64_t d : dims) tensor->add_dims(d);
  tensor->set_data_location(TensorProto::EXTERNAL);
  auto* location = tensor->add_external_data();
  location->set_key("location");
  location->set_value("net.data");
  if (offset < 0) return tensor;
  auto* at = tensor->add_external_data();
  at->set_key("offset");
  at->set_value(absl::StrCat(offset));
  return tensor;
}

Model Linear(const Dims& weight) {
  Model model;
  model.Input("x", {1, weight[0]});
  model.Weight("w", weight);
  model.Node("MatMul", {"x", "w"}, {"y"});
  model.Output("y");
  return model;
}

std::string Stripped(const std::string& bytes, const ReadExternal& external = nullptr) {
  absl::StatusOr<std::optional<std::string>> left = WithoutWeights(bytes, OnnxLimits(), INT64_MAX, external);
  EXPECT_TRUE(left.ok() && left->has_value()) << left.status();
  return left.ok() ? left->value_or("") : "";
}

TEST(OnnxWithoutWeightsTest, TheGraphIsTheSame) {
  const Model model = Linear({1024, 1024});
  const std::string bytes = model.Bytes(), left = Stripped(bytes);
  EXPECT_GT(bytes.size(), size_t{4} << 20);
  EXPECT_LT(left.size(), 400u);
  EXPECT_LT(Stripped(left).size(), 400u);
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(left, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(OpsOf(*graph), ElementsAre("linear"));
  EXPECT_EQ(graph->num_parameters(), 1 << 20);
  // Small tensors keep their bytes.
  const std::string small = Linear({4, 4}).Bytes();
  EXPECT_EQ(Stripped(small), small);
}

TEST(OnnxWithoutWeightsTest, WeightsOfTheWrongSizeAreStillErrors) {
  Model model = Linear({1024, 1024});
  model.graph().mutable_initializer(0)->set_dims(0, 1000);
  EXPECT_THAT(ErrorOf(model.Bytes()).message, HasSubstr("has data of 4194304 bytes, its shape is 1000x1024"));
}

TEST(OnnxWithoutWeightsTest, OtherBytesAreNoMessage) {
  for (const std::string bytes : {"version https://git-lfs.github.com/spec/v1\n", "\x3a\x7f", "#####"}) {
    absl::StatusOr<std::optional<std::string>> left = WithoutWeights(bytes, OnnxLimits(), INT64_MAX);
    EXPECT_TRUE(left.ok() && !left->has_value()) << bytes;
  }
  EXPECT_TRUE(absl::IsResourceExhausted(WithoutWeights(Linear({4, 4}).Bytes(), OnnxLimits(), 10).status()));
}

TEST(OnnxWithoutWeightsTest, WeightsInOtherFilesAreNotNeeded) {
  Model model;
  model.Input("x", {1, 3, 8, 8});
  External(&model, "w", {4, 3, 3, 3}, TensorProto::FLOAT);
  model.Node("Conv", {"x", "w"}, {"y"});
  model.Output("y");
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(model.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(OpsOf(*graph), ElementsAre("conv2d"));
  EXPECT_EQ(graph->num_parameters(), 4 * 27);
}

Model ReshapeTo(const Dims& dims) {
  Model model;
  model.Input("x", {2, 6});
  External(&model, "to", dims, TensorProto::INT64, 8);
  model.Node("Reshape", {"x", "to"}, {"y"});
  model.Output("y");
  return model;
}

TEST(OnnxWithoutWeightsTest, ShapesInOtherFilesAreReadOrNamed) {
  const Model model = ReshapeTo({2});
  const Diagnostic d = ErrorOf(model.Bytes());
  EXPECT_EQ(d.kind, Diagnostic::Kind::kUnsupported);
  EXPECT_THAT(d.message, HasSubstr("its shape depends on the values of the tensor \"to\" in the file \"net.data\""));
  std::vector<ExternalTensor> asked;
  const std::string filled = Stripped(model.Bytes(), [&](const ExternalTensor& tensor) {
    asked.push_back(tensor);
    const int64_t values[] = {3, 4};
    return absl::StatusOr<std::optional<std::string>>(std::string(reinterpret_cast<const char*>(values), 16));
  });
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].location, "net.data");
  EXPECT_EQ(asked[0].offset, 8);
  EXPECT_EQ(asked[0].bytes, 16);
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(filled, {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes()[0].outputs[0].shape, (graph::Shape{3, 4}));
  // The result of a call on such a tensor is unknown for the same reason.
  Model indirect = ReshapeTo({2});
  indirect.graph().mutable_node(0)->set_input(1, "twice");
  *indirect.graph().add_node() = indirect.graph().node(0);
  NodeProto* first = indirect.graph().mutable_node(0);
  first->Clear();
  first->set_op_type("Abs");
  first->add_input("to");
  first->add_output("twice");
  EXPECT_THAT(ErrorOf(indirect.Bytes()).message, HasSubstr("\"to\" in the file \"net.data\""));
}

TEST(OnnxWithoutWeightsTest, LargeTensorsOfOtherFilesAreNotAskedFor) {
  Model model;
  model.Input("x", {1, 1024});
  External(&model, "w", {1024, 1024}, TensorProto::FLOAT);
  External(&model, "ids", {1 << 20}, TensorProto::INT64);
  External(&model, "huge", {int64_t{1} << 40, int64_t{1} << 40}, TensorProto::FLOAT);
  int asked = 0;
  Stripped(model.Bytes(), [&](const ExternalTensor&) {
    ++asked;
    return absl::StatusOr<std::optional<std::string>>(std::nullopt);
  });
  EXPECT_EQ(asked, 0);
  EXPECT_THAT(ErrorOf(model.Bytes()).message, HasSubstr("\"huge\""));
}

}  // namespace
}  // namespace cobra::onnx
