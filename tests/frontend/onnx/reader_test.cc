#include "frontend/onnx/reader.h"

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "onnx/onnx_pb.h"
#include "tests/frontend/onnx/support_document.h"
#include "tests/frontend/onnx/test_model.h"

namespace cobra::onnx {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Model SmallNet() {
  Model model;
  model.Input("x", {-1, 3, 8, 8});
  model.Weight("w", {4, 3, 3, 3});
  model.Weight("fc", {144, 10});
  model.Weight("b", {10});
  model.Node("Conv", {"x", "w"}, {"c"});
  model.Node("Relu", {"c"}, {"r"});
  model.Node("Flatten", {"r"}, {"f"});
  model.Node("MatMul", {"f", "fc"}, {"m"});
  model.Node("Add", {"b", "m"}, {"y"});
  model.Output("y");
  return model;
}

TEST(OnnxReaderTest, LayersAreThoseOfPyTorch) {
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(SmallNet().Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(OpsOf(*graph), ElementsAre("conv2d", "relu", "flatten", "linear"));
  EXPECT_EQ(graph->nodes().back().outputs[0].shape, (graph::Shape{1, 10}));
  EXPECT_EQ(graph->num_parameters(), 4 * 27 + 1440 + 10);
  EXPECT_EQ(graph->nodes()[0].origin.module_path, "the_Conv");
  EXPECT_EQ(graph->nodes()[0].origin.line, 1);
}

// W, R, B and P of two directions: what the states begin with is none of them, as nn.LSTM has no
// parameters for it.
TEST(OnnxReaderTest, StatesOfRecurrentLayersAreNoParameters) {
  constexpr int64_t kHidden = 3, kInput = 5, kDirections = 2;
  for (const bool peepholes : {false, true}) {
    Model model(14);
    model.Input("x", {4, 2, kInput});
    model.Weight("w", {kDirections, 4 * kHidden, kInput});
    model.Weight("r", {kDirections, 4 * kHidden, kHidden});
    model.Weight("b", {kDirections, 8 * kHidden});
    model.Weight("h", {kDirections, 2, kHidden});
    model.Weight("c", {kDirections, 2, kHidden});
    model.Weight("p", {kDirections, 3 * kHidden});
    NodeProto* node = model.Node("LSTM", {"x", "w", "r", "b", "", "h", "c", peepholes ? "p" : ""}, {"y"});
    Model::SetInt(node, "hidden_size", kHidden);
    AttributeProto* direction = node->add_attribute();
    direction->set_name("direction");
    direction->set_type(AttributeProto::STRING);
    direction->set_s("bidirectional");
    model.Output("y");
    const absl::StatusOr<graph::Graph> graph = ReadOnnxModel(model.Bytes(), {});
    ASSERT_TRUE(graph.ok()) << graph.status();
    const int64_t of_a_direction = 4 * kHidden * (kInput + kHidden + 2) + (peepholes ? 3 * kHidden : 0);
    EXPECT_EQ(graph->num_parameters(), kDirections * of_a_direction);
  }
}

TEST(OnnxReaderTest, OpenSizesAreBound) {
  OnnxRequest request;
  request.inputs = {"x=5x3x8x8"};
  EXPECT_EQ(ReadOnnxModel(SmallNet().Bytes(), request)->inputs()[0].type.shape[0], 5);
  request.inputs = {"7x3x8x8"};
  EXPECT_EQ(ReadOnnxModel(SmallNet().Bytes(), request)->inputs()[0].type.shape[0], 7);
  for (const char* wrong : {"x=1x4x8x8", "z=1x3x8x8", "x=1x3x8x8:int64", "x=1x3", "x=?"}) {
    request.inputs = {wrong};
    EXPECT_EQ(ErrorOf(SmallNet().Bytes(), request).kind, Diagnostic::Kind::kUsage) << wrong;
  }
  Model open;
  open.Input("x", {1, -1});
  open.Node("Relu", {"x"}, {"y"});
  open.Output("y");
  const Diagnostic d = ErrorOf(open.Bytes());
  EXPECT_EQ(d.kind, Diagnostic::Kind::kUsage);
  EXPECT_THAT(d.message, HasSubstr("[1, open]"));
}

TEST(OnnxReaderTest, TheNamesOfTheInputsAreQuoted) {
  Model model;
  model.Input("0", {1, 2});
  model.Node("Relu", {"0"}, {"y"});
  model.Output("y");
  OnnxRequest request;
  request.inputs = {"x=1x2"};
  EXPECT_EQ(ErrorOf(model.Bytes(), request).hint, "its input is \"0\"");
  request.inputs = {"1x2", "1x2"};
  EXPECT_EQ(ErrorOf(model.Bytes(), request).message, "--input 1x2: the network takes 1 input");
  model.Input("1", {1, 2});
  request.inputs = {"x=1x2"};
  EXPECT_EQ(ErrorOf(model.Bytes(), request).hint, "its inputs are \"0\", \"1\"");
}

TEST(OnnxReaderTest, ShapesComputedFromShapesFold) {
  Model model;
  model.Input("x", {2, 3, 4});
  model.Ints("zero", {0}, /*scalar=*/true);
  model.Ints("axes", {0});
  model.Ints("rest", {-1});
  model.Node("Shape", {"x"}, {"s"});
  model.Node("Gather", {"s", "zero"}, {"batch"});
  model.Node("Unsqueeze", {"batch", "axes"}, {"b1"});
  Model::SetInt(model.Node("Concat", {"b1", "rest"}, {"to"}), "axis", 0);
  model.Node("Reshape", {"x", "to"}, {"y"});
  model.Output("y");
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(model.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(OpsOf(*graph), ElementsAre("reshape"));
  EXPECT_EQ(graph->nodes()[0].outputs[0].shape, (graph::Shape{2, 12}));
}

TEST(OnnxReaderTest, ValuesGivenBeforehand) {
  Model model;
  model.Input("x", {2, 6});
  model.Input("to", {2}, TensorProto::INT64);
  model.Node("Reshape", {"x", "to"}, {"y"});
  model.Output("y");
  const Diagnostic d = ErrorOf(model.Bytes());
  EXPECT_EQ(d.kind, Diagnostic::Kind::kDataDependent);
  EXPECT_THAT(d.message, HasSubstr("input to"));
  EXPECT_THAT(d.hint, HasSubstr("--arg to="));
  OnnxRequest request;
  request.arguments = {{"to", "[3, 4]"}};
  EXPECT_EQ(ReadOnnxModel(model.Bytes(), request)->nodes()[0].outputs[0].shape, (graph::Shape{3, 4}));
  for (const char* wrong : {"[3, 4", "three", "[3, [4]]", "[[3], [4, 5]]", "[1, 2, 3]", "5", "", "[3, 4]]"}) {
    request.arguments = {{"to", wrong}};
    EXPECT_EQ(ErrorOf(model.Bytes(), request).kind, Diagnostic::Kind::kUsage) << wrong;
  }
}

TEST(OnnxReaderTest, ErrorsNameFileNodeOperatorAndOpset) {
  Model model;
  model.Input("x", {1, 3});
  model.Node("Relu", {"x"}, {"r"});
  model.Node("StringNormalizer", {"r"}, {"y"});
  model.Output("y");
  OnnxRequest request;
  request.name = "net.onnx";
  const Diagnostic d = ErrorOf(model.Bytes(), request);
  EXPECT_EQ(d.kind, Diagnostic::Kind::kUnsupported);
  EXPECT_EQ(d.position.file, "net.onnx");
  EXPECT_EQ(d.message,
            "StringNormalizer \"the_StringNormalizer\" (node 2, opset 13): this operator is not supported: "
            "strings are not numbers");
  model.graph().mutable_node(1)->set_domain("com.microsoft");
  EXPECT_THAT(ErrorOf(model.Bytes()).message, HasSubstr("com.microsoft.StringNormalizer"));
  EXPECT_THAT(ErrorOf(Model(25).Bytes()).message, HasSubstr("opset 25"));
}

TEST(OnnxReaderTest, ErrorsSayWhatToDo) {
  Model model;
  model.Input("x", {1, 3});
  model.Node("Bogus", {"x"}, {"y"});
  model.Output("y");
  EXPECT_THAT(ErrorOf(model.Bytes()).hint, HasSubstr("docs/onnx_support.md lists those that are"));
  model.graph().mutable_node(0)->set_domain("my.domain");
  const Diagnostic domain = ErrorOf(model.Bytes());
  EXPECT_THAT(domain.message, HasSubstr("operators of the domain my.domain are not supported"));
  EXPECT_THAT(domain.hint, HasSubstr("as a function of the file"));
  EXPECT_THAT(ErrorOf(Model(25).Bytes()).hint, HasSubstr("convert_version(model, 24)"));
  OnnxRequest request;
  request.inputs = {"x=1x3x8x8:int64"};
  EXPECT_EQ(ErrorOf(SmallNet().Bytes(), request).hint, "leave the type out: --input x=1x3x8x8");
  request.inputs = {"x=1x4x8x8"};
  EXPECT_THAT(ErrorOf(SmallNet().Bytes(), request).hint, HasSubstr("give as many sizes"));
}

// The answer would be for one of them.
TEST(OnnxReaderTest, AnInputIsGivenOnce) {
  OnnxRequest request;
  for (const std::vector<std::string>& twice :
       {std::vector<std::string>{"x=1x3x8x8", "x=2x3x8x8"}, {"1x3x8x8", "x=2x3x8x8"}, {"x=2x3x8x8", "1x3x8x8"}}) {
    request.inputs = twice;
    const Diagnostic d = ErrorOf(SmallNet().Bytes(), request);
    EXPECT_EQ(d.kind, Diagnostic::Kind::kUsage);
    EXPECT_EQ(d.message, absl::StrCat("--input ", twice[1], ": the input \"x\" is given twice"));
  }
  Model model;
  model.Input("x", {2, 6});
  model.Input("to", {2}, TensorProto::INT64);
  model.Node("Reshape", {"x", "to"}, {"y"});
  model.Output("y");
  request.inputs = {};
  request.arguments = {{"to", "[3, 4]"}, {"to", "[4, 3]"}};
  EXPECT_THAT(ErrorOf(model.Bytes(), request).message, HasSubstr("\"to\" is given twice"));
  request.inputs = {"to=2"};
  request.arguments = {{"to", "[3, 4]"}};
  EXPECT_THAT(ErrorOf(model.Bytes(), request).message, HasSubstr("\"to\" is given with --input too"));
}

TEST(OnnxReaderTest, WrongModelsAreErrors) {
  Model missing;
  missing.Node("Relu", {"nowhere"}, {"y"});
  missing.Output("y");
  EXPECT_EQ(ErrorOf(missing.Bytes()).kind, Diagnostic::Kind::kModelError);
  Model shapes;
  shapes.Input("x", {1, 3, 8, 8});
  shapes.Weight("w", {4, 5, 3, 3});
  shapes.Node("Conv", {"x", "w"}, {"y"});
  shapes.Output("y");
  EXPECT_THAT(ErrorOf(shapes.Bytes()).message, HasSubstr("to have 5 channels, but got 3"));
  Model attribute = SmallNet();
  AttributeProto* group = attribute.graph().mutable_node(0)->add_attribute();
  group->set_name("group");
  group->set_type(AttributeProto::STRING);
  EXPECT_THAT(ErrorOf(attribute.Bytes()).message, HasSubstr("attribute 'group' is of type STRING"));
}

TEST(OnnxReaderTest, WeightsOfTheWrongSizeAreRefused) {
  Model longer = SmallNet();
  longer.graph().mutable_initializer(0)->set_dims(0, int64_t{1} << 62);
  EXPECT_EQ(ErrorOf(longer.Bytes()).kind, Diagnostic::Kind::kModelError);
  Model negative = SmallNet();
  negative.graph().mutable_initializer(0)->set_dims(0, -4);
  EXPECT_EQ(ErrorOf(negative.Bytes()).kind, Diagnostic::Kind::kModelError);
}

TEST(OnnxReaderTest, FunctionsOfTheFileRunInPlace) {
  Model model;
  model.Input("x", {1, 4});
  ::onnx::FunctionProto* function = model.proto.add_functions();
  function->set_domain("mine");
  function->set_name("Twice");
  function->add_input("a");
  function->add_output("c");
  function->add_attribute("slope");
  function->add_opset_import()->set_version(13);
  for (const auto& [from, to] : {std::pair{"a", "b"}, {"b", "c"}}) {
    NodeProto* node = function->add_node();
    node->set_op_type("LeakyRelu");
    node->add_input(from);
    node->add_output(to);
    AttributeProto* alpha = node->add_attribute();
    alpha->set_name("alpha");
    alpha->set_type(AttributeProto::FLOAT);
    alpha->set_ref_attr_name("slope");
  }
  NodeProto* call = model.Node("Twice", {"x"}, {"y"});
  call->set_domain("mine");
  AttributeProto* slope = call->add_attribute();
  slope->set_name("slope");
  slope->set_type(AttributeProto::FLOAT);
  slope->set_f(0.25);
  model.Output("y");
  absl::StatusOr<graph::Graph> graph = ReadOnnxModel(model.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_THAT(OpsOf(*graph), ElementsAre("leaky_relu", "leaky_relu"));
  EXPECT_EQ(graph->nodes()[1].attributes.Double("negative_slope"), 0.25);
  // An attribute that a call leaves out has the function's value (a field that Debian's messages do
  // not know).
  call->clear_attribute();
  AttributeProto standard;
  standard.set_name("slope");
  standard.set_type(AttributeProto::FLOAT);
  standard.set_f(0.5);
  function->mutable_unknown_fields()->AddLengthDelimited(11, standard.SerializeAsString());
  graph = ReadOnnxModel(model.Bytes(), {});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes()[1].attributes.Double("negative_slope"), 0.5);
  // Of two forms nobody knows which one a call means.
  *model.proto.add_functions() = *function;
  EXPECT_THAT(ErrorOf(model.Bytes()).message, HasSubstr("the function mine:Twice has several forms"));
  model.proto.mutable_functions()->RemoveLast();
  function = model.proto.mutable_functions(0);
  // One that calls itself meets a limit.
  function->mutable_node(1)->set_op_type("Twice");
  function->mutable_node(1)->set_domain("mine");
  EXPECT_EQ(ErrorOf(model.Bytes()).kind, Diagnostic::Kind::kLimit);
}

// No part of a file, and no file with a byte changed, crashes the reader; every refusal carries a
// diagnostic.
TEST(OnnxReaderTest, DamagedFilesAreErrorsOrOtherModels) {
  const std::string bytes = SmallNet().Bytes();
  EXPECT_FALSE(ReadOnnxModel("", {}).ok());
  EXPECT_FALSE(ReadOnnxModel("version https://git-lfs.github.com/spec/v1\n", {}).ok());
  int refused = 0;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    absl::StatusOr<graph::Graph> cut = ReadOnnxModel(absl::string_view(bytes).substr(0, i), {});
    refused += !cut.ok();
    if (!cut.ok()) EXPECT_TRUE(DiagnosticFromStatus(cut.status()).has_value()) << cut.status();
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] + 1 + i % 250);
    absl::StatusOr<graph::Graph> other = ReadOnnxModel(changed, {});
    if (!other.ok()) EXPECT_TRUE(DiagnosticFromStatus(other.status()).has_value()) << other.status();
  }
  EXPECT_GT(refused, static_cast<int>(bytes.size() / 3) - 10);
}

