#include "model/predict/adapt_samples.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/statistics.h"

namespace cobra::predict {

// The smallest value that `coverage` of the weight does not exceed, one more sample counted as exceeding all.
double ConformalQuantile(std::vector<std::pair<double, double>> scores, double coverage) {
  std::sort(scores.begin(), scores.end());
  double all = 1, sum = 0;
  for (const auto& [score, weight] : scores) all += weight;
  for (const auto& [score, weight] : scores) {
    sum += weight;
    if (sum >= coverage * all) return score;
  }
  return scores.empty() ? 0 : scores.back().first;
}

double MeanError(const std::vector<double>& log_errors) {
  double sum = 0;
  for (const double error : log_errors) sum += std::fabs(std::exp(std::clamp(error, -3.0, 3.0)) - 1);
  return log_errors.empty() ? 0 : sum / static_cast<double>(log_errors.size());
}

// A unit that is mistaken: of all samples, or of one among others.
absl::Status CheckUnits(absl::Span<const AdaptSample> samples, const std::vector<double>& error_before) {
  constexpr double kWrongUnit = 250, kUnlikeOthers = 60;
  std::vector<double> logs;
  for (const double error : error_before) logs.push_back(-error);
  const bool has_others = logs.size() >= 3;
  const double middle = has_others ? Median(logs) : 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (std::fabs(logs[i] - middle) < std::log(has_others ? kUnlikeOthers : kWrongUnit)) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %.4g ms is %.2g times what %s the model expect: is it in milliseconds?", samples[i].name,
                        samples[i].latency_us / 1000, std::exp(logs[i] - middle),
                        has_others ? "the other samples make" : "the data sheet makes"));
  }
  if (std::fabs(middle) < std::log(kWrongUnit)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("the samples: %.2g times what the data sheet makes the model expect: are they in milliseconds?",
                      std::exp(middle)));
}

}  // namespace cobra::predict
