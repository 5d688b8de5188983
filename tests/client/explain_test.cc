#include "client/explain/explain.h"

#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "client/explain/explain_render.h"
#include "gmock/gmock.h"
#include "graph/builder/builder.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Three blocks of a convolution and a relu, the last one wider, then a pooling of the model itself.
graph::Graph Blocks() {
  graph::GraphBuilder builder;
  const auto file = std::make_shared<const std::string>("net.py");
  const auto origin = [&](int line, std::string module) { return graph::Origin{file, line, std::move(module)}; };
  const std::vector<int64_t> one = {1, 1};
  graph::ValueRef x = builder.AddInput("x", {{1, 8, 16, 16}, graph::DType::float32});
  int64_t channels = 8;
  for (int block = 0; block < 3; ++block) {
    const int64_t out = block < 2 ? 8 : 64;
    const std::string path = absl::StrCat("stage.", block);
    const graph::ValueRef weight =
        builder.AddParameter(path + ".conv.weight", {{out, channels, 3, 3}, graph::DType::float32});
    x = graph::ValueRef::Node(
        *builder.Add(graph::Op::conv2d, {{"stride", one}, {"padding", one}, {"dilation", one}, {"groups", int64_t{1}}},
                     {x, weight}, origin(3, path + ".conv")));
    x = graph::ValueRef::Node(*builder.Add(graph::Op::relu, {}, {x}, origin(4, path)));
    channels = out;
  }
  builder.AddParameter("never", {{7}, graph::DType::float32});
  x = graph::ValueRef::Node(*builder.Add(graph::Op::adaptive_avg_pool2d, {{"output_size", one}}, {x}, origin(9, "")));
  return std::move(builder).Build({x});
}

SourceLookup Lookup() {
  SourceLookup lookup;
  lookup.user_path = [](const std::string& file) { return "my/" + file; };
  lookup.text = [](const std::string&) -> std::optional<std::string> {
    return "import torch\n\n        x = self.conv(x)\n        x = relu(x)\n";
  };
  return lookup;
}

Explanation Explained(const v1::PredictResponse* response = nullptr) {
  absl::StatusOr<Explanation> e = Explain(Blocks(), "Net() from my/net.py", Lookup(), response);
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
}

// One microsecond for each call, 94 for the wide convolution.
v1::PredictResponse Response() {
  v1::PredictResponse response;
  v1::TargetPrediction* p = response.add_predictions();
  p->set_target("cpu");
  p->set_latency_us(100);
  p->set_low_us(90);
  p->set_high_us(110);
  p->set_coverage(0.9);
  p->set_confidence(0.75);
  p->set_extrapolating(true);
  for (int i = 0; i < 7; ++i) {
    v1::NodeLatency* row = p->add_breakdown();
    row->set_node(i);
    row->set_latency_us(i == 4 ? 94 : 1);
  }
  return response;
}

std::string Text(const Explanation& e, ExplainBy by = ExplainBy::kOverview, TerminalStyle style = {}) {
  ExplainView view;
  view.by = by;
  view.top = 2;
  view.style = style;
  return ExplanationText(e, view);
}

std::vector<std::string> LinesOf(const std::string& text) { return absl::StrSplit(text, '\n', absl::SkipEmpty()); }

TEST(ExplainTest, CallsCarrySourceShapesAndCosts) {
  const Explanation e = Explained();
  ASSERT_EQ(e.calls.size(), 7u);
  const CallCost& wide = e.calls[4];
  EXPECT_EQ(wide.op, "conv2d");
  EXPECT_EQ(wide.module_path, "stage.2.conv");
  EXPECT_EQ(wide.file, "my/net.py");
  EXPECT_EQ(wide.line, 3);
  EXPECT_EQ(wide.source, "x = self.conv(x)");
  EXPECT_EQ(wide.input, "1x8x16x16");
  EXPECT_EQ(wide.output, "1x64x16x16");
  EXPECT_EQ(wide.cost.macs, 64 * 8 * 9 * 256);
  EXPECT_EQ(wide.cost.parameters, 64 * 8 * 9);
  EXPECT_EQ(wide.cost.bytes, 4 * (8 * 256 + 64 * 8 * 9 + 64 * 256));
  EXPECT_EQ(e.unused_parameters, 7);
  EXPECT_EQ(e.calls[6].source, "");  // the file ends before line 9
}

