#include "ATen/ops/abs.h"
#include "ATen/ops/acos.h"
#include "ATen/ops/add.h"
#include "ATen/ops/addcdiv.h"
#include "ATen/ops/addcmul.h"
#include "ATen/ops/angle.h"
#include "ATen/ops/asin.h"
#include "ATen/ops/atan.h"
#include "ATen/ops/atan2.h"
#include "ATen/ops/bitwise_and.h"
#include "ATen/ops/bitwise_not.h"
#include "ATen/ops/bitwise_or.h"
#include "ATen/ops/bitwise_xor.h"
#include "ATen/ops/ceil.h"
#include "ATen/ops/clamp.h"
#include "ATen/ops/clamp_max.h"
#include "ATen/ops/clamp_min.h"
#include "ATen/ops/cos.h"
#include "ATen/ops/cosh.h"
#include "ATen/ops/cosine_similarity.h"
#include "ATen/ops/cross.h"
#include "ATen/ops/deg2rad.h"
#include "ATen/ops/div.h"
#include "ATen/ops/eq.h"
#include "ATen/ops/erf.h"
#include "ATen/ops/erfinv.h"
#include "ATen/ops/exp.h"
#include "ATen/ops/exp2.h"
#include "ATen/ops/expm1.h"
#include "ATen/ops/floor.h"
#include "ATen/ops/floor_divide.h"
#include "ATen/ops/fmod.h"
#include "ATen/ops/frac.h"
#include "ATen/ops/ge.h"
#include "ATen/ops/gt.h"
#include "ATen/ops/heaviside.h"
#include "ATen/ops/hypot.h"
#include "ATen/ops/isclose.h"
#include "ATen/ops/isfinite.h"
#include "ATen/ops/isinf.h"
#include "ATen/ops/isnan.h"
#include "ATen/ops/le.h"
#include "ATen/ops/lerp.h"
#include "ATen/ops/log.h"
#include "ATen/ops/log10.h"
#include "ATen/ops/log1p.h"
#include "ATen/ops/log2.h"
#include "ATen/ops/logaddexp.h"
#include "ATen/ops/logical_and.h"
#include "ATen/ops/logical_not.h"
#include "ATen/ops/logical_or.h"
#include "ATen/ops/logical_xor.h"
#include "ATen/ops/logit.h"
#include "ATen/ops/lt.h"
#include "ATen/ops/masked_fill.h"
#include "ATen/ops/maximum.h"
#include "ATen/ops/minimum.h"
#include "ATen/ops/mul.h"
#include "ATen/ops/nan_to_num.h"
#include "ATen/ops/ne.h"
#include "ATen/ops/neg.h"
#include "ATen/ops/pairwise_distance.h"
#include "ATen/ops/polar.h"
#include "ATen/ops/pow.h"
#include "ATen/ops/reciprocal.h"
#include "ATen/ops/remainder.h"
#include "ATen/ops/round.h"
#include "ATen/ops/rsqrt.h"
#include "ATen/ops/rsub.h"
#include "ATen/ops/scalar_tensor.h"
#include "ATen/ops/sign.h"
#include "ATen/ops/sin.h"
#include "ATen/ops/sinc.h"
#include "ATen/ops/sinh.h"
#include "ATen/ops/sqrt.h"
#include "ATen/ops/square.h"
#include "ATen/ops/sub.h"
#include "ATen/ops/tan.h"
#include "ATen/ops/trunc.h"
#include "ATen/ops/where.h"
#include "worker/execute/executor_kernels.h"

