// Attention and RotaryEmbedding of the default domain.
#include <cmath>

#include "base/status_macros.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/operators/attention.h"

namespace cobra::onnx {
namespace {

// A mask for fewer keys than there are hides the others.
absl::StatusOr<TensorPtr> MaskOfAllKeys(NodeContext& c, const TensorPtr& mask, int64_t keys) {
  if (mask->type.rank() == 0 || mask->type.rank() > 4)
    return Invalid("attn_mask is ", graph::ShapeText(mask->type.shape));
  const int64_t missing = keys - mask->type.shape.back();
  if (missing <= 0 || (mask->type.shape.back() == 1 && c.opset() < 24)) return mask;
  const bool is_bool = mask->type.dtype == graph::DType::bool_;
  return c.Call(graph::Op::pad,
                {{"pad", std::vector<int64_t>{0, missing}},
                 {"mode", std::string("constant")},
                 {"value", is_bool ? 0.0 : -INFINITY}},
                {mask});
}

absl::StatusOr<Outputs> Attention(NodeContext& c) {
  if (c.Has(6)) return Unsupported("nonpad_kv_seqlen: how far each query sees is known in a run only");
  if (c.Has(4) != c.Has(5)) return Invalid("past_key and past_value belong together");
  AttentionCall call{c.In(0), c.In(1), c.In(2), {}, 0, 0};
  const bool joined = c.Rank(0) == 3;
  if (joined) {
    COBRA_ASSIGN_OR_RETURN(call.query, SplitHeads(c, c.In(0), c.Int("q_num_heads")));
    COBRA_ASSIGN_OR_RETURN(call.key, SplitHeads(c, c.In(1), c.Int("kv_num_heads")));
    COBRA_ASSIGN_OR_RETURN(call.value, SplitHeads(c, c.In(2), c.Int("kv_num_heads")));
  }
  COBRA_ASSIGN_OR_RETURN(call.key, AfterPast(c, c.In(4), call.key));
  COBRA_ASSIGN_OR_RETURN(call.value, AfterPast(c, c.In(5), call.value));
  if (call.key->type.rank() != 4) return Invalid("its keys must have 3 or 4 dimensions");
  call.mask.causal = c.Int("is_causal") != 0;
  if (c.Has(4) && c.Rank(4) == 4) call.mask.past = c.ShapeOf(4)[2];
  if (c.Has(3)) {
    COBRA_ASSIGN_OR_RETURN(call.mask.given, MaskOfAllKeys(c, c.In(3), call.key->type.shape[2]));
  }
  call.scale = c.Float("scale", 0);
  call.softcap = c.Float("softcap", 0);
  constexpr Scores kModes[] = {Scores::kScaled, Scores::kCapped, Scores::kMasked, Scores::kSoftmax};
  const int64_t mode = c.Int("qk_matmul_output_mode");
  if (mode < 0 || mode > 3) return Invalid("qk_matmul_output_mode=", mode);
  COBRA_ASSIGN_OR_RETURN(AttentionResult result, Attend(c, call, c.Wants(3) ? kModes[mode] : Scores::kNone));
  if (joined) {
    COBRA_ASSIGN_OR_RETURN(result.output, JoinHeads(c, result.output));
  }
  Outputs outputs{result.output, call.key, call.value};
  if (result.scores != nullptr) outputs.emplace_back(result.scores);
  return outputs;
}

// Rows of a table of cosines or sines: those of the positions, as [batch, 1, positions, half].
absl::StatusOr<TensorPtr> AtPositions(NodeContext& c, const TensorPtr& table, const TensorPtr& positions) {
  TensorPtr rows = table;
  if (positions != nullptr) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr index, c.Cast(positions, graph::DType::int64));
    COBRA_ASSIGN_OR_RETURN(rows, c.Call(graph::Op::getitem, {{"index", std::string("T0")}}, {table, index}));
  }
  if (rows->type.rank() != 3) return Invalid("its cosines and sines are ", graph::ShapeText(rows->type.shape));
  return c.Call(graph::Op::unsqueeze, {{"dim", int64_t{1}}}, {rows});
}

absl::StatusOr<Outputs> RotaryEmbedding(NodeContext& c) {
  const bool joined = c.Rank(0) == 3;
  TensorPtr x = c.In(0);
  if (joined) {
    COBRA_ASSIGN_OR_RETURN(x, SplitHeads(c, x, c.Int("num_heads")));
  }
  if (x->type.rank() != 4) return Invalid("takes 3 or 4 dimensions, got ", graph::ShapeText(c.ShapeOf(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr cosine, AtPositions(c, c.In(1), c.In(3)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr sine, AtPositions(c, c.In(2), c.In(3)));
  const int64_t width = c.Int("rotary_embedding_dim") == 0 ? x->type.shape[3] : c.Int("rotary_embedding_dim");
  if (2 * cosine->type.shape.back() != width)
    return Invalid("its cosines ", graph::ShapeText(c.ShapeOf(1)), " do not fit rotary_embedding_dim=", width);
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Rotated(c, x, cosine, sine, c.Int("interleaved") != 0));
  if (!joined) return Outputs{y};
  return c.Out(JoinHeads(c, y));
}

}  // namespace

void AddAttentionOperators(Registry* registry) {
  registry->Add("Attention", {Attention, 3, false, "without nonpad_kv_seqlen"});
  registry->Add("RotaryEmbedding", {RotaryEmbedding, 3});
}

}  // namespace cobra::onnx
