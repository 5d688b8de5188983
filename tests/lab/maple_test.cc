#include "lab/published/regressions/maple.h"

#include <gtest/gtest.h>

#include <cmath>

#include "model/training/rows/metrics.h"

namespace cobra::lab {
namespace {

// Devices whose latency is a sum of prices; the last of them is the new one.
TEST(MapleTest, SamplesMoveThePredictionToTheNewDevice) {
  at::manual_seed(3);
  const int64_t rows = 300, operations = 4;
  const at::Tensor kinds = at::randint(0, operations, {rows, 6}, at::kLong);
  const at::Tensor choices = at::one_hot(kinds, operations).to(at::kDouble), counts = choices.sum(1);
  const at::Tensor prices =
      at::tensor({0.1, 1.0, 4.0, 0.5, 0.2, 2.0, 7.0, 1.0, 0.1, 1.5, 5.0, 1.0, 0.2, 3.0, 11.0, 1.6}, at::kDouble)
          .view({4, operations});
  const at::Tensor latency = at::matmul(counts, prices.t()) + 1;
  std::vector<space::DeviceSpec> specs(3);
  for (size_t d = 0; d < 3; ++d) {
    specs[d].cores = 1000.0 * static_cast<double>(d + 1);
    specs[d].clock_mhz = 1500;
    specs[d].power_w = 100 + 30 * static_cast<double>(d);
  }
  space::DeviceSpec target = specs[1];
  const std::vector<int64_t> samples = {3, 77, 150};
  std::vector<double> measured, truth;
  for (int64_t s : samples) measured.push_back(latency[s][3].item<double>());
  for (int64_t r = 0; r < rows; ++r) truth.push_back(latency[r][3].item<double>());
  const at::Tensor flat = choices.reshape({rows, -1});
  for (bool neighbourhoods : {false, true}) {
    MapleOptions options;
    options.neighbourhoods = neighbourhoods;
    const Maple maple(flat, counts, latency.narrow(1, 0, 3).contiguous(), specs, target, options);
    const training::Metrics m = training::ComputeMetrics(maple.Predict(samples, measured, flat), truth);
    EXPECT_GT(m.spearman, 0.95) << neighbourhoods;
    EXPECT_LT(m.mape, 0.2) << neighbourhoods;
  }
}

}  // namespace
}  // namespace cobra::lab
