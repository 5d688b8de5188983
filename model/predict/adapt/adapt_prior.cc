#include "model/predict/adapt/adapt_prior.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace cobra::predict {
namespace {

// The exponents of the number of threads. Few trained targets of one runtime have several, so these
// are not learned: with what the peaks of one and two threads teach, fourteen of an i9 are answered
// four times too slow.
constexpr double kOfThreads = 0.75, kOfThreadsElsewhere = 0.6;

bool IsComputing(OperatorGroup group) {
  return group == kConvDense || group == kConvPointwise || group == kConvGrouped || group == kProduct;
}

// By how much the threads of `to` are faster together, were each as fast as one of `from`.
double LogOfThreads(const TargetSpec& from, const TargetSpec& to, OperatorGroup group) {
  return (IsComputing(group) ? kOfThreads : kOfThreadsElsewhere) * LogRatio(from.threads, to.threads);
}

// By how much a thread of the one computes faster.
double LogCompute(const TargetSpec& from, const TargetSpec& to, OperatorGroup group) {
  double TargetSpec::*const measured = group == kConvDense     ? &TargetSpec::convolution_gflops
                                       : group == kConvGrouped ? &TargetSpec::depthwise_gflops
                                                               : &TargetSpec::pointwise_gflops;
  // The kernels' rates are those of one core.
  if (from.*measured > 0 && to.*measured > 0) return LogRatio(from.*measured, to.*measured);
  if (!(from.peak_gflops > 0) || !(to.peak_gflops > 0)) return 0;
  return LogRatio(from.peak_gflops, to.peak_gflops) - LogRatio(from.threads, to.threads);
}

// How much longer the calls of a group take on `to` than on `from`: the mean logarithm over
// networks in which they matter. False: in none.
bool GroupLogRatio(const KnownTarget& from, const KnownTarget& to, OperatorGroup group, double* ratio) {
  constexpr double kLeastShare = 0.03, kMost = 3;
  double sum = 0, weights = 0;
  for (size_t n = 0; n < from.networks->size(); ++n) {
    const NetworkView &a = (*from.networks)[n], &b = (*to.networks)[n];
    double us_a = 0, us_b = 0;
    for (size_t c = 0; c < a.classes.size(); ++c) {
      if (a.classes[c].group != group) continue;
      us_a += a.classes[c].us;
      us_b += b.classes[c].us;
    }
    const double share = std::min(us_a / a.us, us_b / b.us);
    if (share < kLeastShare) continue;
    sum += share * std::clamp(std::log(us_b / us_a), -kMost, kMost);
    weights += share;
  }
  if (weights == 0) return false;
  *ratio = sum / weights;
  return true;
}

// Exponents of one group by ridge regression towards those of `plausible`.
void FitGroup(absl::Span<const KnownTarget> targets, OperatorGroup group, SheetLaw* law) {
  constexpr double kPriorDevices = 1.5;  // the plausible exponents count like so many devices
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  const double each = 1 / static_cast<double>(targets.size());
  for (const KnownTarget& from : targets) {
    for (const KnownTarget& to : targets) {
      double ratio = 0;
      if (!AreComparable(*from.spec, *to.spec) || !GroupLogRatio(from, to, group, &ratio)) continue;
      const double a = LogCompute(*from.spec, *to.spec, group),
                   b = LogRatio(from.spec->memory_gb_per_s, to.spec->memory_gb_per_s);
      const double y =
          -ratio - LogOfThreads(*from.spec, *to.spec, group) - law->of_compute[group] * a - law->of_memory[group] * b;
      aa += each * a * a;
      ab += each * a * b;
      bb += each * b * b;
      ay += each * a * y;
      by += each * b * y;
    }
  }
  const double prior = kPriorDevices * 0.5;  // a pair of neighbours differs by about a half in each
  aa += prior;
  bb += prior;
  const double determinant = aa * bb - ab * ab;
  law->of_compute[group] = std::clamp(law->of_compute[group] + (bb * ay - ab * by) / determinant, 0.0, 1.2);
  law->of_memory[group] = std::clamp(law->of_memory[group] + (aa * by - ab * ay) / determinant, 0.0, 1.2);
}

// The coefficients that turn one target into another, beyond `shift`: a ridge regression over
// classes of calls.
AdaptVector CoefficientsBetween(const KnownTarget& from, const KnownTarget& to, const AdaptVector& shift) {
  AdaptMatrix a{};
  AdaptVector b{};
  for (size_t i = 0; i < a.size(); ++i) a[i][i] = i == 0 ? 1e-3 : i == 1 ? 0.3 : i % 2 == 0 ? 0.2 : 0.6;
  a[kLaunchTerm][kLaunchTerm] = 0.1;
  for (size_t n = 0; n < from.networks->size(); ++n) {
    const NetworkView &x = (*from.networks)[n], &y = (*to.networks)[n];
    for (size_t c = 0; c < x.classes.size(); ++c) {
      const double weight = std::sqrt(x.classes[c].us / x.us * y.classes[c].us / y.us);
      const AdaptVector terms = TermsOf(x.classes[c]);
      const double ratio = std::clamp(std::log(y.classes[c].us / x.classes[c].us) - Dot(terms, shift), -3.0, 3.0);
      AddOuter(terms, weight, &a);
      for (size_t i = 0; i < terms.size(); ++i) b[i] += weight * terms[i] * ratio;
    }
  }
  return Product(InverseOf(a).inverse, b);
}

}  // namespace

