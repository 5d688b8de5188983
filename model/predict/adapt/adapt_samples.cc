#include "model/predict/adapt/adapt_samples.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/statistics.h"

namespace cobra::predict {
namespace {

// A sample this many times further off than the median one is doubted.
constexpr double kFar = 2.5, kLeastScatter = 0.06;

// "about 1200 times too long", of log(measured / expected).
std::string TimesText(double log_ratio) {
  const double times = std::exp(std::fabs(log_ratio)), unit = std::pow(10, std::floor(std::log10(times)) - 1);
  return absl::StrFormat("about %.0f times too %s", std::round(times / unit) * unit, log_ratio > 0 ? "long" : "short");
}

}  // namespace

std::vector<double> TrustInSamples(const std::vector<double>& errors) {
  std::vector<double> sizes, trust;
  for (const double error : errors) sizes.push_back(std::fabs(error));
  const double far = kFar * std::max(kLeastScatter, 1.483 * Median(sizes));
  for (const double size : sizes) trust.push_back(size <= far ? 1 : far * far / (size * size));
  return trust;
}

std::vector<std::string> DoubtedSamples(absl::Span<const store::TimedNetwork> samples,
                                        const std::vector<double>& errors) {
  std::vector<std::string> doubted;
  if (samples.size() < kFewestJudges) return doubted;
  const std::vector<double> trust = TrustInSamples(errors);
  for (size_t i = 0; i < samples.size(); ++i) {
    if (trust[i] < 1)
      doubted.push_back(absl::StrFormat("%s: %.2g times what the others make the model expect", samples[i].name,
                                        std::exp(-errors[i])));
  }
  return doubted;
}

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

namespace {

constexpr double kWrongUnit = 250, kUnlikeOthers = 60;

// As many of one unit as of another: neither half is unlike the median. The one further from the
// data sheet is named.
absl::Status CheckHalves(absl::Span<const store::TimedNetwork> samples, const std::vector<double>& logs) {
  std::vector<size_t> order(logs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&logs](size_t a, size_t b) { return logs[a] < logs[b]; });
  for (size_t i = 1; i < order.size(); ++i) {
    const size_t below = order[i - 1], above = order[i];
    if (logs[above] - logs[below] < std::log(kUnlikeOthers)) continue;
    const bool is_above = std::fabs(logs[above]) > std::fabs(logs[below]);
    const size_t wrong = is_above ? above : below, other = is_above ? below : above;
    return absl::InvalidArgumentError(absl::StrFormat("%s: %.4g ms is %s beside %s: is it in milliseconds?",
                                                      samples[wrong].name, samples[wrong].latency_us / 1000,
                                                      TimesText(logs[wrong] - logs[other]), samples[other].name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckUnits(absl::Span<const store::TimedNetwork> samples, const std::vector<double>& error_before) {
  std::vector<double> logs;
  for (const double error : error_before) logs.push_back(-error);
  const bool has_others = logs.size() >= 3;
  const double middle = has_others ? Median(logs) : 0;
  for (size_t i = 0; i < logs.size(); ++i) {
    if (std::fabs(logs[i] - middle) < std::log(has_others ? kUnlikeOthers : kWrongUnit)) continue;
    return absl::InvalidArgumentError(
        absl::StrFormat("%s: %.4g ms is %s for what %s the model expect: is it in milliseconds?", samples[i].name,
                        samples[i].latency_us / 1000, TimesText(logs[i] - middle),
                        has_others ? "the other samples make" : "the data sheet makes"));
  }
  if (std::fabs(middle) < std::log(kWrongUnit)) return CheckHalves(samples, logs);
  return absl::InvalidArgumentError(absl::StrCat("the samples: ", TimesText(middle),
                                                 " for what the data sheet makes the model expect: are they in "
                                                 "milliseconds?"));
}

}  // namespace cobra::predict
