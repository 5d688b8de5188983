// Arithmetic on every element, and ncnn's own rule of broadcasting.
#include <algorithm>
#include <cmath>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "frontend/ncnn/handlers.h"

namespace cobra::ncnn {
namespace {

enum BinaryType { kAdd, kSub, kMul, kDiv, kMax, kMin, kPow, kRSub, kRDiv, kRPow, kATan2, kRATan2 };

// x of fewer dimensions beside a blob of `dims`. Unlike numpy's rule, ncnn adds dimensions of 1
// behind those of x: a blob of two dimensions beside one of three is [channels, height, 1]. A blob
// of one dimension is the channels, or, if their number differs, the width.
absl::StatusOr<graph::ValueRef> Expanded(Importer& im, const Layer& layer, graph::ValueRef x,
                                         const graph::Shape& other) {
  const graph::Shape s = im.ShapeOf(x);
  if (s.size() >= other.size()) return x;
  std::vector<int64_t> shape(s.begin(), s.end());
  const bool is_width = s.size() == 2 && s[1] != other[1];
  shape.insert(is_width ? shape.begin() + 1 : shape.end(), other.size() - s.size(), 1);
  return im.Reshape(layer, x, std::move(shape));
}

absl::StatusOr<graph::ValueRef> WithNumber(Importer& im, const Layer& layer, int64_t type, graph::ValueRef x,
                                           double number) {
  switch (type) {
    case kAdd: return im.Call(layer, graph::Op::add, {{"other", number}}, {x});
    case kSub: return im.Call(layer, graph::Op::sub, {{"other", number}}, {x});
    case kMul: return im.Call(layer, graph::Op::mul, {{"other", number}}, {x});
    case kDiv: return im.Call(layer, graph::Op::div, {{"other", number}}, {x});
    case kMax: return im.Call(layer, graph::Op::clamp, {{"min", number}}, {x});
    case kMin: return im.Call(layer, graph::Op::clamp, {{"max", number}}, {x});
    case kPow: return im.Call(layer, graph::Op::pow, {{"exponent", number}}, {x});
    case kRSub: return im.Call(layer, graph::Op::rsub, {{"other", number}}, {x});
    case kRDiv: return im.Call(layer, graph::Op::rdiv, {{"other", number}}, {x});
    case kRPow: return im.Call(layer, graph::Op::rpow, {{"other", number}}, {x});
    default: return im.Unsupported(layer, absl::StrCat("operation ", type, " with a number"));
  }
}

absl::StatusOr<graph::ValueRef> WithBlob(Importer& im, const Layer& layer, int64_t type, graph::ValueRef a,
                                         graph::ValueRef b) {
  switch (type) {
    case kAdd: return im.Call(layer, graph::Op::add, {}, {a, b});
    case kSub: return im.Call(layer, graph::Op::sub, {}, {a, b});
    case kMul: return im.Call(layer, graph::Op::mul, {}, {a, b});
    case kDiv: return im.Call(layer, graph::Op::div, {}, {a, b});
    case kMax: return im.Call(layer, graph::Op::maximum, {}, {a, b});
    case kMin: return im.Call(layer, graph::Op::minimum, {}, {a, b});
    case kPow: return im.Call(layer, graph::Op::pow, {}, {a, b});
    case kRSub: return im.Call(layer, graph::Op::sub, {}, {b, a});
    case kRDiv: return im.Call(layer, graph::Op::div, {}, {b, a});
    case kRPow: return im.Call(layer, graph::Op::pow, {}, {b, a});
    case kATan2: return im.Call(layer, graph::Op::atan2, {}, {a, b});
    case kRATan2: return im.Call(layer, graph::Op::atan2, {}, {b, a});
    default: return im.Unsupported(layer, absl::StrCat("operation ", type));
  }
}

// shift + scale x
absl::StatusOr<graph::ValueRef> Scaled(Importer& im, const Layer& layer, double scale, double shift) {
  graph::ValueRef x = im.In(layer, 0);
  if (scale != 1) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::mul, {{"other", scale}}, {x}));
  }
  if (shift != 0) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::add, {{"other", shift}}, {x}));
  }
  return x;
}

