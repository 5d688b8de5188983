// Attention.
#include <cmath>

#include "export/onnx/handlers.h"
#include "graph/shape/attention_inputs.h"

namespace cobra::exporting {
namespace {

// A mask as numbers to add: truth values become 0 and -infinity.
std::string AsSummand(CallWriter& c, size_t i, DType dtype, bool true_hides) {
  if (c.Type(i).dtype != DType::bool_) return c.Input(i, dtype);
  const std::string zero = c.Number(dtype, 0), never = c.Number(dtype, -INFINITY);
  return true_hides ? c.Node("Where", {c.In(i), never, zero}) : c.Node("Where", {c.In(i), zero, never});
}

// [rows, columns]: a query sees the keys up to its own place.
std::string CausalMask(CallWriter& c, int64_t rows, int64_t columns, DType dtype) {
  std::vector<double> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) values.push_back(k <= i ? 0 : -INFINITY);
  }
  return c.Numbers({{rows, columns}, dtype}, values);
}

// The heads of keys or values, each as often as there are heads of the query for it.
std::string RepeatedHeads(CallWriter& c, size_t i, int64_t heads) {
  const size_t at = c.ShapeOf(i).size() - 3;
  const int64_t own = c.ShapeOf(i)[at];
  if (own == heads) return c.In(i);
  Ints rows;
  for (int64_t h = 0; h < heads; ++h) rows.push_back(h * own / heads);
  return c.Gathered(c.In(i), rows, static_cast<int64_t>(at));
}

using namespace graph::attention_inputs;

struct Heads {
  int64_t heads = 1, target = 0, source = 0, batch = 1, width = 0;
  bool batched = true;
  DType dtype = DType::float32;
  int64_t head_width() const { return width / heads; }
};

// x @ weight^T + bias, where the three weights may lie one below the other in one matrix.
std::string Projected(CallWriter& c, size_t i, const Heads& h) {
  const int64_t from = static_cast<int64_t>(i) * h.width;
  const bool apart = c.Has(kQWeight + i);
  const std::string weight = apart ? c.In(kQWeight + i) : c.Sliced(c.In(kInWeight), 0, from, from + h.width);
  const std::string x = h.batched ? c.In(i) : c.Unsqueezed(c.In(i), {1});
  const std::string y = c.Node("MatMul", {x, c.Transposed(weight, {1, 0})});
  return c.Has(kInBias) ? c.Node("Add", {y, c.Sliced(c.In(kInBias), 0, from, from + h.width)}) : y;
}

// [length, batch, width] -> [batch, heads, length, head width]
std::string ByHead(CallWriter& c, const std::string& x, int64_t length, const Heads& h) {
  return c.Transposed(c.Reshaped(x, {length, h.batch, h.heads, h.head_width()}), {1, 2, 0, 3});
}

std::string Masked(CallWriter& c, std::string scores, const Heads& h) {
  if (c.Has(kAttnMask)) {
    std::string mask = AsSummand(c, kAttnMask, h.dtype, true);
    if (c.Rank(kAttnMask) == 3 && c.ShapeOf(kAttnMask)[0] != 1)
      mask = c.Reshaped(mask, {h.batch, h.heads, h.target, h.source});
    scores = c.Node("Add", {scores, mask});
  }
  if (c.Has(kKeyPaddingMask)) {
    const std::string mask = AsSummand(c, kKeyPaddingMask, h.dtype, true);
    scores = c.Node("Add", {scores, c.Reshaped(mask, {h.batch, 1, 1, h.source})});
  }
  return scores;
}

std::string MhaWeights(CallWriter& c, const std::string& weights, const Heads& h) {
  std::string y = weights;
  if (c.Bool("average_attn_weights", true)) y = c.Reduced("ReduceMean", y, {1}, false);
  return h.batched ? y : c.Squeezed(y, {0});
}

}  // namespace

