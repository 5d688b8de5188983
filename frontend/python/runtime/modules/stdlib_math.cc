// math.
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

Result<double> Number(Interpreter& interp, const CallArgs& args, size_t i, absl::string_view name, size_t count) {
  if (args.positional.size() != count) {
    return interp.Raise(interp.types().TypeError, "math.", name, "() takes exactly ",
                        count == 1 ? "one" : absl::StrCat(count), " argument", count == 1 ? "" : "s", " (",
                        args.positional.size(), " given)");
  }
  return interp.AsFloat(args.positional[i]);
}

// Raises CPython's errors for results that finite arguments should not give.
Result<Value> Checked(Interpreter& interp, double r, bool finite_input, bool overflow) {
  if (std::isnan(r) && finite_input) return interp.Raise(interp.types().ValueError, "math domain error");
  if (std::isinf(r) && finite_input) {
    if (overflow) return interp.Raise(interp.types().OverflowError, "math range error");
    return interp.Raise(interp.types().ValueError, "math domain error");
  }
  return Value::Float(r);
}

void Unary(NativeModuleBuilder& m, absl::string_view name, double (*f)(double), bool overflow = false) {
  m.Function(name, [f, overflow, key = std::string(name)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(double x, Number(interp, args, 0, key, 1));
    return Checked(interp, f(x), std::isfinite(x), overflow);
  });
}
void Binary(NativeModuleBuilder& m, absl::string_view name, double (*f)(double, double)) {
  m.Function(name, [f, key = std::string(name)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(double x, Number(interp, args, 0, key, 2));
    COBRA_TRY_ASSIGN(double y, Number(interp, args, 1, key, 2));
    // A power of zero with an infinite result is a domain error.
    return Checked(interp, f(x, y), std::isfinite(x) && std::isfinite(y), x != 0);
  });
}

// log of any positive int, even if it is too large for a float.
Result<double> LogOf(Interpreter& interp, Value v, double (*f)(double)) {
  if (v.IsBigInt()) {
    BigInt b = ToBigInt(v);
    interp.Spend(2 * WordsSteps(b.bits()));
    if (b.negative() || b.zero()) return interp.Raise(interp.types().ValueError, "math domain error");
    const double whole = b.ToDouble();
    if (std::isfinite(whole)) return f(whole);
    int64_t shift = std::max<int64_t>(b.bits() - 60, 0);
    return f(b.ShiftRight(shift).ToDouble()) + static_cast<double>(shift) * f(2.0);
  }
  COBRA_TRY_ASSIGN(double x, interp.AsFloat(v));
  if (x <= 0) return interp.Raise(interp.types().ValueError, "math domain error");
  return f(x);
}

Result<Value> RealLog(Interpreter& interp, const CallArgs& args) {
  Value x, base = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "log", args).Required("x", &x).Optional("base", &base).Finish());
  COBRA_TRY_ASSIGN(double a, LogOf(interp, x, [](double d) { return std::log(d); }));
  if (base.IsUnbound()) return Value::Float(a);
  COBRA_TRY_ASSIGN(double b, LogOf(interp, base, [](double d) { return std::log(d); }));
  if (b == 0) return interp.Raise(interp.types().ZeroDivisionError, "float division by zero");
  return Value::Float(a / b);
}

Result<Value> Rounded(Interpreter& interp, const CallArgs& args, StrObject* special, absl::string_view name,
                      double (*f)(double)) {
  if (args.positional.size() != 1) {
    return interp.Raise(interp.types().TypeError, "math.", name, "() takes exactly one argument (",
                        args.positional.size(), " given)");
  }
  COBRA_TRY_ASSIGN(Value r, interp.CallSpecial(args.positional[0], special, {}));
  if (!r.IsUnbound()) return r;
  if (name == "trunc") {
    return interp.Raise(interp.types().TypeError, "type ", interp.TypeName(args.positional[0]),
                        " doesn't define __trunc__ method");
  }
  COBRA_TRY_ASSIGN(double x, interp.AsFloat(args.positional[0]));
  return interp.Call(Value(interp.types().int_type), {Value::Float(f(x))});
}

