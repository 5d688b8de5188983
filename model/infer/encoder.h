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

  // Embeddings [texts, width]. Each is the same whatever it is encoded with. REQUIRES: no list is empty, and all ids
  // are below the size of the vocabulary.
  std::vector<float> Encode(absl::Span<const std::vector<text::Token>* const> texts) const;
  int64_t width() const { return width_; }

 private:
  struct Block {
    Norm norm1, norm2;
    Linear qkv, out, up, down;
  };
  // Lists that are encoded together, each with its rows.
  struct Batch {
    std::vector<int64_t> begins;  // of each list, and the end of the last one
    int64_t rows = 0;
    std::vector<float> x, normed, wide, mixed;
  };

  void Embed(absl::Span<const std::vector<text::Token>* const> texts, Batch* batch) const;
  void Run(const Block& block, Batch* batch) const;
  void Attend(const Batch& batch, int64_t begin, int64_t tokens, float* mixed) const;

  int64_t width_ = 0, stride_ = 0, heads_ = 0, feed_forward_ = 0;
  Table token_, gate_;
  Linear value_;
  std::vector<Block> blocks_;
  Norm norm_;
};

}  // namespace cobra::infer

#endif  // COBRA_MODEL_INFER_ENCODER_H_
