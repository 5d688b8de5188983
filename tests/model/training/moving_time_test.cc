#include "model/predict/price/moving_time.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "graph/builder/net_builder.h"
#include "model/predict/predictor.h"
#include "model/training/rows/dataset.h"

namespace cobra::predict {
namespace {

using graph::NetBuilder;
using graph::Op;
using graph::ValueRef;
using graph::ValueRefs;

constexpr double kTensorBytes = 256 * 1024 * 4096;  // of float32 [256, 1024, 1024]

TargetSpec Gpu() {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.runtime = "torch-2.4.0";
  spec.compile = "eager";
  spec.precision = "float32";
  spec.memory_gb_per_s = 1000;
  spec.last_level_cache_mb = 10;
  return spec;
}

graph::Graph OneCall(Op op, bool is_expanded = false, bool is_twice = false) {
  NetBuilder net;
  ValueRef x = net.Input({256, 1024, 1024});
  if (is_expanded) x = net.View(x, {256 * 1024, 1024});
  return std::move(net).Finish({net.Call(op, {}, is_twice ? ValueRefs{x, x} : ValueRefs{x})}).value();
}

double LeastUs(const graph::Graph& graph, const TargetSpec& spec) {
  return MovingTime(spec).LeastUs(graph, static_cast<int32_t>(graph.nodes().size()) - 1);
}

TEST(MovingTime, IsThatOfWhatACallReadsAndWritesBeyondTheCaches) {
  const double both_us = (2 * kTensorBytes - 2e7) / 1e6;
  EXPECT_NEAR(LeastUs(OneCall(Op::relu), Gpu()), both_us, 1e-6);
  EXPECT_NEAR(LeastUs(OneCall(Op::mul, false, true), Gpu()), both_us, 1e-6);               // x * x reads x once
  EXPECT_NEAR(LeastUs(OneCall(Op::relu, true), Gpu()), (kTensorBytes - 2e7) / 1e6, 1e-6);  // a view may be an expand
  TargetSpec half = Gpu(), large = Gpu();
  half.precision = "amp-float16";
  EXPECT_NEAR(LeastUs(OneCall(Op::relu), half), (kTensorBytes - 2e7) / 1e6, 1e-6);
  large.last_level_cache_mb = 4096;
  EXPECT_EQ(LeastUs(OneCall(Op::relu), large), 0);
}

TEST(MovingTime, IsUnknownWhereCallsAreFusedOrReadInPart) {
  TargetSpec compiled = Gpu(), cpu = Gpu(), ncnn = Gpu(), unknown = Gpu();
  compiled.compile = "inductor";
  cpu.kind = "cpu";
  ncnn.runtime = "ncnn";
  unknown.memory_gb_per_s = 0;
  for (const TargetSpec& spec : {compiled, cpu, ncnn, unknown}) EXPECT_EQ(LeastUs(OneCall(Op::relu), spec), 0);
  EXPECT_EQ(LeastUs(OneCall(Op::dropout), Gpu()), 0);  // runs nothing in inference
}

TEST(MovingTime, NoMeasuredKernelTakesLess) {
  size_t beyond_the_caches = 0;
  for (const std::string gpu :
       {"public/neusight/gpu-v100-pcie-32gb-torch-2.1", "public/neusight/gpu-amd-mi210-torch-2.1",
        "public/neusight/gpu-l4-torch-2.1", "measurements/gpu-nvidia-h200", "measurements/gpu-nvidia-h200-float16",
        "measurements/gpu-nvidia-h200-bfloat16"}) {
    const auto data = training::LoadMeasurements(COBRA_SOURCE_DIR "/data/" + gpu);
    ASSERT_TRUE(data.ok()) << data.status();
    const MovingTime moving(data->target);
    for (const training::Sample& row : data->samples) {
      if (row.graph().nodes().size() != 1) continue;
      const double us = moving.LeastUs(row.graph(), 0);
      ASSERT_LE(us, row.latency_us()) << gpu << " " << row.label();
      beyond_the_caches += us > 0;
    }
  }
  EXPECT_GT(beyond_the_caches, 3000U);
}

TEST(MovingTime, AnswersOfTrainedGpusTakeAtLeastThat) {
  const auto predictor = Predictor::Load(COBRA_SOURCE_DIR "/model/pretrained").value();
  NetBuilder net;
  ValueRef x = net.Input({64, 1024, 1024});
  for (int i = 0; i < 10; ++i) x = net.Call(Op::tanh, {}, {net.Relu(x)});
  const graph::Graph graph = std::move(net).Finish({x}).value();
  int gpus = 0;
  for (const TargetInfo& target : predictor->targets()) {
    const double least_us = LeastUs(graph, target.spec);
    if (least_us == 0) continue;
    ++gpus;
    const auto answer = predictor->Predict(graph, target.spec.name);
    ASSERT_TRUE(answer.ok()) << answer.status();
    EXPECT_GE(answer->latency_us, 20 * least_us * 0.999) << target.spec.name;
  }
  EXPECT_GT(gpus, 20);
}

}  // namespace
}  // namespace cobra::predict
