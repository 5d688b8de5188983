#include "model/training/selection/active_gaussian_process.h"

#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace cobra::training {
namespace {

constexpr int64_t kFeatures = 512;    // of the kernel: sines and cosines of half as many random directions
constexpr double kLength = 0.6;       // of the kernel, in median distances between layers
constexpr double kNoise = 0.02;       // variance of a measurement around the process, over the process's own
constexpr double kWorstError = 1;     // of one try: a factor of e. Larger errors count as this one
constexpr double kPriorTries = 3;     // the mean over all kinds counts as this many tries of each kind
constexpr int64_t kContenders = 512;  // this many of the best are compared exactly ...
constexpr int64_t kPicks = 64;        // ... until this many are chosen; then all are scored again

at::Tensor VectorsOf(const LayerSet& set) {
  return at::from_blob(const_cast<float*>(set.vectors.values.data()),
                       {static_cast<int64_t>(set.size()), set.vectors.width}, at::kFloat);
}

// The model's error on layers of a kind, relative to its mean error, from tries of layers that it
// was not trained on. A kind without tries is taken to be as hard as the hardest.
class KindErrors {
 public:
  explicit KindErrors(const SelectionTask& task) {
    if (task.tried.size() == 0) return;
    std::map<std::string, std::pair<double, double>> sums;  // errors, tries
    double all = 0;
    for (size_t i = 0; i < task.tried.size(); ++i) {
      const double error = std::min(kWorstError, task.tried_error[i]);
      auto& [sum, tries] = sums[task.tried.kinds[i]];
      sum += error;
      tries += 1;
      all += error;
    }
    all = std::max(1e-6, all / static_cast<double>(task.tried.size()));
    for (const auto& [kind, s] : sums) {
      const double error = (s.first + kPriorTries * all) / (s.second + kPriorTries) / all;
      errors_[kind] = error;
      hardest_ = std::max(hardest_, error);
    }
  }
  double Of(const std::string& kind) const {
    const auto it = errors_.find(kind);
    return it == errors_.end() ? hardest_ : it->second;
  }

 private:
  std::map<std::string, double> errors_;
  double hardest_ = 1;
};

// Random Fourier features (Rahimi and Recht 2007) of exp(-|x - y|^2 / (2 l^2)), times the error of
// the layer's kind.
class FeatureMap {
 public:
  explicit FeatureMap(const SelectionTask& task) : errors_(task) {
    const int64_t width = task.pool.vectors.width;
    std::mt19937_64 random(1);
    std::normal_distribution<float> normal;
    directions_ = at::empty({width, kFeatures / 2}, at::kFloat);
    for (int64_t i = 0; i < directions_.numel(); ++i) directions_.data_ptr<float>()[i] = normal(random);
    const at::Tensor targets = VectorsOf(task.targets);
    const at::Tensor some = targets.narrow(0, 0, std::min<int64_t>(300, targets.size(0)));
    directions_ /= std::max(1e-3, kLength * at::cdist(some, some).median().item<double>());
  }

  at::Tensor operator()(const LayerSet& set) const {  // [layers, kFeatures]
    const int64_t n = static_cast<int64_t>(set.size());
    if (n == 0) return at::zeros({0, kFeatures}, at::kFloat);
    at::Tensor scale = at::empty({n, 1}, at::kFloat);
    for (int64_t i = 0; i < n; ++i) {
      scale.data_ptr<float>()[i] = static_cast<float>(errors_.Of(set.kinds[static_cast<size_t>(i)]) *
                                                      std::sqrt(2.0 / static_cast<double>(kFeatures)));
    }
    const at::Tensor angles = at::matmul(VectorsOf(set), directions_);
    return at::cat({angles.cos(), angles.sin()}, 1) * scale;
  }

