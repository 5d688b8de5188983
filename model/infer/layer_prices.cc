#include "model/infer/layer_prices.h"

#include <algorithm>
#include <cmath>

#include "base/status_macros.h"

namespace cobra::infer {

absl::StatusOr<LayerPrices> LayerPrices::Create(const Tensors& tensors, const net::NetConfig& c) {
  LayerPrices prices;
  prices.stride_ = PaddedWidth(c.width);
  prices.work_terms_ = c.work_terms;
  COBRA_ASSIGN_OR_RETURN(prices.hidden_, tensors.LinearOf("layer_head.hidden", c.width, c.width));
  COBRA_ASSIGN_OR_RETURN(prices.target_,
                         tensors.LinearOf("layer_head.target", c.target_features, c.width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(prices.work_, tensors.LinearOf("layer_head.work", c.work_terms, c.width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(prices.hidden2_, tensors.LinearOf("layer_head.hidden2", c.width, c.width));
  COBRA_ASSIGN_OR_RETURN(prices.out_, tensors.LinearOf("layer_head.out", c.width, c.work_terms));
  COBRA_ASSIGN_OR_RETURN(prices.target_gain_,
                         tensors.LinearOf("layer_head.target_gain", c.target_features, c.width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(prices.target_prices_, tensors.LinearOf("layer_head.target_prices", c.target_features,
                                                                 c.work_terms, /*biased=*/false));
  return prices;
}

PriceTerms LayerPrices::TermsOf(const std::vector<float>& features) const {
  const int64_t work_stride = PaddedWidth(work_terms_);
  PriceTerms terms{Rows(1, stride_), Gains(target_gain_, features, stride_), Rows(1, work_stride)};
  target_.Apply(features.data(), 1, 0, terms.context.data(), stride_);
  target_prices_.Apply(features.data(), 1, 0, terms.changes.data(), work_stride);
  return terms;
}

std::vector<float> LayerPrices::LogUs(const std::vector<float>& embeddings, absl::Span<const float> log_work,
                                      const PriceTerms& target) const {
  const Kernels& kernels = BestKernels();
  const auto rows = static_cast<int64_t>(embeddings.size()) / stride_;
  const int64_t work_stride = PaddedWidth(work_terms_);
  const auto work_of = [&](int64_t row, int64_t term) {
    return log_work[static_cast<size_t>(row * work_terms_ + term)];
  };
  std::vector<float> work = Rows(rows, work_stride);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t term = 0; term < work_terms_; ++term)
      work[static_cast<size_t>(row * work_stride + term)] = std::max(work_of(row, term), 0.0f) / 10;
  }
  std::vector<float> h = Rows(rows, stride_), h2 = Rows(rows, stride_), prices = Rows(rows, work_stride);
  hidden_.Apply(embeddings.data(), rows, stride_, h.data(), stride_);
  work_.Apply(work.data(), rows, work_stride, h.data(), stride_, /*add=*/true);
  for (int64_t row = 0; row < rows; ++row)
    kernels.add_scaled(target.context.data(), 1, stride_, RowOf(h, row, stride_));
  kernels.gelu(h.data(), rows * stride_);
  hidden2_.Apply(h.data(), rows, stride_, h2.data(), stride_);
  kernels.gelu(h2.data(), rows * stride_);
  for (int64_t row = 0; row < rows; ++row) {
    float* const values = RowOf(h2, row, stride_);
    for (int64_t i = 0; i < stride_; ++i) values[i] *= target.gains[static_cast<size_t>(i)];
  }
  out_.Apply(h2.data(), rows, stride_, prices.data(), work_stride);
  std::vector<float> log_us, powers = Rows(1, work_stride);
  log_us.reserve(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    float* terms = RowOf(prices, row, work_stride);
    for (int64_t term = 0; term < work_terms_; ++term)
      terms[term] += target.changes[static_cast<size_t>(term)] + work_of(row, term);
    const float most = *std::max_element(terms, terms + work_terms_);
    for (int64_t term = 0; term < work_terms_; ++term) terms[term] -= most;
    kernels.exponentials(terms, work_stride, powers.data());
    float sum = 0;
    for (int64_t term = 0; term < work_terms_; ++term) sum += powers[static_cast<size_t>(term)];
    log_us.push_back(most + std::log(sum));
  }
  return log_us;
}

std::vector<float> Gains(const Linear& gain, const std::vector<float>& features, int64_t stride) {
  std::vector<float> gains = Rows(1, stride);
  gain.Apply(features.data(), 1, 0, gains.data(), stride);
  for (float& g : gains) g += 1;
  return gains;
}

std::vector<float> PaddedRows(absl::Span<const float* const> layers, int64_t width) {
  const int64_t stride = PaddedWidth(width);
  std::vector<float> rows = Rows(static_cast<int64_t>(layers.size()), stride);
  for (size_t row = 0; row < layers.size(); ++row)
    std::copy_n(layers[row], width, RowOf(rows, static_cast<int64_t>(row), stride));
  return rows;
}

}  // namespace cobra::infer
