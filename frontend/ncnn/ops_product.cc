// Matrix products and what is made of them.
#include <algorithm>
#include <cmath>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {

absl::StatusOr<graph::ValueRef> Quantized(Importer& im, const Layer& layer, graph::ValueRef x) {
  if (im.TypeOf(x) == graph::DType::int8) return x;
  return im.Call(layer, graph::Op::quantize_per_tensor, {{"dtype", std::string("int8")}}, {x});
}

void SkipInt8Scales(Importer& im, int64_t weight_scales, int64_t term) {
  if (term == 0) return;
  im.SkipWeight({weight_scales}, false);
  im.SkipWeight({1}, false);
  if (term > 100) im.SkipWeight({1}, false);
}

absl::Status InnerProductOf(Importer& im, const Layer& layer, const Product& product) {
  const int64_t int8_scales = layer.Int(8, 0);
  const graph::DType dtype = int8_scales != 0 ? graph::DType::int8 : graph::DType::float32;
  graph::ValueRef x = im.In(layer, 0), bias = graph::ValueRef::None();
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(layer, {.name = "weight",
                                                                         .shape = product.weight_shape,
                                                                         .has_flag = true,
                                                                         .dtype = dtype,
                                                                         .as = {product.out, product.in}}));
  if (layer.Int(product.bias_key, 0) != 0) {
    COBRA_ASSIGN_OR_RETURN(bias, im.Weight(layer, {"bias", {product.out}}));
  }
  SkipInt8Scales(im, product.out, int8_scales);
  graph::Attributes attributes;
  if (int8_scales != 0) {
    COBRA_ASSIGN_OR_RETURN(x, Quantized(im, layer, x));
    attributes.Set("quantized", std::string(int8_scales > 100 ? "int8" : "float32"));
  }
  if (im.ShapeOf(x).back() != product.in) {
    COBRA_ASSIGN_OR_RETURN(
        x, im.Call(layer, graph::Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {x}));
  }
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::linear, std::move(attributes), {x, weight, bias}));
  return im.Set(layer, 0, im.Activate(layer, x));
}

namespace {

// The bias and the product of a projection in an attention.
absl::StatusOr<graph::ValueRef> Projected(Importer& im, const Layer& layer, graph::ValueRef x, absl::string_view name,
                                          int64_t out) {
  const int64_t in = im.ShapeOf(x).back();
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight,
                         im.Weight(layer, {absl::StrCat(name, "_weight"), {out, in}, true}));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, im.Weight(layer, {absl::StrCat(name, "_bias"), {out}}));
  return im.Call(layer, graph::Op::linear, {}, {x, weight, bias});
}

// [batch, steps, heads * size] -> [batch, heads, steps, size]
absl::StatusOr<graph::ValueRef> ToHeads(Importer& im, const Layer& layer, graph::ValueRef x, int64_t heads) {
  const graph::Shape s = im.ShapeOf(x);
  COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, {s[0], s[1], heads, s[2] / heads}));
  return im.Permute(layer, x, {0, 2, 1, 3});
}

// A mask of every head, or one for all: its blob has three or two dimensions.
absl::StatusOr<graph::ValueRef> MaskOf(Importer& im, const Layer& layer, size_t k) {
  const graph::Shape s = im.InShape(layer, k);
  if (s.size() == 4) return im.In(layer, k);
  if (s.size() != 3) return im.Wrong(layer, absl::StrCat("its mask has ", s.size() - 1, " dimensions"));
  return im.Reshape(layer, im.In(layer, k), {s[0], 1, s[1], s[2]});
}

absl::StatusOr<graph::ValueRef> Transposed(Importer& im, const Layer& layer, graph::ValueRef x, bool transposed) {
  if (!transposed) return x;
  return im.Call(layer, graph::Op::transpose, {{"dim0", int64_t{-2}}, {"dim1", int64_t{-1}}}, {x});
}

// A matrix of Gemm from an input: [batch, rows, columns]. An input of three dimensions has its rows
// in the outermost.
absl::StatusOr<graph::ValueRef> MatrixIn(Importer& im, const Layer& layer, size_t k) {
  const graph::Shape s = im.InShape(layer, k);
  if (s.size() == 3) return im.In(layer, k);
  if (s.size() == 4 && s[2] == 1) return im.Reshape(layer, im.In(layer, k), {s[0], s[1], s[3]});
  return im.Unsupported(layer, absl::StrCat("a matrix of ", graph::ShapeText(s)));
}

