#include "model/predict/probe_design.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "graph/cost.h"
#include "model/predict/operator_group.h"

namespace cobra::predict {
namespace {

using Shares = std::array<double, kNumOperatorGroups>;
using Matrix = std::array<Shares, kNumOperatorGroups>;

// One core of a server, roughly: which calls are limited by memory hardly depends on the machine.
constexpr double kMacsPerUs = 50e3, kBytesPerUs = 10e3, kCallUs = 2;
// What a measurement takes beside its runs: loading, warming up, repeats until its median is certain.
constexpr double kRuns = 12, kLoadUs = 3e5;
// Before anything was measured: log-ratios of groups scatter by a third, a measured network by a tenth of that.
constexpr double kPrior = 0.3 * 0.3, kNoise = 0.03 * 0.03;

struct Candidate {
  Shares shares{};
  double measuring_us = kLoadUs;
};

Candidate CandidateOf(const graph::Graph& graph) {
  Candidate candidate;
  double total = 0;
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
  for (size_t i = 0; i < costs.size(); ++i) {
    const OperatorGroup group = OperatorGroupOf(graph, graph.nodes()[i]);
    if (group == kOther) continue;
    const double bytes = static_cast<double>(costs[i].input_bytes + costs[i].weight_bytes + costs[i].output_bytes);
    const double us = kCallUs + std::max(static_cast<double>(costs[i].macs) / kMacsPerUs, bytes / kBytesPerUs);
    candidate.shares[group] += us;
    total += us;
  }
  for (double& share : candidate.shares) share /= std::max(total, kCallUs);
  candidate.measuring_us += kRuns * total;
  return candidate;
}

double SharesDot(const Shares& a, const Shares& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

Shares Spread(const Matrix& matrix, const Shares& x) {
  Shares y;
  for (size_t i = 0; i < x.size(); ++i) y[i] = SharesDot(matrix[i], x);
  return y;
}

}  // namespace

std::vector<size_t> DesignProbe(absl::Span<const graph::Graph* const> pool, size_t count) {
  std::vector<Candidate> candidates;
  candidates.reserve(pool.size());
  Matrix moments{};  // of the pool: the sum of shares * shares'
  for (const graph::Graph* graph : pool) {
    const Shares shares = candidates.emplace_back(CandidateOf(*graph)).shares;
    for (size_t i = 0; i < shares.size(); ++i) {
      for (size_t j = 0; j < shares.size(); ++j) moments[i][j] += shares[i] * shares[j];
    }
  }
  Matrix covariance{};  // of the groups' log-ratios
  for (size_t i = 0; i < covariance.size(); ++i) covariance[i][i] = kPrior;
  std::vector<size_t> chosen;
  std::vector<bool> is_chosen(pool.size());
  while (chosen.size() < std::min(count, pool.size())) {
    size_t best = pool.size();
    double best_gain = -1;
    for (size_t k = 0; k < candidates.size(); ++k) {
      if (is_chosen[k]) continue;
      // By how much the sum of variances falls: the covariance loses u u' / (noise + x' u), with u = covariance x.
      const Shares u = Spread(covariance, candidates[k].shares);
      const double gain = SharesDot(u, Spread(moments, u)) / (kNoise + SharesDot(candidates[k].shares, u));
      if (gain / candidates[k].measuring_us <= best_gain) continue;
      best = k;
      best_gain = gain / candidates[k].measuring_us;
    }
    if (best == pool.size()) break;
    const Shares u = Spread(covariance, candidates[best].shares);
    const double scale = 1 / (kNoise + SharesDot(candidates[best].shares, u));
    for (size_t i = 0; i < u.size(); ++i) {
      for (size_t j = 0; j < u.size(); ++j) covariance[i][j] -= scale * u[i] * u[j];
    }
    chosen.push_back(best);
    is_chosen[best] = true;
  }
  return chosen;
}

}  // namespace cobra::predict
