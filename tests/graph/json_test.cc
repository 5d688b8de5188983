#include "graph/form/json.h"

#include <cmath>

#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "graph/form/fingerprint.h"
#include "graph_testing.h"
#include "nlohmann/json.hpp"

namespace cobra::graph {
namespace {

using ::testing::HasSubstr;

Graph SmallGraph() {
  GraphBuilder builder;
  const ValueRef x = builder.AddInput("x", {{4, 2, 8}, DType::float32});
  const ValueRef weight = builder.AddParameter("attn.in_proj_weight", {{24, 8}, DType::float32});
  const ValueRef out_weight = builder.AddParameter("attn.out_proj.weight", {{8, 8}, DType::float32});
  builder.AddParameterAlias("tied.weight", out_weight);
  const ValueRef table = builder.AddBuffer("table", {{3}, DType::int64});
  const ValueRef constant = builder.AddConstant("arange", {{4, 1, 1}, DType::int64});
  const auto file = std::make_shared<const std::string>("model.py");
  const Origin origin{file, 12, "attn", file, 7};
  // in_proj_bias and the ones after it are absent: a gap before out_proj_weight.
  const ValueRef none = ValueRef::None();
  const int32_t attention =
      builder
          .Add(Op::multi_head_attention_forward,
               {{"embed_dim_to_check", int64_t{8}}, {"num_heads", int64_t{2}}, {"need_weights", true}},
               {x, x, x, weight, none, none, none, out_weight}, origin)
          .value();
  const int32_t sum = builder.Add(Op::add, {}, {ValueRef::Node(attention, 0), constant}, origin).value();
  const int32_t filled = builder.Add(Op::mul, {{"other", -INFINITY}}, {ValueRef::Node(sum)}, origin, true).value();
  const int32_t picked =
      builder.Add(Op::getitem, {{"index", std::string("T0, :, 2:")}}, {ValueRef::Node(filled), table}).value();
  const int32_t viewed =
      builder.Add(Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {ValueRef::Node(picked)}).value();
  builder.Add(Op::dropout, {{"p", 0.1}}, {ValueRef::Node(viewed)}).value();
  return std::move(builder).Build({ValueRef::Node(viewed), ValueRef::Node(attention, 1)});
}

TEST(GraphJsonTest, ReadsWhatItWrites) {
  const Graph graph = SmallGraph();
  const std::string text = GraphToJson(graph);
  const absl::StatusOr<Graph> back = GraphFromJson(text);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(Fingerprint(*back), Fingerprint(graph));
  EXPECT_EQ(GraphToJson(*back), text);
  EXPECT_EQ(back->nodes()[0].origin.line, 12);
  EXPECT_EQ(*back->nodes()[0].origin.file, "model.py");
  EXPECT_EQ(*back->nodes()[0].origin.made_file, "model.py");
  EXPECT_EQ(back->nodes()[0].origin.made_line, 7);
  EXPECT_EQ(back->parameter_aliases()[0].first, "tied.weight");
  EXPECT_EQ(PrintGraph(*back), PrintGraph(graph));
}

TEST(GraphJsonTest, MarksWhatComputesNothing) {
  const auto ops = nlohmann::json::parse(GraphToJson(SmallGraph()))["ops"];
  EXPECT_FALSE(ops[0].contains("kind"));
  EXPECT_FALSE(ops[3].contains("kind"));  // a getitem by a tensor gathers
  EXPECT_EQ(ops[4]["kind"], "view");
  EXPECT_EQ(ops[5]["kind"], "alias");
  EXPECT_EQ(ops[2]["attrs"]["other"], "-inf");
}

TEST(GraphJsonTest, OriginsCanBeLeftOut) {
  const auto ops = nlohmann::json::parse(GraphToJson(SmallGraph(), {.origins = false}))["ops"];
  EXPECT_FALSE(ops[0].contains("where"));
}

TEST(GraphJsonTest, WrongInputIsAUsageDiagnostic) {
  const struct {
    const char* text;
    const char* message;
  } cases[] = {
      {.text = "{", .message = "it is not a JSON object"},
      {.text = R"({"ops":[{"op":"relu","inputs":[3]}],"output":[]})",
       .message = "node 0 (relu): [3, 0] is not an output of an earlier node"},
      {.text = R"({"inputs":[{"shape":[2,3]}],"ops":[{"op":"relu","inputs":["in:0"],"out":[[2,4]]}],"output":[]})",
       .message = "its inputs give"},
      {.text = R"({"inputs":[{"shape":[2,-3]}],"ops":[],"output":[]})", .message = "inputs[0]: size -3 is negative"},
      {.text = R"({"ops":[{"op":"relu","inputs":["p:w"]}],"output":[]})",
       .message = "node 0 (relu): source \"p:w\" names nothing"},
  };
  for (const auto& c : cases) {
    const absl::Status status = GraphFromJson(c.text).status();
    ASSERT_FALSE(status.ok()) << c.text;
    EXPECT_EQ(DiagnosticFromStatus(status)->kind, Diagnostic::Kind::kUsage);
    EXPECT_THAT(DiagnosticFromStatus(status)->message, HasSubstr(c.message));
  }
  const absl::Status unknown = GraphFromJson(R"({"ops":[{"op":"frobnicate","inputs":[]}],"output":[]})").status();
  EXPECT_EQ(DiagnosticFromStatus(unknown)->kind, Diagnostic::Kind::kUnsupported);
}

// A graph of one relu on a float32 pair, with `more` in the node's record.
std::string Relu(const std::string& more) {
  return R"({"inputs":[{"shape":[2]}],"ops":[{"op":"relu","inputs":["in:0"])" + more + R"(}],"output":[0]})";
}

TEST(GraphJsonTest, EveryFieldIsChecked) {
  ASSERT_TRUE(GraphFromJson(Relu("")).ok());
  const struct {
    std::string text;
    const char* message;
  } cases[] = {
      {.text = "[1]", .message = "it is not a JSON object"},
      {.text = R"({"ops":[],"output":[],"ops":[]})", .message = "the key \"ops\" occurs twice"},
      {.text = R"({"ops":)" + std::string(1000000, '['), .message = "its nesting: more than the limit"},
      {.text = R"({"ops":[],"output":[null]})", .message = "an entry of \"output\" is null"},
      {.text = R"({"inputs":[{"shape":[1.5]}],"ops":[],"output":[]})", .message = "inputs[0]: its shape has an entry"},
      {.text = R"({"inputs":[{"shape":[9223372036854775808]}],"ops":[],"output":[]})", .message = "that is not a size"},
      {.text = R"({"inputs":[{"shape":[2],"dtype":3}],"ops":[],"output":[]})", .message = "its dtype is not a string"},
      {.text = R"({"inputs":[{"shape":[2],"dtype":"quad"}],"ops":[],"output":[]})", .message = "unknown dtype"},
      {.text = R"({"param_shapes":{"w":[2]},"param_dtypes":{"v":"int8"},"ops":[],"output":[]})",
       .message = "param_dtypes names something"},
      {.text = R"({"param_shapes":{"w":[2]},"param_aliases":{"v":"u"},"ops":[],"output":[]})",
       .message = "parameter alias \"v\" names no parameter"},
      {.text = R"({"param_shapes":{"w":[2],"v":[2]},"param_aliases":{"v":"w"},"ops":[],"output":[]})",
       .message = "parameter alias \"v\" is a parameter of its own"},
      {.text = Relu(R"(,"dtype":["int8"],"out":[[2]])"), .message = "node 0 (relu): declares dtype [\"int8\"]"},
      {.text =
           R"({"inputs":[{"shape":[2],"dtype":"int64"}],"ops":[{"op":"relu","inputs":["in:0"],"out":[[2]]}],"output":[]})",
       .message = "node 0 (relu): declares dtype float32, its inputs give [\"int64\"]"},
      {.text = Relu(R"(,"attrs":3)"), .message = "node 0 (relu): \"attrs\" is not an object"},
      {.text = Relu(R"(,"inplace":1)"), .message = "node 0 (relu): \"inplace\" is neither"},
      {.text = Relu(R"(,"where":"x")"), .message = "not FILE:LINE"},
      {.text = Relu(R"(,"where":"x:-3")"), .message = "not FILE:LINE"},
      {.text = Relu(R"(,"made":"x:y")"), .message = "\"made\" is"},
      {.text = Relu(R"(,"mod":[])"), .message = "\"mod\" is not a string"},
      {.text = Relu(R"(,"consts":[0])"), .message = "more numbers than"},
      {.text = Relu(R"(,"slots":[1,2])"), .message = "\"slots\" does not fit"},
      {.text = Relu(R"(,"attrs":{"dim":{}})"), .message = "node 0 (relu): attribute 'dim' is an object"},
      {.text = Relu(R"(,"attrs":{"keepdim":1})"), .message = "argument 'keepdim' must be True or False, not 1"},
      {.text = Relu(R"(,"attrs":{"speed":1})"), .message = "unexpected argument 'speed'"},
  };
  for (const auto& c : cases) {
    const absl::Status status = GraphFromJson(c.text).status();
    ASSERT_FALSE(status.ok()) << c.text;
    EXPECT_EQ(DiagnosticFromStatus(status)->kind, Diagnostic::Kind::kUsage) << status;
    EXPECT_THAT(DiagnosticFromStatus(status)->message, HasSubstr(c.message));
  }
  const absl::Status huge =
      GraphFromJson(R"({"inputs":[{"shape":[0,1099511627776,1099511627776]}],"ops":[],"output":[]})").status();
  EXPECT_EQ(DiagnosticFromStatus(huge)->kind, Diagnostic::Kind::kLimit);
}

TEST(GraphJsonTest, InfinitiesInListsSurvive) {
  GraphBuilder builder;
  const ValueRef x = builder.AddInput("x", {{1, 2, 4, 4}, DType::float32});
  const int32_t node =
      builder
          .Add(Op::interpolate, {{"scale_factor", std::vector<double>{2, 2.5}}, {"mode", std::string("nearest")}}, {x})
          .value();
  const int32_t clamped = builder.Add(Op::clamp, {{"min", -INFINITY}, {"max", 1e300}}, {ValueRef::Node(node)}).value();
  const Graph graph = std::move(builder).Build({ValueRef::Node(clamped)});
  const absl::StatusOr<Graph> back = GraphFromJson(GraphToJson(graph));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(Fingerprint(*back), Fingerprint(graph));
  EXPECT_EQ(GraphToJson(*back), GraphToJson(graph));
}

}  // namespace
}  // namespace cobra::graph
