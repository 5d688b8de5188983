// Elementwise functions of one tensor; softmax and what is computed from it.
#include <cmath>
#include <limits>

#include "export/ncnn/handlers.h"

namespace cobra::exporting::ncnn {
namespace {

using graph::Op;

std::string Clipped(CallWriter& c, const std::string& x, double low, double high) {
  Params params;
  if (low > -std::numeric_limits<double>::infinity()) params.emplace_back(0, low);
  if (high < std::numeric_limits<double>::infinity()) params.emplace_back(1, high);
  return c.Map("Clip", x, std::move(params));
}

// x / 6 + 1 / 2, between 0 and 1.
const Params kHard{{0, 1.0 / 6}, {1, 0.5}};

}  // namespace

absl::StatusOr<Names> WriteUnary(CallWriter& c) {
  const std::string x = c.In(0);
  switch (c.op()) {
    case Op::abs: return Names{c.Unary(kAbs, x)};
    case Op::neg: return Names{c.Unary(kNeg, x)};
    case Op::floor: return Names{c.Unary(kFloor, x)};
    case Op::ceil: return Names{c.Unary(kCeil, x)};
    case Op::square: return Names{c.Unary(kSquare, x)};
    case Op::sqrt: return Names{c.Unary(kSqrt, x)};
    case Op::rsqrt: return Names{c.Unary(kRsqrt, x)};
    case Op::exp: return Names{c.Unary(kExp, x)};
    case Op::log: return Names{c.Unary(kLog, x)};
    case Op::sin: return Names{c.Unary(kSin, x)};
    case Op::cos: return Names{c.Unary(kCos, x)};
    case Op::tan: return Names{c.Unary(kTan, x)};
    case Op::asin:
    case Op::arcsin: return Names{c.Unary(kAsin, x)};
    case Op::acos: return Names{c.Unary(kAcos, x)};
    case Op::atan:
    case Op::arctan: return Names{c.Unary(kAtan, x)};
    case Op::reciprocal: return Names{c.Unary(kReciprocal, x)};
    case Op::log10: return Names{c.Unary(kLog10, x)};
    case Op::trunc: return Names{c.Unary(kTrunc, x)};
    case Op::erf:
    case Op::special_erf: return Names{c.Map("Erf", x)};
    case Op::expm1: return Names{c.WithNumber(kSub, c.Unary(kExp, x), 1)};
    case Op::log1p: return Names{c.Unary(kLog, c.WithNumber(kAdd, x, 1))};
    case Op::log2: return Names{c.WithNumber(kMul, c.Unary(kLog, x), 1 / std::log(2.0))};
    case Op::exp2: return Names{c.Unary(kExp, c.WithNumber(kMul, x, std::log(2.0)))};
    case Op::frac: return Names{c.WithBlob(kSub, x, c.Unary(kTrunc, x))};
    default: return Refused("ncnn has no layer for it");
  }
}

absl::StatusOr<Names> WriteRound(CallWriter& c) {
  if (c.Int("decimals") != 0) return Refused("decimals");
  return Names{c.Unary(kRound, c.In(0))};
}

absl::StatusOr<Names> WriteActivation(CallWriter& c) {
  const std::string x = c.In(0);
  switch (c.op()) {
    case Op::relu: return Names{c.Map("ReLU", x)};
    case Op::leaky_relu: return Names{c.Map("ReLU", x, {{0, c.Double("negative_slope", 0.01)}})};
    case Op::relu6: return Names{Clipped(c, x, 0, 6)};
    case Op::hardtanh: return Names{Clipped(c, x, c.Double("min_val", -1), c.Double("max_val", 1))};
    case Op::silu: return Names{c.Map("Swish", x)};
    case Op::mish: return Names{c.Map("Mish", x)};
    case Op::sigmoid:
    case Op::special_expit: return Names{c.Map("Sigmoid", x)};
    case Op::tanh: return Names{c.Map("TanH", x)};
    case Op::hardswish: return Names{c.Map("HardSwish", x, kHard)};
    case Op::hardsigmoid: return Names{c.Map("HardSigmoid", x, kHard)};
    case Op::elu: return Names{c.Map("ELU", x, {{0, c.Double("alpha", 1)}})};
    case Op::celu: return Names{c.Map("CELU", x, {{0, c.Double("alpha", 1)}})};
    case Op::selu: return Names{c.Map("SELU", x)};
    case Op::gelu: return Names{c.Map("GELU", x, {{0, int64_t{c.String("approximate") == "tanh" ? 1 : 0}}})};
    case Op::log_sigmoid: return Names{c.Unary(kLog, c.Map("Sigmoid", x))};
    case Op::tanhshrink: return Names{c.WithBlob(kSub, x, c.Map("TanH", x))};
    case Op::softsign: return Names{c.WithBlob(kDiv, x, c.WithNumber(kAdd, c.Unary(kAbs, x), 1))};
    default: return Refused("ncnn has no layer for it");
  }
}

absl::StatusOr<Names> WriteClamp(CallWriter& c) {
  if (c.Has(1) || c.Has(2)) return Refused("bounds that are tensors");
  const double infinity = std::numeric_limits<double>::infinity();
  return Names{Clipped(c, c.In(0), c.HasValue("min") ? c.Double("min") : -infinity,
                       c.HasValue("max") ? c.Double("max") : infinity)};
}

// ncnn has no beta and takes log(1 + e^x) everywhere, which is x where PyTorch takes x.
absl::StatusOr<Names> WriteSoftplus(CallWriter& c) {
  const double beta = c.Double("beta", 1);
  if (c.Double("threshold", 20) < 15) return Refused("a threshold below 15");
  if (beta == 1) return Names{c.Map("Softplus", c.In(0))};
  return Names{c.WithNumber(kDiv, c.Map("Softplus", c.WithNumber(kMul, c.In(0), beta)), beta)};
}

absl::StatusOr<Names> WritePrelu(CallWriter& c) {
  COBRA_RETURN_IF_ERROR(c.NeedConstant(1, "a slope"));
  const int64_t count = c.Type(1).num_elements();
  const Ints dims = BlobOf(c.ShapeOf(0));
  if (count > 1 && (dims.empty() || c.Rank(0) < 2 || dims[0] != count || c.ShapeOf(0)[1] != count))
    return Refused("slopes of channels in a batch");
  return Names{c.Map("PReLU", c.AsRule(0), {{0, count}}, {{c.Numbers(1)}})};
}

absl::StatusOr<Names> WriteGlu(CallWriter& c) {
  const Axis at = AxisOf(c.ShapeOf(0), c.Dim("dim", -1, c.Rank(0)));
  Ints dims = at.dims;
  dims[static_cast<size_t>(at.axis)] /= 2;
  return Names{c.Layer("GLU", {c.In(0, at.dims)}, dims, {{0, at.axis}})};
}

// softmax, log_softmax, softmin
absl::StatusOr<Names> WriteSoftmax(CallWriter& c) {
  const Axis at = AxisOf(c.ShapeOf(0), c.Dim("dim", -1, c.Rank(0)));
  std::string x = c.In(0, at.dims);
  if (c.op() == Op::softmin) x = c.Unary(kNeg, x);
  const std::string y = c.Map("Softmax", x, {{0, at.axis}, {1, int64_t{1}}});
  const bool logarithm = c.op() == Op::log_softmax || c.op() == Op::special_log_softmax;
  return Names{logarithm ? c.Unary(kLog, y) : y};
}

// What does nothing at inference, or copies.
absl::StatusOr<Names> WriteSame(CallWriter& c) {
  if (c.Bool("training")) return Refused("draws random numbers");
  if (c.Out().dtype != c.Type(0).dtype) return Refused("a change of type: ncnn computes in float32 only");
  return Names{c.In(0)};
}

}  // namespace cobra::exporting::ncnn
