#include "model/training/rows/other_gpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "graph/builder/net_builder.h"
#include "model/predict/work/features.h"

namespace cobra::training {
namespace {

using predict::TargetSpec;

TargetSpec Gpu() {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.peak_gflops = 8000;
  spec.memory_gb_per_s = 300;
  spec.cores = 40;
  spec.clock_mhz = 1500;
  spec.board_power_w = 70;
  spec.last_level_cache_mb = 4;
  return spec;
}

Sample RowOf(int64_t width, double latency_us) {
  graph::NetBuilder net;
  const graph::ValueRef x = net.Linear(net.Input({width, width}), width);
  Sample row;
  row.measurement.subject.graph = std::move(net).Finish({x}).value();
  row.measurement.latency.median_us = latency_us;
  return row;
}

Sample CopyOf(int64_t elements, double latency_us) {
  graph::NetBuilder net;
  const graph::ValueRef x = net.Relu(net.Input({elements}));
  Sample row;
  row.measurement.subject.graph = std::move(net).Finish({x}).value();
  row.measurement.latency.median_us = latency_us;
  return row;
}

TEST(OtherGpu, WhatIsFasterInEverythingIsFasterByThatFactor) {
  const Sample row = RowOf(4096, 60000);
  std::mt19937_64 random(1);
  bool more_cores = false, higher_clock = false;
  for (int i = 0; i < 40; ++i) {
    const OtherGpu other = OtherGpuFor(row, Gpu(), &random);
    ASSERT_TRUE(other.spec.has_value());
    const double factor = std::exp(other.log_faster);
    EXPECT_GT(factor, 0.24);
    EXPECT_LT(factor, 4.1);
    EXPECT_NEAR(other.spec->peak_gflops / 8000, factor, 1e-9);
    EXPECT_NEAR(other.spec->memory_gb_per_s / 300, factor, 1e-9);
    // Its power for each operation is the same.
    EXPECT_NEAR(other.spec->board_power_w / 70, factor, 1e-9);
    EXPECT_NEAR(other.spec->cores / 40 * other.spec->clock_mhz / 1500, factor, 1e-9);
    more_cores |= other.spec->cores != 40;
    higher_clock |= other.spec->clock_mhz != 1500;
  }
  EXPECT_TRUE(more_cores && higher_clock);
}

TEST(OtherGpu, MoreBandwidthAloneHelpsNoArithmetic) {
  const Sample row = RowOf(4096, 20000);
  std::mt19937_64 random(1);
  double most = 0;
  for (int i = 0; i < 40; ++i) {
    const OtherGpu other = OtherGpuFor(row, Gpu(), &random);
    ASSERT_TRUE(other.spec.has_value());
    const double factor = std::exp(other.log_faster);
    EXPECT_NEAR(other.spec->peak_gflops / 8000, factor, 1e-9);
    EXPECT_GE(other.spec->memory_gb_per_s / 300, factor - 1e-9);
    most = std::max(most, other.spec->memory_gb_per_s / 300 / factor);
  }
  EXPECT_GT(most, 1.5);
}
TEST(OtherGpu, WhatMovesDataAloneTakesAsLongWithOtherArithmetic) {
  // 800 MB at 300 GB/s: 2.7 ms. A kernel that reaches a third of the bandwidth moves data as well.
  for (const double latency_us : {3000.0, 8000.0}) {
    const Sample row = CopyOf(100000000, latency_us);
    std::mt19937_64 random(1);
    double most = 0;
    for (int i = 0; i < 40; ++i) {
      const OtherGpu other = OtherGpuFor(row, Gpu(), &random);
      ASSERT_TRUE(other.spec.has_value());
      const double factor = std::exp(other.log_faster);
      EXPECT_NEAR(other.spec->memory_gb_per_s / 300, factor, 1e-9);
      EXPECT_NEAR(other.spec->peak_gflops / 8000, other.spec->board_power_w / 70, 1e-9);
      most = std::max(most, std::abs(std::log(other.spec->peak_gflops / 8000) - other.log_faster));
    }
    EXPECT_GT(most, 0.5) << latency_us;
  }
}

// A T4, in float32: half of the power that its peak needs.
TargetSpec KnownGpu() {
  TargetSpec spec = Gpu();
  spec.device = "Tesla T4";
  return spec;
}

TEST(OtherGpu, WithMorePowerArithmeticIsFasterUntilThereIsEnough) {
  // 137 GFLOP at 8 TFLOPS: 17 ms, 35 with half of the power.
  const Sample row = RowOf(4096, 40000);
  std::mt19937_64 random(1);
  bool enough = false, less = false;
  for (int i = 0; i < 40; ++i) {
    const OtherGpu other = OtherGpuFor(row, KnownGpu(), &random);
    ASSERT_TRUE(other.spec.has_value());
    const double sustained = other.spec->peak_gflops * std::exp2(predict::LogPowerLimit(*other.spec));
    const double was = 8000 * std::exp2(predict::LogPowerLimit(KnownGpu()));
    EXPECT_NEAR(std::log(sustained / was), other.log_faster, 1e-5);
    enough |= predict::LogPowerLimit(*other.spec) == 0;
    less |= predict::LogPowerLimit(*other.spec) < -1.5;
  }
  EXPECT_TRUE(enough && less);
}
TEST(OtherGpu, LaunchingTakesAsLongOnALargerOne) {
  const Sample row = RowOf(16, 30);
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i) {
    const OtherGpu other = OtherGpuFor(row, Gpu(), &random);
    ASSERT_TRUE(other.spec.has_value());
    EXPECT_EQ(other.log_faster, 0);
    EXPECT_GE(other.spec->peak_gflops, 8000);
    EXPECT_GE(other.spec->memory_gb_per_s, 300);
    EXPECT_GE(other.spec->cores, 40);
  }
}

TEST(OtherGpu, ConvolutionsDoNotMatterWhereThereAreNone) {
  // Neither long nor waiting for launches.
  const Sample row = RowOf(1024, 290);
  std::mt19937_64 random(1);
  bool in_tf32 = false, in_float32 = false;
  for (int i = 0; i < 40; ++i) {
    const OtherGpu other = OtherGpuFor(row, Gpu(), &random);
    ASSERT_TRUE(other.spec.has_value());
    EXPECT_EQ(other.log_faster, 0);
    in_tf32 |= other.spec->precision == "tf32-convolutions";
    in_float32 |= other.spec->precision == "float32";
    EXPECT_GE(other.spec->convolution_gflops, 8000);
    // Nothing else has changed.
    EXPECT_EQ(other.spec->peak_gflops, 8000);
    EXPECT_EQ(other.spec->memory_gb_per_s, 300);
    EXPECT_EQ(other.spec->cores, 40);
  }
  EXPECT_TRUE(in_tf32 && in_float32);
}
TEST(OtherGpu, ConvolutionsMatterWhereThereAreSome) {
  graph::NetBuilder net;
  graph::Conv2dOptions options;
  options.out_channels = 64;
  const graph::ValueRef x = net.Conv2d(net.Input({8, 64, 56, 56}), options);
  Sample row;
  row.measurement.subject.graph = std::move(net).Finish({x}).value();
  row.measurement.latency.median_us = 5000;
  std::mt19937_64 random(1);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(OtherGpuFor(row, Gpu(), &random).spec->precision, "float32");
}
TEST(OtherGpu, OfAGpuWithoutRatesNothingIsKnown) {
  std::mt19937_64 random(1);
  TargetSpec unknown = Gpu();
  unknown.peak_gflops = 0;
  EXPECT_FALSE(OtherGpuFor(RowOf(4096, 20000), unknown, &random).spec.has_value());
}

}  // namespace
}  // namespace cobra::training
