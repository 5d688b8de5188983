// Attention over heads, which several operators of both domains have in common. It becomes
// PyTorch's scaled_dot_product_attention, or the calls of its definition where the operator has a
// part that PyTorch's lacks.
#ifndef COBRA_FRONTEND_ONNX_OPERATORS_ATTENTION_H_
#define COBRA_FRONTEND_ONNX_OPERATORS_ATTENTION_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/node_context.h"

namespace cobra::onnx {

// What a query attends to.
struct AttentionMask {
  // Of bools (true: attends), or added to the scores; broadcasts to [batch, heads, queries, keys];
  // may be null.
  TensorPtr given;
  bool causal = false;  // query i attends to the keys up to i + `past`
  int64_t past = 0;
  int64_t window = -1;  // causal: the last so many keys and the query's own; -1: all of them
};

struct AttentionCall {
  TensorPtr query, key, value;  // [batch, heads, positions, width]; key and value may have fewer heads
  AttentionMask mask;
  double scale = 0;    // 0: 1 / sqrt(width)
  double softcap = 0;  // scores become softcap * tanh(scores / softcap); 0: they stay
};

// What ONNX's Attention can also return: the scores as they are after a step, or the softmax of the
// last ones.
enum class Scores { kNone, kScaled, kCapped, kMasked, kSoftmax };

struct AttentionResult {
  TensorPtr output;  // [batch, heads of the query, positions, width of the value]
  TensorPtr scores;  // null: not asked for
};
absl::StatusOr<AttentionResult> Attend(NodeContext& c, const AttentionCall& call, Scores scores = Scores::kNone);

// [batch, positions, heads * width] as [batch, heads, positions, width], and back.
absl::StatusOr<TensorPtr> SplitHeads(NodeContext& c, const TensorPtr& x, int64_t heads);
absl::StatusOr<TensorPtr> JoinHeads(NodeContext& c, const TensorPtr& x);
// `past`, [batch, heads, positions, width], and behind it `x`; `x` itself if there is no past.
absl::StatusOr<TensorPtr> AfterPast(NodeContext& c, const TensorPtr& past, const TensorPtr& x);

// Turns pairs of the first numbers of each head by angles whose cosine and sine are given: [batch
// or 1, heads or 1, positions, half of the numbers that are turned]. The pairs are neighbours
// (interleaved), or the two halves.
absl::StatusOr<TensorPtr> Rotated(NodeContext& c, const TensorPtr& x, const TensorPtr& cosine, const TensorPtr& sine,
                                  bool interleaved);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_OPERATORS_ATTENTION_H_