TEST(ExplainTest, SharesAddUpToOne) {
  const v1::PredictResponse response = Response();
  const Explanation e = Explained(&response);
  double time = 0, flops = 0, bytes = 0;
  for (const CallCost& call : e.calls) {
    time += e.TimeShare(call.cost);
    flops += e.FlopsShare(call.cost);
    bytes += e.BytesShare(call.cost);
  }
  EXPECT_NEAR(time, 1, 1e-12);
  EXPECT_NEAR(flops, 1, 1e-12);
  EXPECT_NEAR(bytes, 1, 1e-12);
}

TEST(ExplainTest, ModulesAddUpAndAlikeBlocksAreOne) {
  const ModuleCost all = ByModule(Explained(), /*merge_repeated_modules=*/false);
  EXPECT_EQ(all.cost.calls, 7);
  EXPECT_EQ(all.own.calls, 1);  // the pooling
  ASSERT_EQ(all.children.size(), 1u);
  EXPECT_EQ(all.children[0].path, "stage");
  EXPECT_EQ(all.children[0].cost.calls, 6);
  ASSERT_EQ(all.children[0].children.size(), 3u);
  EXPECT_EQ(all.children[0].children[1].own.calls, 1);  // its relu

  const ModuleCost merged = ByModule(Explained(), /*merge_repeated_modules=*/true);
  const std::vector<ModuleCost>& blocks = merged.children[0].children;
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name, "0 ... 1");
  EXPECT_EQ(blocks[0].alike, 2);
  EXPECT_EQ(blocks[0].cost.calls, 4);
  EXPECT_EQ(blocks[0].children[0].cost.calls, 2);
  EXPECT_EQ(blocks[1].name, "2");
}

TEST(ExplainTest, GroupsAreSortedByShare) {
  const v1::PredictResponse response = Response();
  const Explanation e = Explained(&response);
  const std::vector<GroupCost> operators = ByOperator(e);
  ASSERT_EQ(operators.size(), 3u);
  EXPECT_EQ(operators[0].name, "conv2d");
  EXPECT_EQ(operators[0].cost.latency_us, 96);
  const std::vector<GroupCost> lines = ByLine(e);
  EXPECT_EQ(lines[0].name, "my/net.py:3");
  EXPECT_EQ(lines[0].source, "x = self.conv(x)");
  EXPECT_EQ(lines[0].cost.calls, 3);
  EXPECT_EQ(LargestCalls(e, 1)[0]->node, 4);
  EXPECT_EQ(LargestCalls(e, 100).size(), 7u);
}

TEST(ExplainTest, AlikeCallsAreOneWithStarsWhereTheyDiffer) {
  const v1::PredictResponse response = Response();
  const Explanation e = Explained(&response);
  const std::vector<CallGroup> groups = GroupCalls(e);
  // The wide convolution, two narrow ones, two relus, the wide relu, the pooling.
  ASSERT_EQ(groups.size(), 5u);
  EXPECT_EQ(groups[0].module_path, "stage.2.conv");
  EXPECT_EQ(groups[0].cost.calls, 1);
  EXPECT_EQ(groups[1].module_path, "stage.*.conv");
  EXPECT_EQ(groups[1].cost.calls, 2);
  EXPECT_EQ(groups[1].cost.latency_us, 2);
  EXPECT_EQ(groups[2].first().op, "relu");
  EXPECT_EQ(groups[2].module_path, "stage.*");
}

// A chain of relus with these module paths, as a file of nodes would have them.
Explanation Nodes(const std::vector<std::string>& paths, const char* file_name) {
  graph::GraphBuilder builder;
  const auto file = std::make_shared<const std::string>(file_name);
  graph::ValueRef x = builder.AddInput("x", {{8}, graph::DType::float32});
  int node = 0;
  for (const std::string& path : paths)
    x = graph::ValueRef::Node(*builder.Add(graph::Op::relu, {}, {x}, graph::Origin{file, ++node, path}));
  absl::StatusOr<Explanation> e = Explain(std::move(builder).Build({x}), file_name, {}, nullptr);
  EXPECT_TRUE(e.ok()) << e.status();
  return *e;
}

TEST(ExplainTest, NodesOfAFileWithoutLinesAreAlikeWhateverTheirNumber) {
  const std::vector<CallGroup> groups = GroupCalls(Nodes({"/l1/l1.0/Relu", "/l1/l1.1/Relu", "/l2/Relu_3"}, "net.onnx"));
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].module_path, "/l1/l1.*/Relu");
  EXPECT_EQ(GroupCalls(Nodes({"a.0", "a.1"}, "net.py")).size(), 2u);  // two lines of a text
}

