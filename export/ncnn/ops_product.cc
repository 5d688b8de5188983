// Matrix products, attention, embeddings.
#include <algorithm>
#include <cmath>
#include <limits>

#include "export/ncnn/handlers.h"
#include "export/weights.h"
#include "graph/shape/attention_inputs.h"

namespace cobra::exporting::ncnn {
namespace {

using graph::Op;

std::string Row(const std::string& bytes, int64_t from, int64_t count) {
  return bytes.substr(static_cast<size_t>(from) * sizeof(float), static_cast<size_t>(count) * sizeof(float));
}

// x [rows, in] times the transposed weight [out, in], plus the bias: a blob of one row by
// InnerProduct.
std::string Linear(CallWriter& c, const std::string& x, int64_t out, Arrays arrays) {
  const Ints& dims = c.DimsOf(x);
  const bool bias = arrays.size() > 1;
  const int64_t in = dims.back(), count = out * in;
  arrays[0].has_flag = true;
  if (dims.size() == 1) {
    return c.Layer("InnerProduct", {x}, {out}, {{0, out}, {1, int64_t{bias ? 1 : 0}}, {2, count}}, std::move(arrays));
  }
  if (bias) arrays[1].has_flag = true;
  return c.Layer("Gemm", {x}, {dims[0], out},
                 {{2, int64_t{0}},
                  {3, int64_t{1}},
                  {4, int64_t{0}},
                  {5, int64_t{1}},
                  {6, int64_t{1}},
                  {7, int64_t{0}},
                  {8, out},
                  {9, in},
                  {10, int64_t{bias ? 4 : -1}}},
                 std::move(arrays));
}

// The last two dimensions of a product's operands and what is in front of them.
struct Matrices {
  Ints a, b, out;  // sizes of blobs
};

absl::StatusOr<Matrices> MatricesOf(const Shape& a, const Shape& b) {
  Ints x(a.begin(), a.end()), y(b.begin(), b.end());
  if (x.size() == 1) x.insert(x.begin(), 1);
  if (y.size() == 1) y.push_back(1);
  const int64_t m = x[x.size() - 2], k = x.back(), n = y.back();
  x.resize(x.size() - 2);
  y.resize(y.size() - 2);
  while (x.size() < y.size()) x.insert(x.begin(), 1);
  while (y.size() < x.size()) y.insert(y.begin(), 1);
  const int64_t left = Product(x), right = Product(y);
  if (right == 1) return Matrices{{left * m, k}, {k, n}, {left * m, n}};
  if (x == y) return Matrices{{left, m, k}, {left, k, n}, {left, m, n}};
  while (!x.empty() && x[0] == 1 && y[0] == 1) {
    x.erase(x.begin());
    y.erase(y.begin());
  }
  if (left == 1) return Matrices{{1, m, k}, {right, k, n}, {right, m, n}};
  if (x.size() > 2) return Refused("matrices that broadcast in more than four dimensions");
  Matrices all;
  for (size_t d = 0; d < x.size(); ++d) all.out.push_back(std::max(x[d], y[d]));
  all.a = x;
  all.b = y;
  all.a.insert(all.a.end(), {m, k});
  all.b.insert(all.b.end(), {k, n});
  all.out.insert(all.out.end(), {m, n});
  return all;
}

absl::StatusOr<std::string> Multiplied(CallWriter& c, size_t i, size_t j) {
  COBRA_ASSIGN_OR_RETURN(const Matrices all, MatricesOf(c.ShapeOf(i), c.ShapeOf(j)));
  return c.Layer("MatMul", {c.In(i, all.a), c.In(j, all.b)}, all.out);
}

// A mask as numbers to add: truth values become 0 and -infinity.
absl::StatusOr<std::string> Summand(CallWriter& c, size_t i, const Ints& dims, bool true_hides) {
  if (c.Type(i).dtype != DType::bool_) return c.In(i, dims);
  COBRA_RETURN_IF_ERROR(c.NeedConstant(i, "a mask of truth values"));
  std::vector<float> values;
  for (const double value : ValuesOf(DType::float32, c.Numbers(i)))
    values.push_back((value != 0) == true_hides ? -std::numeric_limits<float>::infinity() : 0);
  return c.Data(dims, Floats(values));
}

std::string CausalMask(CallWriter& c, int64_t rows, int64_t columns) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = 0; k < columns; ++k) values.push_back(k <= i ? 0 : -std::numeric_limits<float>::infinity());
  }
  return c.Data({rows, columns}, Floats(values));
}

