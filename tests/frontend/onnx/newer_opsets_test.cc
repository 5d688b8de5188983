// Operators and signatures since opset 18, and those of ONNX Runtime: the calls that they become.
// Their results are compared in onnx_conformance (ONNX's own cases) and in `scripts/test-long.sh
// onnx`.
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/frontend/onnx/test_model.h"

namespace cobra::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A model of one node. Inputs are named a, b, c ... in the order of the calls.
class OneNode {
 public:
  OneNode(int opset, const std::string& op, const std::string& domain = "") : model_(opset) {
    model_.Node(op, {}, {"y"})->set_domain(domain);
    model_.Output("y");
  }
  OneNode& Input(const Dims& dims, int type = TensorProto::FLOAT) {
    model_.Input(Next(), dims, type);
    return *this;
  }
  OneNode& Weight(const Dims& dims) {
    model_.Weight(Next(), dims);
    return *this;
  }
  OneNode& Ints(const Dims& values) {
    model_.Ints(Next(), values);
    return *this;
  }
  OneNode& None() {
    Node()->add_input("");
    return *this;
  }
  OneNode& Int(const std::string& name, int64_t value) {
    Model::SetInt(Node(), name, value);
    return *this;
  }
  OneNode& List(const std::string& name, const Dims& values) {
    AttributeProto* attribute = Attribute(name, AttributeProto::INTS);
    for (int64_t v : values) attribute->add_ints(v);
    return *this;
  }
  OneNode& Text(const std::string& name, const std::string& value) {
    Attribute(name, AttributeProto::STRING)->set_s(value);
    return *this;
  }
  OneNode& Output(const std::string& name) {
    Node()->add_output(name);
    model_.Output(name);
    return *this;
  }
  std::string Bytes() const { return model_.Bytes(); }
  graph::Graph Read() const {
    absl::StatusOr<graph::Graph> graph = ReadOnnxModel(Bytes(), {});
    EXPECT_TRUE(graph.ok()) << graph.status();
    return graph.ok() ? *std::move(graph) : graph::Graph();
  }

 private:
  NodeProto* Node() { return model_.graph().mutable_node(0); }
  std::string Next() {
    std::string name(1, static_cast<char>('a' + next_++));
    Node()->add_input(name);
    return name;
  }
  AttributeProto* Attribute(const std::string& name, AttributeProto::AttributeType type) {
    AttributeProto* attribute = Node()->add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return attribute;
  }

  Model model_;
  int next_ = 0;
};

graph::Shape ShapeOf(const graph::Graph& graph, size_t output = 0) {
  return graph.TypeOf(graph.outputs()[output]).shape;
}

TEST(OnnxNewerOpsetsTest, AxesAreInputs) {
  EXPECT_EQ(ShapeOf(OneNode(18, "ReduceMean").Input({2, 3, 4}).Ints({1}).Read()), (graph::Shape{2, 1, 4}));
  EXPECT_EQ(ShapeOf(OneNode(18, "ReduceMax").Input({2, 3, 4}).Ints({0, 2}).Int("keepdims", 0).Read()),
            (graph::Shape{3}));
  EXPECT_EQ(ShapeOf(OneNode(18, "Pad").Input({2, 3, 4}).Ints({1, 2}).None().Ints({-1}).Read()),
            (graph::Shape{2, 3, 7}));
  EXPECT_EQ(ErrorOf(OneNode(18, "Pad").Input({2, 3}).Ints({1, 2}).None().Ints({5}).Bytes()).kind,
            Diagnostic::Kind::kModelError);
}

TEST(OnnxNewerOpsetsTest, TheLastPieceMayBeSmaller) {
  const OneNode split = OneNode(18, "Split").Input({7, 2}).Int("num_outputs", 3).Output("z").Output("w");
  EXPECT_EQ(ShapeOf(split.Read(), 0), (graph::Shape{3, 2}));
  EXPECT_EQ(ShapeOf(split.Read(), 2), (graph::Shape{1, 2}));
  EXPECT_FALSE(ReadOnnxModel(OneNode(13, "Split").Input({7, 2}).Output("z").Bytes(), {}).ok());
}