// The same with every operator there is: ONNX's own node cases, bytes changed at random.
TEST(OnnxReaderTest, DamagedTestDataIsNoCrash) {
  const std::string root = "/usr/share/libonnx-testdata/data/node";
  if (!IsDirectory(root)) GTEST_SKIP() << "libonnx-testdata is not installed";
  absl::StatusOr<std::vector<std::string>> files = ListFiles(root, "model.onnx");
  ASSERT_TRUE(files.ok());
  std::mt19937 random(20240601);
  Limits limits;
  limits.onnx.max_steps = 5000;
  for (const std::string& file : *files) {
    absl::StatusOr<std::string> bytes = ReadFile(absl::StrCat(root, "/", file));
    ASSERT_TRUE(bytes.ok());
    for (int turn = 0; turn < 8; ++turn) {
      std::string changed = *bytes;
      for (int k = turn / 2; k >= 0; --k) changed[random() % changed.size()] = static_cast<char>(random());
      absl::StatusOr<graph::Graph> graph = ReadOnnxModel(changed, {}, limits);
      if (!graph.ok()) ASSERT_TRUE(DiagnosticFromStatus(graph.status()).has_value()) << file << ": " << graph.status();
    }
  }
}

// A body that hands its state on.
Model LoopOf(int64_t turns) {
  Model model;
  model.Input("x", {2, 2});
  model.Ints("turns", {turns}, /*scalar=*/true);
  NodeProto* loop = model.Node("Loop", {"turns", "", "x"}, {"y"});
  AttributeProto* attribute = loop->add_attribute();
  attribute->set_name("body");
  attribute->set_type(AttributeProto::GRAPH);
  GraphProto* body = attribute->mutable_g();
  Model::Info(body->add_input(), "i", {}, TensorProto::INT64);
  Model::Info(body->add_input(), "go", {}, TensorProto::BOOL);
  Model::Info(body->add_input(), "s", {2, 2}, TensorProto::FLOAT);
  Model::AddNode(body, "Relu", {"s"}, {"t"});
  body->add_output()->set_name("go");
  body->add_output()->set_name("t");
  model.Output("y");
  return model;
}

