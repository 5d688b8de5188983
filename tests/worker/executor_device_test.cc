// The same graphs in other precisions, layouts and states of the caches.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "graph/builder/net_builder.h"
#include "gtest/gtest.h"
#include "worker/execute/executor.h"
#include "worker/machine/machine.h"
#include "worker/run/measure.h"
#include "worker/run/probe.h"

namespace cobra::worker {
namespace {

Execution With(Precision precision, Layout layout = Layout::nchw, CacheState cache = CacheState::warm) {
  Execution execution;
  execution.precision = precision;
  execution.layout = layout;
  execution.cache = cache;
  return execution;
}

std::vector<float> OutputOf(const graph::Graph& graph, const Execution& execution) {
  absl::StatusOr<std::unique_ptr<Executor>> executor = Executor::Create(graph, 5, execution);
  EXPECT_TRUE(executor.ok()) << executor.status();
  if (!executor.ok()) return {};
  EXPECT_TRUE((*executor)->RunChecked().ok()) << (*executor)->RunChecked();
  const auto outputs = (*executor)->RunForOutputs();
  return outputs.ok() ? outputs->at(0) : std::vector<float>();
}

// Largest difference over the largest value.
double Difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double difference = 0, largest = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference = std::max(difference, std::abs(double{a[i]} - b[i]));
    largest = std::max(largest, std::abs(double{a[i]}));
  }
  EXPECT_GT(largest, 0);
  return difference / largest;
}

TEST(ExecutionDeviceTest, ALayoutChangesNoResultAndAPrecisionLittle) {
  int networks = 0;
  for (const Sample& subject : ProbeSubjects()) {
    if (subject.is_network && ++networks > 3) continue;  // of more of them nothing new is learned
    if (!subject.is_network && subject.label != "conv2d" && subject.label != "max_pool2d") continue;
    const std::vector<float> plain = OutputOf(subject.graph, {});
    EXPECT_LT(Difference(plain, OutputOf(subject.graph, With(Precision::float32, Layout::channels_last))), 1e-4)
        << subject.label;
    if (!ThisCpu().has_bfloat16) continue;
    EXPECT_LT(Difference(plain, OutputOf(subject.graph, With(Precision::bfloat16))), 0.1) << subject.label;
    if (subject.is_network) {
      EXPECT_LT(Difference(plain, OutputOf(subject.graph, With(Precision::bfloat16, Layout::channels_last))), 0.1)
          << subject.label;
    }
  }
}

TEST(ExecutionDeviceTest, BfloatTakesHalfTheMemory) {
  graph::NetBuilder b;
  const graph::Graph graph = *std::move(b).Finish({b.Relu(b.Input({1 << 18}))});
  auto executor = *Executor::Create(graph, 1, With(Precision::bfloat16));
  ASSERT_TRUE(executor->Run().ok());
  EXPECT_EQ(*executor->PeakMemoryBytes(), 1 << 20);
}

TEST(ExecutionDeviceTest, NoKernelInAPrecisionIsUnsupported) {
  graph::NetBuilder b;
  const graph::Graph graph = *std::move(b).Finish({b.Call(graph::Op::cholesky, {{"upper", false}}, {b.Input({8, 8})})});
  auto executor = *Executor::Create(graph, 1, With(Precision::bfloat16));
  const absl::Status status = executor->RunChecked();
  EXPECT_TRUE(absl::IsUnimplemented(status)) << status;
  EXPECT_NE(status.message().find("bfloat16"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("cholesky"), absl::string_view::npos) << status;
  MeasureOptions options = LayerSeriesRules(With(Precision::bfloat16));
  EXPECT_EQ(MeasureGraph(graph, options).outcome, store::Outcome::unsupported);
  options.execution.precision = Precision::float32;
  EXPECT_EQ(MeasureGraph(graph, options).outcome, store::Outcome::ok);
}

TEST(ExecutionDeviceTest, ColdCallsRotateAndTheRecordSaysSo) {
  graph::NetBuilder b;
  const graph::Graph graph = *std::move(b).Finish({b.Relu(b.Input({1 << 16}))});
  const Execution cold = With(Precision::float32, Layout::nchw, CacheState::cold);
  auto executor = *Executor::Create(graph, 1, cold);
  const RegionHooks hooks = executor->Hooks();
  EXPECT_EQ(hooks.most_calls, 16);
  ASSERT_TRUE(hooks.settle);
  hooks.settle();
  EXPECT_TRUE(executor->failure().ok());
  EXPECT_TRUE(executor->RunChecked().ok());
  EXPECT_FALSE((*Executor::Create(graph, 1))->Hooks().settle);
  const store::Measurement record = MeasureGraph(graph, LayerSeriesRules(cold));
  EXPECT_EQ(record.outcome, store::Outcome::ok) << record.message;
  EXPECT_EQ(record.conditions.cache, "cold");
  EXPECT_LE(record.latency.batch, 16);
}

TEST(ExecutionDeviceTest, ALibTorchWithoutCudaSaysSo) {
  Execution cuda;
  cuda.cuda_device = 0;
  const absl::Status status = CheckLibTorchHas(cuda);
  if (status.ok()) GTEST_SKIP() << "this LibTorch has CUDA";
  EXPECT_TRUE(absl::IsInvalidArgument(status));
  EXPECT_NE(status.message().find("--device cuda:0"), absl::string_view::npos) << status;
  const graph::Graph graph = ProbeSubjects().front().graph;
  EXPECT_FALSE(Executor::Create(graph, 1, cuda).ok());
  EXPECT_FALSE(DeviceIsBroken());
}

}  // namespace
}  // namespace cobra::worker
