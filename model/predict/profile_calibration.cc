#include "model/predict/profile_calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "model/predict/adapt_samples.h"

namespace cobra::predict {
namespace {

constexpr size_t kMostParts = 4;
constexpr double kLeastWeight = 0.02;  // of a part
constexpr double kCoverage = 0.9, kLeastScale = 0.5;
// Held-out scores count like so many samples of the device itself.
constexpr double kHeldOutSamples = 40;

std::vector<CalibrationPart> HeaviestParts(const ProfileAdapter::Peers& peers, const std::vector<double>& weights) {
  std::vector<size_t> order(weights.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  std::vector<CalibrationPart> parts;
  double sum = 0;
  for (size_t i = 0; i < std::min(kMostParts, order.size()); ++i) {
    if (i > 0 && weights[order[i]] < kLeastWeight) break;
    parts.push_back({peers.names[order[i]], false, weights[order[i]], std::vector<double>(kAdaptTerms)});
    sum += weights[order[i]];
  }
  for (CalibrationPart& part : parts) part.weight = sum > 0 ? part.weight / sum : 1 / static_cast<double>(parts.size());
  return parts;
}

}  // namespace

absl::StatusOr<Calibration> AdaptByProfile(const ProfileAdapter& profiles, const ProfileAdapter::Peers& peers,
                                           const TargetSpec& machine, absl::Span<const AdaptSample> samples) {
  Calibration c;
  c.machine = machine;
  c.samples = static_cast<int>(samples.size());
  c.profile.targets = peers.names;
  for (const AdaptSample& sample : samples) {
    COBRA_ASSIGN_OR_RETURN(CalibrationProfile::Network network, profiles.View(peers, *sample.graph));
    c.profile.samples.push_back({std::move(network), std::log(sample.latency_us)});
  }
  const std::vector<CalibrationProfile::Sample>& all = c.profile.samples;
  const ProfileModel::Question by_sheet = peers.model->Ask(machine, {});
  std::vector<double> before, after;
  for (const CalibrationProfile::Sample& sample : all)
    before.push_back(by_sheet.Answer(sample.network).log_us - sample.measured_log_us);
  COBRA_RETURN_IF_ERROR(CheckUnits(samples, before));
  std::vector<std::pair<double, double>> scores;
  for (size_t i = 0; i < all.size() && all.size() > 1; ++i) {
    std::vector<CalibrationProfile::Sample> others = all;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    const ProfileAnswer answer = peers.model->Ask(machine, others).Answer(all[i].network);
    after.push_back(answer.log_us - all[i].measured_log_us);
    scores.push_back({answer.ScoreOf(all[i].measured_log_us), 1});
  }
  const std::vector<double> held_out = profiles.HeldOutScores(peers, samples.size());
  for (const double score : held_out) scores.push_back({score, kHeldOutSamples / static_cast<double>(held_out.size())});
  if (!scores.empty())
    c.profile.interval_scale = std::max(kLeastScale, ConformalQuantile(std::move(scores), kCoverage));
  c.doubted = DoubtedSamples(samples, after);
  c.sample_mape_before = MeanError(before);
  c.sample_mape_after = MeanError(samples.size() == 1 ? before : after);
  const CalibrationProfile::Network nothing{std::vector<double>(peers.names.size()), 0, false};
  c.parts = HeaviestParts(peers, peers.model->Ask(machine, all).Answer(nothing).weights);
  c.base_target = c.parts[0].base_target;
  c.coefficients = c.parts[0].coefficients;
  return c;
}

}  // namespace cobra::predict
