#include "model/predict/price/sheet_limits.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "graph/builder/net_builder.h"

namespace cobra::predict {
namespace {

TargetSpec Gpu() {
  TargetSpec spec;
  spec.kind = "gpu";
  spec.runtime = "torch-2.4.0";
  spec.peak_gflops = 1e5;
  spec.memory_gb_per_s = 1000;
  spec.cores = 100;
  return spec;
}

// A linear layer, an activation of 64 MiB, which is read and written, and a sum of as much.
graph::Graph Network() {
  graph::NetBuilder net;
  const graph::ValueRef x = net.Linear(net.Input({4096, 512}), 4096);
  return std::move(net).Finish({net.Add(net.Relu(x), x)}).value();
}

double Sum(const std::vector<double>& logs) {
  double us = 0;
  for (const double log : logs) us += std::exp(log);
  return us;
}

TEST(SheetLimits, WhatOneCallLacksTheOthersGive) {
  const graph::Graph graph = Network();
  const SheetLimits limits(Gpu(), graph);
  const double relu_us = std::exp(limits.Least(1));
  EXPECT_NEAR(relu_us, 2.0 * 4096 * 4096 * 4 / 1e6, 1);
  std::vector<double> log_us = {std::log(600.0), std::log(relu_us / 2), std::log(relu_us * 4)};
  const double before = Sum(log_us);
  limits.Keep(&log_us);
  EXPECT_NEAR(Sum(log_us), before, 1e-6 * before);
  for (size_t call = 0; call < log_us.size(); ++call) EXPECT_GE(log_us[call], limits.Least(call) - 1e-9) << call;
}

TEST(SheetLimits, ANetworkTakesTheLeastOfAllItsCalls) {
  const graph::Graph graph = Network();
  const SheetLimits limits(Gpu(), graph);
  std::vector<double> log_us(3, 0.0);
  limits.Keep(&log_us);
  for (size_t call = 0; call < log_us.size(); ++call) EXPECT_NEAR(log_us[call], limits.Least(call), 1e-9) << call;
}

TEST(SheetLimits, WhatIsWithinStaysAsItIs) {
  const graph::Graph graph = Network();
  const SheetLimits limits(Gpu(), graph);
  const std::vector<double> within = {limits.Least(0) + 0.1, limits.Least(1) + 0.2, limits.Least(2) + 0.3};
  std::vector<double> log_us = within, slow = within;
  limits.Keep(&log_us);
  EXPECT_EQ(log_us, within);
  slow[0] = limits.Most(0) + 1;
  limits.Keep(&slow, /*at_most=*/false);
  EXPECT_EQ(slow[0], limits.Most(0) + 1);
  limits.Keep(&slow);
  EXPECT_EQ(slow[0], limits.Most(0));
}

}  // namespace
}  // namespace cobra::predict