absl::StatusOr<Names> WriteSdpa(CallWriter& c) {
  if (c.Double("dropout_p") > 0) return Refused("dropout_p draws random numbers at inference too");
  const DType dtype = c.Out().dtype;
  const int rank = c.Rank(0);
  const int64_t queries = c.ShapeOf(0)[static_cast<size_t>(rank) - 2];
  const int64_t keys = c.ShapeOf(1)[static_cast<size_t>(c.Rank(1)) - 2];
  const double usual = 1 / std::sqrt(static_cast<double>(c.ShapeOf(0).back()));
  const double scale = c.HasValue("scale") ? c.Double("scale") : usual;
  std::string key = c.In(1), value = c.In(2);
  if (c.Bool("enable_gqa") && rank > 2) {
    const int64_t heads = c.ShapeOf(0)[static_cast<size_t>(rank) - 3];
    key = RepeatedHeads(c, 1, heads);
    value = RepeatedHeads(c, 2, heads);
  }
  const std::string turned = c.Swapped(key, c.Rank(1), c.Rank(1) - 2, c.Rank(1) - 1);
  std::string scores = c.Node("MatMul", {c.Scaled(c.In(0), scale, dtype), turned});
  if (c.Bool("is_causal")) scores = c.Node("Add", {scores, CausalMask(c, queries, keys, dtype)});
  if (c.Has(3)) scores = c.Node("Add", {scores, AsSummand(c, 3, dtype, false)});
  return Names{c.Node("MatMul", {c.Node("Softmax", {scores}, {{"axis", -1}}), value})};
}

absl::StatusOr<Names> WriteMultiHeadAttention(CallWriter& c) {
  if (c.Has(kBiasK) || c.Has(kBiasV) || c.Has(kStaticK) || c.Has(kStaticV) || c.Bool("add_zero_attn"))
    return Refused("bias_k, bias_v, static keys and add_zero_attn");
  if (c.Bool("training") && c.Double("dropout_p") > 0) return Refused("training draws random numbers");
  Heads h;
  h.batched = c.Rank(kQuery) == 3;
  h.heads = c.Int("num_heads", 1);
  h.dtype = c.Out().dtype;
  h.target = c.ShapeOf(kQuery)[0];
  h.source = c.ShapeOf(kKey)[0];
  h.batch = h.batched ? c.ShapeOf(kQuery)[1] : 1;
  h.width = c.ShapeOf(kQuery).back();
  if (!h.batched && c.Has(kAttnMask) && c.Rank(kAttnMask) == 3 && c.ShapeOf(kAttnMask)[0] != h.heads &&
      c.ShapeOf(kAttnMask)[0] != 1)
    return Refused("a mask of ", graph::ShapeText(c.ShapeOf(kAttnMask)));
  std::string query = ByHead(c, Projected(c, 0, h), h.target, h);
  query = c.Scaled(query, 1 / std::sqrt(static_cast<double>(h.head_width())), h.dtype);
  const std::string key = c.Swapped(ByHead(c, Projected(c, 1, h), h.source, h), 4, 2, 3);
  const std::string value = ByHead(c, Projected(c, 2, h), h.source, h);
  const std::string scores = Masked(c, c.Node("MatMul", {query, key}), h);
  const std::string weights = c.Node("Softmax", {scores}, {{"axis", -1}});
  std::string y = c.Transposed(c.Node("MatMul", {weights, value}), {2, 0, 1, 3});
  y = c.Reshaped(y, {h.target, h.batch, h.width});
  y = c.Node("MatMul", {y, c.Transposed(c.In(kOutWeight), {1, 0})});
  if (c.Has(kOutBias)) y = c.Node("Add", {y, c.In(kOutBias)});
  Names outputs{h.batched ? y : c.Squeezed(y, {1})};
  if (c.node().outputs.size() > 1) outputs.push_back(MhaWeights(c, weights, h));
  return outputs;
}

}  // namespace cobra::exporting
