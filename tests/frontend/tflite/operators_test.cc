// Every operator by itself: the calls that it becomes, the shapes that the file says (the reader
// refuses others), every node executable by type. What they compute: armnn_test.cc.
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "frontend/tflite/reader.h"
#include "graph/form/json.h"
#include "gtest/gtest.h"
#include "tests/frontend/tflite/operator_files.h"

namespace cobra::tflite {
namespace {

TEST(TfliteOperators, BecomeTheCallsThatTheyAre) {
  for (const OperatorFile& file : OperatorFiles()) {
    SCOPED_TRACE(file.name);
    const absl::StatusOr<graph::Graph> graph = ReadTfliteModel(file.bytes, {file.name});
    ASSERT_TRUE(graph.ok()) << graph.status();
    if (file.calls.empty()) continue;
    // Views between the file's order and that of images belong to no operator.
    std::vector<std::string> calls;
    for (const graph::Node& node : graph->nodes()) {
      if (node.op == graph::Op::permute && node.origin.line == 0) continue;
      std::string call(graph::OpName(node.op));
      if (node.op == graph::Op::to) call = node.attributes.String("dtype") == "float32" ? "float" : call;
      calls.push_back(call);
    }
    EXPECT_EQ(absl::StrJoin(calls, " "), file.calls) << graph::PrintGraph(*graph);
  }
}

TEST(TfliteOperators, EveryOneOfTheListIsTried) {
  std::set<std::string> tried;
  for (const OperatorFile& file : OperatorFiles()) {
    const schema::Model* model = schema::GetModel(file.bytes.data());
    for (const auto* code : *model->operator_codes())
      tried.insert(schema::EnumNameBuiltinOperator(code->builtin_code()));
  }
  // Those that differ from a tried one in nothing but the name of the call.
  const std::set<std::string> alike = {"ARG_MIN",       "EQUAL",           "NOT_EQUAL",  "LESS",        "LESS_EQUAL",
                                       "GREATER_EQUAL", "LOGICAL_AND",     "LOGICAL_OR", "LOGICAL_NOT", "REDUCE_MIN",
                                       "REDUCE_PROD",   "REDUCE_ANY",      "REDUCE_ALL", "SELECT",      "PADV2",
                                       "TOPK_V2",       "EMBEDDING_LOOKUP"};
  for (const TfliteOperator& op : TfliteOperators()) {
    EXPECT_TRUE(tried.count(op.name) > 0 || alike.count(op.name) > 0) << op.name;
  }
}

TEST(TfliteOperators, AnUnknownOneIsNamed) {
  TfliteNet net(false);
  const int x = net.file.Input({1, 4});
  net.file.Output(net.Unary(schema::BuiltinOperator_SVDF, x));
  const absl::StatusOr<graph::Graph> graph = ReadTfliteModel(net.file.Finish(), {"net.tflite"});
  EXPECT_EQ(graph.status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_NE(graph.status().message().find("operator 0 (SVDF)"), absl::string_view::npos) << graph.status();
}

TEST(TfliteOperators, DynamicRangeWeightsStayIntegers) {
  TfliteNet net(false);
  const int x = net.file.Input({1, 6});
  const int weights = net.file.Constant({4, 6}, schema::TensorType_INT8, std::vector<int8_t>(24, 1), 0.1f);
  const int y = net.file.Activation({1, 4});
  net.file.Add(schema::BuiltinOperator_FULLY_CONNECTED, {x, weights, -1}, {y}, schema::FullyConnectedOptionsT());
  net.file.Output(y);
  const absl::StatusOr<graph::Graph> graph = ReadTfliteModel(net.file.Finish(), {"net.tflite"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->parameters()[0].type.dtype, graph::DType::int8);
  EXPECT_EQ(graph->nodes()[0].outputs[0].dtype, graph::DType::float32);
}

TEST(TfliteOperators, ConstantsThatAreDequantizedAreWeights) {
  TfliteNet net(false);
  const int x = net.file.Input({1, 6});
  const int half = net.file.Constant({4, 6}, schema::TensorType_FLOAT16, std::vector<uint16_t>(24, 0x3c00));
  const int weights = net.file.Activation({4, 6}), y = net.file.Activation({1, 4});
  net.file.AddPlain(schema::BuiltinOperator_DEQUANTIZE, {half}, {weights});
  net.file.Add(schema::BuiltinOperator_FULLY_CONNECTED, {x, weights, -1}, {y}, schema::FullyConnectedOptionsT());
  net.file.Output(y);
  const absl::StatusOr<graph::Graph> graph = ReadTfliteModel(net.file.Finish(), {"net.tflite"});
  ASSERT_TRUE(graph.ok()) << graph.status();
  EXPECT_EQ(graph->nodes().size(), 1u);
  EXPECT_EQ(graph->parameters()[0].type.dtype, graph::DType::float32);
}

}  // namespace
}  // namespace cobra::tflite
