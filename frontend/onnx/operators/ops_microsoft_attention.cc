// Attention of ONNX Runtime (domain com.microsoft). Its masks hide a key by adding a large negative
// number.
#include <cmath>
#include <numeric>

#include "base/status_macros.h"
#include "frontend/onnx/importer/elementwise.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/operators/attention.h"
#include "frontend/onnx/operators/quantized.h"

namespace cobra::onnx {
namespace {

// 0, 1, 2 ... as a constant of the given shape.
absl::StatusOr<TensorPtr> Arange(NodeContext& c, const graph::Shape& shape, int64_t start = 0) {
  const int64_t count = Elements(shape, 0, static_cast<int>(shape.size()));
  COBRA_RETURN_IF_ERROR(c.CheckCount(count));
  Values values(count);
  std::iota(values.begin(), values.end(), static_cast<double>(start));
  return c.Constant({shape, graph::DType::int64}, std::move(values));
}

// Which keys a mask of one dimension hides: those from the end on (one number for each element of
// the batch), and those before the start (another such number).
absl::StatusOr<TensorPtr> HiddenByPositions(NodeContext& c, const TensorPtr& mask, int64_t batch, int64_t keys) {
  const int64_t count = mask->type.num_elements();
  if (batch < 1 || (count != batch && count != 2 * batch))
    return Unsupported("a mask of ", count, " elements for a batch of ", batch);
  COBRA_ASSIGN_OR_RETURN(TensorPtr position, Arange(c, {1, keys}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr wide, c.Cast(mask, graph::DType::int64));
  COBRA_ASSIGN_OR_RETURN(wide, c.Reshape(wide, {count / batch, batch, 1}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr end,
                         c.Call(graph::Op::select, {{"dim", int64_t{0}}, {"index", int64_t{0}}}, {wide}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr hidden, c.Binary(graph::Op::ge, position, end));
  if (count == batch) return hidden;
  COBRA_ASSIGN_OR_RETURN(TensorPtr start,
                         c.Call(graph::Op::select, {{"dim", int64_t{0}}, {"index", int64_t{1}}}, {wide}));
  COBRA_ASSIGN_OR_RETURN(TensorPtr before, c.Binary(graph::Op::lt, position, start));
  return c.Binary(graph::Op::logical_or, hidden, before);
}

// What is added to the scores of `call`: the mask's filter value where a key is hidden, and the
// bias. Each may be null.
absl::StatusOr<TensorPtr> AddedToScores(NodeContext& c, const AttentionCall& call, const TensorPtr& mask,
                                        const TensorPtr& bias) {
  if (mask == nullptr) return bias;
  const int64_t batch = call.query->type.shape[0], queries = call.query->type.shape[2], keys = call.key->type.shape[2];
  const graph::Shape& s = mask->type.shape;
  TensorPtr hidden;
  graph::Shape shape{batch, 1, 1, keys};
  if (s.size() == 1) {
    COBRA_ASSIGN_OR_RETURN(hidden, HiddenByPositions(c, mask, batch, keys));
  } else if (s == graph::Shape{batch, keys} || s == graph::Shape{batch, queries, keys}) {
    if (s.size() == 3) shape[2] = queries;
    COBRA_ASSIGN_OR_RETURN(hidden, c.WithNumber(graph::Op::le, mask, int64_t{0}));
  } else {
    return Unsupported("a mask of ", graph::ShapeText(s), " for ", queries, " queries and ", keys, " keys");
  }
  COBRA_ASSIGN_OR_RETURN(TensorPtr added, c.Cast(hidden, call.query->type.dtype));
  COBRA_ASSIGN_OR_RETURN(added, c.WithNumber(graph::Op::mul, added, Shortest(c.Float("mask_filter_value", -10000))));
  COBRA_ASSIGN_OR_RETURN(added, c.Reshape(added, shape));
  if (bias == nullptr) return added;
  return c.Binary(graph::Op::add, added, bias);
}

// ---- Attention, QAttention: one product gives query, keys and values

struct JoinedAttention {
  TensorPtr product;  // [batch, positions, width of query, keys and values together]
  TensorPtr mask, past, bias;
};

absl::StatusOr<std::vector<int64_t>> JoinedWidths(NodeContext& c, int64_t total) {
  std::vector<int64_t> widths = c.Ints("qkv_hidden_sizes");
  if (widths.empty()) widths.assign(3, total / 3);
  if (widths.size() != 3 || widths[0] < 1 || widths[1] < 1 || widths[2] < 1 || widths[0] > total || widths[1] > total ||
      widths[0] + widths[1] + widths[2] != total)
    return Invalid("qkv_hidden_sizes do not fit a weight of ", total, " columns");
  return widths;
}

absl::StatusOr<Outputs> AttendJoined(NodeContext& c, const JoinedAttention& a) {
  if (c.Int("do_rotary") != 0) return Unsupported("do_rotary=1");
  if (c.Int("past_present_share_buffer") != 0) return Unsupported("past_present_share_buffer=1");
  if (a.product->type.rank() != 3) return Invalid("its input must have 3 dimensions");
  const int64_t heads = c.Int("num_heads");
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> widths, JoinedWidths(c, a.product->type.shape[2]));
  COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> parts,
                         c.CallAll(graph::Op::split, {{"split_size", widths}, {"dim", int64_t{-1}}}, {a.product}));
  for (TensorPtr& part : parts) {
    COBRA_ASSIGN_OR_RETURN(part, SplitHeads(c, part, heads));
  }
  AttentionCall call{parts[0], parts[1], parts[2], {}, c.Float("scale", 0), 0};
  call.mask.causal = c.Int("unidirectional") != 0;
  if (a.past != nullptr) {
    if (a.past->type.rank() != 5 || a.past->type.shape[0] != 2)
      return Invalid("past is ", graph::ShapeText(a.past->type.shape));
    COBRA_ASSIGN_OR_RETURN(std::vector<TensorPtr> past, c.CallAll(graph::Op::unbind, {{"dim", int64_t{0}}}, {a.past}));
    COBRA_ASSIGN_OR_RETURN(call.key, AfterPast(c, past[0], call.key));
    COBRA_ASSIGN_OR_RETURN(call.value, AfterPast(c, past[1], call.value));
    call.mask.past = a.past->type.shape[3];
  }
  COBRA_ASSIGN_OR_RETURN(call.mask.given, AddedToScores(c, call, a.mask, a.bias));
  COBRA_ASSIGN_OR_RETURN(AttentionResult result, Attend(c, call));
  COBRA_ASSIGN_OR_RETURN(result.output, JoinHeads(c, result.output));
  Outputs outputs{result.output};
  if (c.Wants(1)) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr present, c.Call(graph::Op::stack, {{"dim", int64_t{0}}}, {call.key, call.value}));
    outputs.emplace_back(present);
  }
  return outputs;
}

// Inputs: x, weight, bias, mask, past, what is added to the scores, past_sequence_length (of a
// shared buffer).
absl::StatusOr<Outputs> Attention(NodeContext& c) {
  if (c.Rank(1) != 2) return Invalid("the weight is ", graph::ShapeText(c.ShapeOf(1)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, c.Unary(graph::Op::t, c.In(1)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr product, c.Call(graph::Op::linear, {}, {c.In(0), weight, c.In(2)}));
  return AttendJoined(c, {product, c.In(3), c.In(4), c.In(5)});
}

// Inputs: x, weight, bias; scales of x and weight; mask; zero points of x and weight; past.
absl::StatusOr<Outputs> QAttention(NodeContext& c) {
  if (c.Rank(1) != 2) return Invalid("the weight is ", graph::ShapeText(c.ShapeOf(1)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr x, Dequantized(c, c.In(0), c.In(3), c.In(6), -1));
  COBRA_ASSIGN_OR_RETURN(TensorPtr weight, Dequantized(c, c.In(1), c.In(4), c.In(7), -1));
  COBRA_ASSIGN_OR_RETURN(weight, c.Unary(graph::Op::t, weight));
  COBRA_ASSIGN_OR_RETURN(TensorPtr product, c.Call(graph::Op::linear, {}, {x, weight, c.In(2)}));
  return AttendJoined(c, {product, c.In(5), c.In(8), nullptr});
}

// ---- MultiHeadAttention: query, keys and values come apart

// `x` and its part of the bias, with heads apart. Keys and values may have them apart already.
absl::StatusOr<TensorPtr> Projected(NodeContext& c, TensorPtr x, int64_t bias_start, int64_t heads) {
  if (x->type.rank() == 4) return x;
  if (x->type.rank() != 3) return Unsupported("an input of ", graph::ShapeText(x->type.shape));
  if (c.Has(3)) {
    const int64_t width = x->type.shape[2];
    if (c.Rank(3) != 1 || bias_start + width > c.ShapeOf(3)[0])
      return Invalid("bias is ", graph::ShapeText(c.ShapeOf(3)));
    COBRA_ASSIGN_OR_RETURN(
        TensorPtr bias,
        c.Call(graph::Op::narrow, {{"dim", int64_t{0}}, {"start", bias_start}, {"length", width}}, {c.In(3)}));
    COBRA_ASSIGN_OR_RETURN(x, c.Binary(graph::Op::add, x, bias));
  }
  return SplitHeads(c, x, heads);
}

// Inputs: query, key, value, bias, mask of keys, what is added to the scores, past key, past value,
// past_sequence_length (of a shared buffer), cache_indirection.
absl::StatusOr<Outputs> MultiHeadAttention(NodeContext& c) {
  if (!c.Has(1) || !c.Has(2)) return Unsupported("a query, keys and values in one tensor");
  if (c.Has(8) || c.Has(9)) return Unsupported("past_sequence_length and cache_indirection");
  if (c.Wants(3)) return Unsupported("its output qk");
  if (c.Rank(0) != 3) return Unsupported("a query of ", graph::ShapeText(c.ShapeOf(0)));
  if (c.Has(6) != c.Has(7)) return Invalid("past_key and past_value belong together");
  const int64_t heads = c.Int("num_heads"), width = c.ShapeOf(0)[2];
  AttentionCall call{nullptr, nullptr, nullptr, {}, c.Float("scale", 0), 0};
  COBRA_ASSIGN_OR_RETURN(call.query, Projected(c, c.In(0), 0, heads));
  COBRA_ASSIGN_OR_RETURN(call.key, Projected(c, c.In(1), width, heads));
  COBRA_ASSIGN_OR_RETURN(call.value, Projected(c, c.In(2), 2 * width, heads));
  if (c.Has(6)) {
    if (c.Rank(6) != 4 || c.Rank(7) != 4) return Invalid("past_key is ", graph::ShapeText(c.ShapeOf(6)));
    call.mask.past = c.ShapeOf(6)[2];
    COBRA_ASSIGN_OR_RETURN(call.key, AfterPast(c, c.In(6), call.key));
    COBRA_ASSIGN_OR_RETURN(call.value, AfterPast(c, c.In(7), call.value));
  }
  call.mask.causal = c.Int("unidirectional") != 0;
  COBRA_ASSIGN_OR_RETURN(call.mask.given, AddedToScores(c, call, c.In(4), c.In(5)));
  COBRA_ASSIGN_OR_RETURN(AttentionResult result, Attend(c, call));
  COBRA_ASSIGN_OR_RETURN(result.output, JoinHeads(c, result.output));
  return Outputs{result.output, call.key, call.value};
}

// ---- GroupQueryAttention: fewer heads of keys and values, a past, rotations

// ONNX Runtime reads the length of each sequence from seqlens_k in a run. The graph is that of
// sequences without padding, which one sequence always is.
absl::Status CheckLengths(NodeContext& c, int64_t batch, int64_t total) {
  if (batch == 1) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> lengths, c.KnownInts(5, "seqlens_k of more than one sequence"));
  for (int64_t n : lengths) {
    if (n != total - 1) return Unsupported("sequences of different lengths (seqlens_k)");
  }
  return absl::OkStatus();
}

absl::Status CheckGroupQuery(NodeContext& c) {
  for (const char* name : {"smooth_softmax", "sliding_window_cache", "qk_output"}) {
    if (c.Int(name) > 0) return Unsupported(name, "=", c.Int(name));
  }
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    if (c.String(name, "NONE") != "NONE") return Unsupported(name, "=", c.String(name));
  }
  constexpr std::pair<size_t, const char*> kInputs[] = {
      {11, "head_sink"}, {12, "k_scale"}, {13, "v_scale"}, {16, "query_seqlens"}};
  for (const auto& [i, name] : kInputs) {
    if (c.Has(i)) return Unsupported("its input ", name);
  }
  if (c.Has(1) != c.Has(2) || c.Has(3) != c.Has(4)) return Invalid("keys and values belong together");
  if (!c.Has(5) || !c.Has(6)) return Invalid("seqlens_k or total_sequence_length is missing");
  if (c.Rank(0) != 3) return Invalid("a query of ", graph::ShapeText(c.ShapeOf(0)));
  return absl::OkStatus();
}

// Query, keys and values with heads apart; they may come in one tensor.
absl::Status ReadHeads(NodeContext& c, AttentionCall* call) {
  const int64_t heads = c.Int("num_heads"), kv_heads = c.Int("kv_num_heads");
  TensorPtr query = c.In(0), key = c.In(1), value = c.In(2);
  if (heads < 1 || kv_heads < 1 || heads > 1 << 20 || kv_heads > heads)
    return Invalid("num_heads=", heads, ", kv_num_heads=", kv_heads);
  if (!c.Has(1)) {
    const int64_t width = c.ShapeOf(0)[2] / (heads + 2 * kv_heads);
    COBRA_ASSIGN_OR_RETURN(
        std::vector<TensorPtr> parts,
        c.CallAll(graph::Op::split,
                  {{"split_size", std::vector<int64_t>{heads * width, kv_heads * width, kv_heads * width}},
                   {"dim", int64_t{-1}}},
                  {query}));
    query = parts[0], key = parts[1], value = parts[2];
  }
  COBRA_ASSIGN_OR_RETURN(call->query, SplitHeads(c, query, heads));
  COBRA_ASSIGN_OR_RETURN(call->key, SplitHeads(c, key, kv_heads));
  COBRA_ASSIGN_OR_RETURN(call->value, SplitHeads(c, value, kv_heads));
  if (c.Has(14) != c.Has(15)) return Invalid("q_norm_weight and k_norm_weight belong together");
  if (!c.Has(14)) return absl::OkStatus();
  const double eps = c.Float("qk_norm_epsilon", 1e-6);
  const std::vector<int64_t> width{call->query->type.shape[3]};
  const auto normalized = [&](const TensorPtr& x, const char* name, size_t weight) {
    return c.Call(graph::Op::rms_norm, {{"normalized_shape", width}, {"eps", Shortest(c.Float(name, eps))}},
                  {x, c.In(weight)});
  };
  COBRA_ASSIGN_OR_RETURN(call->query, normalized(call->query, "q_norm_epsilon", 14));
  COBRA_ASSIGN_OR_RETURN(call->key, normalized(call->key, "k_norm_epsilon", 15));
  return absl::OkStatus();
}

// Rows of a table of cosines or sines, as [1, 1, positions, half]: those from `start` on, or those
// of `positions`.
absl::StatusOr<TensorPtr> Angles(NodeContext& c, const TensorPtr& table, const TensorPtr& positions, int64_t start,
                                 int64_t count) {
  if (table == nullptr || table->type.rank() != 2) return Invalid("cos_cache and sin_cache must have 2 dimensions");
  TensorPtr rows;
  if (positions == nullptr) {
    COBRA_ASSIGN_OR_RETURN(
        rows, c.Call(graph::Op::narrow, {{"dim", int64_t{0}}, {"start", start}, {"length", count}}, {table}));
    COBRA_ASSIGN_OR_RETURN(rows, c.Call(graph::Op::unsqueeze, {{"dim", int64_t{0}}}, {rows}));
  } else {
    COBRA_ASSIGN_OR_RETURN(rows, c.Call(graph::Op::getitem, {{"index", std::string("T0")}}, {table, positions}));
  }
  return c.Call(graph::Op::unsqueeze, {{"dim", int64_t{1}}}, {rows});
}

absl::StatusOr<Outputs> GroupQueryAttention(NodeContext& c) {
  COBRA_RETURN_IF_ERROR(CheckGroupQuery(c));
  AttentionCall call{nullptr, nullptr, nullptr, {}, c.Float("scale", 0), c.Float("softcap", 0)};
  COBRA_RETURN_IF_ERROR(ReadHeads(c, &call));
  const int64_t batch = call.query->type.shape[0], count = call.query->type.shape[2];
  const int64_t past = c.Has(3) && c.Rank(3) == 4 ? c.ShapeOf(3)[2] : 0;
  COBRA_ASSIGN_OR_RETURN(std::shared_ptr<const Values> total, c.TryValues(c.In(6)));
  if (total != nullptr && (total->size() != 1 || (*total)[0] != static_cast<double>(past + count)))
    return Unsupported("total_sequence_length is not that of the past (", past, ") and the new keys (", count,
                       "): a past that is a buffer with room for more");
  COBRA_RETURN_IF_ERROR(CheckLengths(c, batch, past + count));
  if (c.Int("do_rotary") != 0) {
    TensorPtr positions = c.In(9);
    if (positions != nullptr) {
      COBRA_ASSIGN_OR_RETURN(positions, c.Cast(positions, graph::DType::int64));
    }
    COBRA_ASSIGN_OR_RETURN(TensorPtr cosine, Angles(c, c.In(7), positions, past, count));
    COBRA_ASSIGN_OR_RETURN(TensorPtr sine, Angles(c, c.In(8), positions, past, count));
    const bool interleaved = c.Int("rotary_interleaved") != 0;
    COBRA_ASSIGN_OR_RETURN(call.query, Rotated(c, call.query, cosine, sine, interleaved));
    COBRA_ASSIGN_OR_RETURN(call.key, Rotated(c, call.key, cosine, sine, interleaved));
  }
  if (past > 0) {
    COBRA_ASSIGN_OR_RETURN(call.key, AfterPast(c, c.In(3), call.key));
    COBRA_ASSIGN_OR_RETURN(call.value, AfterPast(c, c.In(4), call.value));
  }
  call.mask.causal = c.Int("causal", 1) != 0;
  call.mask.past = past;
  call.mask.given = c.In(10);
  // The window counts the query's own position.
  const int64_t window = c.Int("local_window_size", -1);
  if (window > 0 && window <= past + count) call.mask.window = window - 1;
  COBRA_ASSIGN_OR_RETURN(AttentionResult result, Attend(c, call));
  COBRA_ASSIGN_OR_RETURN(result.output, JoinHeads(c, result.output));
  return Outputs{result.output, call.key, call.value};
}

// Inputs: x, positions (one number: of the first), tables of cosines and sines.
absl::StatusOr<Outputs> RotaryEmbedding(NodeContext& c) {
  if (c.Int("is_packed_batching") != 0) return Unsupported("is_packed_batching=1");
  if (c.Float("scale", 1) != 1) return Unsupported("a scale");
  if (c.Rank(2) != 2) return Invalid("cos_cache is ", graph::ShapeText(c.ShapeOf(2)));
  const bool joined = c.Rank(0) == 3;
  TensorPtr x = c.In(0);
  if (joined) {
    const int64_t heads = c.Int("num_heads"), half = c.ShapeOf(2)[1];
    COBRA_ASSIGN_OR_RETURN(x, SplitHeads(c, x, heads > 0 ? heads : c.ShapeOf(0)[2] / std::max<int64_t>(2 * half, 1)));
  }
  if (x->type.rank() != 4) return Invalid("takes 3 or 4 dimensions, got ", graph::ShapeText(c.ShapeOf(0)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr positions, c.Cast(c.In(1), graph::DType::int64));
  if (positions->type.num_elements() == 1) {
    COBRA_ASSIGN_OR_RETURN(TensorPtr counted, Arange(c, {1, x->type.shape[2]}));
    COBRA_ASSIGN_OR_RETURN(positions, c.Reshape(positions, {1, 1}));
    COBRA_ASSIGN_OR_RETURN(positions, c.Binary(graph::Op::add, counted, positions));
  }
  if (positions->type.rank() != 2) return Invalid("position_ids is ", graph::ShapeText(c.ShapeOf(1)));
  COBRA_ASSIGN_OR_RETURN(TensorPtr cosine, Angles(c, c.In(2), positions, 0, 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr sine, Angles(c, c.In(3), positions, 0, 0));
  COBRA_ASSIGN_OR_RETURN(TensorPtr y, Rotated(c, x, cosine, sine, c.Int("interleaved") != 0));
  if (!joined) return Outputs{y};
  return c.Out(JoinHeads(c, y));
}

}  // namespace

void AddMicrosoftAttentionOperators(Registry* registry) {
  constexpr const char* kPast = "no buffer that past and present share";
  registry->Add("Attention", {Attention, 2, false, "no rotations, no buffer that past and present share"});
  registry->Add("QAttention", {QAttention, 5, false, "computed in float; no rotations, no shared buffer"});
  registry->Add("MultiHeadAttention", {MultiHeadAttention, 1, false, kPast});
  registry->Add(
      "GroupQueryAttention",
      {GroupQueryAttention, 1, false, "sequences of equal length; no shared buffer, no quantized cache, no head_sink"});
  registry->Add("RotaryEmbedding", {RotaryEmbedding, 4, false, "no packed batches"});
}

}  // namespace cobra::onnx