// Input `k` of RotaryEmbed, cosines or sines of every pair of x, with a dimension for the heads.
absl::StatusOr<graph::ValueRef> AnglesOf(Importer& im, const Layer& layer, size_t k) {
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, k, 2));
  const graph::Shape x = im.InShape(layer), s = im.InShape(layer, k);
  if (s[2] == x[3]) return im.Unsupported(layer, "a table as wide as what it turns");
  if (s[1] < x[2] || s[2] != x[3] / 2)
    return im.Wrong(layer, absl::StrCat("a table of ", graph::ShapeText(s), " for ", graph::ShapeText(x)));
  graph::ValueRef table = im.In(layer, k);
  if (s[1] > x[2]) {
    COBRA_ASSIGN_OR_RETURN(table, im.Cut(layer, table, 0, 0, x[2]));
  }
  return im.Reshape(layer, table, {s[0], 1, x[2], s[2]});
}

// The first input as real numbers, plus a bias of so many numbers, which may be none.
absl::StatusOr<graph::ValueRef> Dequantized(Importer& im, const Layer& layer, int64_t biases) {
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, im.Call(layer, graph::Op::dequantize, {}, {im.In(layer, 0)}));
  if (biases == 0) return x;
  if (biases != 1 && biases != im.InShape(layer)[1])
    return im.Wrong(layer, absl::StrCat(biases, " biases for ", im.InShape(layer)[1], " channels"));
  graph::Shape as{biases};
  for (int d = 1; d < im.Dims(layer); ++d) as.push_back(1);
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias,
                         im.Weight(layer, {"bias", {biases}, false, graph::DType::float32, {}, as}));
  return im.Call(layer, graph::Op::add, {}, {x, bias});
}

}  // namespace

namespace handlers {

absl::Status BinaryOp(Importer& im, const Layer& layer) {
  const int64_t type = layer.Int(0, 0);
  if (layer.Int(1, 0) != 0) {
    COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
    return im.Set(layer, 0, WithNumber(im, layer, type, im.In(layer, 0), layer.Real(2, 0)));
  }
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
  const graph::Shape a_shape = im.InShape(layer, 0), b_shape = im.InShape(layer, 1);
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef a, Expanded(im, layer, im.In(layer, 0), b_shape));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef b, Expanded(im, layer, im.In(layer, 1), a_shape));
  return im.Set(layer, 0, WithBlob(im, layer, type, a, b));
}

absl::Status UnaryOp(Importer& im, const Layer& layer) {
  constexpr graph::Op kOps[] = {graph::Op::abs,    graph::Op::neg,   graph::Op::floor, graph::Op::ceil,
                                graph::Op::square, graph::Op::sqrt,  graph::Op::rsqrt, graph::Op::exp,
                                graph::Op::log,    graph::Op::sin,   graph::Op::cos,   graph::Op::tan,
                                graph::Op::asin,   graph::Op::acos,  graph::Op::atan,  graph::Op::reciprocal,
                                graph::Op::tanh,   graph::Op::log10, graph::Op::round, graph::Op::trunc};
  const int64_t type = layer.Int(0, 0);
  if (type < 0 || type >= static_cast<int64_t>(std::size(kOps)))
    return im.Unsupported(layer, absl::StrCat("operation ", type));
  return im.Set(layer, 0, im.Call(layer, kOps[type], {}, {im.In(layer, 0)}));
}

// A product, sum or maximum of blobs of one shape; a sum may weigh them.
absl::Status Eltwise(Importer& im, const Layer& layer) {
  constexpr graph::Op kOps[] = {graph::Op::mul, graph::Op::add, graph::Op::maximum};
  const int64_t type = layer.Int(0, 0);
  if (type < 0 || type > 2) return im.Wrong(layer, absl::StrCat("operation ", type));
  if (layer.bottoms.size() < 2) return im.Wrong(layer, "two inputs or more expected");
  const std::vector<double> weights = layer.Reals(1);
  if (!weights.empty() && (type != 1 || weights.size() != layer.bottoms.size()))
    return im.Wrong(layer, absl::StrCat(weights.size(), " coefficients for ", layer.bottoms.size(), " inputs"));
  graph::ValueRef sum = graph::ValueRef::None();
  for (size_t k = 0; k < layer.bottoms.size(); ++k) {
    graph::ValueRef x = im.In(layer, k);
    if (im.ShapeOf(x) != im.InShape(layer, 0)) {
      return im.Wrong(layer, absl::StrCat("inputs of ", graph::ShapeText(im.InShape(layer, 0)), " and ",
                                          graph::ShapeText(im.ShapeOf(x))));
    }
    if (!weights.empty() && weights[k] != 1) {
      COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::mul, {{"other", weights[k]}}, {x}));
    }
    if (k > 0) {
      COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, kOps[type], {}, {sum, x}));
    }
    sum = x;
  }
  return im.Set(layer, 0, sum);
}