TEST(OnnxReaderTest, LoopsAreUnrolledUpToALimit) {
  EXPECT_EQ(ReadOnnxModel(LoopOf(3).Bytes(), {})->nodes().size(), 3u);
  Limits limits;
  limits.onnx.max_steps = 1000;
  EXPECT_EQ(ErrorOf(LoopOf(INT64_MAX).Bytes(), {}, limits).kind, Diagnostic::Kind::kLimit);
  limits = {};
  limits.graph.max_nodes = 10;
  EXPECT_TRUE(ReadOnnxModel(LoopOf(10).Bytes(), {}, limits).ok());
  EXPECT_EQ(ErrorOf(LoopOf(11).Bytes(), {}, limits).kind, Diagnostic::Kind::kLimit);
}

TEST(OnnxReaderTest, LargeTensorsMeetLimits) {
  Model model;
  model.Ints("to", {1 << 20, 1 << 20, 1 << 20});
  model.Node("ConstantOfShape", {"to"}, {"y"});
  model.Output("y");
  EXPECT_EQ(ErrorOf(model.Bytes()).kind, Diagnostic::Kind::kLimit);
  Model range;
  range.Ints("a", {0}, true);
  range.Ints("b", {int64_t{1} << 40}, true);
  range.Ints("c", {1}, true);
  range.Node("Range", {"a", "b", "c"}, {"y"});
  range.Output("y");
  EXPECT_EQ(ErrorOf(range.Bytes()).kind, Diagnostic::Kind::kLimit);
}