Result<Value> Prod(Interpreter& interp, const CallArgs& args) {
  Value items, start = Value::Int(1);
  ArgReader reader(interp, "prod", args);
  COBRA_TRY(reader.Required("iterable", &items).KeywordOnly().Optional("start", &start).Finish());
  COBRA_TRY(interp.Iterate(items, [&](Value v) -> Result<bool> {
    COBRA_TRY_SET(start, interp.Binary(Interpreter::BinaryOp::kMult, start, v));
    return true;
  }));
  return start;
}

BigInt Gcd(BigInt a, BigInt b) {
  while (!b.zero()) {
    BigInt q, r;
    BigInt::FloorDivMod(a, b, &q, &r);
    a = b;
    b = r;
  }
  return a.negative() ? -a : a;
}

Result<BigInt> Whole(Interpreter& interp, Value v) {
  if (IsIntLike(v)) return ToBigInt(v);
  COBRA_TRY_ASSIGN(int64_t i, interp.Index(v));
  return BigInt(i);
}

Result<Value> GcdLcm(Interpreter& interp, const CallArgs& args, bool lcm) {
  BigInt result(lcm ? 1 : 0);
  for (Value v : args.positional) {
    COBRA_TRY_ASSIGN(BigInt b, Whole(interp, v));
    // Euclid's algorithm needs about 40 divisions per word, each of which reads all words.
    COBRA_TRY(interp.Charge((result.bits() / 64) * (b.bits() / 64) * 2));
    if (!lcm) {
      result = Gcd(result, b);
      continue;
    }
    if (b.zero()) return Value::Int(0);
    BigInt q, r, product = result * b;
    BigInt::FloorDivMod(product.negative() ? -product : product, Gcd(result, b), &q, &r);
    result = q;
    if (result.bits() > interp.limits().big_int_bits) return interp.IntTooLarge();
  }
  return interp.NewInt(result);
}

Result<Value> Factorial(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(int64_t n, OnlyArgument<int64_t>(interp, "factorial", "n", args));
  if (n < 0) return interp.Raise(interp.types().ValueError, "factorial() not defined for negative values");
  BigInt r(1);
  for (int64_t i = 2; i <= n; ++i) {
    COBRA_TRY(interp.Charge(1 + r.bits() / 512));
    r = r * BigInt(i);
    if (r.bits() > interp.limits().big_int_bits) return interp.IntTooLarge();
  }
  return interp.NewInt(r);
}

Result<Value> Comb(Interpreter& interp, const CallArgs& args, bool perm) {
  int64_t n, k = -1;
  ArgReader reader(interp, perm ? "perm" : "comb", args);
  COBRA_TRY(reader.Required("n", &n).Optional("k", &k).Finish());
  if (perm && !reader.Given("k")) k = n;
  if (n < 0 || k < 0)
    return interp.Raise(interp.types().ValueError, n < 0 ? "n" : "k", " must be a non-negative integer");
  if (k > n) return Value::Int(0);
  if (!perm) k = std::min(k, n - k);
  BigInt r(1);
  for (int64_t i = 0; i < k; ++i) {
    COBRA_TRY(interp.Charge(1 + r.bits() / 512));
    r = r * BigInt(n - i);
    BigInt rest;
    if (!perm) BigInt::FloorDivMod(r, BigInt(i + 1), &r, &rest);
    if (r.bits() > interp.limits().big_int_bits) return interp.IntTooLarge();
  }
  return interp.NewInt(r);
}

Result<Value> ISqrt(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "isqrt", "n", args));
  COBRA_TRY_ASSIGN(BigInt n, Whole(interp, v));
  if (n.negative()) return interp.Raise(interp.types().ValueError, "isqrt() argument must be nonnegative");
  if (n.zero()) return Value::Int(0);
  BigInt x = BigInt(1).ShiftLeft((n.bits() + 1) / 2);
  while (true) {
    COBRA_TRY(interp.Charge(1 + x.bits() / 64 * (n.bits() / 64) / 16));
    BigInt q, r;
    BigInt::FloorDivMod(n, x, &q, &r);
    BigInt y = (x + q).ShiftRight(1);
    if (BigInt::Compare(y, x) >= 0) return interp.NewInt(x);
    x = y;
  }
}

