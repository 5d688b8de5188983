#include "model/infer/encoder.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::infer {
namespace {

// So many rows stay in a core's cache from one map to the next.
constexpr int64_t kRowsTogether = 256;

}  // namespace

absl::StatusOr<Encoder> Encoder::Create(const Tensors& tensors, const net::NetConfig& c) {
  Encoder encoder;
  encoder.width_ = c.width;
  encoder.stride_ = PaddedWidth(c.width);
  encoder.heads_ = c.heads;
  encoder.feed_forward_ = c.feed_forward;
  COBRA_ASSIGN_OR_RETURN(encoder.token_, tensors.TableOf("encoder.token.weight", c.vocabulary_size, c.width));
  COBRA_ASSIGN_OR_RETURN(encoder.gate_, tensors.TableOf("encoder.gate.weight", c.vocabulary_size, c.width));
  COBRA_ASSIGN_OR_RETURN(encoder.value_, tensors.LinearOf("encoder.value", c.value_features, c.width));
  for (int64_t i = 0; i < c.encoder_layers; ++i) {
    const std::string name = absl::StrCat("encoder.block", i);
    Block block;
    COBRA_ASSIGN_OR_RETURN(block.norm1, tensors.NormOf(name + ".norm1", c.width));
    COBRA_ASSIGN_OR_RETURN(block.norm2, tensors.NormOf(name + ".norm2", c.width));
    COBRA_ASSIGN_OR_RETURN(block.qkv, tensors.LinearOf(name + ".qkv", c.width, 3 * c.width));
    COBRA_ASSIGN_OR_RETURN(block.out, tensors.LinearOf(name + ".out", c.width, c.width));
    COBRA_ASSIGN_OR_RETURN(block.up, tensors.LinearOf(name + ".up", c.width, c.feed_forward));
    COBRA_ASSIGN_OR_RETURN(block.down, tensors.LinearOf(name + ".down", c.feed_forward, c.width));
    encoder.blocks_.push_back(std::move(block));
  }
  COBRA_ASSIGN_OR_RETURN(encoder.norm_, tensors.NormOf("encoder.norm", c.width));
  return encoder;
}

// The features of a number pass through a map shared by all numbers, scaled by a gate of the number's token.
void Encoder::Embed(absl::Span<const std::vector<text::Token>* const> texts, Batch* batch) const {
  batch->begins = {0};
  for (const auto* tokens : texts) batch->begins.push_back(batch->begins.back() + static_cast<int64_t>(tokens->size()));
  batch->rows = batch->begins.back();
  const int64_t feature_stride = PaddedWidth(text::kNumValueFeatures);
  std::vector<float> features = Rows(batch->rows, feature_stride);
  std::vector<float> values = Rows(batch->rows, stride_);
  int64_t row = 0;
  for (const auto* tokens : texts) {
    for (const text::Token& token : *tokens) {
      if (token.numeric) {
        const auto of_number = text::ValueFeatures(token.value);
        std::copy(of_number.begin(), of_number.end(), &features[static_cast<size_t>(row * feature_stride)]);
      }
      ++row;
    }
  }
  value_.Apply(features.data(), batch->rows, feature_stride, values.data(), stride_);
  batch->x = Rows(batch->rows, stride_);
  row = 0;
  for (const auto* tokens : texts) {
    for (const text::Token& token : *tokens) {
      BestKernels().gated(&values[static_cast<size_t>(row * stride_)], gate_.Row(token.id), token_.Row(token.id),
                          stride_, &batch->x[static_cast<size_t>(row * stride_)]);
      ++row;
    }
  }
}

