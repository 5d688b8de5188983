// Token lists of layers to embeddings: model/net/encoder.h at inference.
#ifndef COBRA_MODEL_INFER_ENCODER_H_
#define COBRA_MODEL_INFER_ENCODER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/infer/linear.h"
#include "model/net/config.h"
#include "model/text/tokenizer.h"

namespace cobra::infer {

class Encoder {
 public:
  static absl::StatusOr<Encoder> Create(const Tensors& tensors, const net::NetConfig& config);

  // Embeddings [texts, width]. Each is the same whatever it is encoded with. REQUIRES: no list is
  // empty, and all ids are below the size of the vocabulary.
  std::vector<float> Encode(absl::Span<const std::vector<text::Token>* const> texts) const;
  int64_t width() const { return width_; }

 private:
  struct Block {
    Norm norm1, norm2;
    Linear qkv, out, up, down;
  };
  // The different tokens of many lists, with what is computed of a token alone: its vector, and the
  // first block's queries, keys and values.
  struct TokenTable {
    std::vector<int32_t> row_of_token;  // of all lists, one after the other
    std::vector<text::Token> tokens;
    std::vector<float> x, qkv;
  };
  // Lists that are encoded together, each with its rows.
  struct Batch {
    std::vector<int64_t> begins;  // of each list, and the end of the last one
    int64_t rows = 0;
    std::vector<float> x, normed, wide, mixed;
  };

  static TokenTable DifferentTokens(absl::Span<const std::vector<text::Token>* const> texts);
  void Embed(TokenTable* table) const;
  Batch TakeRows(const TokenTable& table, absl::Span<const std::vector<text::Token>* const> texts,
                 size_t first_token) const;
  void Project(const Block& block, const std::vector<float>& x, int64_t rows, std::vector<float>* normed,
               std::vector<float>* qkv) const;
  void Attend(const Batch& batch, int64_t begin, int64_t tokens, float* mixed) const;
  void AttendAll(const Block& block, Batch* batch) const;
  void WidenAll(const Block& block, Batch* batch) const;
  void Run(Batch* batch, float* means) const;
  void MeanOfEach(const Batch& batch, const std::vector<float>& rows, int64_t stride, float* means) const;

  int64_t width_ = 0, stride_ = 0, heads_ = 0, feed_forward_ = 0;
  Table token_, gate_;
  Linear value_;
  std::vector<Block> blocks_;
  Norm norm_;
};

}  // namespace cobra::infer

#endif  // COBRA_MODEL_INFER_ENCODER_H_
