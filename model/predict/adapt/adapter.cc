#include "model/predict/adapt/adapter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/bytes/hash.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "graph/form/fingerprint.h"
#include "model/predict/adapt/adapt_samples.h"
#include "model/predict/adapt/reference_networks.h"

namespace cobra::predict {
namespace {

// Bound the work of one adaptation: a network is predicted once for each.
constexpr size_t kMostTargets = 64, kMostOwn = 16;
// Trained targets that are held out for the interval, and how often each.
constexpr size_t kHeldOutTargets = 16, kDraws = 3;
// Of those that explain one, so many are given its sheet: most of the weight is theirs.
constexpr size_t kHeldOutOwn = 6;
// They count like so many samples of the device itself: one a distance of two further than the
// nearest .6 of that.
constexpr double kHeldOutSamples = 10, kFarAway = 8;
constexpr double kCoverage = 0.9;
// How far one device is from itself with another version of its software: an RTX 3090 in PyTorch
// 1.13 and 2.4 by .15 (logarithm), LibTorch's calls from PyTorch's by what launches them.
constexpr double kOtherSoftware = 0.25;
constexpr double kSuggestNoise = 0.05;
constexpr size_t kMostKnown = 256, kMostReferencesAs = 4096;

// Without the largest of every four or more: one bad timing does not speak against the others.
double MeanLogError(const std::vector<double>& log_errors) {
  std::vector<double> sizes;
  for (const double error : log_errors) sizes.push_back(std::min(std::fabs(error), 1.5));
  std::sort(sizes.begin(), sizes.end());
  sizes.resize(sizes.size() - sizes.size() / 4);
  return sizes.empty() ? 0 : std::accumulate(sizes.begin(), sizes.end(), 0.0) / static_cast<double>(sizes.size());
}

// Networks that stand for all others, up to `count`, in turns from bins by how long they take, so
// that what launching and what the device takes both show. In a bin those from which the others
// differ least, each from its nearest. What differs most from all others tells most of a model that
// is right; it is where the model is wrong most often, too. `covariance`: [n, n], of the
// log-latencies; `noise`: variance of each, beside what it shares with the others.
std::vector<size_t> MostTypical(size_t count, const std::vector<double>& log_us, const std::vector<double>& noise,
                                const std::vector<double>& covariance) {
  constexpr size_t kMostBins = 5;
  const size_t n = noise.size();
  count = std::min(count, n);
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&log_us](size_t a, size_t b) { return log_us[a] < log_us[b]; });
  std::vector<std::vector<size_t>> bins(std::min(count, kMostBins));
  for (size_t i = 0; i < n && !bins.empty(); ++i) bins[i * bins.size() / n].push_back(order[i]);
  // The variance of what one says of another.
  const auto apart = [&](size_t a, size_t b) {
    return std::max(0.0, covariance[a * n + a] + covariance[b * n + b] - 2 * covariance[a * n + b]) + noise[b];
  };
  std::vector<double> nearest(n, std::numeric_limits<double>::max());
  std::vector<bool> is_chosen(n);
  std::vector<size_t> chosen;
  for (size_t turn = 0; chosen.size() < count; ++turn) {
    const std::vector<size_t>& bin = bins[turn % bins.size()];
    size_t best = n;
    double least = 0;
    for (const size_t k : bin) {
      double sum = 0;
      for (const size_t i : bin) sum += std::min(nearest[i], apart(i, k));
      if (is_chosen[k] || (best < n && sum >= least)) continue;
      best = k;
      least = sum;
    }
    if (best == n) continue;
    chosen.push_back(best);
    is_chosen[best] = true;
    for (const size_t i : bin) nearest[i] = std::min(nearest[i], apart(i, best));
  }
  return chosen;
}

}  // namespace

Adapter::Adapter(std::vector<TargetSpec> targets, PrepareNetwork prepare)
    : targets_(std::move(targets)), prepare_(std::move(prepare)), reference_(targets_.size()) {}

absl::StatusOr<NetworkView> Adapter::View(const TimesOnTarget& times, const CallClasses& classes,
                                          const Candidate& candidate, const TargetSpec& machine) const {
  const TargetSpec& trained = targets_[candidate.target];
  COBRA_ASSIGN_OR_RETURN(const CallTimes of_target,
                         times(candidate.target, candidate.own_specification ? FilledFrom(machine, trained) : trained));
  return ViewOf(classes, of_target.node_us, of_target.half_width);
}

