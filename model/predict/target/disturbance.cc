#include "model/predict/target/disturbance.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "absl/strings/str_format.h"

namespace cobra::predict {
namespace {

// Of a value that is not among the sorted ones: of n of them, the next one is below the first with
// probability 1 / (n + 1).
double QuantileOfNext(const std::vector<double>& sorted, double q) {
  const double last = static_cast<double>(sorted.size() - 1);
  const double at = std::clamp(q * static_cast<double>(sorted.size() + 1) - 1, 0.0, last);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Disturbance DisturbanceOf(std::vector<double> ratios) {
  constexpr double kRare = 0.05;
  Disturbance disturbance;
  if (ratios.size() < kFewestDisturbanceTimings) return disturbance;
  std::sort(ratios.begin(), ratios.end());
  disturbance.low = QuantileOfNext(ratios, kRare);
  disturbance.typical = QuantileOfNext(ratios, 0.5);
  disturbance.high = QuantileOfNext(ratios, 1 - kRare);
  disturbance.timings = static_cast<int>(ratios.size());
  return disturbance;
}

std::string DisturbanceText(const Disturbance& disturbance) {
  return absl::StrFormat(
      "other programs run on this machine: networks took %.2f times their undisturbed time in the median, nine in ten "
      "timings %.2f to %.2f times (of %d)",
      disturbance.typical, disturbance.low, disturbance.high, disturbance.timings);
}

TimeInterval OnDisturbedMachine(const TimeInterval& undisturbed, const Disturbance& disturbance) {
  const double middle = undisturbed.middle * disturbance.typical;
  const double below =
      std::hypot(std::log(undisturbed.middle / undisturbed.low), std::log(disturbance.typical / disturbance.low));
  const double above =
      std::hypot(std::log(undisturbed.high / undisturbed.middle), std::log(disturbance.high / disturbance.typical));
  return {middle, middle * std::exp(-below), middle * std::exp(above)};
}

}  // namespace cobra::predict
