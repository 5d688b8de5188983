// Elementwise functions of one tensor.
#include <cmath>

#include "export/onnx/handlers.h"

namespace cobra::exporting {
namespace {

// The name of ONNX's operator that computes the same; null if there is none.
const char* SameFunction(graph::Op op) {
  switch (op) {
    case graph::Op::sigmoid:
    case graph::Op::special_expit: return "Sigmoid";
    case graph::Op::selu: return "Selu";
    case graph::Op::tanh: return "Tanh";
    case graph::Op::exp: return "Exp";
    case graph::Op::log: return "Log";
    case graph::Op::sqrt: return "Sqrt";
    case graph::Op::reciprocal: return "Reciprocal";
    case graph::Op::sin: return "Sin";
    case graph::Op::cos: return "Cos";
    case graph::Op::tan: return "Tan";
    case graph::Op::asin:
    case graph::Op::arcsin: return "Asin";
    case graph::Op::acos: return "Acos";
    case graph::Op::atan:
    case graph::Op::arctan: return "Atan";
    case graph::Op::sinh: return "Sinh";
    case graph::Op::cosh: return "Cosh";
    case graph::Op::asinh:
    case graph::Op::arcsinh: return "Asinh";
    case graph::Op::acosh:
    case graph::Op::arccosh: return "Acosh";
    case graph::Op::atanh:
    case graph::Op::arctanh: return "Atanh";
    case graph::Op::erf:
    case graph::Op::special_erf: return "Erf";
    default: return nullptr;
  }
}

std::string Times(CallWriter& c, const std::string& x, double factor) {
  return c.Node("Mul", {x, c.Number(c.Out().dtype, factor)});
}

std::string Plus(CallWriter& c, const std::string& x, double summand) {
  return c.Node("Add", {x, c.Number(c.Out().dtype, summand)});
}

// sin(pi x) / (pi x), 1 at 0.
std::string SincOf(CallWriter& c, const std::string& x) {
  const DType dtype = c.Out().dtype;
  const std::string zero = c.Node("Equal", {x, c.Number(dtype, 0)});
  const std::string one = c.Number(dtype, 1);
  const std::string angle = Times(c, c.Node("Where", {zero, one, x}), M_PI);
  return c.Node("Where", {zero, one, c.Node("Div", {c.Node("Sin", {angle}), angle})});
}

std::string LogitOf(CallWriter& c, std::string x) {
  const DType dtype = c.Out().dtype;
  if (c.HasValue("eps")) {
    const double eps = c.Double("eps");
    x = c.Node("Clip", {x, c.Number(dtype, eps), c.Number(dtype, 1 - eps)});
  }
  return c.Node("Log", {c.Node("Div", {x, c.Node("Sub", {c.Number(dtype, 1), x})})});
}

// -x log(x), 0 at 0, -infinity below.
std::string EntropyOf(CallWriter& c, const std::string& x) {
  const DType dtype = c.Out().dtype;
  const std::string zero = c.Number(dtype, 0);
  const std::string usual = c.Node("Neg", {c.Node("Mul", {x, c.Node("Log", {x})})});
  const std::string below = c.Node("Where", {c.Node("Less", {x, zero}), c.Number(dtype, -INFINITY), usual});
  return c.Node("Where", {c.Node("Equal", {x, zero}), zero, below});
}

// Half of 1 + erf(x / sqrt(2))
std::string NormalShare(CallWriter& c, const std::string& x) {
  return Times(c, Plus(c, c.Node("Erf", {Times(c, x, 1 / std::sqrt(2.0))}), 1), 0.5);
}

std::string Erfc(CallWriter& c, const std::string& x) {
  return c.Node("Sub", {c.Number(c.Out().dtype, 1), c.Node("Erf", {x})});
}

}  // namespace

absl::StatusOr<Names> WriteFunction(CallWriter& c) {
  const std::string x = c.Input(0, c.Out().dtype);  // integers first become floating point numbers
  if (const char* same = SameFunction(c.op())) return Names{c.Node(same, {x})};
  switch (c.op()) {
    case graph::Op::rsqrt: return Names{c.Node("Reciprocal", {c.Node("Sqrt", {x})})};
    case graph::Op::expm1:
    case graph::Op::special_expm1: return Names{Plus(c, c.Node("Exp", {x}), -1)};
    case graph::Op::exp2:
    case graph::Op::special_exp2: return Names{c.Node("Pow", {c.Number(c.Out().dtype, 2), x})};
    case graph::Op::log2: return Names{Times(c, c.Node("Log", {x}), 1 / std::log(2.0))};
    case graph::Op::log10: return Names{Times(c, c.Node("Log", {x}), 1 / std::log(10.0))};
    case graph::Op::log1p:
    case graph::Op::special_log1p: return Names{c.Node("Log", {Plus(c, x, 1)})};
    case graph::Op::sinc:
    case graph::Op::special_sinc: return Names{SincOf(c, x)};
    case graph::Op::logit:
    case graph::Op::special_logit: return Names{LogitOf(c, x)};
    case graph::Op::deg2rad: return Names{Times(c, x, M_PI / 180)};
    case graph::Op::rad2deg: return Names{Times(c, x, 180 / M_PI)};
    case graph::Op::erfc:
    case graph::Op::special_erfc: return Names{Erfc(c, x)};
    case graph::Op::special_entr: return Names{EntropyOf(c, x)};
    case graph::Op::special_ndtr: return Names{NormalShare(c, x)};
    default: return Refused("is not a function that this folder knows");
  }
}

// Those that integers have too.
absl::StatusOr<Names> WriteSignAndRounding(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string x = c.Input(0, dtype);
  const bool real = graph::IsFloatingPoint(dtype);
  switch (c.op()) {
    case graph::Op::abs: return Names{c.Arithmetic("Abs", {x}, dtype)};
    case graph::Op::neg: return Names{c.Arithmetic("Neg", {x}, dtype)};
    case graph::Op::sign:
    case graph::Op::sgn: return Names{c.Arithmetic("Sign", {x}, dtype)};
    case graph::Op::square: return Names{c.Arithmetic("Mul", {x, x}, dtype)};
    case graph::Op::conj_physical:
    case graph::Op::positive: return Names{x};
    default: break;
  }
  if (!real) return Names{x};  // an integer is rounded
  switch (c.op()) {
    case graph::Op::floor: return Names{c.Node("Floor", {x})};
    case graph::Op::ceil: return Names{c.Node("Ceil", {x})};
    case graph::Op::trunc: return Names{Truncated(c, x)};
    case graph::Op::frac: return Names{c.Node("Sub", {x, Truncated(c, x)})};
    default: break;
  }
  const int64_t decimals = c.Int("decimals");
  if (decimals == 0) return Names{c.Node("Round", {x})};
  const double ten = std::pow(10.0, static_cast<double>(decimals < 0 ? -decimals : decimals));
  const std::string power = c.Number(dtype, ten);
  const char* before = decimals > 0 ? "Mul" : "Div";
  const char* after = decimals > 0 ? "Div" : "Mul";
  return Names{c.Node(after, {c.Node("Round", {c.Node(before, {x, power})}), power})};
}

std::string Truncated(CallWriter& c, const std::string& x) {
  return c.Node("Mul", {c.Node("Sign", {x}), c.Node("Floor", {c.Node("Abs", {x})})});
}

absl::StatusOr<Names> WriteAngle(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  const std::string x = c.Input(0, dtype);
  return Names{c.Node("Where", {c.Node("Less", {x, c.Number(dtype, 0)}), c.Number(dtype, M_PI), c.Number(dtype, 0)})};
}

absl::StatusOr<Names> WriteNanToNum(CallWriter& c) {
  const DType dtype = c.Out().dtype;
  std::string x = c.In(0);
  if (!graph::IsFloatingPoint(dtype)) return Names{x};
  if (dtype != DType::float32 && dtype != DType::float64)
    return Refused("the largest number of ", graph::DTypeName(dtype));
  const double most = dtype == DType::float32 ? 3.4028234663852886e38 : 1.7976931348623157e308;
  const auto replaced = [&](const std::string& where, double value) {
    return c.Node("Where", {where, c.Number(dtype, value), x});
  };
  x = replaced(c.Node("IsNaN", {x}), c.Double("nan", 0));
  x = replaced(c.Node("Equal", {x, c.Number(dtype, INFINITY)}), c.Double("posinf", most));
  x = replaced(c.Node("Equal", {x, c.Number(dtype, -INFINITY)}), c.Double("neginf", -most));
  return Names{x};
}

absl::StatusOr<Names> WriteTest(CallWriter& c) {
  const DType dtype = c.Type(0).dtype, wide = ArithmeticType(dtype);
  const std::string x = c.Input(0, wide);
  const std::string zero = c.Number(wide, 0);
  const bool real = graph::IsFloatingPoint(dtype);
  std::string y;
  const auto nothing = [&](bool value) { return c.Filled({c.ShapeOf(0), DType::bool_}, value ? 1 : 0); };
  switch (c.op()) {
    case graph::Op::isnan: y = real ? c.Node("IsNaN", {x}) : nothing(false); break;
    case graph::Op::isinf:
      y = real ? c.Node("Equal", {c.Node("Abs", {x}), c.Number(wide, INFINITY)}) : nothing(false);
      break;
    case graph::Op::isfinite:  // a comparison with NaN is false
      y = real ? c.Node("Less", {c.Node("Abs", {x}), c.Number(wide, INFINITY)}) : nothing(true);
      break;
    case graph::Op::isposinf: y = real ? c.Node("Equal", {x, c.Number(wide, INFINITY)}) : nothing(false); break;
    case graph::Op::isneginf: y = real ? c.Node("Equal", {x, c.Number(wide, -INFINITY)}) : nothing(false); break;
    case graph::Op::isreal: y = nothing(true); break;
    case graph::Op::signbit:  // -0 has one, too
      y = c.Node("Less", {x, zero});
      if (real) {
        const std::string below = c.Node("Less", {c.Node("Reciprocal", {x}), zero});
        y = c.Node("Or", {y, c.Node("And", {c.Node("Equal", {x, zero}), below})});
      }
      break;
    default: y = c.Node("Not", {c.Cast(x, wide, DType::bool_)});  // logical_not
  }
  return Names{c.Cast(y, DType::bool_, c.Out().dtype)};
}

}  // namespace cobra::exporting