// The smallest value of a limit with which the file is read; with one less it must be refused for
// that limit.
template <typename T>
int64_t Threshold(const std::string& bytes, int64_t high, T OnnxLimits::*limit, bool keeps_kind = true) {
  const auto read = [&](int64_t value) {
    Limits limits;
    limits.onnx.*limit = static_cast<T>(value);
    return ReadOnnxModel(bytes, {}, limits).status();
  };
  int64_t low = 0;
  EXPECT_TRUE(read(high).ok()) << read(high);
  while (low + 1 < high) (read((low + high) / 2).ok() ? high : low) = (low + high) / 2;
  const absl::Status past = read(high - 1);
  EXPECT_FALSE(past.ok());
  if (keeps_kind) EXPECT_EQ(DiagnosticFromStatus(past).value_or(Diagnostic{}).kind, Diagnostic::Kind::kLimit) << past;
  return high;
}

TEST(OnnxReaderTest, StepsAtTheLimitAndOnePast) {
  const int64_t ten = Threshold(LoopOf(10).Bytes(), 1000, &OnnxLimits::max_steps);
  EXPECT_EQ(Threshold(LoopOf(20).Bytes(), 1000, &OnnxLimits::max_steps),
            2 * ten - Threshold(LoopOf(0).Bytes(), 1000, &OnnxLimits::max_steps));
}

