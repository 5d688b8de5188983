#include "lab/published/networks/hat_net.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace cobra::lab {
namespace {

TEST(HatNet, LearnsALaw) {
  std::mt19937 random(3);
  std::vector<space::HatFeatures> features;
  std::vector<double> latency_ms;
  const auto pick = [&random](double low, double high, int steps) {
    return low + (high - low) * static_cast<double>(random() % static_cast<unsigned>(steps)) / (steps - 1);
  };
  for (int i = 0; i < 300; ++i) {
    const space::HatFeatures f = {pick(512, 640, 2),   6,
                                  pick(512, 3072, 20), pick(2, 8, 10),
                                  pick(512, 640, 2),   pick(1, 6, 6),
                                  pick(512, 3072, 20), pick(2, 8, 10),
                                  pick(2, 8, 10),      pick(1, 3, 10)};
    features.push_back(f);
    latency_ms.push_back(5 + 0.01 * f[0] + f[5] * (20 + 0.002 * f[6] + 2 * f[9]));
  }
  HatNetOptions options;
  options.width = 64;
  options.layers = 1;
  options.steps = 800;
  options.learning_rate = 3e-3;
  const HatNetFit fit = FitHatNet(features, latency_ms, features, options);
  EXPECT_EQ(fit.parameters, 11 * 64 + 65 * 64 + 65);
  double error = 0;
  for (size_t i = 0; i < 300; ++i) error += std::fabs(fit.latency_ms[i] / latency_ms[i] - 1) / 300;
  EXPECT_LT(error, 0.05);
  EXPECT_EQ(fit.latency_ms, FitHatNet(features, latency_ms, features, options).latency_ms);
}

}  // namespace
}  // namespace cobra::lab
