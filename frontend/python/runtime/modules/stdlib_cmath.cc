// cmath.
#include <cmath>
#include <complex>

#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

using Complex = std::complex<double>;

Result<Complex> Argument(Interpreter& interp, Value v) {
  double real, imag;
  if (AsComplex(v, &real, &imag)) return Complex(real, imag);
  if (v.IsInstance()) {
    COBRA_TRY_ASSIGN(Value own, interp.CallSpecial(v, interp.Intern("__complex__"), {}));
    if (own.IsComplex()) return Complex(own.as<ComplexObject>()->real, own.as<ComplexObject>()->imag);
    if (!interp.LookupClass(v.object()->cls, interp.names().__float__).IsUnbound()) {
      COBRA_TRY_ASSIGN(double d, interp.AsFloat(v));
      return Complex(d, 0);
    }
  }
  return interp.Raise(interp.types().TypeError, "must be real number, not ", interp.TypeName(v));
}

bool IsFinite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }

Result<Value> Checked(Interpreter& interp, Complex argument, Complex result) {
  if (IsFinite(argument) && !IsFinite(result)) {
    bool overflow = std::isinf(result.real()) || std::isinf(result.imag());
    return overflow ? interp.Raise(interp.types().OverflowError, "math range error")
                    : interp.Raise(interp.types().ValueError, "math domain error");
  }
  return interp.NewComplex(result.real(), result.imag());
}

void Unary(NativeModuleBuilder& m, absl::string_view name, Complex (*f)(Complex)) {
  m.Function(name, [f, key = std::string(name)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, key, "z", args));
    COBRA_TRY_ASSIGN(Complex z, Argument(interp, v));
    return Checked(interp, z, f(z));
  });
}

void Test(NativeModuleBuilder& m, absl::string_view name, bool (*f)(Complex)) {
  m.Function(name, [f, key = std::string(name)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, key, "z", args));
    COBRA_TRY_ASSIGN(Complex z, Argument(interp, v));
    return Value::Bool(f(z));
  });
}

Result<Value> ComplexLog(Interpreter& interp, const CallArgs& args) {
  Value v, base = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "log", args).Required("z", &v).Optional("base", &base).Finish());
  COBRA_TRY_ASSIGN(Complex z, Argument(interp, v));
  if (z == Complex(0, 0)) return interp.Raise(interp.types().ValueError, "math domain error");
  Complex r = std::log(z);
  if (!base.IsUnbound()) {
    COBRA_TRY_ASSIGN(Complex b, Argument(interp, base));
    r /= std::log(b);
  }
  return Checked(interp, z, r);
}

Result<Value> IsClose(Interpreter& interp, const CallArgs& args) {
  Value a, b;
  double relative = 1e-9, absolute = 0;
  COBRA_TRY(ArgReader(interp, "isclose", args)
                .Required("a", &a)
                .Required("b", &b)
                .KeywordOnly()
                .Optional("rel_tol", &relative)
                .Optional("abs_tol", &absolute)
                .Finish());
  if (relative < 0 || absolute < 0) return interp.Raise(interp.types().ValueError, "tolerances must be non-negative");
  COBRA_TRY_ASSIGN(Complex x, Argument(interp, a));
  COBRA_TRY_ASSIGN(Complex y, Argument(interp, b));
  if (x == y) return Value::Bool(true);
  if (!IsFinite(x) || !IsFinite(y)) return Value::Bool(false);
  double difference = std::abs(x - y);
  return Value::Bool(difference <= relative * std::abs(y) || difference <= relative * std::abs(x) ||
                     difference <= absolute);
}

Result<Value> Polar(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "polar", "z", args));
  COBRA_TRY_ASSIGN(Complex z, Argument(interp, v));
  return Value(
      interp.NewTuple({Value::Float(std::hypot(z.real(), z.imag())), Value::Float(std::atan2(z.imag(), z.real()))}));
}

}  // namespace

void AddCmathModule(NativeRegistry* registry) {
  NativeModule module;
  module.name = "cmath";
  module.define = [](Interpreter& interp, NativeModuleBuilder& m) -> Result<void> {
    m.Value("pi", Value::Float(M_PI)).Value("e", Value::Float(M_E)).Value("tau", Value::Float(2 * M_PI));
    m.Value("inf", Value::Float(HUGE_VAL)).Value("nan", Value::Float(std::nan("")));
    m.Value("infj", interp.NewComplex(0, HUGE_VAL)).Value("nanj", interp.NewComplex(0, std::nan("")));
    Unary(m, "sqrt", [](Complex z) { return std::sqrt(z); });
    Unary(m, "exp", [](Complex z) { return std::exp(z); });
    Unary(m, "log10", [](Complex z) { return std::log10(z); });
    Unary(m, "sin", [](Complex z) { return std::sin(z); });
    Unary(m, "cos", [](Complex z) { return std::cos(z); });
    Unary(m, "tan", [](Complex z) { return std::tan(z); });
    Unary(m, "asin", [](Complex z) { return std::asin(z); });
    Unary(m, "acos", [](Complex z) { return std::acos(z); });
    Unary(m, "atan", [](Complex z) { return std::atan(z); });
    Unary(m, "sinh", [](Complex z) { return std::sinh(z); });
    Unary(m, "cosh", [](Complex z) { return std::cosh(z); });
    Unary(m, "tanh", [](Complex z) { return std::tanh(z); });
    Unary(m, "asinh", [](Complex z) { return std::asinh(z); });
    Unary(m, "acosh", [](Complex z) { return std::acosh(z); });
    Unary(m, "atanh", [](Complex z) { return std::atanh(z); });
    Test(m, "isfinite", IsFinite);
    Test(m, "isnan", [](Complex z) { return std::isnan(z.real()) || std::isnan(z.imag()); });
    Test(m, "isinf", [](Complex z) { return std::isinf(z.real()) || std::isinf(z.imag()); });
    m.Function("log", ComplexLog).Function("isclose", IsClose).Function("polar", Polar);
    m.Function("phase", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY_ASSIGN(Value polar, Polar(interp, args));
      return polar.as<TupleObject>()->items[1];
    });
    m.Function("rect", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      double r, phi;
      COBRA_TRY(ArgReader(interp, "rect", args).Required("r", &r).Required("phi", &phi).Finish());
      return interp.NewComplex(r * std::cos(phi), phi == 0 ? r * phi : r * std::sin(phi));
    });
    return {};
  };
  registry->Add(std::move(module));
}

}  // namespace cobra::python