namespace cobra::worker {
namespace {

// `other` is a tensor or, as an attribute, a number; `f` and `in_place` take either.
template <typename F, typename InPlace>
KernelFactory Elementwise(F f, InPlace in_place) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    if (c.has(1)) {
      if (c.inplace()) return Kernel([=](const Call& call) { call.outputs[0] = in_place(call.Mutable(0), call[1]); });
      return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], call[1]); });
    }
    const at::Scalar other = c.Scalar(c.node.op == graph::Op::pow ? "exponent" : "other");
    if (c.inplace()) return Kernel([=](const Call& call) { call.outputs[0] = in_place(call.Mutable(0), other); });
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], other); });
  };
}
#define COBRA_ELEMENTWISE(function, method)                                      \
  Elementwise([](const at::Tensor& a, const auto& b) { return function(a, b); }, \
              [](at::Tensor& a, const auto& b) -> at::Tensor { return a.method(b); })

// add, sub and rsub with their alpha.
template <typename F, typename InPlace>
KernelFactory WithAlpha(F f, InPlace in_place) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const at::Scalar alpha = c.Scalar("alpha", 1);
    return Elementwise([=](const at::Tensor& a, const auto& b) { return f(a, b, alpha); },
                       [=](at::Tensor& a, const auto& b) -> at::Tensor { return in_place(a, b, alpha); })(c);
  };
}

absl::StatusOr<Kernel> MakeDiv(const NodeContext& c) {
  if (!c.HasValue("rounding_mode")) {
    return Elementwise([](const at::Tensor& a, const auto& b) { return at::div(a, b); },
                       [](at::Tensor& a, const auto& b) -> at::Tensor { return a.div_(b); })(c);
  }
  const std::string mode = c.String("rounding_mode");
  return Elementwise([=](const at::Tensor& a, const auto& b) { return at::div(a, b, c10::string_view(mode)); },
                     [=](at::Tensor& a, const auto& b) -> at::Tensor { return a.div_(b, c10::string_view(mode)); })(c);
}

// The number is on the left: Tensor.__rdiv__ and similar methods, as in torch/_tensor.py.
at::Tensor RightDiv(const at::Tensor& a, const at::Scalar& b) { return at::mul(at::reciprocal(a), b); }
at::Tensor RightDiv(const at::Tensor& a, const at::Tensor& b) { return at::mul(at::reciprocal(a), b); }
at::Tensor RightFloorDivide(const at::Tensor& a, const at::Scalar& b) {
  return at::floor_divide(at::scalar_tensor(b, a.options()), a);
}
at::Tensor RightFloorDivide(const at::Tensor& a, const at::Tensor& b) { return at::floor_divide(b, a); }
at::Tensor RightRemainder(const at::Tensor& a, const at::Scalar& b) { return at::remainder(b, a); }
at::Tensor RightRemainder(const at::Tensor& a, const at::Tensor& b) { return at::remainder(b, a); }
at::Tensor RightPow(const at::Tensor& a, const at::Scalar& b) { return at::pow(b, a); }
at::Tensor RightPow(const at::Tensor& a, const at::Tensor& b) { return at::pow(b, a); }

absl::StatusOr<Kernel> MakePow(const NodeContext& c) {
  if (c.has(0)) return COBRA_ELEMENTWISE(at::pow, pow_)(c);
  const at::Scalar base = c.Scalar("input");
  return Kernel([=](const Call& call) { call.outputs[0] = at::pow(base, call[1]); });
}

absl::StatusOr<Kernel> MakeLerp(const NodeContext& c) {
  if (c.has(2)) return Kernel([](const Call& call) { call.outputs[0] = at::lerp(call[0], call[1], call[2]); });
  const at::Scalar weight = c.Scalar("weight");
  return Kernel([=](const Call& call) { call.outputs[0] = at::lerp(call[0], call[1], weight); });
}

template <typename F>
KernelFactory WithValue(F f) {
  return [f](const NodeContext& c) -> absl::StatusOr<Kernel> {
    const at::Scalar value = c.Scalar("value", 1);
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], call[1], call[2], value); });
  };
}