absl::StatusOr<std::vector<NetworkView>> Adapter::ViewReferences(const Candidate& candidate,
                                                                 const TargetSpec& machine) const {
  std::vector<NetworkView> views;
  for (const graph::Graph& graph : ReferenceNetworks()) {
    COBRA_ASSIGN_OR_RETURN(const TimesOnTarget times, prepare_(graph, {}));
    COBRA_ASSIGN_OR_RETURN(views.emplace_back(), View(times, ClassesOf(graph), candidate, machine));
  }
  return views;
}

absl::StatusOr<const std::vector<NetworkView>*> Adapter::ReferenceViews(size_t target) const {
  {
    absl::MutexLock lock(&mutex_);
    if (reference_[target] != nullptr) return reference_[target].get();
  }
  COBRA_ASSIGN_OR_RETURN(std::vector<NetworkView> views, ViewReferences({target, false}, targets_[target]));
  absl::MutexLock lock(&mutex_);
  if (reference_[target] == nullptr)
    reference_[target] = std::make_unique<const std::vector<NetworkView>>(std::move(views));
  return reference_[target].get();
}

absl::StatusOr<std::shared_ptr<const std::vector<NetworkView>>> Adapter::ReferenceViewsAs(size_t target,
                                                                                          size_t sheet_of) const {
  const std::pair<size_t, size_t> key(target, sheet_of);
  {
    absl::MutexLock lock(&mutex_);
    if (const auto known = reference_as_.find(key); known != reference_as_.end()) return known->second;
  }
  COBRA_ASSIGN_OR_RETURN(std::vector<NetworkView> views, ViewReferences({target, true}, targets_[sheet_of]));
  absl::MutexLock lock(&mutex_);
  if (reference_as_.size() >= kMostReferencesAs) reference_as_.clear();
  return reference_as_[key] = std::make_shared<const std::vector<NetworkView>>(std::move(views));
}

// Trained targets given each other's sheets: whether that is nearer to the truth than what the law
// makes of it.
absl::StatusOr<double> Adapter::OwnLogOdds(const std::vector<size_t>& targets,
                                           const TargetDifferences& differences) const {
  constexpr size_t kPairs = 16, kNetworks = 6;
  constexpr double kPower = 10, kMostLogOdds = 8;
  const std::vector<graph::Graph>& graphs = ReferenceNetworks();
  double of_law = 0, of_own = 0;
  size_t pairs = 0;
  for (const size_t to : targets) {
    const auto from =
        absl::c_find_if(targets, [&](size_t other) { return AreComparable(targets_[to], targets_[other]); });
    if (from == targets.end()) continue;
    COBRA_ASSIGN_OR_RETURN(const std::vector<NetworkView>* truth, ReferenceViews(to));
    COBRA_ASSIGN_OR_RETURN(const std::vector<NetworkView>* base, ReferenceViews(*from));
    const AdaptVector shift = SheetShift(targets_[*from], targets_[to], differences.law);
    for (size_t n = 0; n < std::min(kNetworks, graphs.size()); ++n) {
      COBRA_ASSIGN_OR_RETURN(const TimesOnTarget times, prepare_(graphs[n], {}));
      COBRA_ASSIGN_OR_RETURN(const NetworkView own, View(times, ClassesOf(graphs[n]), {*from, true}, targets_[to]));
      const double log_us = std::log((*truth)[n].us);
      of_law += std::fabs(LogLatency((*base)[n], shift) - log_us);
      of_own += std::fabs(std::log(own.us) - log_us);
    }
    if (++pairs == kPairs) break;
  }
  if (pairs == 0 || of_own <= 0) return 0;
  return std::clamp(kPower * std::log(of_law / of_own), -kMostLogOdds, kMostLogOdds);
}

