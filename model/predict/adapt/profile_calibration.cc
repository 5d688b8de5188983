#include "model/predict/adapt/profile_calibration.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "model/predict/adapt/adapt_samples.h"

namespace cobra::predict {
namespace {

constexpr size_t kMostParts = 4;
// The latest: the work is cubic, and more than twenty hardly help (lab/results/boards.md).
constexpr size_t kMostSamples = 64;
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
    parts.push_back({peers.names[order[i]], false, weights[order[i]], std::vector<double>(kGroupTerms)});
    sum += weights[order[i]];
  }
  for (CalibrationPart& part : parts) part.weight = sum > 0 ? part.weight / sum : 1 / static_cast<double>(parts.size());
  return parts;
}

struct ByOthers {
  std::vector<double> errors;  // log(predicted by the others / measured) of each
  std::vector<double> scores;  // ProfileAnswer::ScoreOf
};

ByOthers AskOthers(const ProfileAdapter::Peers& peers, const TargetSpec& machine,
                   const std::vector<CalibrationProfile::Sample>& all) {
  ByOthers answers;
  for (size_t i = 0; i < all.size() && all.size() > 1; ++i) {
    std::vector<CalibrationProfile::Sample> others = all;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    const ProfileAnswer answer = peers.model->Ask(machine, others).Answer(all[i].network);
    answers.errors.push_back(answer.log_us - all[i].measured_log_us);
    answers.scores.push_back(answer.ScoreOf(all[i].measured_log_us));
  }
  return answers;
}

double MeanSize(const std::vector<double>& errors) {
  double sum = 0;
  for (const double error : errors) sum += std::min(std::fabs(error), 1.5);
  return errors.empty() ? 0 : sum / static_cast<double>(errors.size());
}

// A sample that bends the others: without it they agree, and it is far from what they say. -1:
// there is none.
ptrdiff_t FindBad(const ProfileAdapter::Peers& peers, const TargetSpec& machine,
                  const std::vector<CalibrationProfile::Sample>& all) {
  constexpr size_t kFewest = 5, kMost = 20, kMostSearched = 10;
  constexpr double kDoubtful = 0.2, kAgree = 0.55, kFar = 0.6;
  if (all.size() < kFewest || all.size() > kMost) return -1;
  const ByOthers together = AskOthers(peers, machine, all);
  if (MeanSize(together.errors) < kDoubtful) return -1;
  // Among more the bad one is the one that is furthest off.
  const auto furthest = std::max_element(together.errors.begin(), together.errors.end(),
                                         [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  ptrdiff_t bad = -1;
  double least = kAgree;
  for (size_t i = 0; i < all.size(); ++i) {
    if (all.size() > kMostSearched && together.errors.begin() + static_cast<ptrdiff_t>(i) != furthest) continue;
    std::vector<CalibrationProfile::Sample> others = all;
    others.erase(others.begin() + static_cast<ptrdiff_t>(i));
    std::vector<double> with = together.errors;
    with.erase(with.begin() + static_cast<ptrdiff_t>(i));
    const double without = MeanSize(AskOthers(peers, machine, others).errors), agreement = without / MeanSize(with);
    if (agreement >= least || std::fabs(together.errors[i]) < std::max(kFar, 3 * without)) continue;
    least = agreement;
    bad = static_cast<ptrdiff_t>(i);
  }
  return bad;
}

}  // namespace

absl::StatusOr<Calibration> AdaptByProfile(const ProfileAdapter& profiles, const ProfileAdapter::Peers& peers,
                                           const TargetSpec& machine, absl::Span<const store::TimedNetwork> samples,
                                           const std::function<bool()>& cancelled) {
  Calibration c;
  c.machine = machine;
  c.samples = static_cast<int>(samples.size());
  c.profile.targets = peers.names;
  if (samples.size() > kMostSamples) samples.remove_prefix(samples.size() - kMostSamples);
  const ProfileModel::Question by_sheet = peers.model->Ask(machine, {});
  const std::vector<double> weights = by_sheet.Weights();
  for (const store::TimedNetwork& sample : samples) {
    COBRA_ASSIGN_OR_RETURN(CalibrationProfile::Network network, profiles.View(peers, sample.graph, weights, cancelled));
    c.profile.samples.push_back({std::move(network), std::log(sample.latency_us)});
  }
  std::vector<CalibrationProfile::Sample>& all = c.profile.samples;
  std::vector<double> before, after;
  for (const CalibrationProfile::Sample& sample : all)
    before.push_back(by_sheet.Answer(sample.network).log_us - sample.measured_log_us);
  COBRA_RETURN_IF_ERROR(CheckUnits(samples, before));
  std::vector<store::TimedNetwork> kept(samples.begin(), samples.end());
  for (size_t most = samples.size() / 5; most > 0; --most) {
    const ptrdiff_t bad = FindBad(peers, machine, all);
    if (bad < 0) break;
    const CalibrationProfile::Sample left_out = all[static_cast<size_t>(bad)];
    all.erase(all.begin() + bad);
    const double expected = peers.model->Ask(machine, all).Answer(left_out.network).log_us;
    c.doubted.push_back(absl::StrFormat("%s: %.2g times what the others make the model expect",
                                        kept[static_cast<size_t>(bad)].name,
                                        std::exp(left_out.measured_log_us - expected)));
    kept.erase(kept.begin() + bad);
    before.erase(before.begin() + bad);
  }
  const ByOthers by_others = AskOthers(peers, machine, all);
  after = by_others.errors;
  std::vector<std::pair<double, double>> scores;
  for (const double score : by_others.scores) scores.push_back({score, 1});
  const std::vector<double> held_out = profiles.HeldOutScores(peers, samples.size());
  for (const double score : held_out) scores.push_back({score, kHeldOutSamples / static_cast<double>(held_out.size())});
  if (!scores.empty())
    c.profile.interval_scale = std::max(kLeastScale, ConformalQuantile(std::move(scores), kCoverage));
  for (std::string& doubted : DoubtedSamples(kept, after)) c.doubted.push_back(std::move(doubted));
  c.sample_mape_before = MeanError(before);
  c.sample_mape_after = MeanError(samples.size() == 1 ? before : after);
  c.parts = HeaviestParts(peers, peers.model->Ask(machine, all).Weights());
  c.base_target = c.parts[0].base_target;
  c.coefficients = c.parts[0].coefficients;
  return c;
}

}  // namespace cobra::predict