// What Gemm adds, so that it broadcasts with [batch, m, n]; none if there is nothing.
absl::StatusOr<graph::ValueRef> GemmBias(Importer& im, const Layer& layer, size_t next, int64_t m, int64_t n) {
  if (layer.Int(6, 0) != 0) {
    graph::Shape shape;
    switch (layer.Int(10, 0)) {
      case -1: return graph::ValueRef::None();
      case 0: shape = {1}; break;
      case 1: return im.Weight(layer, {.name = "c", .shape = {m}, .has_flag = true, .as = {m, 1}});
      case 2: shape = {m, 1}; break;
      case 3: shape = {m, n}; break;
      case 4: return im.Weight(layer, {.name = "c", .shape = {1, n}, .has_flag = true, .as = {n}});
      default: return im.Wrong(layer, absl::StrCat("broadcast type ", layer.Int(10, 0)));
    }
    return im.Weight(layer, {"c", shape, true});
  }
  if (next >= layer.bottoms.size()) return graph::ValueRef::None();
  const graph::Shape s = im.InShape(layer, next);
  const graph::ValueRef c = im.In(layer, next);
  if (s.size() == 2 && s[1] == 1) return im.Reshape(layer, c, {s[0], 1, 1});
  if (s.size() == 2 && s[1] == m) return im.Reshape(layer, c, {s[0], m, 1});
  if (s.size() == 2 && s[1] == n) return im.Reshape(layer, c, {s[0], 1, n});
  if (s.size() == 3 && (s[1] == m || s[1] == 1) && (s[2] == n || (s[2] == 1 && s[1] == m))) return c;
  return im.Wrong(layer, absl::StrCat("what it adds is ", graph::ShapeText(s), ", its product is ", m, "x", n));
}

struct GemmParts {
  graph::ValueRef a, b;  // without transposition
  bool transposed_a, transposed_b;
  int64_t m = 0, n = 0, k = 0;
  size_t next = 0;  // the first input that is neither
};

absl::StatusOr<GemmParts> ReadGemm(Importer& im, const Layer& layer) {
  GemmParts g{graph::ValueRef::None(), graph::ValueRef::None(), layer.Int(2, 0) != 0, layer.Int(3, 0) != 0};
  const bool constant_a = layer.Int(4, 0) != 0, constant_b = layer.Int(5, 0) != 0;
  if (constant_a && constant_b) return im.Unsupported(layer, "a product of two weights");
  if (layer.bottoms.size() < (constant_a || constant_b ? 1u : 2u)) return im.Wrong(layer, "an input is missing");
  const int64_t m = layer.Int(7, 0), n = layer.Int(8, 0), k = layer.Int(9, 0);
  if (constant_a) {
    COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a constant matrix (7=, 9=)", {m, k}));
    COBRA_ASSIGN_OR_RETURN(g.a,
                           im.Weight(layer, {"a", g.transposed_a ? graph::Shape{k, m} : graph::Shape{m, k}, true}));
  } else {
    COBRA_ASSIGN_OR_RETURN(g.a, MatrixIn(im, layer, g.next++));
  }
  if (constant_b) {
    COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a constant matrix (8=, 9=)", {n, k}));
    COBRA_ASSIGN_OR_RETURN(g.b,
                           im.Weight(layer, {"b", g.transposed_b ? graph::Shape{n, k} : graph::Shape{k, n}, true}));
  } else {
    COBRA_ASSIGN_OR_RETURN(g.b, MatrixIn(im, layer, g.next++));
  }
  const graph::Shape a = im.ShapeOf(g.a), b = im.ShapeOf(g.b);
  g.m = g.transposed_a ? a.back() : a[a.size() - 2];
  g.k = g.transposed_a ? a[a.size() - 2] : a.back();
  g.n = g.transposed_b ? b[b.size() - 2] : b.back();
  if (layer.Int(6, 0) != 0 && ((m != 0 && m != g.m) || (n != 0 && n != g.n))) {
    return im.Wrong(layer, absl::StrCat("it says a product of ", m, "x", n, ", its inputs give ", g.m, "x", g.n));
  }
  if (layer.bottoms.size() > g.next + (layer.Int(6, 0) != 0 ? 0 : 1)) return im.Wrong(layer, "too many inputs");
  return g;
}

