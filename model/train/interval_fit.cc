#include "model/train/interval_fit.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>

#include "base/status_macros.h"
#include "model/train/metrics.h"
#include "model/train/trainer.h"

namespace cobra {
namespace {

constexpr size_t kFewest = 50;         // rows to tell kinds by
constexpr double kLeastOffBy = 0.003;  // below it an error says more about the measurement than about the answer
constexpr double kCoverage = 0.9;

absl::StatusOr<IntervalWidth> FitWidth(absl::string_view directory, const Dataset& data, bool networks) {
  const auto validation = RowsOf(data, Split::kValidation, networks), kept = RowsOf(data, Split::kInterval, networks);
  COBRA_ASSIGN_OR_RETURN(const Predictions on_validation, PredictSamples(directory, validation));
  COBRA_ASSIGN_OR_RETURN(const Predictions on_kept, PredictSamples(directory, kept));
  std::vector<double> off_by, scores;
  for (size_t i = 0; i < validation.size(); ++i) off_by.push_back(OffBy(*validation[i], on_validation.latency_us[i]));
  IntervalWidth width;
  width.spread = FitSpread(on_validation.embedding, off_by);
  for (size_t i = 0; i < kept.size(); ++i)
    scores.push_back(OffBy(*kept[i], on_kept.latency_us[i]) / SpreadOf(width.spread, on_kept.embedding[i]));
  width.half_width = ConformalQuantile(std::move(scores), kCoverage);
  return width;
}

}  // namespace

SpreadModel FitSpread(const std::vector<std::vector<float>>& embeddings, const std::vector<double>& off_by) {
  SpreadModel model;
  if (off_by.size() < kFewest) return model;
  const int64_t n = static_cast<int64_t>(off_by.size()), width = static_cast<int64_t>(embeddings[0].size());
  at::Tensor x = at::empty({n, width}, at::kDouble), y = at::empty({n}, at::kDouble);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < width; ++k)
      x.data_ptr<double>()[i * width + k] = embeddings[static_cast<size_t>(i)][static_cast<size_t>(k)];
    y.data_ptr<double>()[i] = std::log(off_by[static_cast<size_t>(i)] + kLeastOffBy);
  }
  const at::Tensor middle = x.mean(0), level = y.mean();
  x = x - middle;
  y = y - level;
  double best = std::numeric_limits<double>::infinity();
  at::Tensor weights;
  for (double penalty : {3., 10., 30., 100., 300., 1000., 3000.}) {
    const at::Tensor inverse = at::linalg_inv(x.t().mm(x) + penalty * at::eye(width, x.options()));
    const at::Tensor w = inverse.mv(x.t().mv(y));
    const at::Tensor leverage = (x.mm(inverse) * x).sum(1) + 1.0 / static_cast<double>(n);
    const double off = ((y - x.mv(w)) / (1 - leverage)).square().mean().item<double>();
    if (off >= best) continue;
    best = off;
    weights = w;
  }
  model.bias = (level - weights.dot(middle)).item<double>();
  for (int64_t k = 0; k < width; ++k) model.weights.push_back(static_cast<float>(weights.data_ptr<double>()[k]));
  return model;
}

double OffBy(const Sample& measured, double predicted_us) {
  return std::fabs(std::log(predicted_us / measured.latency_us));
}

absl::StatusOr<IntervalWidths> FitIntervals(absl::string_view directory, const Dataset& data) {
  IntervalWidths widths;
  COBRA_ASSIGN_OR_RETURN(widths.layer, FitWidth(directory, data, false));
  COBRA_ASSIGN_OR_RETURN(widths.network, FitWidth(directory, data, true));
  return widths;
}

}  // namespace cobra