absl::StatusOr<Adapter::Question> Adapter::Ask(const TargetSpec& machine, const AdaptOptions& options) const {
  Question question;
  std::vector<std::pair<double, size_t>> near;
  for (const bool any_kind : {false, true}) {
    for (size_t t = 0; t < targets_.size(); ++t) {
      if (absl::c_linear_search(options.without_devices, targets_[t].device)) continue;
      if (any_kind || targets_[t].kind == machine.kind) near.push_back({SheetDistance(machine, targets_[t]), t});
    }
    if (!near.empty()) break;
  }
  if (near.empty()) return absl::FailedPreconditionError("the model has no target to begin from");
  std::sort(near.begin(), near.end());
  if (near.size() > kMostTargets) near.resize(kMostTargets);
  std::vector<KnownTarget> known;
  for (const auto& [distance, target] : near) {
    question.targets.push_back(target);
    COBRA_ASSIGN_OR_RETURN(const std::vector<NetworkView>* views, ReferenceViews(target));
    known.push_back({&targets_[target], views});
  }
  std::vector<size_t> key = question.targets;
  std::sort(key.begin(), key.end());
  const auto find = [&]() -> bool {
    absl::MutexLock lock(&mutex_);
    const auto found = known_.find(key);
    if (found == known_.end()) return false;
    std::tie(question.differences, question.own_log_odds) = found->second;
    return true;
  };
  if (!find()) {
    question.differences = DifferencesOf(known);
    COBRA_ASSIGN_OR_RETURN(question.own_log_odds, OwnLogOdds(key, question.differences));
    absl::MutexLock lock(&mutex_);
    if (known_.size() >= kMostKnown) known_.clear();  // untrusted data sheets decide which targets are near
    known_[key] = {question.differences, question.own_log_odds};
  }
  std::vector<const TargetSpec*> specs;
  for (const auto& [distance, target] : near) specs.push_back(&targets_[target]);
  size_t own = 0;
  for (const size_t i : ThatRunAlike(machine, specs)) {
    const auto& [distance, target] = near[i];
    AdaptCandidate fit;
    fit.log_prior = -0.5 * distance * distance;
    fit.expected = SheetShift(targets_[target], machine, question.differences.law);
    question.candidates.push_back({target, false});
    question.fits.push_back(fit);
    if (++own > kMostOwn || !HasNumbers(machine)) continue;
    fit.log_prior += question.own_log_odds;
    fit.expected = {};
    question.candidates.push_back({target, true});
    question.fits.push_back(std::move(fit));
  }
  return question;
}

absl::Status Adapter::AddNetwork(const TargetSpec& machine, const graph::Graph& graph, const AdaptOptions& options,
                                 Question* question) const {
  const CallClasses classes = ClassesOf(graph);
  COBRA_ASSIGN_OR_RETURN(const TimesOnTarget times, prepare_(graph, options.cancelled));
  for (size_t c = 0; c < question->candidates.size(); ++c) {
    if (options.is_cancelled()) return absl::CancelledError("adapt: the request was cancelled");
    COBRA_ASSIGN_OR_RETURN(NetworkView view, View(times, classes, question->candidates[c], machine));
    question->fits[c].networks.push_back(std::move(view));
  }
  return absl::OkStatus();
}

absl::StatusOr<Adapter::HeldOut> Adapter::HoldOut(const Question& question, size_t target,
                                                  const TargetSpec& machine) const {
  const auto is_like = [this](const TargetSpec& spec) {
    return [this, &spec](size_t other) { return AreComparable(spec, targets_[other]); };
  };
  const TargetSpec& spec = targets_[target];
  const bool is_known_kind = absl::c_any_of(question.targets, is_like(machine));
  HeldOut held_out;
  // How far ncnn is off on a phone says nothing of PyTorch on this GPU, however near their sheets
  // are.
  if (is_known_kind && (!IsSameRuntime(machine, spec) || !absl::c_any_of(question.targets, is_like(spec))))
    return held_out;
  COBRA_ASSIGN_OR_RETURN(held_out.truth, ReferenceViews(target));
  std::vector<std::pair<double, size_t>> others;  // the nearest first
  for (const size_t other : question.targets) {
    if (IsSameDevice(targets_[other], spec) || (!is_known_kind && AreComparable(targets_[other], spec))) continue;
    others.push_back({SheetDistance(spec, targets_[other]), other});
  }
  absl::c_sort(others);
  std::vector<const TargetSpec*> specs;
  for (const auto& [distance, other] : others) specs.push_back(&targets_[other]);
  const bool is_own_likely = question.own_log_odds > 0 && HasNumbers(spec);
  size_t own = 0;
  for (const size_t i : ThatRunAlike(spec, specs)) {
    const auto& [distance, other] = others[i];
    COBRA_ASSIGN_OR_RETURN(const std::vector<NetworkView>* views, ReferenceViews(other));
    held_out.views.emplace_back(std::shared_ptr<void>(), views);  // which live as long as this object
    held_out.candidates.push_back(
        {-0.5 * distance * distance, SheetShift(targets_[other], spec, question.differences.law), {}});
    if (!is_own_likely || ++own > kHeldOutOwn) continue;
    COBRA_ASSIGN_OR_RETURN(held_out.views.emplace_back(), ReferenceViewsAs(other, target));
    held_out.candidates.push_back({-0.5 * distance * distance + question.own_log_odds, {}, {}});
  }
  return held_out;
}

