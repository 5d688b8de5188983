// Floors for a device from a few of its latencies that read no graph: they know what other devices
// take for the same networks (a profile each, in log-latency), and cannot answer for a network that
// nobody timed.
#ifndef COBRA_LAB_PUBLISHED_REGRESSIONS_PROFILE_FLOORS_H_
#define COBRA_LAB_PUBLISHED_REGRESSIONS_PROFILE_FLOORS_H_

#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace cobra::lab {

// Logarithms of latencies, one number a network; kNotMeasured where there is none.
using Profile = std::vector<double>;
constexpr double kNotMeasured = std::numeric_limits<double>::infinity();
// What was timed on the new device: network, logarithm of its latency.
using ProfileSamples = std::vector<std::pair<size_t, double>>;

// The geometric mean of all devices, scaled to the samples. REQUIRES (all three): a sample;
// kNotMeasured for a network that no device has.
Profile GeometricPattern(const std::vector<Profile>& devices, const ProfileSamples& samples);
// The eight devices whose scaled profiles are nearest to the samples, averaged.
Profile NearestProfiles(const std::vector<Profile>& devices, const ProfileSamples& samples);
// The mean of a Gaussian over the networks, fitted to all devices by expectation and maximisation,
// given the samples.
class GaussianOverNetworks {
 public:
  explicit GaussianOverNetworks(const std::vector<Profile>& devices);
  Profile Given(const ProfileSamples& samples) const;

 private:
  size_t n_ = 0;
  std::vector<double> mean_, covariance_;  // [n], [n][n]
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_REGRESSIONS_PROFILE_FLOORS_H_