// Attention among the tokens of one list, head by head. Keys and values are laid out as the weights of a map are.
void Encoder::Attend(const Batch& batch, int64_t begin, int64_t tokens, float* mixed) const {
  const Kernels& kernels = BestKernels();
  const int64_t head = width_ / heads_, qkv_stride = PaddedWidth(3 * width_);
  const int64_t key_stride = PaddedWidth(tokens), value_stride = PaddedWidth(head);
  std::vector<float> keys = Rows(key_stride, head), values = Rows(tokens, value_stride);
  std::vector<float> scores = Rows(tokens, key_stride), out = Rows(tokens, value_stride);
  const float* qkv = &batch.wide[static_cast<size_t>(begin * qkv_stride)];
  const auto scale = static_cast<float>(1 / std::sqrt(static_cast<double>(head)));
  for (int64_t h = 0; h < heads_; ++h) {
    const float *query = qkv + h * head, *key = query + width_, *value = key + width_;
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t i = 0; i < head; ++i) {
        const int64_t key_at = (t / kLaneFloats * head + i) * kLaneFloats + t % kLaneFloats;
        const int64_t value_at = (i / kLaneFloats * tokens + t) * kLaneFloats + i % kLaneFloats;
        keys[static_cast<size_t>(key_at)] = key[t * qkv_stride + i];
        values[static_cast<size_t>(value_at)] = value[t * qkv_stride + i];
      }
    }
    kernels.product(query, tokens, qkv_stride, keys.data(), head, tokens, nullptr, false, scores.data(), key_stride);
    kernels.softmax(scores.data(), tokens, tokens, key_stride, scale);
    kernels.product(scores.data(), tokens, key_stride, values.data(), tokens, head, nullptr, false, out.data(),
                    value_stride);
    for (int64_t t = 0; t < tokens; ++t)
      std::copy_n(&out[static_cast<size_t>(t * value_stride)], head, mixed + t * stride_ + h * head);
  }
}

void Encoder::Run(const Block& block, Batch* batch) const {
  const int64_t rows = batch->rows, wide_stride = PaddedWidth(3 * width_), up_stride = PaddedWidth(feed_forward_);
  block.norm1.Apply(batch->x.data(), rows, stride_, batch->normed.data());
  block.qkv.Apply(batch->normed.data(), rows, stride_, batch->wide.data(), wide_stride);
  for (size_t i = 0; i + 1 < batch->begins.size(); ++i) {
    const int64_t begin = batch->begins[i];
    Attend(*batch, begin, batch->begins[i + 1] - begin, &batch->mixed[static_cast<size_t>(begin * stride_)]);
  }
  block.out.Apply(batch->mixed.data(), rows, stride_, batch->x.data(), stride_, /*add=*/true);
  block.norm2.Apply(batch->x.data(), rows, stride_, batch->normed.data());
  block.up.Apply(batch->normed.data(), rows, stride_, batch->wide.data(), up_stride);
  BestKernels().gelu(batch->wide.data(), rows * up_stride);
  block.down.Apply(batch->wide.data(), rows, up_stride, batch->x.data(), stride_, /*add=*/true);
}

std::vector<float> Encoder::Encode(absl::Span<const std::vector<text::Token>* const> texts) const {
  std::vector<float> means = Rows(static_cast<int64_t>(texts.size()), stride_);
  size_t first = 0;
  while (first < texts.size()) {
    int64_t rows = 0;
    size_t end = first;
    for (; end < texts.size() && (end == first || rows + static_cast<int64_t>(texts[end]->size()) <= kRowsTogether);
         ++end)
      rows += static_cast<int64_t>(texts[end]->size());
    Batch batch;
    Embed(texts.subspan(first, end - first), &batch);
    batch.normed = Rows(rows, stride_);
    batch.wide = Rows(rows, PaddedWidth(std::max(3 * width_, feed_forward_)));
    batch.mixed = Rows(rows, stride_);
    for (const Block& block : blocks_) Run(block, &batch);
    for (size_t i = 0; i + 1 < batch.begins.size(); ++i) {
      const int64_t tokens = batch.begins[i + 1] - batch.begins[i];
      float* mean = &means[(first + i) * static_cast<size_t>(stride_)];
      for (int64_t row = batch.begins[i]; row < batch.begins[i + 1]; ++row)
        BestKernels().add_scaled(&batch.x[static_cast<size_t>(row * stride_)], 1.0f / static_cast<float>(tokens),
                                 stride_, mean);
    }
    first = end;
  }
  norm_.Apply(means.data(), static_cast<int64_t>(texts.size()), stride_, means.data());
  if (stride_ == width_) return means;
  std::vector<float> embeddings(texts.size() * static_cast<size_t>(width_));
  for (size_t i = 0; i < texts.size(); ++i)
    std::copy_n(&means[i * static_cast<size_t>(stride_)], width_, &embeddings[i * static_cast<size_t>(width_)]);
  return embeddings;
}

}  // namespace cobra::infer
