#include "server/measurement_task.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "graph/builder.h"
#include "gtest/gtest.h"

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

}  // namespace
}  // namespace cobra::server
