// Estimates how long a network takes on targets where it was not measured, from those where it was:
// targets with a similar shape count most, each at its own level.
#ifndef COBRA_MODEL_PREDICT_ADAPT_PROFILE_GAPS_H_
#define COBRA_MODEL_PREDICT_ADAPT_PROFILE_GAPS_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cobra::predict {

class ProfileGaps {
 public:
  // `measured`: networks by targets, log-latencies, NaN where there is none. `devices`: of the
  // targets.
  // REQUIRES: each network was measured on some target.
  ProfileGaps(std::vector<std::string> devices, const std::vector<std::vector<double>>& measured);

  // Puts numbers where `network`, in the order of the targets, has NaN. Returns the variance of
  // their error, tried on those that are known as if their devices were not. REQUIRES: one of them
  // is a number.
  double Fill(std::vector<double>* network) const;

 private:
  double Expected(const std::vector<double>& network, double mean, size_t target, bool without_device) const;

  const std::vector<std::string> devices_;
  std::vector<double> level_;                // of a target: its mean beyond those of its networks
  std::vector<std::vector<double>> shift_;   // of one target beyond another
  std::vector<std::vector<double>> weight_;  // of what the other says
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_PROFILE_GAPS_H_
