#include "store/queue/task_subject.h"

#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "graph/builder/builder.h"
#include "graph/form/fingerprint.h"
#include "gtest/gtest.h"

namespace cobra::store {
namespace {

using ::testing::HasSubstr;

graph::Graph Relu(absl::string_view input_name, int64_t width) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput(input_name, graph::TensorType{{1, width}, graph::DType::float32});
  const int32_t relu = *b.Add(graph::Op::relu, {}, {x});
  return std::move(b).Build({graph::ValueRef::Node(relu, 0)});
}

Subject Of(graph::Graph graph, int repeat = 0) { return AskedSubject(std::move(graph), repeat); }

Subject SampleOf(std::string space, int64_t index, uint64_t seed, int repeat = 0) {
  Subject subject;
  subject.space = std::move(space);
  subject.index = index;
  subject.seed = seed;
  subject.repeat = repeat;
  return subject;
}

TEST(TaskSubjectTest, AGraphSurvivesTheRoundTrip) {
  const Subject before = Of(Relu("x", 8), 2);
  const std::string json = TaskSubjectToJson(before);
  EXPECT_EQ(json.find('\n'), std::string::npos);
  const absl::StatusOr<Subject> after = TaskSubjectFromJson(json);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_EQ(after->Key(), "asked/0/2");
  ASSERT_TRUE(after->has_graph());
  EXPECT_EQ(graph::Fingerprint(after->graph), graph::Fingerprint(before.graph));
  EXPECT_EQ(after->fingerprint, before.fingerprint);
  EXPECT_EQ(after->label, "relu");
  EXPECT_EQ(TaskSubjectToJson(*after), json);
}

TEST(TaskSubjectTest, ASampleSurvivesTheRoundTrip) {
  const uint64_t seed = std::numeric_limits<uint64_t>::max();
  const std::string json = TaskSubjectToJson(SampleOf("paper-layers", int64_t{1} << 40, seed, 1));
  // What stores and spools hold: not to be changed.
  EXPECT_EQ(json,
            R"({"sample":{"space":"paper-layers","index":1099511627776,"seed":18446744073709551615},"repeat":1})");
  const absl::StatusOr<Subject> after = TaskSubjectFromJson(json);
  ASSERT_TRUE(after.ok()) << after.status();
  EXPECT_FALSE(after->has_graph());
  EXPECT_EQ(after->space, "paper-layers");
  EXPECT_EQ(after->index, int64_t{1} << 40);
  EXPECT_EQ(after->seed, seed);
  EXPECT_EQ(after->repeat, 1);
}

TEST(TaskSubjectTest, TheIdIsOfTheSubjectTheRepetitionAndTheTarget) {
  const std::string id = TaskId(Of(Relu("x", 8)), "cpu");
  EXPECT_EQ(id.size(), 32u);
  EXPECT_EQ(id, TaskId(Of(Relu("x", 8)), "cpu"));
  const std::string ids[] = {id,
                             TaskId(Of(Relu("x", 9)), "cpu"),
                             TaskId(Of(Relu("x", 8), 1), "cpu"),
                             TaskId(Of(Relu("x", 8)), "gpu"),
                             TaskId(SampleOf("paper-layers", 17, 1), "cpu"),
                             TaskId(SampleOf("paper-layers", 17, 1, 1), "cpu"),
                             TaskId(SampleOf("paper-layers", 18, 1), "cpu"),
                             TaskId(SampleOf("paper-layers", 17, 2), "cpu"),
                             TaskId(SampleOf("real-layers", 17, 1), "cpu")};
  EXPECT_EQ(std::set<std::string>(std::begin(ids), std::end(ids)).size(), std::size(ids));
}

TEST(TaskSubjectTest, NamesAreNoPartOfATask) {
  graph::GraphBuilder b;
  const graph::TensorType type{{1, 8}, graph::DType::float32};
  const graph::ValueRef x = b.AddInput(std::string(4000, '\x01'), type);
  const graph::ValueRef w = b.AddParameter("a.weight", {{8, 8}, graph::DType::float32});
  b.AddParameterAlias("b.weight", w);
  b.AddBuffer("running", type);
  const graph::ValueRef constant = b.AddConstant("table.7", type);
  graph::Origin origin;
  origin.module_path = "secret";
  const int32_t linear = *b.Add(graph::Op::linear, {}, {x, w, graph::ValueRef::None()}, origin);
  const int32_t add = *b.Add(graph::Op::add, {}, {graph::ValueRef::Node(linear), constant});
  const graph::Graph named = std::move(b).Build({graph::ValueRef::Node(add)});
  const absl::StatusOr<graph::Graph> nameless = WithoutNames(named);
  ASSERT_TRUE(nameless.ok()) << nameless.status();
  EXPECT_EQ(graph::Fingerprint(*nameless), graph::Fingerprint(named));
  EXPECT_EQ(nameless->num_parameters(), named.num_parameters());
  const std::string json = TaskSubjectToJson(Of(*nameless));
  for (const char* name : {"weight", "running", "secret", "table", "\\u0001", "param_aliases"})
    EXPECT_EQ(json.find(name), std::string::npos) << name;
  EXPECT_EQ(TaskSubjectToJson(Of(*WithoutNames(Relu("x", 8)))), TaskSubjectToJson(Of(*WithoutNames(Relu("y", 8)))));
}

TEST(TaskSubjectTest, TheBoundIsNeverBelowWhatIsWritten) {
  std::vector<graph::Graph> graphs = {Relu("x", 8), Relu(std::string(3000, '\x02'), 8), Relu("\"\\\xff\xc3\xa9", 1)};
  graph::GraphBuilder b;
  const graph::TensorType wide{{1000, 1, 1, 1, 1, 1, 1, 1}, graph::DType::int64};
  const graph::ValueRef x = b.AddInput("x", wide);
  const graph::ValueRef p = b.AddParameter("p", {{1000}, graph::DType::float16});
  const int32_t parts = *b.Add(graph::Op::unbind, {{"dim", int64_t{0}}}, {x});
  std::vector<graph::ValueRef> outputs = {p};
  for (int32_t i = 0; i < 1000; ++i) outputs.push_back(graph::ValueRef::Node(parts, i));
  graphs.push_back(std::move(b).Build(std::move(outputs)));
  for (const graph::Graph& graph : graphs) {
    const auto bytes = static_cast<int64_t>(TaskSubjectToJson(Of(graph)).size());
    EXPECT_GE(MostSubjectBytes(graph), bytes);
    EXPECT_LE(MostSubjectBytes(graph), 4 * bytes + 1024);
  }
}

// What an earlier server wrote, and what only looks like it.
TEST(TaskSubjectTest, AGraphIsReadInAnyOrderOfTheKeys) {
  const std::string json = TaskSubjectToJson(Of(Relu("x", 8), 3));
  const std::string graph = json.substr(9, json.rfind(",\"repeat\"") - 9);
  for (const std::string& text :
       {json, R"({"repeat":3,"graph":)" + graph + "}", R"({ "graph": )" + graph + R"(, "repeat": 3 })"}) {
    const absl::StatusOr<Subject> subject = TaskSubjectFromJson(text);
    ASSERT_TRUE(subject.ok()) << subject.status();
    EXPECT_EQ(TaskSubjectToJson(*subject), json);
  }
  EXPECT_FALSE(TaskSubjectFromJson(R"({"graph":)" + graph + R"(,"sample":{"space":"s"},"repeat":3})").ok());
  EXPECT_FALSE(TaskSubjectFromJson(R"({"graph":)" + graph + R"(,"repeat":-3})").ok());
}

TEST(TaskSubjectTest, WhatIsNoSubjectIsRefused) {
  struct Case {
    const char* text;
    const char* message;
  };
  const Case cases[] = {
      {"", "not a JSON object"},
      {"[1]", "not a JSON object"},
      {"{}", "has not one of"},
      {R"({"graph":{},"sample":{}})", "has not one of"},
      {R"({"sample":17})", "\"sample\": is not an object"},
      {R"({"sample":{"index":1}})", "has no \"space\""},
      {R"({"sample":{"space":1}})", "has no \"space\""},
      {R"({"sample":{"space":"s","index":-1}})", "\"index\""},
      {R"({"sample":{"space":"s","index":9223372036854775808}})", "\"index\""},
      {R"({"sample":{"space":"s","seed":"1"}})", "\"seed\""},
      {R"({"sample":{"space":"s"},"repeat":-1})", "\"repeat\""},
      {R"({"sample":{"space":"s"},"repeat":2147483648})", "\"repeat\""},
      {R"({"sample":{"space":"s"},"repeat":"0"})", "\"repeat\""},
      {R"({"graph":{"inputs":[],"ops":[{"op":"no_such_operator","inputs":[],"attrs":{},"out":[]}],"output":[0]}})",
       "no_such_operator"},
      {R"({"graph":{"inputs":[{"name":"x","shape":[1],"dtype":"float32"}],"ops":[],"output":["in:0"]},"repeat":0})",
       "has no calls"},
  };
  for (const Case& c : cases) {
    const absl::StatusOr<Subject> subject = TaskSubjectFromJson(c.text);
    ASSERT_FALSE(subject.ok()) << c.text;
    EXPECT_THAT(std::string(subject.status().message()), HasSubstr(c.message)) << c.text;
  }
}

}  // namespace
}  // namespace cobra::store