TEST(OnnxNewerOpsetsTest, ResizeKeepsTheAspectRatio) {
  const auto resize = [](const std::string& policy) {
    return OneNode(18, "Resize")
        .Input({1, 1, 4, 8})
        .None()
        .None()
        .Ints({6, 6})
        .List("axes", {2, 3})
        .Text("keep_aspect_ratio_policy", policy);
  };
  EXPECT_EQ(ShapeOf(resize("stretch").Read()), (graph::Shape{1, 1, 6, 6}));
  EXPECT_EQ(ShapeOf(resize("not_larger").Read()), (graph::Shape{1, 1, 3, 6}));
  EXPECT_EQ(ShapeOf(resize("not_smaller").Read()), (graph::Shape{1, 1, 6, 12}));
  EXPECT_EQ(ErrorOf(resize("other").Bytes()).kind, Diagnostic::Kind::kModelError);
}

// ONNX Runtime multiplies sizes and scales in float32, where 9 * 2.4444444 is 22; in double it is a
// little less.
TEST(OnnxNewerOpsetsTest, ScalesAreMultipliedInFloat32) {
  for (const auto& [op, opset] : {std::pair{"Resize", 10}, std::pair{"Upsample", 9}}) {
    Model model(opset);
    model.Input("x", {1, 3, 7, 9});
    TensorProto* scales = model.graph().add_initializer();
    scales->set_name("scales");
    scales->set_data_type(TensorProto::FLOAT);
    scales->add_dims(4);
    for (const float scale : {1.0f, 1.0f, 10.0f / 7, 22.0f / 9}) scales->add_float_data(scale);
    model.Node(op, {"x", "scales"}, {"y"});
    model.Output("y");
    const absl::StatusOr<graph::Graph> graph = ReadOnnxModel(model.Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    EXPECT_EQ(ShapeOf(*graph), (graph::Shape{1, 3, 10, 22})) << op;
  }
}

// What the exporter writes for F.interpolate(antialias=True).
TEST(OnnxNewerOpsetsTest, AntialiasedResizeIsPyTorchs) {
  OneNode resize = OneNode(18, "Resize").Input({1, 3, 8, 8}).None().None().Ints({1, 3, 4, 4}).Int("antialias", 1);
  resize.Text("mode", "linear").Int("exclude_outside", 1);
  const graph::Graph graph = resize.Read();
  EXPECT_THAT(OpsOf(graph), ElementsAre("interpolate"));
  EXPECT_TRUE(graph.nodes()[0].attributes.Bool("antialias"));
}

TEST(OnnxNewerOpsetsTest, OneCallOfPyTorchForOneNode) {
  const auto ops = [](const OneNode& node) { return OpsOf(node.Read()); };
  EXPECT_THAT(ops(OneNode(20, "Gelu").Input({2, 3}).Text("approximate", "tanh")), ElementsAre("gelu"));
  EXPECT_THAT(ops(OneNode(18, "Mish").Input({2, 3})), ElementsAre("mish"));
  EXPECT_THAT(ops(OneNode(24, "Swish").Input({2, 3})), ElementsAre("silu"));
  EXPECT_THAT(ops(OneNode(23, "RMSNormalization").Input({2, 8}).Weight({8})), ElementsAre("rms_norm"));
  EXPECT_THAT(ops(OneNode(21, "GroupNormalization").Input({1, 4, 2}).Weight({4}).Weight({4}).Int("num_groups", 2)),
              ElementsAre("group_norm"));
  EXPECT_THAT(ops(OneNode(18, "BitwiseAnd").Input({2}, TensorProto::INT32).Input({2}, TensorProto::INT32)),
              ElementsAre("bitwise_and"));
  EXPECT_THAT(ops(OneNode(18, "Col2Im").Input({1, 4, 9}).Ints({4, 4}).Ints({2, 2})), ElementsAre("fold"));
  EXPECT_THAT(ops(OneNode(20, "AffineGrid").Input({1, 2, 3}).Ints({1, 3, 4, 5})), ElementsAre("affine_grid"));
  EXPECT_THAT(ops(OneNode(19, "DeformConv").Input({1, 2, 4, 4}).Weight({3, 2, 3, 3}).Input({1, 18, 2, 2})),
              ElementsAre("deform_conv2d"));
}

TEST(OnnxNewerOpsetsTest, AttentionIsOneCall) {
  const auto attention = [] {
    return OneNode(23, "Attention").Input({1, 4, 6, 8}).Input({1, 2, 6, 8}).Input({1, 2, 6, 8});
  };
  const graph::Graph graph = attention().Int("is_causal", 1).Read();
  ASSERT_THAT(OpsOf(graph), ElementsAre("scaled_dot_product_attention"));
  const graph::Attributes& attributes = graph.nodes()[0].attributes;
  EXPECT_TRUE(attributes.Bool("is_causal"));
  EXPECT_TRUE(attributes.Bool("enable_gqa"));
  EXPECT_EQ(attributes.Find("scale"), nullptr);
  EXPECT_EQ(ShapeOf(graph), (graph::Shape{1, 4, 6, 8}));
  // Heads that do not divide, and a length that is known in a run only.
  EXPECT_EQ(ErrorOf(OneNode(23, "Attention").Input({1, 3, 6, 8}).Input({1, 2, 6, 8}).Input({1, 2, 6, 8}).Bytes()).kind,
            Diagnostic::Kind::kModelError);
  OneNode external = attention();
  external.None().None().None().Input({1}, TensorProto::INT64);
  EXPECT_THAT(ErrorOf(external.Bytes()).message, HasSubstr("nonpad_kv_seqlen"));
}

TEST(OnnxNewerOpsetsTest, RefusalsSayWhy) {
  EXPECT_THAT(ErrorOf(OneNode(20, "ImageDecoder").Input({9}, TensorProto::UINT8).Bytes()).message,
              HasSubstr("the size of an image"));
  EXPECT_THAT(ErrorOf(OneNode(22, "RandomUniformLike").Input({2}).Bytes()).message, HasSubstr("random numbers"));
  constexpr int kFloat8 = 17;
  EXPECT_THAT(ErrorOf(OneNode(19, "Cast").Input({2}).Int("to", kFloat8).Bytes()).message,
              HasSubstr("8 and fewer bits"));
  EXPECT_EQ(ErrorOf(OneNode(17, "NGramRepeatBlock", "com.microsoft").Input({2}).Bytes()).message,
            "com.microsoft.NGramRepeatBlock \"the_NGramRepeatBlock\" (node 1, opset 17): this operator is not "
            "supported: which scores it bans depends on the tokens");
  EXPECT_THAT(ErrorOf(OneNode(17, "Snpe", "com.microsoft").Input({2}).Bytes()).message,
              HasSubstr("com.microsoft.Snpe"));
  EXPECT_THAT(ErrorOf(OneNode(17, "Conv", "com.microsoft.nchwc").Input({2}).Bytes()).message,
              HasSubstr("operators of the domain com.microsoft.nchwc are not supported"));
}

TEST(OnnxMicrosoftTest, FusedNodesAreTheirParts) {
  const auto ops = [](const OneNode& node) { return OpsOf(node.Read()); };
  const std::string domain = "com.microsoft";
  EXPECT_THAT(ops(OneNode(17, "FusedConv", domain).Input({1, 2, 5, 5}).Weight({3, 2, 3, 3}).Text("activation", "Relu")),
              ElementsAre("conv2d", "relu"));
  EXPECT_THAT(ops(OneNode(17, "FusedMatMul", domain).Input({2, 3, 4}).Weight({5, 4}).Int("transB", 1)),
              ElementsAre("linear"));
  EXPECT_THAT(ops(OneNode(17, "SkipLayerNormalization", domain).Input({1, 3, 4}).Input({1, 3, 4}).Weight({4})),
              ElementsAre("add", "layer_norm"));
  EXPECT_THAT(ops(OneNode(17, "BiasGelu", domain).Input({1, 3, 4}).Weight({4})), ElementsAre("add", "gelu"));
  EXPECT_THAT(ops(OneNode(17, "MultiHeadAttention", domain)
                      .Input({1, 3, 8})
                      .Input({1, 3, 8})
                      .Input({1, 3, 8})
                      .Int("num_heads", 2)),
              ElementsAre("reshape", "transpose", "reshape", "transpose", "reshape", "transpose",
                          "scaled_dot_product_attention", "transpose", "reshape"));
  EXPECT_THAT(ErrorOf(OneNode(17, "FusedConv", domain)
                          .Input({1, 2, 5, 5})
                          .Weight({3, 2, 3, 3})
                          .Text("activation", "Softmax")
                          .Bytes())
                  .message,
              HasSubstr("activation=Softmax"));
}

// One sequence has no padding; of several nobody knows.
TEST(OnnxMicrosoftTest, GroupQueryAttentionOfSequencesOfUnknownLengths) {
  const auto attention = [](int64_t batch) {
    OneNode node(17, "GroupQueryAttention", "com.microsoft");
    node.Input({batch, 3, 32}).Input({batch, 3, 16}).Input({batch, 3, 16}).None().None();
    node.Input({batch}, TensorProto::INT32).Ints({3}).Int("num_heads", 2).Int("kv_num_heads", 1);
    return node;
  };
  EXPECT_EQ(ShapeOf(attention(1).Read()), (graph::Shape{1, 3, 32}));
  EXPECT_EQ(ErrorOf(attention(2).Bytes()).kind, Diagnostic::Kind::kDataDependent);
}

TEST(OnnxMicrosoftTest, WeightsOfFewBitsAreThoseOfLinear) {
  Model model(21);
  model.Input("x", {2, 32});
  TensorProto* packed = model.graph().add_initializer();
  packed->set_name("w");
  packed->set_data_type(TensorProto::UINT8);
  for (int64_t d : {6, 1, 16}) packed->add_dims(d);
  packed->set_raw_data(std::string(6 * 16, '\x21'));
  model.Weight("s", {6, 1});
  NodeProto* node = model.Node("MatMulNBits", {"x", "w", "s"}, {"y"});
  node->set_domain("com.microsoft");
  for (const auto& [name, value] : {std::pair{"N", 6}, {"K", 32}, {"block_size", 32}, {"bits", 4}})
    Model::SetInt(node, name, value);
  model.Output("y");
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(model.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(OpsOf(*graph), ElementsAre("linear"));
  EXPECT_EQ(graph->num_parameters(), 6 * 32);
  packed->set_dims(0, 7);
  packed->set_raw_data(std::string(7 * 16, '\x21'));
  EXPECT_EQ(ErrorOf(model.Bytes()).kind, Diagnostic::Kind::kModelError);
}

// Two elements in a byte; the number of elements may be odd.
TEST(OnnxNewerOpsetsTest, IntegersOfFourBits) {
  Model model(21);
  TensorProto* packed = model.graph().add_initializer();
  packed->set_name("q");
  packed->set_data_type(22);
  packed->add_dims(3);
  packed->set_raw_data(std::string("\xf1\x07", 2));
  model.Node("Cast", {"q"}, {"y"});
  Model::SetInt(model.graph().mutable_node(0), "to", TensorProto::FLOAT);
  model.Output("y");
  absl::StatusOr<OnnxModel> read = ReadOnnxModelWithValues(model.Bytes(), {});
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->values.size(), 1u);
  EXPECT_THAT(*read->values[0].values, ElementsAre(1, -1, 7));
  packed->set_raw_data(std::string("\xf1", 1));
  EXPECT_EQ(ErrorOf(model.Bytes()).kind, Diagnostic::Kind::kModelError);
}

}  // namespace
}  // namespace cobra::onnx