TEST(ExplainTest, ABreakdownOfAnotherGraphIsRefused) {
  v1::PredictResponse response = Response();
  response.mutable_predictions(0)->mutable_breakdown()->RemoveLast();
  EXPECT_FALSE(Explain(Blocks(), "", {}, &response).ok());
  response = Response();
  response.mutable_predictions(0)->mutable_breakdown(0)->set_node(7);
  EXPECT_FALSE(Explain(Blocks(), "", {}, &response).ok());
}

TEST(ExplainRenderTest, OneLookAtAPredictionFindsTheSlowCall) {
  const v1::PredictResponse response = Response();
  const std::string text = Text(Explained(&response));
  const std::vector<std::string> lines = LinesOf(text);
  EXPECT_EQ(lines[0], "Net() from my/net.py, input 1x8x16x16:float32");
  EXPECT_THAT(lines[1], HasSubstr("7 calls, 5.8 k parameters (7 of them unused)"));
  EXPECT_EQ(lines[2],
            "predicted 0.100 ms on cpu (90 % interval 0.090 ... 0.110 ms), confidence 0.75, extrapolating: "
            "unlike what the weights were trained on");
  v1::PredictResponse guess = response;
  guess.mutable_predictions(0)->set_coverage(0);
  EXPECT_THAT(Text(Explained(&guess)), HasSubstr("on cpu (a guess: 0.09 to 0.11 ms)"));
  EXPECT_EQ(lines[3], "slowest line: my/net.py:3, 96.0 % of the time");
  EXPECT_EQ(lines[4], "  x = self.conv(x)");
  EXPECT_EQ(lines[5], "slowest call: conv2d in stage.2.conv (my/net.py:3), 94.0 % of the time");
  EXPECT_THAT(text, HasSubstr("\n 95.0 %  0.095  ###################       2   4.6 k      2\n"));
  EXPECT_THAT(text, HasSubstr("0 ... 1 (2 alike)"));
  EXPECT_THAT(text, HasSubstr("Slowest calls, equal ones grouped: 3 of 7, 96.0 % of the time"));
  EXPECT_THAT(text, HasSubstr("2 x      0  conv2d    stage.*.conv"));
  EXPECT_THAT(text, HasSubstr("my/net.py:3\n        x = self.conv(x)\n"));
  EXPECT_THAT(text, HasSubstr("\nSource lines\n"));
}

TEST(ExplainRenderTest, AHeavyGroupOfAlikeCallsIsTheHeadline) {
  v1::PredictResponse response = Response();
  for (v1::NodeLatency& row : *response.mutable_predictions(0)->mutable_breakdown()) row.set_latency_us(1);
  for (int node : {0, 2}) response.mutable_predictions(0)->mutable_breakdown(node)->set_latency_us(40);
  const std::string text = Text(Explained(&response));
  EXPECT_THAT(text, HasSubstr("slowest calls: 2 x conv2d in stage.*.conv (my/net.py:3), 94.1 % of the time"));
}

TEST(ExplainRenderTest, NodesAreNoLines) {
  const std::string text = Text(Nodes({"/Relu", "/Relu_1", "/Relu_2"}, "net.onnx"));
  EXPECT_THAT(text, HasSubstr("heaviest calls: 2 x relu in /Relu_* (net.onnx node 2)"));
  EXPECT_THAT(text, Not(HasSubstr("Source lines")));
  EXPECT_THAT(text, Not(HasSubstr("heaviest line")));
  EXPECT_THAT(Text(Nodes({"/Relu"}, "net.onnx"), ExplainBy::kLine), HasSubstr("net.onnx node 1"));
}

// `blocks` modules of two relus each; every block has the share that `us` gives its calls.
std::string TreeOf(const std::vector<double>& us) {
  std::vector<std::string> paths;
  v1::PredictResponse response;
  v1::TargetPrediction* p = response.add_predictions();
  double sum = 0;
  graph::GraphBuilder builder;
  graph::ValueRef x = builder.AddInput("x", {{8}, graph::DType::float32});
  for (size_t i = 0; i < us.size(); ++i) {
    for (const char* child : {"left", "right"}) {
      const std::string path = absl::StrCat("block", std::string(1, static_cast<char>('a' + i)), ".", child);
      x = graph::ValueRef::Node(*builder.Add(graph::Op::relu, {}, {x}, graph::Origin{nullptr, 0, path}));
      v1::NodeLatency* row = p->add_breakdown();
      row->set_node(p->breakdown_size() - 1);
      row->set_latency_us(us[i]);
      sum += us[i];
    }
  }
  p->set_latency_us(sum);
  absl::StatusOr<Explanation> e = Explain(std::move(builder).Build({x}), "", {}, &response);
  EXPECT_TRUE(e.ok()) << e.status();
  return Text(*e);
}

