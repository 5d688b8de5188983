#include "model/predict/adapt/profile_gaps.h"

#include <cmath>
#include <utility>

namespace cobra::predict {
namespace {

double MeanOfKnown(const std::vector<double>& network) {
  double sum = 0, count = 0;
  for (const double value : network) {
    if (std::isnan(value)) continue;
    sum += value;
    count += 1;
  }
  return sum / count;
}

}  // namespace

ProfileGaps::ProfileGaps(std::vector<std::string> devices, const std::vector<std::vector<double>>& measured)
    : devices_(std::move(devices)),
      level_(devices_.size()),
      shift_(devices_.size(), std::vector<double>(devices_.size())),
      weight_(shift_) {
  constexpr double kNear = 0.05;  // variance of a difference that halves what it says, about
  constexpr double kPower = 4, kFewestCommon = 3;
  std::vector<double> known(devices_.size());
  for (const std::vector<double>& network : measured) {
    const double mean = MeanOfKnown(network);
    for (size_t a = 0; a < devices_.size(); ++a) {
      if (std::isnan(network[a])) continue;
      level_[a] += network[a] - mean;
      known[a] += 1;
    }
  }
  for (size_t a = 0; a < devices_.size(); ++a) {
    level_[a] = known[a] > 0 ? level_[a] / known[a] : 0;
    for (size_t b = 0; b < devices_.size(); ++b) {
      double sum = 0, squares = 0, count = 0;
      for (const std::vector<double>& network : measured) {
        const double difference = network[a] - network[b];
        if (std::isnan(difference)) continue;
        sum += difference;
        squares += difference * difference;
        count += 1;
      }
      if (a == b || count < kFewestCommon) continue;
      shift_[a][b] = sum / count;
      const double variance = squares / count - shift_[a][b] * shift_[a][b];
      weight_[a][b] = std::pow(kNear / (kNear + std::fmax(0, variance)), kPower);
    }
  }
}

double ProfileGaps::Expected(const std::vector<double>& network, double mean, size_t target,
                             bool without_device) const {
  constexpr double kLeast = 1e-3;  // weight of the target's level alone
  double sum = kLeast * (mean + level_[target]), weights = kLeast;
  for (size_t b = 0; b < network.size(); ++b) {
    if (std::isnan(network[b]) || (without_device && devices_[b] == devices_[target])) continue;
    sum += weight_[target][b] * (network[b] + shift_[target][b]);
    weights += weight_[target][b];
  }
  return sum / weights;
}

double ProfileGaps::Fill(std::vector<double>* network) const {
  const std::vector<double> measured = *network;
  const double mean = MeanOfKnown(measured);
  double squares = 0, count = 0;
  for (size_t a = 0; a < measured.size(); ++a) {
    if (std::isnan(measured[a])) {
      (*network)[a] = Expected(measured, mean, a, false);
      continue;
    }
    squares += std::pow(measured[a] - Expected(measured, mean, a, true), 2);
    count += 1;
  }
  return squares / count;
}

}  // namespace cobra::predict