absl::StatusOr<std::vector<std::pair<double, double>>> Adapter::HeldOutErrors(const Question& question,
                                                                              const TargetSpec& machine,
                                                                              size_t samples) const {
  const size_t networks = ReferenceNetworks().size();
  samples = std::min(samples, networks - 4);
  std::vector<std::pair<double, double>> errors;
  std::mt19937_64 random(1);
  size_t held_out_targets = 0;
  double nearest = -1;
  for (const size_t target : question.targets) {
    COBRA_ASSIGN_OR_RETURN(HeldOut held_out, HoldOut(question, target, machine));
    if (held_out.candidates.empty()) continue;
    if (++held_out_targets > kHeldOutTargets) break;
    const double distance = SheetDistance(machine, targets_[target]);
    if (nearest < 0) nearest = distance;
    const double weight = std::exp(-(distance * distance - nearest * nearest) / kFarAway);
    for (size_t draw = 0; draw < (samples == 0 ? 1 : kDraws); ++draw) {
      std::vector<size_t> order(networks);
      std::iota(order.begin(), order.end(), size_t{0});
      std::shuffle(order.begin(), order.end(), random);
      std::vector<double> log_us;
      for (AdaptCandidate& candidate : held_out.candidates) candidate.networks.clear();
      for (size_t i = 0; i < samples; ++i) {
        log_us.push_back(std::log((*held_out.truth)[order[i]].us));
        for (size_t c = 0; c < held_out.candidates.size(); ++c)
          held_out.candidates[c].networks.push_back((*held_out.views[c])[order[i]]);
      }
      const AdaptFit fit = FitCandidates(held_out.candidates, log_us, question.differences);
      for (size_t i = samples; i < networks; ++i) {
        std::vector<const NetworkView*> views;
        for (const auto& of_target : held_out.views) views.push_back(&(*of_target)[order[i]]);
        errors.push_back({std::fabs(LogLatency(fit.parts, views) - std::log((*held_out.truth)[order[i]].us)), weight});
      }
    }
  }
  return errors;
}

absl::StatusOr<Calibration> Adapter::Adapt(const TargetSpec& machine, absl::Span<const store::TimedNetwork> samples,
                                           const AdaptOptions& options) const {
  COBRA_ASSIGN_OR_RETURN(Question question, Ask(machine, options));
  std::vector<double> log_us;
  for (const store::TimedNetwork& sample : samples) {
    COBRA_RETURN_IF_ERROR(AddNetwork(machine, sample.graph, options, &question));
    log_us.push_back(std::log(sample.latency_us));
  }
  AdaptFit fit = FitCandidates(question.fits, log_us, question.differences);
  COBRA_RETURN_IF_ERROR(CheckUnits(samples, fit.error_before));
  // Of one sample nothing is known by others. Four of five say each fifth worse than all five say a
  // sixth, and all of them hold the fit near the data sheet: only samples that contradict each
  // other are not used.
  constexpr double kTimes = 1.5, kAsGood = 0.1;
  const bool is_better =
      samples.size() < 2 || MeanLogError(fit.error_after) < kTimes * MeanLogError(fit.error_before) + kAsGood;
  if (!is_better) {
    fit.parts = PriorParts(question.fits);
    fit.error_after = fit.error_before;
  }
  const auto is_trained = [&](size_t target) {
    const TargetSpec& trained = targets_[target];
    return IsNamedAlike(trained, machine) && IsSameRuntime(trained, machine) && trained.kind == machine.kind &&
           trained.precision == machine.precision && trained.compile == machine.compile &&
           trained.layout == machine.layout;
  };
  std::vector<std::pair<double, double>> scores;
  if (absl::c_any_of(question.targets, is_trained)) {
    scores.push_back({kOtherSoftware, kHeldOutSamples});
  } else {
    COBRA_ASSIGN_OR_RETURN(scores, HeldOutErrors(question, machine, is_better ? samples.size() : 0));
    double all = 0;
    for (const auto& [error, weight] : scores) all += weight;
    for (auto& [error, weight] : scores) weight *= kHeldOutSamples / all;
  }
  for (size_t i = 0; i < samples.size() && samples.size() > 1; ++i) {
    double half_width = 0;
    for (const AdaptPart& part : fit.parts)
      half_width += part.weight * question.fits[part.candidate].networks[i].half_width;
    const double error = fit.error_after[i];
    scores.push_back({std::sqrt(std::max(0.0, error * error - half_width * half_width)), 1});
  }
  Calibration c;
  c.machine = machine;
  c.samples = static_cast<int>(samples.size());
  c.interval_log = ConformalQuantile(std::move(scores), kCoverage);
  if (is_better) c.doubted = DoubtedSamples(samples, fit.error_after);
  c.sample_mape_before = MeanError(fit.error_before);
  c.sample_mape_after = MeanError(samples.size() == 1 ? fit.error_before : fit.error_after);
  for (const AdaptPart& part : fit.parts) {
    const auto& [target, own] = question.candidates[part.candidate];
    c.parts.push_back({targets_[target].name, own, part.weight, StoredCoefficients(part.coefficients)});
  }
  c.base_target = c.parts[0].base_target;
  c.own_specification = c.parts[0].own_specification;
  c.coefficients = c.parts[0].coefficients;
  return c;
}