// Inserts dimensions of 1 behind the batch until the blob has `dims`.
absl::StatusOr<graph::ValueRef> WithDims(Importer& im, const Layer& layer, graph::ValueRef x, size_t dims) {
  const graph::Shape s = im.ShapeOf(x);
  std::vector<int64_t> shape(s.begin(), s.end());
  while (shape.size() < dims + 1) shape.insert(shape.begin() + 1, 1);
  return im.Reshape(layer, x, std::move(shape));
}

struct Equation {
  std::vector<std::string> terms;  // letters of the inputs' dimensions
  std::string result;              // of the result's; empty: the trace of a matrix
};

constexpr absl::string_view kLetters = "ijklmnopqrstuvwx";

// The equation that the codes of characters of an Einsum spell.
absl::StatusOr<Equation> ReadEquation(const Importer& im, const Layer& layer) {
  std::string text;
  for (const int64_t code : layer.Ints(0)) {
    if (code < ' ' || code > '~') return im.Wrong(layer, absl::StrCat("character ", code, " in its equation"));
    text.push_back(static_cast<char>(code));
  }
  if (text == "ii") return Equation{{text}, ""};
  const std::vector<std::string> sides = absl::StrSplit(text, absl::MaxSplits("->", 1));
  if (sides.size() != 2) return im.Wrong(layer, absl::StrCat("equation \"", Quotable(text), "\" without ->"));
  Equation equation{absl::StrSplit(sides[0], ','), sides[1]};
  if (equation.result.empty() || equation.result.size() > 4 || !absl::StartsWith(kLetters, equation.result))
    return im.Unsupported(layer,
                          absl::StrCat("a result \"", Quotable(equation.result), "\" (i, ij, ijk and ijkl are)"));
  return equation;
}

// The same, whose letters stand for sizes: each for one size wherever it stands, for PyTorch's
// spreads a size of 1.
absl::StatusOr<Equation> EquationOf(const Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(Equation equation, ReadEquation(im, layer));
  if (equation.terms.size() != layer.bottoms.size())
    return im.Wrong(layer, absl::StrCat(layer.bottoms.size(), " inputs, its equation has ", equation.terms.size()));
  std::vector<int64_t> sizes(kLetters.size(), 0);
  for (size_t k = 0; k < equation.terms.size(); ++k) {
    const std::string& term = equation.terms[k];
    const graph::Shape& s = im.InShape(layer, k);
    if (term.size() + 1 != s.size())
      return im.Wrong(layer,
                      absl::StrCat("input ", k, " of ", s.size() - 1, " dimensions for \"", Quotable(term), "\""));
    for (size_t d = 0; d < term.size(); ++d) {
      const size_t letter = kLetters.find(term[d]);
      if (letter == absl::string_view::npos)
        return im.Wrong(layer, absl::StrCat("\"", Quotable(term), "\" in its equation; letters are i to x"));
      if (sizes[letter] != 0 && sizes[letter] != s[d + 1])
        return im.Wrong(layer, absl::StrCat("sizes of ", sizes[letter], " and ", s[d + 1], " for ", term.substr(d, 1)));
      sizes[letter] = s[d + 1];
    }
  }
  for (const char letter : equation.result) {
    if (sizes[kLetters.find(letter)] == 0)
      return im.Wrong(layer, absl::StrCat("its result's ", std::string(1, letter), " is not a dimension of an input"));
  }
  return equation;
}

}  // namespace

namespace handlers {

absl::Status InnerProduct(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  const int64_t out = layer.Int(0, 0);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of outputs (0=)", {out}));
  const graph::Shape& shape = im.InShape(layer);
  int64_t in = 1;
  for (size_t i = 1; i < shape.size(); ++i) in *= shape[i];
  // Rows of the right width are multiplied one by one; everything else is one row.
  if (shape.size() == 3 && layer.Int(2, 0) == shape[2] * out) in = shape[2];
  COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 2, {out, in}));
  return InnerProductOf(im, layer, {.in = in, .out = out, .bias_key = 1, .weight_shape = {out, in}});
}