// clamp's bounds are both tensors or both numbers.
absl::StatusOr<Kernel> MakeClamp(const NodeContext& c) {
  if (c.has(1) || c.has(2)) {
    return Kernel([](const Call& call) { call.outputs[0] = at::clamp(call[0], call.Optional(1), call.Optional(2)); });
  }
  const c10::optional<at::Scalar> min = c.OptionalScalar("min"), max = c.OptionalScalar("max");
  if (c.inplace()) return Kernel([=](const Call& call) { call.outputs[0] = call.Mutable(0).clamp_(min, max); });
  return Kernel([=](const Call& call) { call.outputs[0] = at::clamp(call[0], min, max); });
}

template <typename F, typename InPlace>
KernelFactory OneBound(const char* name, F f, InPlace in_place) {
  return [=](const NodeContext& c) -> absl::StatusOr<Kernel> {
    if (c.has(1)) return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], call[1]); });
    const at::Scalar bound = c.Scalar(name);
    if (c.inplace()) return Kernel([=](const Call& call) { call.outputs[0] = in_place(call.Mutable(0), bound); });
    return Kernel([=](const Call& call) { call.outputs[0] = f(call[0], bound); });
  };
}

absl::StatusOr<Kernel> MakeRound(const NodeContext& c) {
  const int64_t decimals = c.Int("decimals");
  if (decimals != 0) return Kernel([=](const Call& call) { call.outputs[0] = at::round(call[0], decimals); });
  if (c.inplace()) return Kernel([](const Call& call) { call.outputs[0] = call.Mutable(0).round_(); });
  return Kernel([](const Call& call) { call.outputs[0] = at::round(call[0]); });
}

absl::StatusOr<Kernel> MakeNanToNum(const NodeContext& c) {
  const auto nan = c.OptionalDouble("nan"), posinf = c.OptionalDouble("posinf"), neginf = c.OptionalDouble("neginf");
  return Kernel([=](const Call& call) { call.outputs[0] = at::nan_to_num(call[0], nan, posinf, neginf); });
}

absl::StatusOr<Kernel> MakeLogit(const NodeContext& c) {
  const auto eps = c.OptionalDouble("eps");
  return Kernel([=](const Call& call) { call.outputs[0] = at::logit(call[0], eps); });
}

absl::StatusOr<Kernel> MakeCross(const NodeContext& c) {
  const auto dim = c.OptionalInt("dim");
  return Kernel([=](const Call& call) { call.outputs[0] = at::cross(call[0], call[1], dim); });
}

absl::StatusOr<Kernel> MakeCosineSimilarity(const NodeContext& c) {
  const int64_t dim = c.Int("dim", 1);
  const double eps = c.Double("eps", 1e-8);
  return Kernel([=](const Call& call) { call.outputs[0] = at::cosine_similarity(call[0], call[1], dim, eps); });
}

absl::StatusOr<Kernel> MakePairwiseDistance(const NodeContext& c) {
  const double p = c.Double("p", 2), eps = c.Double("eps", 1e-6);
  const bool keepdim = c.Bool("keepdim");
  return Kernel([=](const Call& call) { call.outputs[0] = at::pairwise_distance(call[0], call[1], p, eps, keepdim); });
}

absl::StatusOr<Kernel> MakeIsClose(const NodeContext& c) {
  const double rtol = c.Double("rtol", 1e-5), atol = c.Double("atol", 1e-8);
  const bool equal_nan = c.Bool("equal_nan");
  return Kernel([=](const Call& call) { call.outputs[0] = at::isclose(call[0], call[1], rtol, atol, equal_nan); });
}

absl::StatusOr<Kernel> MakeWhere(const NodeContext& c) {
  const at::Scalar a = c.Scalar("input", 0), b = c.Scalar("other", 0);
  if (c.has(1) && c.has(2)) {
    return Kernel([](const Call& call) { call.outputs[0] = at::where(call[0], call[1], call[2]); });
  }
  if (c.has(1)) return Kernel([=](const Call& call) { call.outputs[0] = at::where(call[0], call[1], b); });
  if (c.has(2)) return Kernel([=](const Call& call) { call.outputs[0] = at::where(call[0], a, call[2]); });
  return Kernel([=](const Call& call) { call.outputs[0] = at::where(call[0], a, b); });
}

