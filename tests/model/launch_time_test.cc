// Small networks on a GPU wait for their host.
#include "model/predict/price/launch_time.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"
#include "model/predict/predictor.h"
#include "model/predict/price/training_time.h"

namespace cobra::predict {
namespace {

using graph::NetBuilder;
using graph::Op;
using graph::ValueRef;

TargetSpec Autocast() {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.runtime = "torch-2.4.0";
  spec.precision = "amp-float16";
  return spec;
}

graph::Graph Convolutions(int64_t batch, int layers) {
  NetBuilder net;
  ValueRef x = net.Input({batch, 64, 56, 56});
  for (int i = 0; i < layers; ++i) {
    graph::Conv2dOptions options;
    options.out_channels = 64;
    options.kernel_size = 3;
    options.padding = 1;
    x = net.Relu(net.BatchNorm2d(net.Conv2d(x, options)));
  }
  return std::move(net).Finish({x}).value();
}

graph::Graph Activations() {
  NetBuilder net;
  ValueRef x = net.Input({1, 64});
  for (int i = 0; i < 50; ++i) x = net.Relu(x);
  return std::move(net).Finish({x}).value();
}

TargetEntry MeasuredFrom(int64_t batch) {
  TargetEntry target;
  target.spec = Autocast();
  target.min_batch = batch;
  return target;
}

double Sum(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

// Each convolution casts its weights, the first one its image, too.
TEST(LaunchTime, CastsAreLaunchedToo) {
  const graph::Graph graph = Convolutions(1, 5);
  EXPECT_EQ(Sum(LaunchesOf(graph, Autocast())), 5 * 4 + 1);
  TargetSpec plain = Autocast();
  plain.precision = "float32";
  EXPECT_EQ(Sum(LaunchesOf(graph, plain)), 5 * 3);
}

TEST(LaunchTime, ACompilerLaunchesOneKernelForSeveralCalls) {
  const graph::Graph graph = Activations();
  TargetSpec spec = Autocast();
  EXPECT_EQ(Sum(LaunchesOf(graph, spec)), 50);
  spec.compile = "inductor";
  EXPECT_EQ(Sum(LaunchesOf(graph, spec)), 1);
}

TEST(LaunchTime, AGpuWaitsForItsHostIfItsCallsTakeLess) {
  const graph::Graph graph = Convolutions(1, 5);
  const LaunchTime launching(graph, Autocast(), MeasuredFrom(64), /*knows_host=*/false);
  const std::vector<double> short_us(graph.nodes().size(), std::log(10.0)), long_us(short_us.size(), std::log(900.0));
  const double busy_us = 10.0 * static_cast<double>(short_us.size());
  EXPECT_NEAR(busy_us + Sum(launching.WaitingUs(short_us)), 21 * kHostUs, 1e-6);
  EXPECT_EQ(Sum(launching.WaitingUs(long_us)), 0);
  EXPECT_NEAR(launching.HalfWidth(21 * kHostUs), std::log(kHostsDiffer), 1e-9);
  EXPECT_EQ(launching.HalfWidth(1e6), 0);
}

TEST(LaunchTime, WhatATargetHasMeasuredIsKnown) {
  const graph::Graph one = Convolutions(1, 5), many = Convolutions(64, 5);
  const std::vector<double> us(one.nodes().size(), 0.0);
  EXPECT_EQ(Sum(LaunchTime(one, Autocast(), MeasuredFrom(1), false).WaitingUs(us)), 0);
  EXPECT_EQ(Sum(LaunchTime(many, Autocast(), MeasuredFrom(64), true).WaitingUs(us)), 0);
  EXPECT_EQ(LaunchTime(many, Autocast(), MeasuredFrom(64), true).HalfWidth(1), 0);
  // A smaller batch may have waited, but no longer than the large one took.
  EXPECT_EQ(Sum(LaunchTime(one, Autocast(), MeasuredFrom(64), true).WaitingUs(us)), 0);
  EXPECT_GT(LaunchTime(one, Autocast(), MeasuredFrom(64), true).HalfWidth(1), 0);
  // On a host that nobody knows, every batch may wait.
  EXPECT_GT(Sum(LaunchTime(many, Autocast(), MeasuredFrom(64), false).WaitingUs(us)), 0);
  TargetSpec cpu = Autocast();
  cpu.kind = "cpu";
  EXPECT_EQ(Sum(LaunchTime(one, cpu, MeasuredFrom(64), false).WaitingUs(us)), 0);
  TargetEntry from_cpp = MeasuredFrom(1);
  from_cpp.spec.runtime = "libtorch-2.11.0";
  EXPECT_GT(Sum(LaunchTime(one, Autocast(), from_cpp, true).WaitingUs(us)), 0);
}

class SmallBatchTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { predictor_ = Predictor::Load(COBRA_SOURCE_DIR "/model/pretrained").value(); }
  static LatencyPrediction Predict(const graph::Graph& graph, const std::string& target) {
    const auto answer = predictor_->Predict(graph, target);
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? *answer : LatencyPrediction();
  }
  static std::shared_ptr<const Predictor> predictor_;
};
std::shared_ptr<const Predictor> SmallBatchTest::predictor_;

// On hosts that launch in 15 and in 60 us.
TEST_F(SmallBatchTest, TheIntervalHoldsFastAndSlowHosts) {
  const graph::Graph one = Convolutions(1, 50);
  const double launches = Sum(LaunchesOf(one, Autocast()));
  for (const char* device : {"Tesla V100-SXM2-16GB", "NVIDIA A100-SXM4-40GB", "Tesla T4"}) {
    TargetSpec sheet = Autocast();
    sheet.name = sheet.device = device;
    const auto adapted = predictor_->Adapt(sheet, {});
    ASSERT_TRUE(adapted.ok()) << adapted.status();
    const auto answer = predictor_->Predict(one, adapted->base_target, &*adapted);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_LT(answer->low_us, 15 * launches) << device;
    EXPECT_GT(answer->high_us, 60 * launches) << device;
    EXPECT_LT(answer->confidence, 0.5) << device;
  }
}

TEST_F(SmallBatchTest, ALaunchFromPythonIsADoubtWhereCppWasMeasured) {
  TargetSpec sheet = Autocast();
  sheet.name = sheet.device = "Tesla V100-SXM2-16GB";
  sheet.precision = "float16";
  const auto adapted = predictor_->Adapt(sheet, {});
  ASSERT_TRUE(adapted.ok()) << adapted.status();
  ASSERT_TRUE(absl::StartsWith(adapted->base_target, "gpu-nvidia-h200"));
  const auto answer = predictor_->Predict(Activations(), adapted->base_target, &*adapted);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_GT(answer->high_us, 50 * 60.0);
  EXPECT_TRUE(absl::c_any_of(
      answer->unknown, [](const UnknownPart& part) { return absl::StrContains(part.why, "launching from Python"); }));
}

// One normalization after the other, in training mode or not.
graph::Graph Normalizations(bool training) {
  graph::GraphBuilder b;
  ValueRef x = b.AddInput("x", {{1, 64, 56, 56}, graph::DType::float32});
  const auto vector = [&b] { return b.AddBuffer("b", {{64}, graph::DType::float32}); };
  for (int i = 0; i < 4; ++i) {
    const auto call =
        b.Add(Op::batch_norm, {{"training", training}, {"eps", 1e-5}}, {x, vector(), vector(), vector(), vector()});
    EXPECT_TRUE(call.ok()) << call.status();
    x = ValueRef::Node(*call);
  }
  return std::move(b).Build({x});
}

TEST_F(SmallBatchTest, TrainingModeIsKnownWhereItWasMeasured) {
  const graph::Graph trains = Normalizations(true), infers = Normalizations(false);
  for (const char* target : {"cpu-epyc-turin-1t", "cpu-epyc-turin-2t-torch", "cpu-xeon-emeraldrapids-1t-torch"}) {
    EXPECT_LT(Predict(trains, target).confidence, 0.5) << target;
    EXPECT_FALSE(Predict(infers, target).extrapolating) << target;
    // Sums in double precision, one element after the other.
    EXPECT_GT(Predict(trains, target).latency_us, 2.5 * Predict(infers, target).latency_us) << target;
  }
  EXPECT_LT(Predict(trains, "gpu-rtx-3090-amp-float16-torch-2.4").confidence, 0.5);
  EXPECT_FALSE(Predict(trains, "gpu-a100-sxm4-80gb-modal-torch-2.5-eager-train").extrapolating);
}

TEST(TrainingTime, StatisticsAreOneElementAfterTheOtherOnEachThread) {
  const graph::Graph graph = Normalizations(true);
  const graph::Node& call = graph.nodes()[0];
  TargetSpec cpu;
  cpu.kind = "cpu";
  cpu.runtime = "torch-2.13.0";
  cpu.clock_mhz = 2200;
  TargetEntry target;
  const double us = StatisticsUs(graph, call, cpu, target);
  EXPECT_NEAR(us, 64 * 56 * 56 * 4.4 / 2200, 1e-6);
  cpu.threads = 4;
  EXPECT_NEAR(StatisticsUs(graph, call, cpu, target), us / 4, 1e-6);
  cpu.runtime = "onnxruntime";
  EXPECT_EQ(StatisticsUs(graph, call, cpu, target), 0);
  target.is_training_alone = true;
  cpu.runtime = "torch-2.13.0";
  EXPECT_EQ(StatisticsUs(graph, call, cpu, target), 0);
  EXPECT_EQ(StatisticsUs(Normalizations(false), Normalizations(false).nodes()[0], cpu, TargetEntry()), 0);
}

}  // namespace
}  // namespace cobra::predict