TEST(OnnxReaderTest, ConstantsAtTheLimitAndOnePast) {
  Model model;
  model.Input("x", {4, 6});
  model.Ints("shape", {2, 2, 2, 3});
  model.Node("Reshape", {"x", "shape"}, {"y"});
  model.Output("y");
  // A shape of four numbers that are not carried along is not known.
  EXPECT_EQ(Threshold(model.Bytes(), 1000, &OnnxLimits::max_const_elements, /*keeps_kind=*/false), 4);
  EXPECT_EQ(Threshold(model.Bytes(), 1000, &OnnxLimits::max_const_bytes), 32);
}

TEST(OnnxReaderTest, NestingAtTheLimitAndOnePast) {
  const auto nested = [](int depth) {
    Model model;
    model.Input("x", {2, 2});
    GraphProto* graph = &model.graph();
    for (int i = 0; i < depth; ++i) {
      TensorProto* yes = graph->add_initializer();
      yes->set_name(absl::StrCat("yes", i));
      yes->set_data_type(TensorProto::BOOL);
      yes->add_int32_data(1);
      NodeProto* node = Model::AddNode(graph, "If", {absl::StrCat("yes", i)}, {absl::StrCat("y", i)});
      GraphProto* inner = nullptr;
      for (const char* branch : {"then_branch", "else_branch"}) {
        AttributeProto* attribute = node->add_attribute();
        attribute->set_name(branch);
        attribute->set_type(AttributeProto::GRAPH);
        if (inner == nullptr) inner = attribute->mutable_g();
      }
      graph->add_output()->set_name(absl::StrCat("y", i));
      graph = inner;
    }
    Model::AddNode(graph, "Relu", {"x"}, {"z"});
    graph->add_output()->set_name("z");
    return model.Bytes();
  };
  EXPECT_EQ(Threshold(nested(5), 30, &OnnxLimits::max_nesting), 5);
  EXPECT_EQ(Threshold(nested(6), 30, &OnnxLimits::max_nesting), 6);
}

