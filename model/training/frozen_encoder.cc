#include "model/training/frozen_encoder.h"

#include <torch/utils.h>

#include <cstdint>
#include <vector>

namespace cobra::training {
namespace {

at::Tensor Longs(const std::vector<int64_t>& numbers, c10::Device device) {
  return at::tensor(numbers, at::TensorOptions(at::kLong)).to(device);
}

}  // namespace

FrozenEncoder::FrozenEncoder(net::CobraNet* net, const TextTable* texts) : net_(net), texts_(texts) {
  const at::NoGradGuard no_grad;
  for (const at::Tensor& parameter : net->encoder->parameters()) parameter.requires_grad_(false);
  for (const at::Tensor& parameter : net->layer_head->parameters()) parameter.requires_grad_(false);
  net->target_vectors.requires_grad_(false);
  std::vector<const std::vector<text::Token>*> all;
  for (int32_t text = 0; text < texts->size(); ++text) all.push_back(&texts->TokensOf(text));
  vectors_ = net::EncodeTexts(*net->encoder, all);
}

at::Tensor FrozenEncoder::VectorsOf(const Batch& batch) const {
  const at::NoGradGuard no_grad;
  std::vector<int64_t> numbers(batch.numbers.begin(), batch.numbers.end()), changed;
  std::vector<const std::vector<text::Token>*> changed_texts;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (batch.texts[i] == &texts_->TokensOf(batch.numbers[i])) continue;
    changed.push_back(static_cast<int64_t>(i));
    changed_texts.push_back(batch.texts[i]);
  }
  at::Tensor vectors = vectors_.index_select(0, Longs(numbers, vectors_.device()));
  if (!changed.empty())
    vectors.index_copy_(0, Longs(changed, vectors.device()), net::EncodeTexts(*net_->encoder, changed_texts));
  return vectors;
}

}  // namespace cobra::training