TEST(ExplainRenderTest, OneShareDecidesWhatIsUnfolded) {
  const std::string few = TreeOf({50, 30, 20, 4});  // 48, 29, 19, 4 %
  EXPECT_THAT(few, HasSubstr("blockc\n"));
  EXPECT_THAT(few, HasSubstr("blockd +\n"));
  EXPECT_THAT(few, HasSubstr("+ is folded: less than 5 %; --by module has all"));
  // Twelve with 8 % each do not fit unfolded: all of them stay folded, not some.
  const std::string many = TreeOf(std::vector<double>(12, 10));
  EXPECT_THAT(many, HasSubstr("blocka +\n"));
  EXPECT_THAT(many, HasSubstr("blockl +\n"));
  EXPECT_THAT(many, Not(HasSubstr("left\n  ")));
  EXPECT_THAT(many, HasSubstr("+ is folded: less than 10 %"));
}

TEST(ExplainRenderTest, WithoutAServerNothingIsCalledTime) {
  const std::string text = Text(Explained());
  EXPECT_THAT(text, HasSubstr("shares are of FLOP and of bytes moved, not of time"));
  EXPECT_THAT(text, HasSubstr("heaviest call: conv2d in stage.2.conv (my/net.py:3)"));
  EXPECT_THAT(text, HasSubstr("heaviest line: my/net.py:3, "));
  EXPECT_THAT(text, Not(HasSubstr("predicted")));
  EXPECT_THAT(text, Not(HasSubstr(" ms")));
}

TEST(ExplainRenderTest, EveryListHasEveryThing) {
  const Explanation e = Explained();
  EXPECT_EQ(LinesOf(Text(e, ExplainBy::kLayer)).size(), 6 + 1 + 1 + 7u);  // heading, title, header, calls
  // (model), (its own calls), stage, three blocks with their convolutions and their own calls
  EXPECT_EQ(LinesOf(Text(e, ExplainBy::kModule)).size(), 6 + 1 + 1 + 3 + 3 * 3u);
  EXPECT_EQ(LinesOf(Text(e, ExplainBy::kOp)).size(), 6 + 1 + 1 + 3u);
  EXPECT_THAT(Text(e, ExplainBy::kLine), HasSubstr("my/net.py:3  x = self.conv(x)"));
}

TEST(ExplainRenderTest, EveryCallSaysWhyItIsUnsure) {
  v1::PredictResponse response = Response();
  EXPECT_THAT(Text(Explained(&response), ExplainBy::kLayer), Not(HasSubstr("because")));
  response.mutable_predictions(0)->mutable_breakdown(1)->set_unknown("relu was never measured");
  const std::vector<std::string> lines = LinesOf(Text(Explained(&response), ExplainBy::kLayer));
  EXPECT_THAT(lines[7], HasSubstr("unsure, because"));
  EXPECT_THAT(lines[9], HasSubstr("relu was never measured"));
  const nlohmann::json j = nlohmann::json::parse(ExplanationJson(Explained(&response), {}));
  EXPECT_EQ(j["layers"][0]["unknown"], "");
  EXPECT_EQ(j["layers"][1]["unknown"], "relu was never measured");
}

TEST(ExplainRenderTest, CallsThatTheRuntimeTakesForOneAreNamed) {
  v1::PredictResponse response = Response();
  EXPECT_THAT(Text(Explained(&response)), Not(HasSubstr("run as one")));
  for (int relu : {1, 3}) response.mutable_predictions(0)->mutable_breakdown(relu)->set_alone_us(5);
  response.mutable_predictions(0)->mutable_breakdown(5)->set_alone_us(1.5);
  EXPECT_THAT(Text(Explained(&response)),
              HasSubstr("2 calls are probably fused with a neighbour (2 relu): 0.002 ms here, alone 0.010 ms"));
  const nlohmann::json j = nlohmann::json::parse(ExplanationJson(Explained(&response), {}));
  EXPECT_EQ(j["layers"][1]["taken_for_one"], true);
  EXPECT_EQ(j["layers"][5]["taken_for_one"], false);
  EXPECT_EQ(j["layers"][5]["alone_us"], 1.5);
}