 private:
  const KindErrors errors_;
  at::Tensor directions_;
};

// S: the posterior covariance of the weights; v_i = f_i S f_i: the variance of a layer; M: the mean
// over the targets of f f'; g_i = f_i S M S f_i. Measuring i reduces the mean variance of the
// targets by g_i / (noise + v_i).
struct Posterior {
  at::Tensor covariance;  // S [features, features], float
  at::Tensor second;      // M, likewise
};

struct Scores {
  at::Tensor variance, gain;  // [layers]
  // The value of measuring each layer.
  at::Tensor Value(Strategy rule) const {
    return rule == Strategy::kInformation ? (variance.clamp_min(0) / kNoise).log1p() : gain / (variance + kNoise);
  }
};

Scores ScoresOf(const at::Tensor& layers, const Posterior& p) {
  const at::Tensor spread = at::matmul(layers, p.covariance);
  return {(spread * layers).sum(1), (at::matmul(spread, p.second) * spread).sum(1)};
}

// Returns up to kPicks contenders, each the best one after those before it. `closed` is infinite
// for a contender that is chosen or does not fit into the budget. After measuring j, with p = S
// f_j, d = noise + v_j, c = F p:
//   S -= p p' / d,  v -= c^2 / d,  g += c^2 (p' M p) / d^2 - 2 c (F S M p) / d
std::vector<int64_t> PickExactly(const at::Tensor& layers, const std::vector<double>& cost_s, double budget_s,
                                 Strategy rule, Posterior p) {
  Scores s = ScoresOf(layers, p);
  p.covariance = p.covariance.clone();
  const int64_t n = layers.size(0);
  at::Tensor cost = at::empty({n}, at::kFloat), closed = at::zeros({n}, at::kFloat);
  for (int64_t i = 0; i < n; ++i) cost.data_ptr<float>()[i] = static_cast<float>(cost_s[static_cast<size_t>(i)]);
  std::vector<int64_t> picks;
  while (static_cast<int64_t>(picks.size()) < std::min(n, kPicks)) {
    const int64_t j = (s.Value(rule) / cost - closed).argmax().item<int64_t>();
    float* is_closed = closed.data_ptr<float>() + j;
    if (*is_closed > 0) break;
    *is_closed = std::numeric_limits<float>::infinity();
    if (cost_s[static_cast<size_t>(j)] > budget_s) continue;
    budget_s -= cost_s[static_cast<size_t>(j)];
    picks.push_back(j);
    const at::Tensor to_j = at::mv(p.covariance, layers[j]);
    const double d = kNoise + at::dot(layers[j], to_j).item<double>();
    const at::Tensor second_j = at::mv(p.second, to_j);
    const at::Tensor c = at::mv(layers, to_j), h = at::mv(layers, at::mv(p.covariance, second_j));
    s.gain += c * c * (at::dot(to_j, second_j).item<double>() / (d * d)) - c * h * (2 / d);
    s.variance -= c * c / d;
    p.covariance -= at::outer(to_j, to_j) / d;
  }
  return picks;
}

}  // namespace

Selection SelectByGaussianProcess(const SelectionTask& task, const SelectionOptions& options) {
  at::InferenceMode inference;
  const FeatureMap features(task);
  const at::Tensor pool = features(task.pool), measured = features(task.measured), targets = features(task.targets);
  const int64_t n = pool.size(0);
  at::Tensor precision = at::eye(kFeatures, at::kDouble) + at::matmul(measured.t(), measured).to(at::kDouble) / kNoise;
  Posterior posterior;
  posterior.second = at::matmul(targets.t(), targets) / static_cast<double>(targets.size(0));
  std::vector<bool> taken(static_cast<size_t>(n));
  Selection selection;
  while (true) {
    posterior.covariance = at::linalg_inv(precision).to(at::kFloat);
    const at::Tensor values = ScoresOf(pool, posterior).Value(options.strategy).contiguous();
    std::vector<std::pair<double, int64_t>> open;  // value per second, index in the pool
    for (int64_t i = 0; i < n; ++i) {
      const double cost_s = task.cost_s[static_cast<size_t>(i)];
      if (taken[static_cast<size_t>(i)] || selection.seconds + cost_s > options.budget_s) continue;
      open.emplace_back(values.data_ptr<float>()[i] / cost_s, i);
    }
    if (open.empty()) return selection;
    const size_t contenders = std::min(open.size(), static_cast<size_t>(kContenders));
    std::partial_sort(open.begin(), open.begin() + static_cast<std::ptrdiff_t>(contenders), open.end(),
                      [](const auto& a, const auto& b) { return a > b; });
    at::Tensor places = at::empty({static_cast<int64_t>(contenders)}, at::kLong);
    std::vector<double> cost_s;
    for (size_t k = 0; k < contenders; ++k) {
      places.data_ptr<int64_t>()[k] = open[k].second;
      cost_s.push_back(task.cost_s[static_cast<size_t>(open[k].second)]);
    }
    const at::Tensor layers = pool.index_select(0, places);
    const std::vector<int64_t> picks =
        PickExactly(layers, cost_s, options.budget_s - selection.seconds, options.strategy, posterior);
    if (picks.empty()) return selection;
    for (int64_t pick : picks) {
      const size_t place = static_cast<size_t>(open[static_cast<size_t>(pick)].second);
      taken[place] = true;
      selection.chosen.push_back(place);
      selection.seconds += task.cost_s[place];
      const at::Tensor row = layers[pick].to(at::kDouble);
      precision += at::outer(row, row) / kNoise;
    }
  }
}

}  // namespace cobra::training