// Exactly rounded sum (Shewchuk's partials).
Result<Value> FSum(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, "fsum", "seq", args));
  std::vector<double> partials;  // their exact sum is the sum so far, and no two of them overlap
  double special = 0, infinities = 0;
  bool any_special = false;
  COBRA_TRY(interp.Iterate(items, [&](Value v) -> Result<bool> {
    COBRA_TRY_ASSIGN(double x, interp.AsFloat(v));
    if (!std::isfinite(x)) {
      special += x;
      if (std::isinf(x)) infinities += x;
      any_special = true;
      return true;
    }
    size_t kept = 0;
    for (double y : std::vector<double>(partials)) {
      if (std::fabs(x) < std::fabs(y)) std::swap(x, y);
      double high = x + y, low = y - (high - x);
      if (low != 0) partials[kept++] = low;
      x = high;
    }
    if (!std::isfinite(x)) return interp.Raise(interp.types().OverflowError, "intermediate overflow in fsum");
    partials.resize(kept);
    partials.push_back(x);
    return true;
  }));
  if (std::isnan(infinities)) return interp.Raise(interp.types().ValueError, "-inf + inf in fsum");
  if (any_special) return Value::Float(special);
  // Adds from the largest partial down until the sum is inexact; the remaining partials can then
  // only decide a tie.
  size_t n = partials.size();
  double high = n > 0 ? partials[--n] : 0, low = 0;
  while (n > 0 && low == 0) {
    double x = high, y = partials[--n];
    high = x + y;
    low = y - (high - x);
  }
  if (n > 0 && ((low < 0 && partials[n - 1] < 0) || (low > 0 && partials[n - 1] > 0))) {
    double twice = low * 2, x = high + twice;
    if (twice == x - high) high = x;
  }
  return Value::Float(high);
}

Result<Value> IsClose(Interpreter& interp, const CallArgs& args) {
  double a, b, relative = 1e-9, absolute = 0;
  COBRA_TRY(ArgReader(interp, "isclose", args)
                .Required("a", &a)
                .Required("b", &b)
                .KeywordOnly()
                .Optional("rel_tol", &relative)
                .Optional("abs_tol", &absolute)
                .Finish());
  if (a == b) return Value::Bool(true);
  if (std::isinf(a) || std::isinf(b)) return Value::Bool(false);
  double d = std::fabs(a - b);
  return Value::Bool(d <= std::fabs(relative * b) || d <= std::fabs(relative * a) || d <= absolute);
}

// A sum of squares with almost no rounding error, computed as in CPython: halves of 27 bits are
// multiplied without rounding.
struct SquareSum {
  double sum = 1, errors = 0, cross_errors = 0, low = 0;
  void Add(double x, double sign) {
    constexpr double kSplit = 134217729.0;  // 2^27 + 1
    const double t = x * kSplit, high_part = t - (t - x), low_part = x - high_part;
    Accumulate(sign * high_part * high_part, &errors);
    Accumulate(sign * 2 * high_part * low_part, &cross_errors);
    low += sign * low_part * low_part;
  }
  double Value() const { return sum - 1 + (errors + cross_errors + low); }

 private:
  void Accumulate(double x, double* error) {
    const double before = sum;
    sum += x;
    *error += (before - sum) + x;
  }
};

double Norm(const std::vector<double>& v, double largest) {
  int exponent;
  std::frexp(largest, &exponent);
  if (exponent < -1023) {  // the scale would be infinite
    double sum = 0;
    for (double d : v) sum += (d / largest) * (d / largest);
    return largest * std::sqrt(sum);
  }
  const double scale = std::ldexp(1.0, -exponent);
  SquareSum sum;
  for (double d : v) sum.Add(d * scale, 1);
  const double root = std::sqrt(sum.Value());
  sum.Add(root, -1);
  return (root + sum.Value() / (2 * root)) / scale;
}

Result<Value> Hypot(Interpreter& interp, const CallArgs& args) {
  double scale = 0;
  bool is_nan = false;
  std::vector<double> v;
  for (Value x : args.positional) {
    COBRA_TRY_ASSIGN(double d, interp.AsFloat(x));
    v.push_back(std::fabs(d));
    is_nan = is_nan || std::isnan(d);
    scale = std::max(scale, v.back());
  }
  if (std::isinf(scale)) return Value::Float(scale);
  if (is_nan) return Value::Float(std::nan(""));
  return Value::Float(scale == 0 || v.size() <= 1 ? scale : Norm(v, scale));
}