SheetLaw PlausibleLaw() {
  SheetLaw law;
  for (int group = 0; group < kNumOperatorGroups; ++group) {
    const bool is_computing = IsComputing(static_cast<OperatorGroup>(group));
    law.of_compute[static_cast<size_t>(group)] = is_computing ? 0.75 : 0.35;
    law.of_memory[static_cast<size_t>(group)] = is_computing ? 0.1 : 0.4;
  }
  return law;
}

AdaptVector SheetShift(const TargetSpec& from, const TargetSpec& to, const SheetLaw& law) {
  AdaptVector shift{};
  const double memory = LogRatio(from.memory_gb_per_s, to.memory_gb_per_s);
  for (size_t group = 0; group < kNumOperatorGroups; ++group) {
    const auto of_calls = static_cast<OperatorGroup>(group);
    shift[2 + 2 * group] = -law.of_compute[group] * LogCompute(from, to, of_calls) - law.of_memory[group] * memory -
                           LogOfThreads(from, to, of_calls);
  }
  return shift;
}

TargetDifferences DifferencesOf(absl::Span<const KnownTarget> targets) {
  constexpr double kPlausibleScale = 0.5 * 0.5, kPlausibleBias = 0.15 * 0.15, kPlausibleSlope = 0.1 * 0.1,
                   kPlausibleLaunch = 0.5 * 0.5;
  constexpr size_t kNeighbors = 6;
  constexpr double kPriorPairs = 4;
  TargetDifferences differences;
  for (int group = 0; group < kNumOperatorGroups && !targets.empty(); ++group)
    FitGroup(targets, static_cast<OperatorGroup>(group), &differences.law);
  double pairs = kPriorPairs, scale = kPriorPairs * kPlausibleScale;
  for (size_t i = 0; i < differences.covariance.size(); ++i)
    differences.covariance[i][i] = kPriorPairs * (i % 2 == 0 ? kPlausibleBias : kPlausibleSlope);
  const bool has_gpus = !targets.empty() && targets[0].spec->kind == "gpu";
  differences.covariance[kLaunchTerm][kLaunchTerm] = kPriorPairs * kPlausibleSlope;
  if (has_gpus) differences.launch_variance = kPlausibleLaunch;
  for (const KnownTarget& to : targets) {
    std::vector<std::pair<double, const KnownTarget*>> near;
    for (const KnownTarget& from : targets) {
      if (AreComparable(*from.spec, *to.spec)) near.push_back({SheetDistance(*from.spec, *to.spec), &from});
    }
    std::sort(near.begin(), near.end());
    if (near.size() > kNeighbors) near.resize(kNeighbors);
    for (const auto& [distance, from] : near) {
      AdaptVector between = CoefficientsBetween(*from, to, SheetShift(*from->spec, *to.spec, differences.law));
      scale += between[0] * between[0];
      between[0] = 0;
      AddOuter(between, 1, &differences.covariance);
      pairs += 1;
    }
  }
  for (AdaptVector& row : differences.covariance) {
    for (double& value : row) value /= pairs;
  }
  differences.scale_variance = std::max(scale / pairs, kPlausibleScale);
  return differences;
}

}  // namespace cobra::predict