using namespace graph::attention_inputs;

absl::Status CheckAttention(const CallWriter& c) {
  if (c.Has(kBiasK) || c.Has(kBiasV) || c.Has(kStaticK) || c.Has(kStaticV) || c.Bool("add_zero_attn"))
    return Refused("bias_k, bias_v, static keys and add_zero_attn");
  if (c.Has(kKeyPaddingMask)) return Refused("a key_padding_mask");
  if (c.Bool("training") && c.Double("dropout_p") > 0) return Refused("training draws random numbers");
  if (c.Rank(kQuery) == 3 && c.ShapeOf(kQuery)[1] != 1) return Refused("a batch of ", c.ShapeOf(kQuery)[1]);
  if (c.node().outputs.size() > 1 && c.IsUsed(1)) return Refused("its weights as a result (need_weights=True)");
  for (const size_t i : {kInWeight, kInBias, kOutWeight, kOutBias, kQWeight, kKWeight, kVWeight})
    COBRA_RETURN_IF_ERROR(c.NeedConstant(i, "a weight"));
  return absl::OkStatus();
}

// Of query, keys, values and the result, each a matrix and a bias.
Arrays AttentionWeights(const CallWriter& c, int64_t width, int64_t key_width, int64_t value_width) {
  Arrays arrays;
  const int64_t widths[] = {width, key_width, value_width};
  for (size_t i = 0; i < 3; ++i) {
    const bool apart = c.Has(kQWeight + i);
    const int64_t from = static_cast<int64_t>(i) * width;
    arrays.push_back(
        {apart ? c.Numbers(kQWeight + i) : Row(c.Numbers(kInWeight), from * width, width * widths[i]), true});
    arrays.push_back({c.Has(kInBias) ? Row(c.Numbers(kInBias), from, width) : Repeated(0, width)});
  }
  arrays.push_back({c.Numbers(kOutWeight), true});
  arrays.push_back({c.Has(kOutBias) ? c.Numbers(kOutBias) : Repeated(0, width)});
  return arrays;
}

}  // namespace

absl::StatusOr<Names> WriteLinear(CallWriter& c) {
  const int64_t in = c.ShapeOf(0).back(), rows = c.Type(0).num_elements() / in;
  COBRA_RETURN_IF_ERROR(c.NeedConstant(1, "a weight"));
  COBRA_RETURN_IF_ERROR(c.NeedConstant(2, "a bias"));
  if (c.Rank(1) != 2) return Refused("a weight of ", c.Rank(1), " dimensions");
  Arrays arrays{{c.Numbers(1)}};
  if (c.Has(2)) arrays.push_back({c.Numbers(2)});
  const bool one = BlobOf(c.ShapeOf(0)).size() == 1;
  return Names{Linear(c, c.In(0, one ? Ints{in} : Ints{rows, in}), c.ShapeOf(1)[0], std::move(arrays))};
}

absl::StatusOr<Names> WriteMatMul(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(std::string y, Multiplied(c, 0, 1));
  return Names{y};
}

// beta * input + alpha * product
absl::StatusOr<Names> WriteAddmm(CallWriter& c) {
  COBRA_ASSIGN_OR_RETURN(std::string y, Multiplied(c, 1, 2));
  const double alpha = c.Double("alpha", 1), beta = c.Double("beta", 1);
  if (alpha != 1) y = c.WithNumber(kMul, y, alpha);
  if (beta == 0) return Names{y};
  Ints dims(c.ShapeOf(0).begin(), c.ShapeOf(0).end());
  while (dims.size() < c.Out().shape.size()) dims.insert(dims.begin(), 1);
  std::string x = c.In(0, dims);
  if (beta != 1) x = c.WithNumber(kMul, x, beta);
  return Names{c.WithBlob(kAdd, c.Reshaped(y, Ints(c.Out().shape.begin(), c.Out().shape.end())), x)};
}