absl::StatusOr<Kernel> MakeMaskedFill(const NodeContext& c) {
  const at::Scalar value = c.Scalar("value", 0);
  if (c.has(2)) return Kernel([](const Call& call) { call.outputs[0] = at::masked_fill(call[0], call[1], call[2]); });
  if (c.inplace()) {
    return Kernel([=](const Call& call) { call.outputs[0] = call.Mutable(0).masked_fill_(call[1], value); });
  }
  return Kernel([=](const Call& call) { call.outputs[0] = at::masked_fill(call[0], call[1], value); });
}

at::Tensor Positive(const at::Tensor& x) { return x; }

void AddUnary(KernelTable* table) {
  KernelTable& t = *table;
#define COBRA_UNARY(name) t.Unary(graph::Op::name, at::name, at::name##_)
  COBRA_UNARY(exp);
  COBRA_UNARY(expm1);
  COBRA_UNARY(exp2);
  COBRA_UNARY(log);
  COBRA_UNARY(log2);
  COBRA_UNARY(log10);
  COBRA_UNARY(log1p);
  COBRA_UNARY(sqrt);
  COBRA_UNARY(rsqrt);
  COBRA_UNARY(reciprocal);
  COBRA_UNARY(sin);
  COBRA_UNARY(cos);
  COBRA_UNARY(tan);
  COBRA_UNARY(asin);
  COBRA_UNARY(acos);
  COBRA_UNARY(atan);
  COBRA_UNARY(sinh);
  COBRA_UNARY(cosh);
  COBRA_UNARY(erf);
  COBRA_UNARY(sinc);
  COBRA_UNARY(deg2rad);
  COBRA_UNARY(abs);
  COBRA_UNARY(neg);
  COBRA_UNARY(square);
  COBRA_UNARY(floor);
  COBRA_UNARY(ceil);
  COBRA_UNARY(trunc);
  COBRA_UNARY(frac);
#undef COBRA_UNARY
  t.Unary(graph::Op::erfinv, at::erfinv);
  t.Unary(graph::Op::angle, at::angle);
  t.Unary(graph::Op::sign, at::sign);
  t.Unary(graph::Op::positive, Positive);
  t.Unary(graph::Op::isnan, at::isnan);
  t.Unary(graph::Op::isinf, at::isinf);
  t.Unary(graph::Op::isfinite, at::isfinite);
  t.Unary(graph::Op::logical_not, at::logical_not);
  t.Unary(graph::Op::bitwise_not, at::bitwise_not);
  t[graph::Op::round] = MakeRound;
  t[graph::Op::nan_to_num] = MakeNanToNum;
  t[graph::Op::logit] = MakeLogit;
}

void AddComparisons(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::eq] = COBRA_ELEMENTWISE(at::eq, eq_);
  t[graph::Op::ne] = COBRA_ELEMENTWISE(at::ne, ne_);
  t[graph::Op::lt] = COBRA_ELEMENTWISE(at::lt, lt_);
  t[graph::Op::le] = COBRA_ELEMENTWISE(at::le, le_);
  t[graph::Op::gt] = COBRA_ELEMENTWISE(at::gt, gt_);
  t[graph::Op::ge] = COBRA_ELEMENTWISE(at::ge, ge_);
  t[graph::Op::isclose] = MakeIsClose;
  t.Binary(graph::Op::logical_and, at::logical_and);
  t.Binary(graph::Op::logical_or, at::logical_or);
  t.Binary(graph::Op::logical_xor, at::logical_xor);
  t[graph::Op::bitwise_and] = COBRA_ELEMENTWISE(at::bitwise_and, bitwise_and_);
  t[graph::Op::bitwise_or] = COBRA_ELEMENTWISE(at::bitwise_or, bitwise_or_);
  t[graph::Op::bitwise_xor] = COBRA_ELEMENTWISE(at::bitwise_xor, bitwise_xor_);
  t[graph::Op::where] = MakeWhere;
  t[graph::Op::masked_fill] = MakeMaskedFill;
}

}  // namespace

