#include "frontend/onnx/operators/attention.h"

#include <cmath>

#include "base/status_macros.h"

namespace cobra::onnx {
namespace {

absl::Status CheckHeads(const AttentionCall& call) {
  for (const TensorPtr& t : {call.query, call.key, call.value}) {
    if (t->type.rank() != 4) return Invalid("its query, keys and values must have 4 dimensions, heads apart");
    if (t->type.dtype != call.query->type.dtype) return Invalid("its query, keys and values differ in type");
  }
  const graph::Shape &q = call.query->type.shape, &k = call.key->type.shape, &v = call.value->type.shape;
  const bool fits =
      q[0] == k[0] && k[0] == v[0] && k[1] == v[1] && k[1] > 0 && q[1] % k[1] == 0 && k[2] == v[2] && q[3] == k[3];
  if (fits) return absl::OkStatus();
  return Invalid("a query of ", graph::ShapeText(q), " does not fit keys of ", graph::ShapeText(k), " and values of ",
                 graph::ShapeText(v));
}

// [queries, keys]: which keys each query may see.
absl::StatusOr<TensorPtr> CausalMask(NodeContext& c, const AttentionCall& call) {
  const graph::TensorType type{{call.query->type.shape[2], call.key->type.shape[2]}, graph::DType::bool_};
  COBRA_ASSIGN_OR_RETURN(TensorPtr ones, c.Filled(type, 1));
  const AttentionMask& mask = call.mask;
  COBRA_ASSIGN_OR_RETURN(TensorPtr seen, c.Call(graph::Op::tril, {{"diagonal", mask.past}}, {ones}));
  if (mask.window < 0) return seen;
  return c.Call(graph::Op::triu, {{"diagonal", mask.past - mask.window}}, {seen});
}

// Null: every query attends to all keys.
absl::StatusOr<TensorPtr> WholeMask(NodeContext& c, const AttentionCall& call) {
  TensorPtr given = call.mask.given;
  if (given != nullptr && given->type.rank() < 2) {
    COBRA_ASSIGN_OR_RETURN(given, c.Reshape(given, {1, given->type.num_elements()}));
  }
  const int64_t queries = call.query->type.shape[2], keys = call.key->type.shape[2];
  // Nobody is hidden from a single query that comes after all keys.
  const bool hides = call.mask.causal && (queries - 1 > 0 || keys > call.mask.past + 1 || call.mask.window >= 0);
  if (!hides) return given;
  COBRA_ASSIGN_OR_RETURN(TensorPtr causal, CausalMask(c, call));
  if (given == nullptr) return causal;
  if (given->type.dtype == graph::DType::bool_) return c.Binary(graph::Op::logical_and, given, causal);
  return c.Call(graph::Op::where, {{"other", -INFINITY}}, {causal, given, nullptr});
}

absl::StatusOr<TensorPtr> Masked(NodeContext& c, const TensorPtr& scores, const TensorPtr& mask) {
  if (mask == nullptr) return scores;
  if (mask->type.dtype != graph::DType::bool_) return c.Binary(graph::Op::add, scores, mask);
  return c.Call(graph::Op::where, {{"other", -INFINITY}}, {mask, scores, nullptr});
}

// Each head of keys or values as often as there are heads of the query for it.
absl::StatusOr<TensorPtr> Repeated(NodeContext& c, const TensorPtr& x, int64_t heads) {
  const int64_t each = heads / x->type.shape[1];
  if (each == 1) return x;
  return c.Call(graph::Op::repeat_interleave, {{"repeats", each}, {"dim", int64_t{1}}}, {x});
}

absl::StatusOr<AttentionResult> ByDefinition(NodeContext& c, const AttentionCall& call, const TensorPtr& mask,
                                             Scores wanted) {
  AttentionResult result;
  const int64_t heads = call.query->type.shape[1];
  COBRA_ASSIGN_OR_RETURN(TensorPtr key, Repeated(c, call.key, heads));
  COBRA_ASSIGN_OR_RETURN(TensorPtr value, Repeated(c, call.value, heads));
  COBRA_ASSIGN_OR_RETURN(key, c.Call(graph::Op::transpose, {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}}, {key}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr scores, c.Binary(graph::Op::matmul, call.query, key));
  const double width = static_cast<double>(call.query->type.shape[3]);
  COBRA_ASSIGN_OR_RETURN(scores,
                         c.WithNumber(graph::Op::mul, scores, call.scale != 0 ? call.scale : 1 / std::sqrt(width)));
  if (wanted == Scores::kScaled) result.scores = scores;
  if (call.softcap != 0) {
    COBRA_ASSIGN_OR_RETURN(scores, c.WithNumber(graph::Op::div, scores, call.softcap));
    COBRA_ASSIGN_OR_RETURN(scores, c.Unary(graph::Op::tanh, scores));
    COBRA_ASSIGN_OR_RETURN(scores, c.WithNumber(graph::Op::mul, scores, call.softcap));
  }
  if (wanted == Scores::kCapped) result.scores = scores;
  COBRA_ASSIGN_OR_RETURN(scores, Masked(c, scores, mask));
  if (wanted == Scores::kMasked) result.scores = scores;
  COBRA_ASSIGN_OR_RETURN(scores, c.Call(graph::Op::softmax, {{"dim", int64_t{-1}}}, {scores}));
  if (call.mask.given != nullptr) {  // a query that attends to nothing
    COBRA_ASSIGN_OR_RETURN(scores, c.Call(graph::Op::nan_to_num, {{"nan", 0.0}}, {scores}));
  }
  if (wanted == Scores::kSoftmax) result.scores = scores;
  COBRA_ASSIGN_OR_RETURN(result.output, c.Binary(graph::Op::matmul, scores, value));
  return result;
}

}  // namespace

absl::StatusOr<AttentionResult> Attend(NodeContext& c, const AttentionCall& call, Scores scores) {
  COBRA_RETURN_IF_ERROR(CheckHeads(call));
  if (!(std::abs(call.scale) < 1e9) || !(std::abs(call.softcap) < 1e9)) return Invalid("a scale of ", call.scale);
  // PyTorch's own causal mask is that of a query without a past.
  const bool causal = call.mask.causal && call.mask.given == nullptr && call.mask.past == 0 && call.mask.window < 0;
  const bool defined = call.softcap != 0 || scores != Scores::kNone;
  TensorPtr mask;
  if (!causal || defined) {
    COBRA_ASSIGN_OR_RETURN(mask, WholeMask(c, call));
  }
  if (defined) return ByDefinition(c, call, mask, scores);
  graph::Attributes attributes{{"dropout_p", 0.0}, {"is_causal", causal}};
  const double usual = 1 / std::sqrt(static_cast<double>(call.query->type.shape[3]));
  if (call.scale != 0 && std::abs(call.scale - usual) > 1e-6 * usual) attributes.Set("scale", call.scale);
  attributes.Set("enable_gqa", call.query->type.shape[1] != call.key->type.shape[1]);
  COBRA_ASSIGN_OR_RETURN(TensorPtr output, c.Call(graph::Op::scaled_dot_product_attention, attributes,
                                                  {call.query, call.key, call.value, mask}));
  return AttentionResult{output, nullptr};
}

absl::StatusOr<TensorPtr> SplitHeads(NodeContext& c, const TensorPtr& x, int64_t heads) {
  const graph::Shape& s = x->type.shape;
  if (s.size() != 3 || heads < 1 || s[2] % heads != 0)
    return Invalid(graph::ShapeText(s), " cannot be cut into ", heads, " heads");
  COBRA_ASSIGN_OR_RETURN(TensorPtr apart, c.Reshape(x, {s[0], s[1], heads, s[2] / heads}));
  return c.Call(graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {apart});
}

absl::StatusOr<TensorPtr> JoinHeads(NodeContext& c, const TensorPtr& x) {
  const graph::Shape& s = x->type.shape;
  COBRA_ASSIGN_OR_RETURN(TensorPtr turned,
                         c.Call(graph::Op::transpose, {{"dim0", int64_t{1}}, {"dim1", int64_t{2}}}, {x}));
  return c.Reshape(turned, {s[0], s[2], Elements({s[1], s[3]}, 0, 2)});
}

absl::StatusOr<TensorPtr> AfterPast(NodeContext& c, const TensorPtr& past, const TensorPtr& x) {
  if (past == nullptr) return x;
  return c.Call(graph::Op::cat, {{"dim", int64_t{2}}}, {past, x});
}

absl::StatusOr<TensorPtr> Rotated(NodeContext& c, const TensorPtr& x, const TensorPtr& cosine, const TensorPtr& sine,
                                  bool interleaved) {
  const int64_t width = x->type.shape.back(), half = cosine->type.shape.back();
  if (half > width / 2 || half < 1 || sine->type.shape != cosine->type.shape)
    return Invalid("its cosines ", graph::ShapeText(cosine->type.shape), " do not fit ",
                   graph::ShapeText(x->type.shape));
  TensorPtr turned = x, rest;
  if (2 * half < width) {
    COBRA_ASSIGN_OR_RETURN(
        std::vector<TensorPtr> parts,
        c.CallAll(graph::Op::split,
                  {{"split_size", std::vector<int64_t>{2 * half, width - 2 * half}}, {"dim", int64_t{-1}}}, {x}));
    turned = parts[0];
    rest = parts[1];
  }
  TensorPtr first, second;
  if (interleaved) {
    COBRA_ASSIGN_OR_RETURN(first, c.Call(graph::Op::getitem, {{"index", std::string("..., ::2")}}, {turned}));
    COBRA_ASSIGN_OR_RETURN(second, c.Call(graph::Op::getitem, {{"index", std::string("..., 1::2")}}, {turned}));
  } else {
    COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> halves,
                           c.CallAll(graph::Op::chunk, {{"chunks", int64_t{2}}, {"dim", int64_t{-1}}}, {turned}));
    first = halves[0];
    second = halves[1];
  }
  // (first, second) as a complex number, times cosine + i sine.
  COBRA_ASSIGN_OR_RETURN(TensorPtr a, c.Binary(graph::Op::mul, first, cosine));
  COBRA_ASSIGN_OR_RETURN(TensorPtr b, c.Binary(graph::Op::mul, second, sine));
  COBRA_ASSIGN_OR_RETURN(TensorPtr real, c.Binary(graph::Op::sub, a, b));
  COBRA_ASSIGN_OR_RETURN(a, c.Binary(graph::Op::mul, first, sine));
  COBRA_ASSIGN_OR_RETURN(b, c.Binary(graph::Op::mul, second, cosine));
  COBRA_ASSIGN_OR_RETURN(TensorPtr imaginary, c.Binary(graph::Op::add, a, b));
  TensorPtr y;
  if (interleaved) {
    COBRA_ASSIGN_OR_RETURN(y, c.Call(graph::Op::stack, {{"dim", int64_t{-1}}}, {real, imaginary}));
    COBRA_ASSIGN_OR_RETURN(y, c.Reshape(y, turned->type.shape));
  } else {
    COBRA_ASSIGN_OR_RETURN(y, c.Call(graph::Op::cat, {{"dim", int64_t{-1}}}, {real, imaginary}));
  }
  if (rest == nullptr) return y;
  return c.Call(graph::Op::cat, {{"dim", int64_t{-1}}}, {y, rest});
}

}  // namespace cobra::onnx
