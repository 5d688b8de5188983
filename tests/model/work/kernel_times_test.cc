#include "model/predict/as_run/kernel_times.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "graph/builder/net_builder.h"

namespace cobra::predict {
namespace {

// Calls 0 to 3: a convolution, its norm, its activation, a convolution of that.
graph::Graph Chain() {
  graph::NetBuilder b;
  const graph::Conv2dOptions conv = {.out_channels = 16, .kernel_size = 3, .padding = 1};
  graph::ValueRef x = b.Relu(b.BatchNorm2d(b.Conv2d(b.Input({1, 16, 8, 8}), conv)));
  return std::move(b).Finish({b.Conv2d(x, conv)}).value();
}

double Sum(const std::vector<double>& us) { return std::accumulate(us.begin(), us.end(), 0.0); }

TEST(TimesOfCalls, AKernelNamedAfterItsLastCallHasTheCallsBeforeIt) {
  const std::vector<double> us =
      TimesOfCalls(Chain(), R"([["Conv call2/Relu:0_nchwc", 10, []], ["Conv call3/Conv", 5, []]])");
  ASSERT_EQ(us.size(), 4u);
  EXPECT_GT(us[0], 9.8);  // the convolution has the time
  EXPECT_LT(us[1] + us[2], 0.2);
  EXPECT_EQ(us[3], 5);
  EXPECT_NEAR(Sum(us), 15, 1e-9);
}

TEST(TimesOfCalls, WhatTheRuntimeListsCounts) {
  const std::vector<double> us =
      TimesOfCalls(Chain(), R"([["brgconv", 10, [0, 1, 2]], ["reorder", 0.5, []], ["brgconv", 5, [3]]])");
  ASSERT_EQ(us.size(), 4u);
  EXPECT_GT(us[0], 9.8);
  EXPECT_NEAR(Sum(us), 15, 1e-9);
}

TEST(TimesOfCalls, AKernelNamedAfterAnOutputMakesIt) {
  const std::vector<double> us = TimesOfCalls(Chain(), R"([["conv", 10, [1, 2]], ["Conv output0_nchwc", 5, []]])");
  ASSERT_EQ(us.size(), 4u);
  EXPECT_EQ(us[3], 5);
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["conv", 5, [1, 2]], ["gemm_f32 output1", 5, []]])").empty());
}

TEST(TimesOfCalls, SeveralKernelsOfACallAddUp) {
  const std::vector<double> us = TimesOfCalls(
      Chain(), R"([["Split", 1, [2]], ["ReLU", 3, [2]], ["Convolution", 10, [0]], ["BatchNorm", 2, [1]]])");
  EXPECT_EQ(us, std::vector<double>({10, 2, 4, 0}));
}

TEST(TimesOfCalls, ACallThatTwoKernelsReadIsUnknown) {
  graph::NetBuilder b;
  const graph::ValueRef shared = b.Relu(b.Input({1, 16, 8, 8}));
  const graph::Graph graph =
      std::move(b)
          .Finish({b.Add(b.Conv2d(shared, {.out_channels = 16}), b.Conv2d(shared, {.out_channels = 16}))})
          .value();
  const std::vector<double> us = TimesOfCalls(graph, R"([["a", 4, [1]], ["b", 6, [2, 3]]])");
  ASSERT_EQ(us.size(), 4u);
  EXPECT_EQ(us[0], 0);
  EXPECT_EQ(us[1], 4);
}

TEST(TimesOfCalls, WithoutTheCallsOfMostOfTheTimeNothingIsKnown) {
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["call2/Relu", 5, []], ["Multiply_77", 5, []]])").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["aten::mkldnn_convolution", 5, []]])").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), "").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["conv", 5, [4]]])").empty());  // there is no fifth call
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["conv", "5", [0]]])").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["recall7/x", 5, []]])").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["conv", 5, ["0"]]])").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["conv", 5, 0]])").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["conv", -5, [0]], ["conv", 9, [3]]])").empty());
  EXPECT_TRUE(TimesOfCalls(Chain(), R"([["conv", 1e300, [0]]])").empty());
}

}  // namespace
}  // namespace cobra::predict