#define COBRA_WITH_ALPHA(function, method)                                                                     \
  WithAlpha([](const at::Tensor& a, const auto& b, const at::Scalar& alpha) { return function(a, b, alpha); }, \
            [](at::Tensor& a, const auto& b, const at::Scalar& alpha) -> at::Tensor { return a.method(b, alpha); })
#define COBRA_RIGHT(function)                                                    \
  Elementwise([](const at::Tensor& a, const auto& b) { return function(a, b); }, \
              [](at::Tensor& a, const auto& b) -> at::Tensor { return a.copy_(function(a, b)); })
#define COBRA_TERNARY(function)                                                                      \
  WithValue([](const at::Tensor& x, const at::Tensor& a, const at::Tensor& b, const at::Scalar& v) { \
    return function(x, a, b, v);                                                                     \
  })

void AddArithmeticKernels(KernelTable* table) {
  KernelTable& t = *table;
  t[graph::Op::add] = COBRA_WITH_ALPHA(at::add, add_);
  t[graph::Op::sub] = COBRA_WITH_ALPHA(at::sub, sub_);
  t[graph::Op::rsub] =
      WithAlpha([](const at::Tensor& a, const auto& b, const at::Scalar& alpha) { return at::rsub(a, b, alpha); },
                [](at::Tensor& a, const auto& b, const at::Scalar& alpha) -> at::Tensor {
                  return a.copy_(at::rsub(a, b, alpha));
                });
  t[graph::Op::mul] = COBRA_ELEMENTWISE(at::mul, mul_);
  t[graph::Op::div] = MakeDiv;
  t[graph::Op::rdiv] = COBRA_RIGHT(RightDiv);
  t[graph::Op::floor_divide] = COBRA_ELEMENTWISE(at::floor_divide, floor_divide_);
  t[graph::Op::rfloor_divide] = COBRA_RIGHT(RightFloorDivide);
  t[graph::Op::remainder] = COBRA_ELEMENTWISE(at::remainder, remainder_);
  t[graph::Op::rmod] = COBRA_RIGHT(RightRemainder);
  t[graph::Op::fmod] = COBRA_ELEMENTWISE(at::fmod, fmod_);
  t[graph::Op::pow] = MakePow;
  t[graph::Op::rpow] = COBRA_RIGHT(RightPow);
  t.Binary(graph::Op::maximum, at::maximum);
  t.Binary(graph::Op::minimum, at::minimum);
  t.Binary(graph::Op::atan2, at::atan2);
  t.Binary(graph::Op::hypot, at::hypot);
  t.Binary(graph::Op::logaddexp, at::logaddexp);
  t.Binary(graph::Op::heaviside, at::heaviside);
  t.Binary(graph::Op::polar, at::polar);
  t[graph::Op::lerp] = MakeLerp;
  t[graph::Op::addcmul] = COBRA_TERNARY(at::addcmul);
  t[graph::Op::addcdiv] = COBRA_TERNARY(at::addcdiv);
  t[graph::Op::cross] = MakeCross;
  t[graph::Op::cosine_similarity] = MakeCosineSimilarity;
  t[graph::Op::pairwise_distance] = MakePairwiseDistance;
  t[graph::Op::clamp] = MakeClamp;
  t[graph::Op::clamp_min] = OneBound(
      "min", [](const at::Tensor& x, const auto& b) { return at::clamp_min(x, b); },
      [](at::Tensor& x, const auto& b) -> at::Tensor { return x.clamp_min_(b); });
  t[graph::Op::clamp_max] = OneBound(
      "max", [](const at::Tensor& x, const auto& b) { return at::clamp_max(x, b); },
      [](at::Tensor& x, const auto& b) -> at::Tensor { return x.clamp_max_(b); });
  AddUnary(table);
  AddComparisons(table);
}

}  // namespace cobra::worker
