#include "model/training/evaluation/gate.h"

#include <cmath>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace cobra::training {
namespace {

std::vector<double> Errors(int rows, double mean, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::exponential_distribution<double> error(1 / mean);
  std::vector<double> errors;
  for (int i = 0; i < rows; ++i) errors.push_back(error(random));
  return errors;
}

// The same errors, each changed a little.
std::vector<double> Shaken(const std::vector<double>& errors, double shake, double factor, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> noise(0, shake);
  std::vector<double> shaken;
  for (const double e : errors) shaken.push_back(std::fabs(e * factor + noise(random)));
  return shaken;
}

TEST(GateTest, DifferencesWithinNoiseAreAccepted) {
  int refused = 0;
  for (uint64_t seed = 0; seed < 200; ++seed) {
    const std::vector<double> before = Errors(60, 0.1, seed);
    refused += !CompareOnAnchor("layer conv2d", before, Shaken(before, 0.02, 1, seed + 1000), 0.008).passed;
  }
  EXPECT_LE(refused, 2);
}

TEST(GateTest, WorseByMoreThanTheNoiseIsRefused) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    const std::vector<double> before = Errors(60, 0.1, seed);
    EXPECT_FALSE(CompareOnAnchor("layer conv2d", before, Shaken(before, 0.02, 1.5, seed + 1000), 0.008).passed) << seed;
    EXPECT_TRUE(CompareOnAnchor("layer conv2d", before, Shaken(before, 0.02, 0.7, seed + 1000), 0.008).passed) << seed;
  }
}

TEST(GateTest, BelowTheFloorNothingIsWorse) {
  const std::vector<double> before(20, 0.05), after(20, 0.057);
  EXPECT_TRUE(CompareOnAnchor("network resnet", before, after, 0.01).passed);
  EXPECT_FALSE(CompareOnAnchor("network resnet", before, after, 0.005).passed);
}

TEST(GateTest, OneAnchorThatIsMovedFarIsNoticed) {
  EXPECT_TRUE(IsMovedFar(1.1, 100));
  EXPECT_TRUE(IsMovedFar(0.9, 0.01));
  EXPECT_TRUE(IsMovedFar(2, 4.5));
  EXPECT_TRUE(IsMovedFar(1, std::nan("")));
  EXPECT_FALSE(IsMovedFar(1.1, 2.5));
  EXPECT_FALSE(IsMovedFar(6, 10));   // was wrong before
  EXPECT_FALSE(IsMovedFar(100, 1));  // better
}

}  // namespace
}  // namespace cobra::training
