#include "model/predict/target/timing_level.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/statistics.h"
#include "graph/form/fingerprint.h"

namespace cobra::predict {
namespace {

constexpr double kLeastChange = 1.5, kLeastChangeOfOne = 2, kMistakenUnit = 60;
constexpr double kAgree = 1.41421356;  // either way: twofold apart, as rows of one network may be
constexpr size_t kFewest = 2, kOneOf = 3;

}  // namespace

std::optional<TimingLevel> FindNewLevel(absl::Span<const store::TimedNetwork> timed,
                                        absl::Span<const store::Measurement> earlier) {
  std::map<std::string, double> before;
  for (const store::Measurement& record : earlier) {
    if (record.subject.is_network) before[record.subject.fingerprint] = record.undisturbed_us();
  }
  std::map<std::string, std::vector<double>> now;
  for (const store::TimedNetwork& network : timed) {
    const std::string fingerprint = graph::Fingerprint(network.graph).ToHex();
    const bool is_time = std::isfinite(network.latency_us) && network.latency_us > 0;
    if (is_time && before.count(fingerprint) > 0) now[fingerprint].push_back(network.latency_us);
  }
  if (now.empty()) return std::nullopt;
  std::vector<double> changes;
  for (auto& [fingerprint, us] : now) changes.push_back(std::log(Median(std::move(us)) / before[fingerprint]));
  const double middle = Median(changes);
  const double least = before.size() == 1 ? kLeastChangeOfOne : kLeastChange;
  if (std::fabs(middle) <= std::log(least) || std::fabs(middle) >= std::log(kMistakenUnit)) return std::nullopt;
  const auto agree = static_cast<size_t>(std::count_if(changes.begin(), changes.end(), [middle](double change) {
    return std::fabs(change - middle) <= std::log(kAgree);
  }));
  const size_t needed = std::min(before.size(), std::max(kFewest, (before.size() + kOneOf - 1) / kOneOf));
  if (agree < needed || 4 * agree < 3 * changes.size()) return std::nullopt;
  return TimingLevel{std::exp(middle), agree};
}

void ScaleTimings(double factor, std::vector<store::Measurement>* records) {
  for (store::Measurement& measurement : *records) {
    measurement.latency.median_us = factor * measurement.undisturbed_us();
    measurement.latency.quiet_us = 0;
    measurement.conditions.suspect = false;
  }
}

}  // namespace cobra::predict
