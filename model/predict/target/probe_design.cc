#include "model/predict/target/probe_design.h"

#include <algorithm>
#include <cmath>

#include "graph/cost/cost.h"
#include "model/predict/target/operator_group.h"
#include "model/predict/target/rough_time.h"
#include "model/predict/target/small_matrix.h"

namespace cobra::predict {
namespace {

using Shares = SmallVector<kNumOperatorGroups>;
using Matrix = SmallMatrix<kNumOperatorGroups>;

constexpr double kCallUs = 2;
// What a measurement takes beside its runs: loading, warming up, repeats until its median is
// certain.
constexpr double kRuns = 12, kLoadUs = 3e5;
// Before anything was measured: log-ratios of groups scatter by a third, a measured network by a
// tenth of that.
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
    const double us = kCallUs + RoughUs(costs[i]);
    candidate.shares[group] += us;
    total += us;
  }
  for (double& share : candidate.shares) share /= std::max(total, kCallUs);
  candidate.measuring_us += kRuns * total;
  return candidate;
}

}  // namespace

std::vector<size_t> DesignProbe(absl::Span<const graph::Graph* const> pool, size_t count) {
  std::vector<Candidate> candidates;
  candidates.reserve(pool.size());
  Matrix moments{};  // of the pool: the sum of shares * shares'
  for (const graph::Graph* graph : pool) {
    AddOuter(candidates.emplace_back(CandidateOf(*graph)).shares, 1, &moments);
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
      // By how much the sum of variances falls: the covariance loses u u' / (noise + x' u), with u
      // = covariance x.
      const Shares u = Product(covariance, candidates[k].shares);
      const double gain = Dot(u, Product(moments, u)) / (kNoise + Dot(candidates[k].shares, u));
      if (gain / candidates[k].measuring_us <= best_gain) continue;
      best = k;
      best_gain = gain / candidates[k].measuring_us;
    }
    if (best == pool.size()) break;
    const Shares u = Product(covariance, candidates[best].shares);
    AddOuter(u, -1 / (kNoise + Dot(candidates[best].shares, u)), &covariance);
    chosen.push_back(best);
    is_chosen[best] = true;
  }
  return chosen;
}

}  // namespace cobra::predict