TEST(OnnxReaderTest, ParsedBytesAtTheLimitAndOnePast) {
  const auto chain = [](int nodes) {
    Model model;
    model.Input("x0", {2, 2});
    for (int i = 0; i < nodes; ++i) model.Node("Relu", {absl::StrCat("x", i)}, {absl::StrCat("x", i + 1)});
    model.Output(absl::StrCat("x", nodes));
    return model.Bytes();
  };
  const int64_t ten = Threshold(chain(10), 1 << 20, &OnnxLimits::max_parsed_bytes);
  const int64_t twenty = Threshold(chain(20), 1 << 20, &OnnxLimits::max_parsed_bytes);
  EXPECT_GT(twenty, ten + 10 * static_cast<int64_t>(sizeof(NodeProto)));
  EXPECT_LT(twenty, ten + 10 * 1000);
  // Two bytes each: 100 MB of empty messages.
  std::string tensors, empty = "\x2a";
  empty.push_back(0);
  for (int i = 0; i < 1 << 20; ++i) tensors += empty;
  Model model;
  std::string bytes = model.Bytes();
  model.graph().Clear();
  std::string graph = "\x3a";
  for (size_t n = tensors.size(); n > 0; n >>= 7) graph.push_back(static_cast<char>((n & 127) | (n > 127 ? 128 : 0)));
  EXPECT_EQ(ErrorOf(bytes + graph + tensors).kind, Diagnostic::Kind::kLimit);
}

TEST(OnnxReaderTest, TimeAndTheCallerStopAReading) {
  Limits limits;
  limits.graph.max_nodes = limits.onnx.max_steps = 100'000'000;
  limits.wall_time_ms = 1;
  EXPECT_EQ(ErrorOf(LoopOf(INT64_MAX).Bytes(), {}, limits).kind, Diagnostic::Kind::kLimit);
  std::atomic<bool> cancelled{true};
  limits.wall_time_ms = 0;
  limits.cancelled = &cancelled;
  EXPECT_FALSE(ReadOnnxModel(LoopOf(1000).Bytes(), {}, limits).ok());
}

TEST(OnnxReaderTest, DocumentIsUpToDate) {
  absl::StatusOr<std::string> text = ReadFile(COBRA_SOURCE_DIR "/docs/onnx_support.md");
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_EQ(*text, OnnxSupportDocument()) << "run: onnx_conformance --document > docs/onnx_support.md";
  EXPECT_GE(OnnxOperators().size(), 110u);
}

}  // namespace
}  // namespace cobra::onnx
