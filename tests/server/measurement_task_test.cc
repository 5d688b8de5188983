#include "server/queue/measurement_task.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "graph/builder/builder.h"
#include "gtest/gtest.h"
#include "proto/graph_proto.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

// So many calls, one after the other, and so many inputs, of which the first is read.
graph::Graph Chain(int64_t calls, int64_t inputs, graph::Shape shape = {1, 8}) {
  graph::GraphBuilder builder;
  graph::ValueRef x = builder.AddInput("x", {std::move(shape), graph::DType::float32});
  for (int64_t i = 1; i < inputs; ++i) builder.AddInput("y", {{}, graph::DType::float32});
  for (int64_t i = 0; i < calls; ++i) x = graph::ValueRef::Node(builder.Add(graph::Op::relu, {}, {x}).value());
  return std::move(builder).Build({x});
}

TEST(MeasurementTaskTest, CallsAreLimited) {
  EXPECT_TRUE(CheckTaskGraph(Chain(10'000, 1), {}).ok());
  const absl::Status many = CheckTaskGraph(Chain(10'001, 1), {});
  EXPECT_EQ(many.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(many.message()), HasSubstr("10,001 calls"));
}

TEST(MeasurementTaskTest, TensorsAreLimited) {
  EXPECT_TRUE(CheckTaskGraph(Chain(1, 100'000), {}).ok());
  const absl::Status many = CheckTaskGraph(Chain(1, 100'001), {});
  EXPECT_EQ(many.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(many.message()), HasSubstr("100,001 tensors"));
}

TEST(MeasurementTaskTest, MemoryIsLimited) {
  constexpr int64_t kFloats = int64_t{1} << 28;  // a GiB in, a GiB out
  EXPECT_TRUE(CheckTaskGraph(Chain(1, 1, {2, kFloats}), {}).ok());
  const absl::Status much = CheckTaskGraph(Chain(1, 1, {2, kFloats + 1}), {});
  EXPECT_EQ(much.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(much.message()), HasSubstr("4,294,967,312 bytes"));
}

TEST(MeasurementTaskTest, NothingToMeasureIsRefused) {
  EXPECT_EQ(CheckTaskGraph(Chain(0, 1), {}).code(), absl::StatusCode::kInvalidArgument);
}

v1::MeasurementTask TaskOf(const graph::Graph& graph) {
  v1::MeasurementTask task;
  task.set_target("cpu");
  proto::GraphToProto(graph, task.mutable_graph());
  return task;
}

// One call, and so many parameters that nothing reads.
graph::Graph WithWeights(int64_t weights, const std::string& name = "p") {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{1, 8}, graph::DType::float32});
  for (int64_t i = 0; i < weights; ++i) builder.AddParameter(absl::StrCat(name, i), {{1}, graph::DType::float32});
  const int32_t relu = builder.Add(graph::Op::relu, {}, {x}).value();
  return std::move(builder).Build({graph::ValueRef::Node(relu)});
}

absl::StatusOr<store::TaskSpec> SpecOf(const graph::Graph& graph) {
  EnqueueLimits left;
  return TaskSpecFromProto(TaskOf(graph), {}, &left);
}

TEST(MeasurementTaskTest, WeightsAreLimited) {
  EXPECT_TRUE(CheckTaskGraph(WithWeights(10'000), {}).ok());
  const absl::Status many = CheckTaskGraph(WithWeights(10'001), {});
  EXPECT_EQ(many.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(many.message()), HasSubstr("10,001 parameters and buffers"));
}

// A call of a few bytes with many results.
TEST(MeasurementTaskTest, TheTextIsLimitedBeforeItIsWritten) {
  graph::GraphBuilder builder;
  const graph::ValueRef x = builder.AddInput("x", {{10'000, 1, 1, 1}, graph::DType::float32});
  const int32_t unbind = builder.Add(graph::Op::unbind, {{"dim", int64_t{0}}}, {x}).value();
  const graph::Graph graph = std::move(builder).Build({graph::ValueRef::Node(unbind)});
  TaskLimits limits;
  EXPECT_TRUE(CheckTaskGraph(graph, limits).ok());
  limits.max_subject_bytes = 100'000;
  const absl::Status much = CheckTaskGraph(graph, limits);
  EXPECT_EQ(much.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(much.message()), HasSubstr("as text"));
}

TEST(MeasurementTaskTest, NamesOfAnyLengthAreDropped) {
  const std::string control(4000, '\x01');
  const absl::StatusOr<store::TaskSpec> evil = SpecOf(WithWeights(100, control)), plain = SpecOf(WithWeights(100));
  ASSERT_TRUE(evil.ok()) << evil.status();
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_EQ(evil->id, plain->id);
  EXPECT_EQ(evil->subject_json, plain->subject_json);
  EXPECT_LT(evil->subject_json.size(), 4000u);
  EXPECT_EQ(TaskSpecOfGraph(WithWeights(100, control), "cpu", "asked").id, plain->id);
}

TEST(MeasurementTaskTest, TheTasksOfOneCallAreLimitedTogether) {
  EnqueueLimits left;
  const v1::MeasurementTask task = TaskOf(WithWeights(5'000));
  EXPECT_TRUE(TaskSpecFromProto(task, {}, &left).ok());
  EXPECT_TRUE(TaskSpecFromProto(task, {}, &left).ok());
  const absl::Status many = TaskSpecFromProto(task, {}, &left).status();
  EXPECT_EQ(many.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(many.message()), HasSubstr("10,000 parameters and buffers"));
  left = EnqueueLimits();
  left.max_subject_bytes = 100;
  const absl::Status much = TaskSpecFromProto(task, {}, &left).status();
  EXPECT_EQ(much.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(much.message()), HasSubstr("12 MiB"));
}

TEST(MeasurementTaskTest, SharesOfTheRoles) {
  const QueueLimits limits;
  Principal principal;
  const store::QueueShare ask = QueueShareOf(&principal, limits);
  EXPECT_EQ(ask.max_caller_tasks, limits.max_caller_tasks);
  EXPECT_EQ(ask.max_caller_bytes, limits.max_caller_bytes);
  EXPECT_EQ(ask.max_tasks, limits.max_tasks);
  EXPECT_FALSE(ask.revives_poisoned);
  principal.role = Role::kAdmin;
  const store::QueueShare admin = QueueShareOf(&principal, limits);
  EXPECT_GT(admin.max_tasks, ask.max_tasks);  // others cannot fill the queue for an administrator
  EXPECT_GT(admin.max_bytes, ask.max_bytes);
  EXPECT_TRUE(admin.revives_poisoned);
  EXPECT_TRUE(QueueShareOf(nullptr, limits).revives_poisoned);
}

}  // namespace
}  // namespace cobra::server
