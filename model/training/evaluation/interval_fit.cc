#include "model/training/evaluation/interval_fit.h"

#include <torch/optim/lbfgs.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "model/training/rows/metrics.h"
#include "model/training/trainer.h"

namespace cobra::training {
namespace {

constexpr size_t kFewest = 50;         // rows needed to distinguish kinds of layers
constexpr size_t kFewestFamilies = 5;  // fewer leave too little to hold one against
constexpr double kLeastOffBy = 0.003;  // a smaller error depends more on the measurement than on the prediction
constexpr double kCoverage = 0.9;
constexpr int64_t kFolds = 10;
constexpr double kOutermost = 0.05;  // share of the rows at either end, where the line is too low or too high

// A line on the embedding; the share kCoverage of the logarithms lies below it.
struct Line {
  torch::Tensor middle, weights, level;
  torch::Tensor Of(const torch::Tensor& x) const { return (x - middle).mv(weights) + level; }
};

// Minimizes the pinball loss. Its corner is rounded over about 0.05: L-BFGS needs a continuous
// gradient.
Line FitLine(const torch::Tensor& x, const torch::Tensor& y, double penalty) {
  constexpr double kSharpness = 20;
  Line line = {x.mean(0), torch::zeros({x.size(1)}, x.options()), torch::quantile(y, kCoverage)};
  const torch::Tensor centred = x - line.middle;
  const auto options = torch::optim::LBFGSOptions(1).max_iter(200).line_search_fn("strong_wolfe");
  torch::optim::LBFGS optimizer(std::vector<torch::Tensor>{line.weights, line.level}, options);
  optimizer.step([&] {
    const torch::Tensor above = y - (centred.mv(line.weights) + line.level);
    const torch::Tensor pull = (1 - kCoverage) - torch::sigmoid(above * kSharpness);  // d loss / d line for each row
    line.weights.mutable_grad() = centred.t().mv(pull) + penalty * line.weights;
    line.level.mutable_grad() = pull.sum();
    return (torch::softplus(above, kSharpness) - (1 - kCoverage) * above).sum() +
           penalty / 2 * line.weights.dot(line.weights);
  });
  return line;
}

double PinballLoss(const torch::Tensor& above) {
  return torch::maximum(kCoverage * above, (kCoverage - 1) * above).mean().item<double>();
}

// Fits each row's line to the rows of the other folds.
torch::Tensor OutOfFold(const torch::Tensor& x, const torch::Tensor& y, const torch::Tensor& fold, double penalty) {
  torch::Tensor spread = torch::empty_like(y);
  for (int64_t k = 0; k < kFolds; ++k) {
    const torch::Tensor inside = (fold == k).nonzero().squeeze(1), others = (fold != k).nonzero().squeeze(1);
    const Line line = FitLine(x.index_select(0, others), y.index_select(0, others), penalty);
    spread.index_copy_(0, inside, line.Of(x.index_select(0, inside)));
  }
  return spread;
}

struct Rows {
  std::vector<std::vector<float>> embeddings;
  std::vector<double> off_by;
  std::vector<int64_t> family;  // of each, numbered in their order
  int64_t families = 0;
};

// What is split as a whole (SplitOf, dataset.h), since it errs together; any other row is a family
// of its own.
std::string FamilyOf(const Sample& row) {
  const absl::string_view space = row.space();
  return absl::StrCat(space == "torchvision" || space == "timm" || space == "graphs" ? row.label() : row.fingerprint());
}

absl::Status AddRows(absl::string_view directory, const std::vector<const Sample*>& samples, int target, Rows* rows) {
  COBRA_ASSIGN_OR_RETURN(Predictions p, PredictSamples(directory, samples, target));
  absl::flat_hash_map<std::string, int64_t> families;
  for (size_t i = 0; i < samples.size(); ++i) {
    const auto next = static_cast<int64_t>(families.size());
    rows->family.push_back(rows->families + families.try_emplace(FamilyOf(*samples[i]), next).first->second);
    rows->off_by.push_back(AbsLogError(p.latency_us[i], samples[i]->latency_us()));
    rows->embeddings.push_back(std::move(p.embedding[i]));
  }
  rows->families += static_cast<int64_t>(families.size());
  return absl::OkStatus();
}

absl::StatusOr<predict::IntervalWidth> FitWidth(absl::string_view directory, const Dataset& data, int target,
                                                bool networks, std::vector<double>* all_scores = nullptr) {
  Rows rows;
  for (Split split : kIntervalSplits)
    COBRA_RETURN_IF_ERROR(AddRows(directory, RowsOf(data, split, networks), target, &rows));
  SpreadFit fit = FitSpread(rows.embeddings, rows.off_by, rows.family);
  std::vector<double> scores;
  for (size_t i = 0; i < rows.off_by.size(); ++i) scores.push_back(rows.off_by[i] / fit.out_of_fold[i]);
  if (all_scores != nullptr) *all_scores = scores;
  return predict::IntervalWidth{ConformalQuantile(std::move(scores), kCoverage), std::move(fit.model)};
}

}  // namespace

SpreadFit FitSpread(const std::vector<std::vector<float>>& embeddings, const std::vector<double>& off_by,
                    const std::vector<int64_t>& family) {
  if (off_by.size() < kFewest) return {{}, std::vector<double>(off_by.size(), 1)};
  const int64_t n = static_cast<int64_t>(off_by.size()), width = static_cast<int64_t>(embeddings[0].size());
  torch::Tensor x = torch::empty({n, width}, torch::kDouble), y = torch::empty({n}, torch::kDouble);
  for (int64_t i = 0; i < n; ++i) {
    std::copy_n(embeddings[static_cast<size_t>(i)].begin(), width, x.data_ptr<double>() + i * width);
    y.data_ptr<double>()[i] = std::log(off_by[static_cast<size_t>(i)] + kLeastOffBy);
  }
  const bool are_related = std::set<int64_t>(family.begin(), family.end()).size() >= kFewestFamilies;
  const torch::Tensor fold = (are_related ? torch::tensor(family, torch::kLong) : torch::arange(n)) % kFolds;
  double least_loss = std::numeric_limits<double>::infinity(), best_penalty = 0;
  torch::Tensor best;
  for (double penalty : {0.15, 0.5, 1.5, 5., 15., 50., 150., 500.}) {
    const torch::Tensor spread = OutOfFold(x, y, fold, penalty);
    const double loss = PinballLoss(y - spread);
    if (loss >= least_loss) continue;
    least_loss = loss, best_penalty = penalty, best = spread;
  }
  const Line line = FitLine(x, y, best_penalty);
  const torch::Tensor fitted = line.Of(x);
  const double least = torch::quantile(fitted, kOutermost).item<double>(),
               greatest = torch::quantile(fitted, 1 - kOutermost).item<double>();
  const torch::Tensor held = best.clamp(least, greatest).exp();
  SpreadFit fit;
  fit.model = {(line.level - line.weights.dot(line.middle)).item<double>(), {}, least, greatest};
  for (int64_t k = 0; k < width; ++k)
    fit.model.weights.push_back(static_cast<float>(line.weights.data_ptr<double>()[k]));
  fit.out_of_fold.assign(held.data_ptr<double>(), held.data_ptr<double>() + n);
  return fit;
}

absl::StatusOr<IntervalFit> FitIntervals(absl::string_view directory, const Dataset& data, int target) {
  IntervalFit fit;
  COBRA_ASSIGN_OR_RETURN(fit.widths.layer, FitWidth(directory, data, target, false));
  COBRA_ASSIGN_OR_RETURN(fit.widths.network, FitWidth(directory, data, target, true, &fit.network_scores));
  return fit;
}

void PoolFewNetworks(absl::Span<const predict::TargetSpec* const> targets, absl::Span<IntervalFit> fits) {
  std::map<std::string, std::vector<double>> pools;
  const auto key = [&](size_t t) {
    const predict::TargetSpec& spec = *targets[t];
    return absl::StrCat(spec.kind, " ", predict::RuntimeFamily(spec), " ", spec.compile);
  };
  // Scores of targets with a spread are in units of it.
  const auto has_spread = [&](size_t t) { return !fits[t].widths.network.spread.weights.empty(); };
  for (size_t t = 0; t < fits.size(); ++t) {
    std::vector<double>& pool = pools[key(t)];
    if (!has_spread(t)) pool.insert(pool.end(), fits[t].network_scores.begin(), fits[t].network_scores.end());
  }
  for (size_t t = 0; t < fits.size(); ++t) {
    const std::vector<double>& pool = pools[key(t)];
    if (has_spread(t) || fits[t].network_scores.size() >= kFewNetworks || pool.size() <= fits[t].network_scores.size())
      continue;
    fits[t].widths.network.half_width = ConformalQuantile(pool, kCoverage);
  }
}

}  // namespace cobra::training