// (a b + beta c) alpha
absl::Status Gemm(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(GemmParts g, ReadGemm(im, layer));
  const double alpha = layer.Real(0, 1), beta = layer.Real(1, 1);
  const bool out_transposed = layer.Int(14, 0) != 0;
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef c, GemmBias(im, layer, g.next, g.m, g.n));
  const bool is_linear = !g.transposed_a && g.transposed_b && layer.Int(5, 0) != 0 && alpha == 1 &&
                         (c.is_none() || (beta == 1 && layer.Int(6, 0) != 0 && im.ShapeOf(c) == graph::Shape{g.n}));
  graph::ValueRef x;
  if (is_linear) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::linear, {}, {g.a, g.b, c}));
  } else {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef a, Transposed(im, layer, g.a, g.transposed_a));
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef b, Transposed(im, layer, g.b, g.transposed_b));
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::matmul, {}, {a, b}));
    if (!c.is_none() && beta != 1) {
      COBRA_ASSIGN_OR_RETURN(c, im.Call(layer, graph::Op::mul, {{"other", beta}}, {c}));
    }
    if (!c.is_none()) {
      COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::add, {}, {x, c}));
    }
    if (alpha != 1) {
      COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::mul, {{"other", alpha}}, {x}));
    }
  }
  COBRA_ASSIGN_OR_RETURN(x, Transposed(im, layer, x, out_transposed));
  if (layer.Int(11, 0) != 0) {
    const graph::Shape s = im.ShapeOf(x);
    COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, {s[0], s[1], 1, s[2]}));
  }
  return im.Set(layer, 0, x);
}

// As numpy's: a blob of one dimension is a row on the left, a column on the right, and leaves the
// result.
absl::Status MatMul(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
  const size_t a_dims = im.Dims(layer, 0), b_dims = im.Dims(layer, 1);
  graph::ValueRef a = im.In(layer, 0), b = im.In(layer, 1);
  if (b_dims == 1) {
    const graph::Shape s = im.ShapeOf(b);
    COBRA_ASSIGN_OR_RETURN(b, im.Reshape(layer, b, {s[0], s[1], 1}));
  }
  const size_t dims = std::max<size_t>({a_dims, b_dims, 2});
  COBRA_ASSIGN_OR_RETURN(a, WithDims(im, layer, a, dims));
  COBRA_ASSIGN_OR_RETURN(b, WithDims(im, layer, b, dims));
  COBRA_ASSIGN_OR_RETURN(b, Transposed(im, layer, b, layer.Int(0, 0) != 0 && b_dims > 1));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, graph::Op::matmul, {}, {a, b}));
  const graph::Shape whole = im.ShapeOf(x);
  std::vector<int64_t> shape(whole.begin(), whole.end());
  if (b_dims == 1) shape.pop_back();
  if (a_dims == 1) shape.erase(shape.end() - (b_dims == 1 ? 1 : 2));
  if (shape.size() == 1) shape.push_back(1);
  return im.Set(layer, 0, im.Reshape(layer, x, std::move(shape)));
}

absl::Status MultiHeadAttention(Importer& im, const Layer& layer) {
  const bool masked = layer.Int(5, 0) != 0;
  if (layer.Int(7, 0) != 0) return im.Unsupported(layer, "a cache of keys and values (7=)");
  if (layer.tops.size() != 1) return im.Unsupported(layer, "more than one output");
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, masked ? 2 : 1, masked ? 4 : 3));
  const size_t n = layer.bottoms.size() - (masked ? 1 : 0);
  const size_t key = n == 1 ? 0 : 1, value = n == 3 ? 2 : key;
  for (size_t k = 0; k < n; ++k) COBRA_RETURN_IF_ERROR(im.CheckDims(layer, k, 2));
  const int64_t embed = layer.Int(0, 0), heads = layer.Int(1, 1);
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a size (0=, 1=)", {embed, heads}));
  if (embed % heads != 0) return im.Wrong(layer, absl::StrCat(heads, " heads of ", embed, " numbers"));
  const int64_t width = im.InShape(layer, 0)[2];
  COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 2, {embed, width}));
  for (const auto& [k, index] : {std::pair{3, key}, {4, value}}) {
    if (layer.Int(k, embed) != im.InShape(layer, index)[2])
      return im.Wrong(
          layer, absl::StrCat(k, "=", layer.Int(k, embed), ": its input has rows of ", im.InShape(layer, index)[2]));
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef q, Projected(im, layer, im.In(layer, 0), "q", embed));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef k, Projected(im, layer, im.In(layer, key), "k", embed));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef v, Projected(im, layer, im.In(layer, value), "v", embed));
  for (graph::ValueRef* x : {&q, &k, &v}) {
    COBRA_ASSIGN_OR_RETURN(*x, ToHeads(im, layer, *x, heads));
  }
  graph::ValueRef mask = graph::ValueRef::None();
  if (masked) {
    COBRA_ASSIGN_OR_RETURN(mask, MaskOf(im, layer, n));
  }
  graph::Attributes attributes{{"dropout_p", 0.0}, {"is_causal", false}};
  if (layer.Find(6) != nullptr) attributes.Set("scale", layer.Real(6, 0));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, graph::Op::scaled_dot_product_attention,
                                                    std::move(attributes), {q, k, v, mask}));
  COBRA_ASSIGN_OR_RETURN(x, im.Permute(layer, x, {0, 2, 1, 3}));
  COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, {im.batch(), im.InShape(layer, 0)[1], embed}));
  return im.Set(layer, 0, Projected(im, layer, x, "out", width));
}