absl::StatusOr<Adapter::SuggestedFrom> Adapter::ViewAll(const TargetSpec& machine, const Question& question,
                                                        absl::Span<const AdaptPart> parts, NextNetwork next,
                                                        const std::function<bool()>& cancelled) const {
  SuggestedFrom from;
  from.views.resize(parts.size());
  absl::flat_hash_set<Hash128> known;  // a list may have a network under two names, and it is timed once
  for (size_t position = 0;; ++position) {
    COBRA_ASSIGN_OR_RETURN(const std::optional<graph::Graph> graph, next());
    if (!graph.has_value()) return from;
    if (!known.insert(graph::Fingerprint(*graph)).second) continue;
    from.positions.push_back(position);
    const CallClasses classes = ClassesOf(*graph);
    COBRA_ASSIGN_OR_RETURN(const TimesOnTarget times, prepare_(*graph, cancelled));
    for (size_t p = 0; p < parts.size(); ++p) {
      if (cancelled && cancelled()) return absl::CancelledError("suggest: the request was cancelled");
      COBRA_ASSIGN_OR_RETURN(NetworkView view, View(times, classes, question.candidates[parts[p].candidate], machine));
      from.views[p].push_back(std::move(view));
    }
  }
}

absl::StatusOr<std::vector<size_t>> Adapter::Suggest(const TargetSpec& machine, NextNetwork next, size_t count,
                                                     const AdaptOptions& options) const {
  COBRA_ASSIGN_OR_RETURN(Question question, Ask(machine, options));
  const std::vector<AdaptPart> parts = PriorParts(question.fits);
  COBRA_ASSIGN_OR_RETURN(const SuggestedFrom from, ViewAll(machine, question, parts, next, options.cancelled));
  const auto& [positions, views] = from;
  const size_t n = positions.size();
  std::vector<double> covariance(n * n);
  AdaptMatrix of_terms = question.differences.covariance;
  of_terms[0][0] += question.differences.scale_variance;
  of_terms[kLaunchTerm][kLaunchTerm] += question.differences.launch_variance;
  std::vector<double> mean(n), noise(n, kSuggestNoise * kSuggestNoise);
  for (size_t p = 0; p < parts.size(); ++p) {
    for (size_t i = 0; i < n; ++i) mean[i] += parts[p].weight * LogLatency(views[p][i], parts[p].coefficients);
  }
  for (size_t p = 0; p < parts.size(); ++p) {
    const AdaptPart& part = parts[p];
    std::vector<AdaptVector> shares, spread;
    std::vector<double> other;  // how this part differs from the others
    for (size_t i = 0; i < n; ++i) {
      const NetworkView& view = views[p][i];
      shares.push_back(SharesOf(view, part.coefficients));
      spread.push_back(Product(of_terms, shares.back()));
      other.push_back(LogLatency(view, part.coefficients) - mean[i]);
    }
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j)
        covariance[i * n + j] += part.weight * (Dot(shares[i], spread[j]) + other[i] * other[j]);
      // What is off about a network that the model knows badly is its own, and says nothing of the
      // others.
      const double own_error = views[p][i].half_width;
      noise[i] += part.weight * own_error * own_error;
    }
  }
  if (options.is_cancelled()) return absl::CancelledError("suggest: the request was cancelled");
  std::vector<size_t> chosen = MostTypical(count, mean, noise, covariance);
  for (size_t& network : chosen) network = positions[network];
  return chosen;
}

}  // namespace cobra::predict
