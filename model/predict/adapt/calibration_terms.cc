#include "model/predict/adapt/calibration_terms.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace cobra::predict {
namespace {

constexpr int kTerms = kCalibrationTerms;
constexpr double kWorkScale = 10;     // of the logarithms of amounts, so that they are about one
constexpr double kBeyondRange = 2.5;  // a factor of twelve

// The penalties count as probes: one on the common slope, three on each group's bias, ten on its
// slope, which reaches beyond the sizes of the probe, a third on each term of work, almost none on
// the common bias. After a probe of five minutes the networks of a Cascade Lake, which no training
// had seen, were off by 7.3 % without the terms of work and by 4.8 % with them
// (lab/results/calibration.md).
double PenaltyOf(int term, Terms terms) {
  constexpr double kNotUsed = 1e12;
  if (term == 0) return 1e-3;
  if (terms == Terms::kCommon) return kNotUsed;
  if (term >= kGroupTerms) return terms == Terms::kWork ? 0.3 : kNotUsed;
  return term == 1 ? 1.0 : term % 2 == 0 ? 3.0 : 10.0;
}

// Solves A x = b by Cholesky decomposition; the penalties make A, of which the lower half is read,
// positive definite.
std::vector<double> Solve(std::vector<CallTerms> a, std::vector<double> b) {
  for (int i = 0; i < kTerms; ++i) {
    for (int j = 0; j <= i; ++j) {
      double s = a[i][j];
      for (int k = 0; k < j; ++k) s -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(s) : s / a[j][j];
    }
  }
  for (int i = 0; i < kTerms; ++i) {
    for (int k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (int i = kTerms - 1; i >= 0; --i) {
    for (int k = i + 1; k < kTerms; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

std::vector<double> SolveRidge(const std::vector<CallRow>& rows, const std::vector<double>& weights, Terms terms) {
  std::vector<CallTerms> a(kTerms, CallTerms{});
  std::vector<double> b(kTerms);
  for (int i = 0; i < kTerms; ++i) a[i][i] = PenaltyOf(i, terms);
  std::vector<int> present;
  for (size_t r = 0; r < rows.size(); ++r) {
    const CallTerms& t = rows[r].terms;
    present.clear();
    const int used = terms == Terms::kWork ? kTerms : kGroupTerms;
    for (int i = 0; i < used; ++i) {
      if (t[i] != 0) present.push_back(i);
    }
    for (const int i : present) {
      b[i] += weights[r] * t[i] * rows[r].log_ratio;
      for (const int j : present) {
        if (j > i) break;
        a[i][j] += weights[r] * t[i] * t[j];
      }
    }
  }
  return Solve(std::move(a), std::move(b));
}

}  // namespace

CallKind KindOf(const graph::Graph& graph, int32_t node) {
  return {OperatorGroupOf(graph, graph.nodes()[static_cast<size_t>(node)]), LogWork(graph, node)};
}

void Include(const std::array<float, kWorkTerms>& log_work, WorkRanges* ranges) {
  if (ranges->low.empty()) {
    ranges->low.assign(kWorkTerms, -static_cast<double>(kNoWork));
    ranges->high.assign(kWorkTerms, static_cast<double>(kNoWork));
  }
  for (size_t i = 0; i < kWorkTerms; ++i) {
    if (log_work[i] == kNoWork) continue;
    ranges->low[i] = std::min(ranges->low[i], static_cast<double>(log_work[i]));
    ranges->high[i] = std::max(ranges->high[i], static_cast<double>(log_work[i]));
  }
}

CallTerms TermsOf(const CallKind& call, double log_latency, const WorkRanges& ranges) {
  CallTerms t{};
  const double x = (log_latency - 4) / 4;
  const auto& [group, log_work] = call;
  t[0] = 1;
  t[1] = x;
  t[2 + 2 * group] = 1;
  t[3 + 2 * group] = x;
  // Older calibrations know fewer kinds of work.
  const bool has_ranges = ranges.low.size() >= kFewestWorkTerms && ranges.high.size() == ranges.low.size();
  for (size_t i = 0; i < kWorkTerms; ++i) {
    if (log_work[i] == kNoWork) continue;
    double v = log_work[i];
    if (has_ranges) {
      if (i >= ranges.low.size() || ranges.low[i] > ranges.high[i]) continue;  // the probe had no such work
      v = std::clamp(v, ranges.low[i] - kBeyondRange, ranges.high[i] + kBeyondRange);
    }
    t[kGroupTerms + 2 * i] = v / kWorkScale;
    t[kGroupTerms + 2 * i + 1] = v * v / (kWorkScale * kWorkScale);
  }
  return t;
}

std::vector<double> SolveRobust(const std::vector<CallRow>& rows, Terms terms) {
  constexpr double kHuber = 0.05;  // larger than the scatter of undisturbed probes
  constexpr int kMostRounds = 30;
  constexpr double kSettled = 1e-3;  // of the log-ratio
  std::vector<double> solution(kTerms, 0.0);
  if (terms == Terms::kNothing) return solution;
  std::vector<double> weights, sums(rows.size(), 0.0);
  for (const CallRow& row : rows) weights.push_back(row.weight);
  for (int round = 0; round < kMostRounds; ++round) {
    solution = SolveRidge(rows, weights, terms);
    double moved = 0;
    for (size_t r = 0; r < rows.size(); ++r) {
      const double sum = WeightedSum(rows[r].terms, solution), residual = std::fabs(rows[r].log_ratio - sum);
      moved = std::max(moved, std::fabs(sum - sums[r]));
      sums[r] = sum;
      weights[r] = rows[r].weight * (residual <= kHuber ? 1 : kHuber / residual);
    }
    if (moved < kSettled) break;
  }
  return solution;
}

double WeightedSum(const CallTerms& terms, const std::vector<double>& weights) {
  double sum = 0;
  for (size_t i = 0; i < std::min<size_t>(terms.size(), weights.size()); ++i) sum += terms[i] * weights[i];
  return sum;
}

}  // namespace cobra::predict
