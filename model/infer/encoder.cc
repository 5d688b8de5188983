#include "model/infer/encoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::infer {
namespace {

// So many rows stay in a core's cache from one map to the next.
constexpr size_t kRowsTogether = 256;

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

Encoder::TokenTable Encoder::DifferentTokens(absl::Span<const std::vector<text::Token>* const> texts) {
  TokenTable table;
  absl::flat_hash_map<std::tuple<int32_t, bool, uint32_t>, int32_t> rows;
  for (const auto* tokens : texts) {
    for (const text::Token& token : *tokens) {
      uint32_t bits;
      std::memcpy(&bits, &token.value, sizeof(bits));
      const auto [found, is_new] =
          rows.try_emplace({token.id, token.numeric, bits}, static_cast<int32_t>(table.tokens.size()));
      if (is_new) table.tokens.push_back(token);
      table.row_of_token.push_back(found->second);
    }
  }
  return table;
}

// The features of a number pass through a map shared by all numbers, scaled by a gate of the
// number's token.
void Encoder::Embed(TokenTable* table) const {
  const auto rows = static_cast<int64_t>(table->tokens.size());
  const int64_t feature_stride = PaddedWidth(text::kNumValueFeatures);
  std::vector<float> features = Rows(rows, feature_stride), values = Rows(rows, stride_);
  for (int64_t row = 0; row < rows; ++row) {
    const text::Token& token = table->tokens[static_cast<size_t>(row)];
    if (!token.numeric) continue;
    const auto of_number = text::ValueFeatures(token.value);
    std::copy(of_number.begin(), of_number.end(), RowOf(features, row, feature_stride));
  }
  value_.Apply(features.data(), rows, feature_stride, values.data(), stride_);
  table->x = Rows(rows, stride_);
  for (int64_t row = 0; row < rows; ++row) {
    const text::Token& token = table->tokens[static_cast<size_t>(row)];
    BestKernels().gated(RowOf(values, row, stride_), gate_.Row(token.id), token_.Row(token.id), stride_,
                        RowOf(table->x, row, stride_));
  }
  if (blocks_.empty()) return;
  std::vector<float> normed = Rows(rows, stride_);
  table->qkv = Rows(rows, PaddedWidth(3 * width_));
  Project(blocks_[0], table->x, rows, &normed, &table->qkv);
}

Encoder::Batch Encoder::TakeRows(const TokenTable& table, absl::Span<const std::vector<text::Token>* const> texts,
                                 size_t first_token) const {
  Batch batch;
  batch.begins = {0};
  for (const auto* tokens : texts) batch.begins.push_back(batch.begins.back() + static_cast<int64_t>(tokens->size()));
  batch.rows = batch.begins.back();
  batch.x = Rows(batch.rows, stride_);
  batch.normed = Rows(batch.rows, stride_);
  batch.mixed = Rows(batch.rows, stride_);
  batch.wide = Rows(batch.rows, PaddedWidth(std::max(3 * width_, feed_forward_)));
  const int64_t qkv_stride = PaddedWidth(3 * width_);
  for (int64_t row = 0; row < batch.rows; ++row) {
    const int64_t from = table.row_of_token[first_token + static_cast<size_t>(row)];
    std::copy_n(RowOf(table.x, from, stride_), stride_, RowOf(batch.x, row, stride_));
    if (!blocks_.empty())
      std::copy_n(RowOf(table.qkv, from, qkv_stride), qkv_stride, RowOf(batch.wide, row, qkv_stride));
  }
  return batch;
}

void Encoder::Project(const Block& block, const std::vector<float>& x, int64_t rows, std::vector<float>* normed,
                      std::vector<float>* qkv) const {
  block.norm1.Apply(x.data(), rows, stride_, normed->data());
  block.qkv.Apply(normed->data(), rows, stride_, qkv->data(), PaddedWidth(3 * width_));
}

// Attention among the tokens of one list, head by head. Keys and values are laid out as the weights
// of a map are.
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

void Encoder::AttendAll(const Block& block, Batch* batch) const {
  for (size_t i = 0; i + 1 < batch->begins.size(); ++i) {
    const int64_t begin = batch->begins[i];
    Attend(*batch, begin, batch->begins[i + 1] - begin, RowOf(batch->mixed, begin, stride_));
  }
  block.out.Apply(batch->mixed.data(), batch->rows, stride_, batch->x.data(), stride_, /*add=*/true);
}

void Encoder::WidenAll(const Block& block, Batch* batch) const {
  const int64_t up_stride = PaddedWidth(feed_forward_);
  block.norm2.Apply(batch->x.data(), batch->rows, stride_, batch->normed.data());
  block.up.Apply(batch->normed.data(), batch->rows, stride_, batch->wide.data(), up_stride);
  BestKernels().gelu(batch->wide.data(), batch->rows * up_stride);
}

// means: a row for each list, zero before.
void Encoder::MeanOfEach(const Batch& batch, const std::vector<float>& rows, int64_t stride, float* means) const {
  for (size_t i = 0; i + 1 < batch.begins.size(); ++i, means += stride) {
    const auto tokens = static_cast<float>(batch.begins[i + 1] - batch.begins[i]);
    for (int64_t row = batch.begins[i]; row < batch.begins[i + 1]; ++row)
      BestKernels().add_scaled(RowOf(rows, row, stride), 1.0f / tokens, stride, means);
  }
}

// The last map of the last block and the mean over tokens are linear, so the mean comes first: a
// row for each list.
void Encoder::Run(Batch* batch, float* means) const {
  const int64_t up_stride = PaddedWidth(feed_forward_);
  for (size_t i = 0; i < blocks_.size(); ++i) {
    const Block& block = blocks_[i];
    if (i > 0) Project(block, batch->x, batch->rows, &batch->normed, &batch->wide);
    AttendAll(block, batch);
    WidenAll(block, batch);
    if (i + 1 < blocks_.size())
      block.down.Apply(batch->wide.data(), batch->rows, up_stride, batch->x.data(), stride_, /*add=*/true);
  }
  MeanOfEach(*batch, batch->x, stride_, means);
  if (blocks_.empty()) return;
  const auto lists = static_cast<int64_t>(batch->begins.size()) - 1;
  std::vector<float> wide = Rows(lists, up_stride);
  MeanOfEach(*batch, batch->wide, up_stride, wide.data());
  blocks_.back().down.Apply(wide.data(), lists, up_stride, means, stride_, /*add=*/true);
}

std::vector<float> Encoder::Encode(absl::Span<const std::vector<text::Token>* const> texts) const {
  TokenTable table = DifferentTokens(texts);
  Embed(&table);
  std::vector<float> means = Rows(static_cast<int64_t>(texts.size()), stride_);
  size_t first = 0, first_token = 0;
  while (first < texts.size()) {
    size_t end = first, tokens = 0;
    for (; end < texts.size() && (end == first || tokens + texts[end]->size() <= kRowsTogether); ++end)
      tokens += texts[end]->size();
    Batch batch = TakeRows(table, texts.subspan(first, end - first), first_token);
    Run(&batch, RowOf(means, static_cast<int64_t>(first), stride_));
    first = end;
    first_token += tokens;
  }
  norm_.Apply(means.data(), static_cast<int64_t>(texts.size()), stride_, means.data());
  if (stride_ == width_) return means;
  std::vector<float> embeddings(texts.size() * static_cast<size_t>(width_));
  for (size_t i = 0; i < texts.size(); ++i)
    std::copy_n(&means[i * static_cast<size_t>(stride_)], width_, &embeddings[i * static_cast<size_t>(width_)]);
  return embeddings;
}

}  // namespace cobra::infer
