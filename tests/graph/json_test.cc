#include "graph/json.h"

#include <cmath>

#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "graph/fingerprint.h"
#include "graph_testing.h"
#include "nlohmann/json.hpp"

namespace cobra {
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
  Origin origin{std::make_shared<const std::string>("model.py"), 12, "attn"};
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
      {.text = "{", .message = "no JSON object"},
      {.text = R"({"ops":[{"op":"relu","inputs":[3]}],"output":[]})", .message = "no output of an earlier record"},
      {.text = R"({"inputs":[{"shape":[2,3]}],"ops":[{"op":"relu","inputs":["in:0"],"out":[[2,4]]}],"output":[]})",
       .message = "its inputs give"},
      {.text = R"({"inputs":[{"shape":[2,-3]}],"ops":[],"output":[]})", .message = "no size"},
      {.text = R"({"ops":[{"op":"relu","inputs":["p:w"]}],"output":[]})", .message = "names nothing"},
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

}  // namespace
}  // namespace cobra
