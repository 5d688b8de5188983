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

// x of fewer dimensions beside a blob of `dims`. Unlike numpy's rule, ncnn adds dimensions of 1 behind those of x: a
// blob of two dimensions beside one of three is [channels, height, 1]. A blob of one dimension is the channels, or, if
// their number differs, the width.
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

}  // namespace

namespace handlers {

absl::Status BinaryOp(Importer& im, const Layer& layer) {
  const int64_t type = layer.Int(0, 0);
  if (layer.Int(1, 0) != 0) {
    COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 1, 1));
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, WithNumber(im, layer, type, im.In(layer, 0), layer.Real(2, 0)));
    return im.Set(layer, 0, x);
  }
  COBRA_RETURN_IF_ERROR(im.CheckInputs(layer, 2, 2));
  const graph::Shape a_shape = im.InShape(layer, 0), b_shape = im.InShape(layer, 1);
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef a, Expanded(im, layer, im.In(layer, 0), b_shape));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef b, Expanded(im, layer, im.In(layer, 1), a_shape));
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, WithBlob(im, layer, type, a, b));
  return im.Set(layer, 0, x);
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
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, im.Call(layer, kOps[type], {}, {im.In(layer, 0)}));
  return im.Set(layer, 0, x);
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

// What a network of int8 layers has between them.
absl::Status Quantize(Importer& im, const Layer& layer) {
  COBRA_ASSIGN_OR_RETURN(const graph::ValueRef x, Quantized(im, layer, im.In(layer, 0)));
  im.SkipWeight({std::max<int64_t>(layer.Int(0, 1), 1)}, false);
  return im.Set(layer, 0, x);
}

absl::Status Dequantize(Importer& im, const Layer& layer) {
  im.SkipWeight({std::max<int64_t>(layer.Int(0, 1), 1)}, false);
  COBRA_ASSIGN_OR_RETURN(graph::ValueRef x, im.Call(layer, graph::Op::dequantize, {}, {im.In(layer, 0)}));
  if (const int64_t count = layer.Int(1, 0); count != 0) {
    if (count != 1 && count != im.InShape(layer)[1])
      return im.Wrong(layer, absl::StrCat(count, " biases for ", im.InShape(layer)[1], " channels"));
    graph::Shape as{count};
    for (int d = 1; d < im.Dims(layer); ++d) as.push_back(1);
    COBRA_ASSIGN_OR_RETURN(const graph::ValueRef bias,
                           im.Weight(layer, {"bias", {count}, false, graph::DType::float32, {}, as}));
    COBRA_ASSIGN_OR_RETURN(x, im.Call(layer, graph::Op::add, {}, {x, bias}));
  }
  return im.Set(layer, 0, x);
}

}  // namespace handlers
}  // namespace cobra::ncnn