Result<Value> Frexp(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(double x, Number(interp, args, 0, "frexp", 1));
  int e = 0;
  double f = std::isfinite(x) ? std::frexp(x, &e) : x;
  return Value(interp.NewTuple({Value::Float(f), Value::Int(e)}));
}

Result<Value> Modf(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(double x, Number(interp, args, 0, "modf", 1));
  double whole, f = std::modf(x, &whole);
  return Value(interp.NewTuple({Value::Float(f), Value::Float(whole)}));
}

Result<Value> Ldexp(Interpreter& interp, const CallArgs& args) {
  double x;
  int64_t e;
  COBRA_TRY(ArgReader(interp, "ldexp", args).Required("x", &x).Required("i", &e).Finish());
  return Checked(interp, std::ldexp(x, static_cast<int>(std::max<int64_t>(std::min<int64_t>(e, 100000), -100000))),
                 std::isfinite(x), true);
}

Result<Value> Ulp(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(double x, Number(interp, args, 0, "ulp", 1));
  if (!std::isfinite(x)) return Value::Float(std::fabs(x));
  x = std::fabs(x);
  double above = std::nextafter(x, HUGE_VAL);
  return Value::Float(std::isinf(above) ? x - std::nextafter(x, 0) : above - x);
}

Result<Value> Dist(Interpreter& interp, const CallArgs& args) {
  Value p, q;
  COBRA_TRY(ArgReader(interp, "dist", args).Required("p", &p).Required("q", &q).Finish());
  COBRA_TRY_ASSIGN(std::vector<Value> a, interp.ToVector(p));
  COBRA_TRY_ASSIGN(std::vector<Value> b, interp.ToVector(q));
  if (a.size() != b.size())
    return interp.Raise(interp.types().ValueError, "both points must have the same number of dimensions");
  for (size_t i = 0; i < a.size(); ++i) COBRA_TRY_SET(a[i], interp.Binary(Interpreter::BinaryOp::kSub, a[i], b[i]));
  CallArgs differences;
  differences.positional = a;
  return Hypot(interp, differences);
}

void AddConstants(NativeModuleBuilder& m) {
  m.Value("pi", Value::Float(M_PI)).Value("e", Value::Float(M_E)).Value("tau", Value::Float(2 * M_PI));
  m.Value("inf", Value::Float(HUGE_VAL)).Value("nan", Value::Float(std::nan("")));
}

void AddUnaryFunctions(NativeModuleBuilder& m) {
  Unary(m, "sqrt", [](double x) { return std::sqrt(x); });
  Unary(m, "cbrt", [](double x) { return std::cbrt(x); });
  Unary(
      m, "exp", [](double x) { return std::exp(x); }, true);
  Unary(
      m, "exp2", [](double x) { return std::exp2(x); }, true);
  Unary(
      m, "expm1", [](double x) { return std::expm1(x); }, true);
  Unary(m, "log1p", [](double x) { return std::log1p(x); });
  Unary(m, "sin", [](double x) { return std::sin(x); });
  Unary(m, "cos", [](double x) { return std::cos(x); });
  Unary(m, "tan", [](double x) { return std::tan(x); });
  Unary(m, "asin", [](double x) { return std::asin(x); });
  Unary(m, "acos", [](double x) { return std::acos(x); });
  Unary(m, "atan", [](double x) { return std::atan(x); });
  Unary(
      m, "sinh", [](double x) { return std::sinh(x); }, true);
  Unary(
      m, "cosh", [](double x) { return std::cosh(x); }, true);
  Unary(m, "tanh", [](double x) { return std::tanh(x); });
  Unary(m, "asinh", [](double x) { return std::asinh(x); });
  Unary(m, "acosh", [](double x) { return std::acosh(x); });
  Unary(m, "atanh", [](double x) { return std::atanh(x); });
  Unary(m, "erf", [](double x) { return std::erf(x); });
  Unary(m, "erfc", [](double x) { return std::erfc(x); });
  Unary(m, "gamma", Gamma, true);
  Unary(m, "lgamma", LogGamma, true);
  Unary(m, "fabs", [](double x) { return std::fabs(x); });
}