absl::StatusOr<Names> WriteSdpa(CallWriter& c) {
  if (c.Double("dropout_p") > 0) return Refused("dropout_p draws random numbers at inference too");
  Ints dims[3];
  for (size_t i = 0; i < 3; ++i) {
    const Shape& s = c.ShapeOf(i);
    if (s.size() < 3) return Refused("an input of ", s.size(), " dimensions");
    dims[i] = {c.Type(i).num_elements() / (s[s.size() - 1] * s[s.size() - 2]), s[s.size() - 2], s.back()};
  }
  const bool batched = c.Rank(0) > 3 && c.ShapeOf(0)[0] != 1;
  if (dims[1][0] != dims[2][0] || (dims[1][0] != dims[0][0] && (!c.Bool("enable_gqa") || batched)))
    return Refused("heads that broadcast");
  Names inputs{c.In(0, dims[0]), c.In(1, dims[1]), c.In(2, dims[2])};
  if (c.Bool("is_causal")) {
    inputs.push_back(CausalMask(c, dims[0][1], dims[1][1]));
  } else if (c.Has(3)) {
    const int64_t heads = c.Type(3).num_elements() / (dims[0][1] * dims[1][1]);
    if (heads * dims[0][1] * dims[1][1] != c.Type(3).num_elements() || (heads != 1 && heads != dims[0][0]))
      return Refused("a mask that broadcasts");
    const Ints mask = heads == 1 ? Ints{dims[0][1], dims[1][1]} : Ints{heads, dims[0][1], dims[1][1]};
    COBRA_ASSIGN_OR_RETURN(inputs.emplace_back(), Summand(c, 3, mask, false));
  }
  Params params{{5, int64_t{inputs.size() == 4 ? 1 : 0}}};
  if (c.HasValue("scale")) params.emplace_back(6, c.Double("scale"));
  return Names{c.Layer("SDPA", inputs, {dims[0][0], dims[0][1], dims[2][2]}, std::move(params))};
}

absl::StatusOr<Names> WriteMultiHeadAttention(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(CheckAttention(c));
  const int64_t width = c.ShapeOf(kQuery).back(), heads = c.Int("num_heads", 1);
  const int64_t key_width = c.ShapeOf(kKey).back(), value_width = c.ShapeOf(kValue).back();
  const int64_t target = c.ShapeOf(kQuery)[0], source = c.ShapeOf(kKey)[0];
  Names inputs{c.In(kQuery, {target, width}), c.In(kKey, {source, key_width}), c.In(kValue, {source, value_width})};
  if (inputs[1] == inputs[2]) inputs.pop_back();
  if (inputs[0] == inputs[1] && inputs.size() == 2) inputs.pop_back();
  const bool masked = c.Has(kAttnMask);
  if (masked) {
    const int64_t count = c.Type(kAttnMask).num_elements() / (target * source);
    if (count != 1 && count != heads) return Refused("a mask that broadcasts");
    const Ints mask = count == 1 ? Ints{target, source} : Ints{heads, target, source};
    COBRA_ASSIGN_OR_RETURN(inputs.emplace_back(), Summand(c, kAttnMask, mask, true));
  }
  Params params{{0, width},
                {1, heads},
                {2, width * width},
                {3, key_width},
                {4, value_width},
                {5, int64_t{masked ? 1 : 0}},
                {6, 1 / std::sqrt(static_cast<double>(width / heads))}};
  Names names(c.node().outputs.size());
  names[0] = c.Layer("MultiHeadAttention", inputs, {target, width}, std::move(params),
                     AttentionWeights(c, width, key_width, value_width));
  return names;
}

absl::StatusOr<Names> WriteEmbedding(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(c.NeedConstant(1, "a table"));
  if (c.HasValue("max_norm")) return Refused("max_norm");
  const int64_t rows = c.ShapeOf(1)[0], width = c.ShapeOf(1)[1], count = c.Type(0).num_elements();
  if (c.IsConstant(0)) {  // positions: the rows are known
    const std::string table = c.Numbers(1);
    std::string chosen;
    for (const double index : ValuesOf(DType::float32, c.Numbers(0)))
      chosen += Row(table, static_cast<int64_t>(index) * width, width);
    return Names{c.Data({count, width}, std::move(chosen))};
  }
  return Names{c.Layer("Embed", {c.In(0, {count})}, {count, width},
                       {{0, width}, {1, rows}, {2, int64_t{0}}, {3, rows * width}}, {{c.Numbers(1), true}})};
}

}  // namespace cobra::exporting::ncnn