TEST(ExplainRenderTest, NoLineIsWiderThanTheTerminal) {
  const v1::PredictResponse response = Response();
  const Explanation e = Explained(&response);
  for (ExplainBy by : {ExplainBy::kOverview, ExplainBy::kLayer, ExplainBy::kModule, ExplainBy::kOp, ExplainBy::kLine}) {
    const std::vector<std::string> lines = LinesOf(Text(e, by, {60, false}));
    for (size_t i = 6; i < lines.size(); ++i) EXPECT_LE(lines[i].size(), 60u) << lines[i];
  }
}

TEST(ExplainRenderTest, ColoursOnlyForATerminal) {
  const Explanation e = Explained();
  EXPECT_THAT(Text(e), Not(HasSubstr("\033")));
  EXPECT_THAT(Text(e, ExplainBy::kOverview, {0, true}), HasSubstr("\033[31m"));
}

TEST(ExplainRenderTest, JsonHasAllListsWithUnits) {
  const v1::PredictResponse response = Response();
  const nlohmann::json j = nlohmann::json::parse(ExplanationJson(Explained(&response), {}));
  EXPECT_EQ(j["ranked_by"], "latency_share");
  EXPECT_EQ(j["prediction"]["latency_us"], 100);
  EXPECT_EQ(j["layers"].size(), 7u);
  EXPECT_EQ(j["layers"][4]["latency_share"], 0.94);
  EXPECT_EQ(j["layers"][4]["source"], "x = self.conv(x)");
  EXPECT_EQ(j["top"][0], 4);
  EXPECT_EQ(j["alike"][0]["nodes"], nlohmann::json({4}));
  EXPECT_EQ(j["alike"][1]["nodes"], nlohmann::json({0, 2}));
  EXPECT_EQ(j["alike"][1]["module"], "stage.*.conv");
  EXPECT_EQ(j["modules"][0]["params"], j["total"]["params"].get<int64_t>() - 7);
  EXPECT_EQ(j["ops"][0]["op"], "conv2d");
  EXPECT_EQ(j["lines"][0]["where"], "my/net.py:3");
  const nlohmann::json plain = nlohmann::json::parse(ExplanationJson(Explained(), {}));
  EXPECT_FALSE(plain.contains("prediction"));
  EXPECT_FALSE(plain["layers"][0].contains("latency_us"));
}

TEST(ExplainRenderTest, AnEmptyGraphIsNoReasonToCrash) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{1}, graph::DType::float32});
  absl::StatusOr<Explanation> e = Explain(std::move(builder).Build({x}), "Identity()", {}, nullptr);
  ASSERT_TRUE(e.ok());
  for (ExplainBy by : {ExplainBy::kOverview, ExplainBy::kLayer, ExplainBy::kModule, ExplainBy::kOp, ExplainBy::kLine}) {
    EXPECT_THAT(Text(*e, by), HasSubstr("0 calls"));
  }
}

// Of a layer that nn.Sequential calls: not the line of that call, which is one for all of them.
TEST(ExplainTest, LayersCalledByTorchPointAtTheirConstruction) {
  graph::GraphBuilder builder;
  const auto file = std::make_shared<const std::string>("net.py");
  const graph::ValueRef x = builder.AddInput("x", {{1, 8}, graph::DType::float32});
  const graph::ValueRef y =
      graph::ValueRef::Node(*builder.Add(graph::Op::relu, {}, {x}, graph::Origin{file, 4, "block.0", file, 3}));
  const graph::ValueRef z = graph::ValueRef::Node(*builder.Add(graph::Op::relu, {}, {y}, graph::Origin{file, 4, ""}));
  const graph::Graph graph = std::move(builder).Build({z});
  const absl::StatusOr<Explanation> e = Explain(graph, "Net()", Lookup(), nullptr);
  ASSERT_TRUE(e.ok()) << e.status();
  EXPECT_EQ(e->calls[0].line, 3);
  EXPECT_EQ(e->calls[0].source, "x = self.conv(x)");
  EXPECT_EQ(e->calls[1].line, 4);
}

}  // namespace
}  // namespace cobra::client
