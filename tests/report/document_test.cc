#include "report/document.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/cost/cost.h"
#include "graph/cost/memory.h"
#include "gtest/gtest.h"
#include "tests/report/networks.h"

namespace cobra::report {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

json Made(const Contents& contents) {
  absl::StatusOr<json> document = MakeDocument(contents);
  EXPECT_TRUE(document.ok()) << document.status();
  return document.ok() ? *document : json();
}

class DocumentTest : public testing::Test {
 protected:
  DocumentTest() {
    contents_.title = "Net() from net.py";
    contents_.question = {{"entry", "Net()"}};
    contents_.answers.push_back({&graph_, Response(graph_)});
  }

  graph::Graph graph_ = Residual(2);
  Contents contents_;
};

TEST_F(DocumentTest, HasTheCallsOfTheGraphInTheirOrder) {
  const json document = Made(contents_);
  EXPECT_EQ(document["version"], kDocumentVersion);
  EXPECT_EQ(document["model_version"], "2026-01-01-abc");
  const json& calls = document["networks"][0]["calls"];
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph_);
  for (const char* column : {"op", "module", "place", "input", "output", "macs", "flops", "bytes"})
    ASSERT_THAT(calls[column], SizeIs(graph_.nodes().size())) << column;
  for (size_t i = 0; i < costs.size(); ++i) {
    EXPECT_EQ(calls["texts"][calls["op"][i].get<int>()], std::string(graph::OpName(graph_.nodes()[i].op)));
    EXPECT_EQ(calls["texts"][calls["module"][i].get<int>()], graph_.nodes()[i].origin.module_path);
    EXPECT_EQ(calls["macs"][i], costs[i].macs);
    EXPECT_EQ(calls["bytes"][i], costs[i].input_bytes + costs[i].weight_bytes + costs[i].output_bytes);
  }
  EXPECT_EQ(calls["texts"][calls["output"][0].get<int>()], "1x8x16x16");
}

TEST_F(DocumentTest, MemoryReachesThePeakAndNeverTheFloor) {
  const json memory = Made(contents_)["networks"][0]["memory"];
  const auto during = memory["during_call_bytes"].get<std::vector<int64_t>>();
  ASSERT_THAT(during, SizeIs(graph_.nodes().size()));
  EXPECT_EQ(*std::max_element(during.begin(), during.end()), graph::PeakMemoryBytes(graph_));
  EXPECT_GT(*std::min_element(during.begin(), during.end()), memory["always_bytes"].get<int64_t>());
}

TEST_F(DocumentTest, TargetsAreInTheOrderAskedWithTheirSheets) {
  v1::TargetPrediction other = contents_.answers[0].response.predictions(0);
  other.set_target("gpu");
  other.set_extrapolating(true);
  v1::UnknownPart* part = other.add_unknown();
  part->set_why("relu was never measured");
  part->set_share(0.25);
  other.mutable_breakdown(1)->set_unknown("relu was never measured");
  *contents_.answers[0].response.add_predictions() = other;
  v1::ListTargetsResponse sheets;
  v1::Target* sheet = sheets.add_targets();
  sheet->mutable_spec()->set_name("gpu");
  sheet->mutable_spec()->set_peak_gflops(1234);
  sheet->mutable_errors()->set_network_mape(0.07);
  contents_.sheets = &sheets;
  contents_.targets = {"gpu", "cpu"};
  const json targets = Made(contents_)["targets"];
  ASSERT_THAT(targets, SizeIs(2));
  EXPECT_EQ(targets[0]["target"], "gpu");
  EXPECT_EQ(targets[0]["spec"]["peak_gflops"], 1234);
  EXPECT_EQ(targets[0]["errors"]["network_mape"], 0.07);
  EXPECT_EQ(targets[0]["unknown"][0]["share"], 0.25);
  EXPECT_EQ(targets[0]["calls"]["unknown"][0], -1);
  EXPECT_EQ(targets[0]["calls"]["unknown"][1], 0);
  EXPECT_EQ(targets[0]["calls"]["reasons"][0], "relu was never measured");
  EXPECT_FALSE(targets[1].contains("spec")) << "a server that does not list it";
}