absl::Status Power(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, Scaled(im, layer, layer.Real(1, 1), layer.Real(2, 0)));
  if (layer.Real(0, 1) != 1) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::pow, {{"exponent", layer.Real(0, 1)}}, {x}));
  }
  return im.Set(layer, 0, x);
}

absl::Status Exp(Importer& im, const Layer& layer) {
  const double base = layer.Real(0, -1);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, Scaled(im, layer, layer.Real(1, 1), layer.Real(2, 0)));
  if (base == -1) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::exp, {}, {x}));
  } else {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::rpow, {{"other", base}}, {x}));
  }
  return im.Set(layer, 0, x);
}

absl::Status Log(Importer& im, const Layer& layer) {
  const double base = layer.Real(0, -1);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, Scaled(im, layer, layer.Real(1, 1), layer.Real(2, 0)));
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::log, {}, {x}));
  if (base != -1) {
    if (base <= 0 || base == 1) return im.Wrong(layer, absl::StrCat("base ", base));
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::mul, {{"other", 1 / std::log(base)}}, {x}));
  }
  return im.Set(layer, 0, x);
}

// Numbers in pairs, each turned by the angle of its row: x of [heads, rows, size], then cosines and
// sines of
// [rows, size / 2]. A pair is two neighbours, or an element of the first half of the row and one of
// the second.
absl::Status RotaryEmbed(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 3, 3));
  COBRA_RETURN_IF_ERROR(im.CheckDims(layer, 0, 3));
  const graph::Shape s = im.InShape(layer);
  if (s[3] % 2 != 0) return im.Wrong(layer, absl::StrCat("rows of ", s[3], " numbers, which are not pairs"));
  const bool neighbours = layer.Int(0, 0) != 0;
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef cosines, AnglesOf(im, layer, 1));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef sines, AnglesOf(im, layer, 2));
  const std::string first = neighbours ? "..., ::2" : absl::StrCat("..., :", s[3] / 2);
  const std::string second = neighbours ? "..., 1::2" : absl::StrCat("..., ", s[3] / 2, ":");
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef a,
                         im.Call(layer, graph::Op::getitem, {{"index", first}}, {im.In(layer, 0)}));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef b,
                         im.Call(layer, graph::Op::getitem, {{"index", second}}, {im.In(layer, 0)}));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, graph::Op::mul, {}, {a, cosines}));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef less, im.Call(layer, graph::Op::mul, {}, {b, sines}));
  COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::sub, {}, {x, less}));
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef y, im.Call(layer, graph::Op::mul, {}, {a, sines}));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef more, im.Call(layer, graph::Op::mul, {}, {b, cosines}));
  COBRA_ASSIGN_OR_RETURN(y, im.Call(layer, graph::Op::add, {}, {y, more}));
  if (!neighbours) {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::cat, {{"dim", int64_t{3}}}, {x, y}));
  } else {
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::stack, {{"dim", int64_t{4}}}, {x, y}));
    COBRA_ASSIGN_OR_RETURN(x, im.Reshape(layer, x, {s[0], s[1], s[2], s[3]}));
  }
  return im.Set(layer, 0, x);
}

// What a network of int8 layers has between them.
absl::Status Quantize(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, Quantized(im, layer, im.In(layer, 0)));
  im.SkipWeight({std::max<int64_t>(layer.Int(0, 1), 1)}, false);
  return im.Set(layer, 0, x);
}

absl::Status Dequantize(Importer& im, const Layer& layer) {
  im.SkipWeight({std::max<int64_t>(layer.Int(0, 1), 1)}, false);
  return im.Set(layer, 0, Dequantized(im, layer, layer.Int(1, 0)));
}

// Sums of products, as int32, become int8 again. The int8 layers of this reader give no such sums:
// they are an input.
absl::Status Requantize(Importer& im, const Layer& layer) {
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
  if (im.TypeOf(im.In(layer, 0)) != graph::DType::int32) return im.Unsupported(layer, "an input that is not int32");
  const int64_t channels = im.Dims(layer) > 1 ? im.InShape(layer)[1] : 1;
  for (const int key : {0, 1}) {
    const int64_t count = layer.Int(key, 1);
    if (count != 1 && count != channels)
      return im.Wrong(layer, absl::StrCat(count, " scales (", key, "=) for ", channels, " channels"));
    im.SkipWeight({count}, false);
  }
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, Dequantized(im, layer, layer.Int(2, 0)));
  COBRA_ASSIGN_OR_RETURN(x, im.Activate(layer, x, 3, 4));
  return im.Set(layer, 0, Quantized(im, layer, x));
}

}  // namespace handlers
}  // namespace cobra::ncnn