void AddAngleConversions(NativeModuleBuilder& m) {
  for (bool to_degrees : {true, false}) {
    m.Function(to_degrees ? "degrees" : "radians",
               [to_degrees](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                 COBRA_TRY_ASSIGN(double x, Number(interp, args, 0, to_degrees ? "degrees" : "radians", 1));
                 return Value::Float(x * (to_degrees ? 180.0 / M_PI : M_PI / 180.0));
               });
  }
}

void AddBinaryFunctions(NativeModuleBuilder& m) {
  Binary(m, "pow", [](double x, double y) { return std::pow(x, y); });
  Binary(m, "atan2", [](double y, double x) { return std::atan2(y, x); });
  Binary(m, "fmod", [](double x, double y) { return std::fmod(x, y); });
  Binary(m, "remainder", [](double x, double y) { return std::remainder(x, y); });
  Binary(m, "copysign", [](double x, double y) { return std::copysign(x, y); });
  Binary(m, "nextafter", [](double x, double y) { return std::nextafter(x, y); });
}

void AddLogarithms(NativeModuleBuilder& m) {
  m.Function("log", RealLog);
  for (bool two : {true, false}) {
    m.Function(two ? "log2" : "log10", [two](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY_ASSIGN(Value x, OnlyArgument(interp, two ? "log2" : "log10", "x", args));
      COBRA_TRY_ASSIGN(double d, two ? LogOf(interp, x, [](double v) { return std::log2(v); })
                                     : LogOf(interp, x, [](double v) { return std::log10(v); }));
      return Value::Float(d);
    });
  }
}

void AddRounding(NativeModuleBuilder& m) {
  m.Function("floor", [](Interpreter& i, const CallArgs& a) {
    return Rounded(i, a, i.names().__floor__, "floor", [](double x) { return std::floor(x); });
  });
  m.Function("ceil", [](Interpreter& i, const CallArgs& a) {
    return Rounded(i, a, i.names().__ceil__, "ceil", [](double x) { return std::ceil(x); });
  });
  m.Function("trunc", [](Interpreter& i, const CallArgs& a) {
    return Rounded(i, a, i.names().__trunc__, "trunc", [](double x) { return std::trunc(x); });
  });
}

void AddFloatTests(NativeModuleBuilder& m) {
  for (int kind : {0, 1, 2}) {
    absl::string_view name = kind == 0 ? "isnan" : kind == 1 ? "isinf" : "isfinite";
    m.Function(name, [kind, name](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY_ASSIGN(double x, Number(interp, args, 0, name, 1));
      return Value::Bool(kind == 0 ? std::isnan(x) : kind == 1 ? std::isinf(x) : std::isfinite(x));
    });
  }
}

Result<void> DefineMath(Interpreter&, NativeModuleBuilder& m) {
  AddConstants(m);
  AddUnaryFunctions(m);
  AddAngleConversions(m);
  AddBinaryFunctions(m);
  AddLogarithms(m);
  AddRounding(m);
  AddFloatTests(m);
  m.Function("frexp", Frexp);
  m.Function("modf", Modf);
  m.Function("ldexp", Ldexp);
  m.Function("prod", Prod);
  m.Function("gcd", [](Interpreter& i, const CallArgs& a) { return GcdLcm(i, a, false); });
  m.Function("lcm", [](Interpreter& i, const CallArgs& a) { return GcdLcm(i, a, true); });
  m.Function("factorial", Factorial);
  m.Function("comb", [](Interpreter& i, const CallArgs& a) { return Comb(i, a, false); });
  m.Function("perm", [](Interpreter& i, const CallArgs& a) { return Comb(i, a, true); });
  m.Function("isqrt", ISqrt);
  m.Function("fsum", FSum);
  m.Function("isclose", IsClose);
  m.Function("hypot", Hypot);
  m.Function("ulp", Ulp);
  m.Function("dist", Dist);
  return {};
}

}  // namespace

void AddMathModule(NativeRegistry* registry) {
  NativeModule module;
  module.name = "math";
  module.define = DefineMath;
  registry->Add(std::move(module));
}

}  // namespace cobra::python