TEST_F(DocumentTest, TargetsHaveTheirMemoryAndWhatTheyTakeUndisturbed) {
  v1::PredictResponse& response = contents_.answers[0].response;
  response.set_peak_memory_bytes(2000);
  EXPECT_FALSE(Made(contents_)["targets"][0].contains("undisturbed"));
  EXPECT_EQ(Made(contents_)["targets"][0]["peak_memory_bytes"], 2000);
  response.mutable_predictions(0)->set_peak_memory_bytes(1000);
  v1::UndisturbedLatency* alone = response.mutable_predictions(0)->mutable_undisturbed();
  alone->set_latency_us(5);
  alone->set_low_us(4);
  alone->set_high_us(6);
  const json target = Made(contents_)["targets"][0];
  EXPECT_EQ(target["peak_memory_bytes"], 1000);
  EXPECT_EQ(target["undisturbed"], json({{"latency_us", 5.0}, {"low_us", 4.0}, {"high_us", 6.0}}));
}

TEST_F(DocumentTest, SeveralNetworksKeepTheirTargetsApart) {
  const graph::Graph longer = Residual(3);
  contents_.answers.push_back({&longer, Response(longer)});
  contents_.answers[1].response.mutable_predictions(0)->set_target("newer");
  const json document = Made(contents_);
  EXPECT_THAT(document["networks"], SizeIs(2));
  EXPECT_EQ(document["targets"][0]["network"], 0);
  EXPECT_EQ(document["targets"][1]["network"], 1);
  EXPECT_THAT(document["targets"][1]["calls"]["latency_us"], SizeIs(longer.nodes().size()));
}

TEST_F(DocumentTest, NamesAreCleanedOfWhatATerminalObeys) {
  const graph::Graph odd = Named({"a\x1b[31m", "\xff", kTag});
  contents_.answers[0] = {&odd, Response(odd)};
  contents_.title =
      "\xe2\x80\xae"
      "evil";
  const std::string text = Made(contents_).dump();  // throws for bytes that are no UTF-8
  EXPECT_THAT(text, HasSubstr("?evil"));
  EXPECT_THAT(text, HasSubstr("a?[31m"));
  EXPECT_THAT(text, HasSubstr(kTag)) << "JSON is not markup: whoever draws it takes names as text";
}

TEST_F(DocumentTest, SourceLinesComeOnceEach) {
  graph::GraphBuilder builder;
  const auto file = std::make_shared<const std::string>("net.py");
  graph::ValueRef x = builder.AddInput("x", {{1, 8}});
  for (int i = 0; i < 3; ++i)
    x = graph::ValueRef::Node(*builder.Add(graph::Op::relu, {}, {x}, graph::Origin{file, i < 2 ? 7 : 9, "m"}));
  const graph::Graph graph = std::move(builder).Build({x});
  contents_.answers[0] = {&graph, Response(graph)};
  contents_.shown_file = [](const std::string& name) { return "my/" + name; };
  int asked = 0;
  contents_.source_text = [&asked](const std::string& file) -> std::optional<std::string> {
    EXPECT_EQ(file, "net.py") << "as the graph names it";
    ++asked;
    return "1\n2\n3\n4\n5\n6\n  seven \n8\nnine\n";
  };
  const json calls = Made(contents_)["networks"][0]["calls"];
  EXPECT_THAT(calls["place"], ElementsAre(0, 0, 1));
  EXPECT_EQ(calls["places"][1], json({{"file", "my/net.py"}, {"line", 9}, {"text", "nine"}}));
  EXPECT_EQ(calls["places"][0]["text"], "seven");
  EXPECT_EQ(asked, 1);
}

TEST_F(DocumentTest, AnAnswerToAnotherGraphIsRefused) {
  contents_.answers[0].response.mutable_predictions(0)->mutable_breakdown()->RemoveLast();
  EXPECT_FALSE(MakeDocument(contents_).ok());
  contents_.answers[0].response = Response(graph_);
  contents_.answers[0].response.mutable_predictions(0)->mutable_breakdown(0)->set_node(1000);
  EXPECT_FALSE(MakeDocument(contents_).ok());
  contents_.answers.clear();
  EXPECT_FALSE(MakeDocument(contents_).ok());
}

}  // namespace
}  // namespace cobra::report