// Letters i, j ... x. The result has the first of them in this order, and the batch becomes one
// more letter in front.
absl::Status Einsum(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(const Equation equation, EquationOf(im, layer));
  Tensors inputs;
  std::vector<std::string> terms;
  for (size_t k = 0; k < layer.bottoms.size(); ++k) {
    inputs.push_back(im.In(layer, k));
    terms.push_back(absl::StrCat("a", equation.terms[k]));
  }
  std::string text = absl::StrCat(absl::StrJoin(terms, ","), "->a", equation.result);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x,
                         im.Call(layer, graph::Op::einsum, {{"equation", std::move(text)}}, std::move(inputs)));
  if (equation.result.empty()) {  // a blob has a dimension at least
    COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, {im.batch(), 1}));
  }
  return im.Set(layer, 0, x);
}

// Queries, keys and values of [heads, steps, size]; there may be fewer heads of keys and values
// than of queries.
absl::Status SDPA(Importer& im, const Layer& layer) {
  const bool masked = layer.Int(5, 0) != 0;
  if (layer.Int(7, 0) != 0) return im.Unsupported(layer, "a cache of keys and values (7=)");
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, masked ? 4 : 3, masked ? 4 : 3));
  if (layer.tops.size() != 1) return im.Unsupported(layer, "more than one output");
  for (size_t k = 0; k < 3; ++k) COBRA_RETURN_IF_ERROR(im.CheckDims(layer, k, 3));
  const int64_t heads = im.InShape(layer, 0)[1], groups = im.InShape(layer, 1)[1];
  if (groups == 0 || heads % groups != 0 || im.InShape(layer, 2)[1] != groups)
    return im.Wrong(
        layer, absl::StrCat(heads, " heads of queries, ", groups, " of keys, ", im.InShape(layer, 2)[1], " of values"));
  graph::ValueRef mask = graph::ValueRef::None();
  if (masked) {
    COBRA_ASSIGN_OR_RETURN(mask, MaskOf(im, layer, 3));
  }
  graph::Attributes attributes{{"dropout_p", 0.0}, {"is_causal", false}};
  if (layer.Real(6, 0) != 0) attributes.Set("scale", layer.Real(6, 0));
  if (heads != groups) attributes.Set("enable_gqa", true);
  return im.Set(layer, 0,
                im.Call(layer, graph::Op::scaled_dot_product_attention, std::move(attributes),
                        {im.In(layer, 0), im.In(layer, 1), im.In(layer, 2), mask}));
}

absl::Status Embed(Importer& im, const Layer& layer) {
  const int64_t out = layer.Int(0, 0), rows = layer.Int(1, 0);
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  COBRA_RETURN_IF_ERROR(im.CheckPositive(layer, "a number of outputs (0=)", {out}));
  if (rows < 1) return im.Wrong(layer, absl::StrCat("a table of ", rows, " rows (1=)"));
  COBRA_RETURN_IF_ERROR(im.CheckWeightCount(layer, 3, {rows, out}));
  graph::ValueRef x = im.In(layer, 0);
  if (!graph::IsIntegral(im.TypeOf(x))) return im.Unsupported(layer, "an index that the network computes");
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef weight, im.Weight(layer, {"weight", {rows, out}, true}));
  if (im.Dims(layer) != 1) {
    COBRA_ASSIGN_OR_RETURN(
        x, im.Call(layer, graph::Op::flatten, {{"start_dim", int64_t{1}}, {"end_dim", int64_t{-1}}}, {x}));
  }
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::embedding, {}, {x, weight}));
  if (layer.Int(2, 0) != 0) {
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias, im.Weight(layer, {"bias", {out}}));
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::add, {}, {x, bias}));
  }
  return im.Set(layer, 0, x);
}

}  // namespace handlers
}  // namespace cobra::ncnn
