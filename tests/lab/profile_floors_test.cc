#include "lab/published/regressions/profile_floors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace cobra::lab {
namespace {

constexpr size_t kNetworks = 12;

// Devices differ by a level and by how much the later networks cost.
Profile Device(double level, double slope) {
  Profile profile;
  for (size_t n = 0; n < kNetworks; ++n) profile.push_back(level + slope * static_cast<double>(n) + std::sin(n));
  return profile;
}

std::vector<Profile> Devices() {
  std::vector<Profile> devices;
  std::mt19937 random(2);
  std::normal_distribution<> level(3, 1), slope(0.2, 0.1);
  for (int d = 0; d < 40; ++d) {
    devices.push_back(Device(level(random), slope(random)));
    devices.back()[static_cast<size_t>(d) % kNetworks] = kNotMeasured;
  }
  return devices;
}

double Error(const Profile& predicted, const Profile& truth) {
  double sum = 0;
  for (size_t n = 0; n < kNetworks; ++n) sum += std::fabs(predicted[n] - truth[n]) / kNetworks;
  return sum;
}

TEST(ProfileFloors, EachUsesMoreOfTheSamplesThanTheOneBefore) {
  const std::vector<Profile> devices = Devices();
  const Profile truth = Device(5, 0.33);
  const ProfileSamples samples = {{1, truth[1]}, {5, truth[5]}, {10, truth[10]}};
  const double pattern = Error(GeometricPattern(devices, samples), truth),
               nearest = Error(NearestProfiles(devices, samples), truth),
               gaussian = Error(GaussianOverNetworks(devices).Given(samples), truth);
  EXPECT_LT(pattern, 0.6);
  EXPECT_LT(nearest, pattern);
  EXPECT_LT(gaussian, 0.1);
}

TEST(ProfileFloors, AScaledDeviceIsFoundExactly) {
  std::vector<Profile> devices = Devices();
  Profile truth = devices[3];
  for (double& value : truth) value += 2;
  truth[3] = 9;
  const Profile pattern = GeometricPattern(std::vector<Profile>(5, devices[3]), {{1, truth[1]}});
  for (size_t n = 0; n < kNetworks; ++n) {
    if (n != 3) EXPECT_NEAR(pattern[n], truth[n], 1e-9) << n;
  }
  EXPECT_EQ(pattern[3], kNotMeasured);  // no device has it
}

}  // namespace
}  // namespace cobra::lab
