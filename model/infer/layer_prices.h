// What a layer takes by itself on a target: model/net/layer_head.h at inference.
#ifndef COBRA_MODEL_INFER_LAYER_PRICES_H_
#define COBRA_MODEL_INFER_LAYER_PRICES_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/infer/linear.h"
#include "model/net/config.h"

namespace cobra::infer {

// What follows from a target by itself; padded.
struct PriceTerms {
  std::vector<float> context, gains, changes;
};

class LayerPrices {
 public:
  static absl::StatusOr<LayerPrices> Create(const Tensors& tensors, const net::NetConfig& config);

  // `features`: a target's specification and its learned vector.
  PriceTerms TermsOf(const std::vector<float>& features) const;
  // Logarithms of microseconds: the sum of each layer's amounts of work times their prices.
  // `embeddings`: padded rows; `log_work`: [layers, work_terms], logarithms.
  std::vector<float> LogUs(const std::vector<float>& embeddings, absl::Span<const float> log_work,
                           const PriceTerms& target) const;

 private:
  int64_t stride_ = 0, work_terms_ = 0;
  Linear hidden_, target_, work_, hidden2_, out_, target_gain_, target_prices_;
};

// By how much a target multiplies each feature; padded to `stride`.
std::vector<float> Gains(const Linear& gain, const std::vector<float>& features, int64_t stride);

// Padded rows of the embeddings, [layers, width].
std::vector<float> PaddedRows(absl::Span<const float* const> layers, int64_t width);

}  // namespace cobra::infer

#endif  // COBRA_MODEL_INFER_LAYER_PRICES_H_
