// int, bool, float, complex: conversion, methods.
#include "absl/strings/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/types/character.h"

namespace cobra::python {

bool IsIntLike(Value v) { return v.IsIntOrBool() || v.IsBigInt(); }
BigInt ToBigInt(Value v) { return v.IsIntOrBool() ? BigInt(v.as_int()) : v.as<BigIntObject>()->value; }
double IntToDouble(Value v) {
  return v.IsIntOrBool() ? static_cast<double>(v.as_int()) : v.as<BigIntObject>()->value.ToDouble();
}

Result<int64_t> ToInt64(Interpreter& interp, Value v, absl::string_view what) {
  if (v.IsIntOrBool()) return v.as_int();
  const BigInt& b = v.as<BigIntObject>()->value;
  if (b.FitsInt64()) return b.ToInt64();
  return interp.Raise(interp.types().OverflowError, what);
}

bool NumberAsDouble(Value v, double* out) {
  if (v.IsFloat()) return *out = v.as_float(), true;
  if (v.IsFloatBox()) return *out = v.as<FloatBoxObject>()->value, true;
  if (IsIntLike(v)) return *out = IntToDouble(v), true;
  return false;
}

uint64_t HashInt(int64_t i) {
  // Equal to the hash of an equal float or big int: the value modulo 2^61 - 1.
  constexpr int64_t kModulus = (int64_t{1} << 61) - 1;
  if (i > -kModulus && i < kModulus) return static_cast<uint64_t>(i);
  return static_cast<uint64_t>(i % kModulus);
}

uint64_t HashDouble(double d) {
  if (std::isinf(d)) return static_cast<uint64_t>(d > 0 ? 314159 : -314159);
  if (std::isnan(d)) return 0x7ff8;
  if (d == std::floor(d) && std::fabs(d) < 9e18) return HashInt(static_cast<int64_t>(d));
  // Mantissa modulo 2^61 - 1, rotated by the exponent (a power of two is a rotation in that field).
  int exponent;
  double m = std::frexp(std::fabs(d), &exponent);
  uint64_t x = 0;
  while (m != 0) {
    x = ((x << 28) & ((uint64_t{1} << 61) - 1)) | x >> (61 - 28);
    m *= 268435456.0;
    exponent -= 28;
    auto y = static_cast<uint64_t>(m);
    m -= static_cast<double>(y);
    x += y;
    if (x >= (uint64_t{1} << 61) - 1) x -= (uint64_t{1} << 61) - 1;
  }
  exponent = exponent >= 0 ? exponent % 61 : 60 - ((-1 - exponent) % 61);
  x = ((x << exponent) & ((uint64_t{1} << 61) - 1)) | x >> (61 - exponent);
  return d < 0 ? uint64_t{0} - x : x;
}

Result<double> Interpreter::AsFloat(Value v) {
  double d;
  if (NumberAsDouble(v, &d)) {
    if (IsIntLike(v) && std::isinf(d)) return Raise(types_.OverflowError, "int too large to convert to float");
    return d;
  }
  if (v.IsObject()) {
    COBRA_TRY_ASSIGN(Value r, CallSpecial(v, names_.__float__, {}));
    if (!r.IsUnbound()) {
      if (NumberAsDouble(r, &d) && !IsIntLike(r)) return d;
      return Raise(types_.TypeError, TypeName(v), ".__float__ returned non-float (type ", TypeName(r), ")");
    }
    COBRA_TRY_ASSIGN(r, CallSpecial(v, names_.__index__, {}));
    if (!r.IsUnbound() && NumberAsDouble(r, &d)) return d;
  }
  return Raise(types_.TypeError, "must be real number, not ", TypeName(v));
}

Result<Value> RoundFloat(double d, int64_t digits) {
  if (!std::isfinite(d) || digits > 400) return Value::Float(d);
  if (digits < -400) return Value::Float(std::copysign(0.0, d));
  // Rounds through decimal text, which rounds the exact value, half to even.
  std::string text;
  if (digits >= 0) {
    text = absl::StrFormat("%.*f", static_cast<int>(digits), d);
  } else {
    // Rounds the integer part to a multiple of 10^-digits.
    BigInt scale(1), q, r;
    for (int64_t i = 0; i < -digits; ++i) scale = scale * BigInt(10);
    double whole = std::floor(std::fabs(d));
    bool fraction = whole != std::fabs(d);
    BigInt::FloorDivMod(BigInt::FromDouble(whole), scale, &q, &r);
    BigInt twice = r + r;
    int c = BigInt::Compare(twice, scale);
    if (c == 0 && fraction) c = 1;
    if (c > 0 || (c == 0 && (q.LowBits() & 1))) q = q + BigInt(1);
    double result = (q * scale).ToDouble();
    return Value::Float(std::copysign(result, d));
  }
  double rounded = 0;
  std::from_chars(text.data() + (text[0] == '-'), text.data() + text.size(), rounded);
  return Value::Float(text[0] == '-' ? -rounded : rounded);
}

namespace {

// An instance of a subclass of int gets its own object.
Value MakeIntOf(Interpreter& interp, ClassObject* cls, Value value) {
  if (cls == interp.types().int_type) {
    if (value.IsIntOrBool()) return Value::Int(value.as_int());
    return interp.NewInt(ToBigInt(value));
  }
  BigIntObject* b = interp.heap().New<BigIntObject>();
  b->cls = cls;
  b->value = ToBigInt(value);
  return b;
}

bool IsAscii(absl::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}

// Digits of other scripts are valid only in a str.
Result<Value> IntFromBytes(Interpreter& interp, Value bytes, int base) {
  const absl::string_view text = bytes.as<BytesObject>()->view();
  return IntFromText(interp, IsAscii(text) ? text : "?", base, bytes);
}

Result<Value> IntOf(Interpreter& interp, Value v) {
  if (IsIntLike(v)) return v;
  double d;
  if (NumberAsDouble(v, &d)) {
    if (std::isinf(d)) return interp.Raise(interp.types().OverflowError, "cannot convert float infinity to integer");
    if (std::isnan(d)) return interp.Raise(interp.types().ValueError, "cannot convert float NaN to integer");
    if (std::fabs(d) < 9.2e18) return Value::Int(static_cast<int64_t>(d));
    return interp.NewInt(BigInt::FromDouble(d));
  }
  if (v.IsStr()) return IntFromText(interp, v.str(), 10, v);
  if (v.IsBytes()) return IntFromBytes(interp, v, 10);
  for (StrObject* name : {interp.names().__int__, interp.names().__index__, interp.names().__trunc__}) {
    if (!v.IsObject()) break;
    COBRA_TRY_ASSIGN(Value r, interp.CallSpecial(v, name, {}));
    if (r.IsUnbound()) continue;
    if (!IsIntLike(r))
      return interp.Raise(interp.types().TypeError, name->view(), " returned non-int (type ", interp.TypeName(r), ")");
    return r;
  }
  return interp.Raise(interp.types().TypeError,
                      "int() argument must be a string, a bytes-like object or a real number, not '",
                      interp.TypeName(v), "'");
}

Result<Value> IntNew(Interpreter& interp, const CallArgs& args) {
  Value x = Value::Int(0), base = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "int", args).Optional("x", &x).Optional("base", &base).Finish());
  auto* cls = args.self.as<ClassObject>();
  if (base.IsUnbound()) {
    COBRA_TRY_ASSIGN(const Value unknown, OfUnknownNumber(interp, x, "_cobra_whole"));
    if (!unknown.IsSame(x)) return unknown;
    COBRA_TRY_ASSIGN(Value v, IntOf(interp, x));
    return MakeIntOf(interp, cls, v);
  }
  COBRA_TRY_ASSIGN(int64_t b, interp.Index(base));
  if (!x.IsStr() && !x.IsBytes())
    return interp.Raise(interp.types().TypeError, "int() can't convert non-string with explicit base");
  if (b != 0 && (b < 2 || b > 36))
    return interp.Raise(interp.types().ValueError, "int() base must be >= 2 and <= 36, or 0");
  COBRA_TRY_ASSIGN(Value v, x.IsStr() ? IntFromText(interp, x.str(), static_cast<int>(b), x)
                                      : IntFromBytes(interp, x, static_cast<int>(b)));
  return MakeIntOf(interp, cls, v);
}

Result<Value> BoolNew(Interpreter& interp, const CallArgs& args) {
  Value x = Value::Bool(false);
  COBRA_TRY(ArgReader(interp, "bool", args).Optional("x", &x).Finish());
  COBRA_TRY_ASSIGN(bool b, interp.Truth(x));
  return Value::Bool(b);
}

Result<Value> FloatNew(Interpreter& interp, const CallArgs& args) {
  Value x = Value::Float(0);
  COBRA_TRY(ArgReader(interp, "float", args).Optional("x", &x).Finish());
  COBRA_TRY_ASSIGN(const Value unknown, OfUnknownNumber(interp, x, "_cobra_real"));
  if (!unknown.IsSame(x)) return unknown;
  Value result;
  if (x.IsStr() || x.IsBytes()) {
    absl::string_view text = x.IsStr() ? x.str() : x.as<BytesObject>()->view();
    if (x.IsBytes() && !IsAscii(text)) text = "?";
    COBRA_TRY_ASSIGN(result, FloatFromText(interp, text, x));
  } else {
    double d;
    bool ok = NumberAsDouble(x, &d) ||
              (x.IsObject() && (!interp.LookupClass(x.object()->cls, interp.names().__float__).IsUnbound() ||
                                !interp.LookupClass(x.object()->cls, interp.names().__index__).IsUnbound()));
    if (!ok) {
      return interp.Raise(interp.types().TypeError, "float() argument must be a string or a real number, not '",
                          interp.TypeName(x), "'");
    }
    COBRA_TRY_ASSIGN(d, interp.AsFloat(x));
    result = Value::Float(d);
  }
  if (args.self.as<ClassObject>() == interp.types().float_type) return result;
  FloatBoxObject* box = interp.heap().New<FloatBoxObject>();
  box->cls = args.self.as<ClassObject>();
  box->value = result.as_float();
  return Value(box);
}

Result<Value> ComplexNew(Interpreter& interp, const CallArgs& args) {
  Value real = Value::Float(0), imag = Value::Float(0);
  ArgReader reader(interp, "complex", args);
  COBRA_TRY(reader.Optional("real", &real).Optional("imag", &imag).Finish());
  double r = 0, i = 0, r2 = 0, i2 = 0;
  if (real.IsStr()) {
    COBRA_TRY(interp.Charge(static_cast<int64_t>(real.str().size()) / 4));
    if (reader.Given("imag"))
      return interp.Raise(interp.types().TypeError, "complex() can't take second arg if first is a string");
    if (!ComplexFromText(real.str(), &r, &i))
      return interp.Raise(interp.types().ValueError, "complex() arg is a malformed string");
    return interp.NewComplex(r, i);
  }
  if (real.IsInstance()) {
    COBRA_TRY_ASSIGN(Value own, interp.CallSpecial(real, interp.Intern("__complex__"), {}));
    if (own.IsComplex()) real = own;
  }
  if (real.IsComplex()) {
    r = real.as<ComplexObject>()->real;
    i = real.as<ComplexObject>()->imag;
  } else {
    COBRA_TRY_ASSIGN(r, interp.AsFloat(real));
  }
  if (imag.IsComplex()) {
    r2 = -imag.as<ComplexObject>()->imag;
    i2 = imag.as<ComplexObject>()->real;
  } else {
    COBRA_TRY_ASSIGN(i2, interp.AsFloat(imag));
  }
  bool plain = !real.IsComplex() && !imag.IsComplex();  // then the zeros keep their signs
  return plain ? interp.NewComplex(r, i2) : interp.NewComplex(r + r2, i + i2);
}

Result<Value> Round(Interpreter& interp, Value v, Value digits) {
  if (IsIntLike(v)) {
    if (digits.IsNone()) return MakeIntOf(interp, interp.types().int_type, v);
    COBRA_TRY_ASSIGN(int64_t n, interp.Index(digits));
    if (n >= 0) return MakeIntOf(interp, interp.types().int_type, v);
    if (n < -5000) return Value::Int(0);
    COBRA_TRY(interp.Charge(n * n / 64 - 2 * n));  // a product of growing length for each digit
    BigInt scale(1), q, r;
    for (int64_t i = 0; i < -n; ++i) scale = scale * BigInt(10);
    const BigInt whole = ToBigInt(v);
    COBRA_TRY(interp.Charge(8 * WordsSteps(whole.bits()) + ProductSteps(whole.bits(), scale.bits())));
    BigInt::FloorDivMod(whole, scale, &q, &r);
    int c = BigInt::Compare(r + r, scale);
    if (c > 0 || (c == 0 && (q.LowBits() & 1))) q = q + BigInt(1);
    return interp.NewInt(q * scale);
  }
  double d;
  NumberAsDouble(v, &d);
  if (!digits.IsNone()) {
    COBRA_TRY_ASSIGN(int64_t n, interp.Index(digits));
    return RoundFloat(d, n);
  }
  if (!std::isfinite(d)) return IntOf(interp, v);
  double rounded = std::nearbyint(d);  // half to even in the default rounding mode
  return IntOf(interp, Value::Float(rounded));
}

Result<Value> IsIntegerMethod(Interpreter&, const CallArgs& args) {
  double d;
  NumberAsDouble(args.self, &d);
  return Value::Bool(std::isfinite(d) && d == std::floor(d));
}

Result<Value> AsIntegerRatio(Interpreter& interp, const CallArgs& args) {
  if (IsIntLike(args.self))
    return Value(interp.NewTuple({MakeIntOf(interp, interp.types().int_type, args.self), Value::Int(1)}));
  double d;
  NumberAsDouble(args.self, &d);
  if (std::isinf(d)) return interp.Raise(interp.types().OverflowError, "cannot convert Infinity to integer ratio");
  if (std::isnan(d)) return interp.Raise(interp.types().ValueError, "cannot convert NaN to integer ratio");
  int exponent;
  double m = std::frexp(d, &exponent);
  for (int i = 0; i < 300 && m != std::floor(m); ++i) {
    m *= 2;
    --exponent;
  }
  BigInt numerator = BigInt::FromDouble(m), denominator(1);
  if (exponent > 0) numerator = numerator.ShiftLeft(exponent);
  if (exponent < 0) denominator = denominator.ShiftLeft(-exponent);
  return Value(interp.NewTuple({interp.NewInt(numerator), interp.NewInt(denominator)}));
}

void AddUnary(Interpreter& interp, ClassObject* cls, absl::string_view name, Interpreter::UnaryOp op) {
  AddMethod(interp, cls, name, [op](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (IsIntLike(args.self)) {
      BigInt b = ToBigInt(args.self);
      return interp.NewInt(op == Interpreter::UnaryOp::kPlus    ? b
                           : op == Interpreter::UnaryOp::kMinus ? -b
                                                                : -(b + BigInt(1)));
    }
    if (args.self.IsComplex()) return interp.Unary(op, args.self);
    double d;
    NumberAsDouble(args.self, &d);
    return Value::Float(op == Interpreter::UnaryOp::kMinus ? -d : d);
  });
}

void AddCommonNumberMethods(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "__bool__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    if (args.self.IsComplex())
      return Value::Bool(args.self.as<ComplexObject>()->real != 0 || args.self.as<ComplexObject>()->imag != 0);
    double d;
    NumberAsDouble(args.self, &d);
    return Value::Bool(IsIntLike(args.self) ? !ToBigInt(args.self).zero() : d != 0);
  });
  AddMethod(interp, cls, "__hash__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value v = args.self;
    if (v.IsBigInt() && v.as<BigIntObject>()->value.FitsInt64()) v = Value::Int(v.as<BigIntObject>()->value.ToInt64());
    if (v.IsFloatBox()) v = Value::Float(v.as<FloatBoxObject>()->value);
    if (v.IsBigInt()) v = interp.NewInt(v.as<BigIntObject>()->value);
    COBRA_TRY_ASSIGN(uint64_t h, interp.Hash(v));
    return Value::Int(static_cast<int64_t>(h));
  });
  AddMethod(interp, cls, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
    return Value(s);
  });
  AddMethod(interp, cls, "__format__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(absl::string_view spec,
                     OnlyArgument<absl::string_view>(interp, "__format__", "format_spec", args));
    if (spec.empty()) {
      COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
      return Value(s);
    }
    COBRA_TRY_ASSIGN(StrObject * s, FormatNumber(interp, args.self, spec));
    return Value(s);
  });
  AddUnary(interp, cls, "__neg__", Interpreter::UnaryOp::kMinus);
  AddUnary(interp, cls, "__pos__", Interpreter::UnaryOp::kPlus);
  AddMethod(interp, cls, "__abs__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.self.IsComplex())
      return Value::Float(std::hypot(args.self.as<ComplexObject>()->real, args.self.as<ComplexObject>()->imag));
    if (IsIntLike(args.self)) {
      BigInt b = ToBigInt(args.self);
      return interp.NewInt(b.negative() ? -b : b);
    }
    double d;
    NumberAsDouble(args.self, &d);
    return Value::Float(std::fabs(d));
  });
}

// Adds the conversions and the rounding of int and float.
void AddConversions(Interpreter& interp, ClassObject* cls) {
  auto to_int = [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, IntOf(interp, args.self));
    return MakeIntOf(interp, interp.types().int_type, v);
  };
  AddMethod(interp, cls, "__int__", to_int);
  AddMethod(interp, cls, "__trunc__", to_int);
  AddMethod(interp, cls, "__float__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(double d, interp.AsFloat(args.self));
    return Value::Float(d);
  });
  AddMethod(interp, cls, "__round__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value digits;
    COBRA_TRY(ArgReader(interp, "__round__", args).Optional("ndigits", &digits).Finish());
    return Round(interp, args.self, digits);
  });
  AddMethod(interp, cls, "__floor__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (IsIntLike(args.self)) return MakeIntOf(interp, interp.types().int_type, args.self);
    double d;
    NumberAsDouble(args.self, &d);
    return IntOf(interp, Value::Float(std::floor(d)));
  });
  AddMethod(interp, cls, "__ceil__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (IsIntLike(args.self)) return MakeIntOf(interp, interp.types().int_type, args.self);
    double d;
    NumberAsDouble(args.self, &d);
    return IntOf(interp, Value::Float(std::ceil(d)));
  });
}

// Adds the other methods of int and float.
void AddRealNumberMethods(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "__divmod__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value other, OnlyArgument(interp, "__divmod__", "other", args));
    double divisor;
    if (NumberAsDouble(other, &divisor) && divisor == 0 && !(IsIntLike(args.self) && IsIntLike(other)))
      return interp.Raise(interp.types().ZeroDivisionError, "float divmod()");
    COBRA_TRY_ASSIGN(Value q, BuiltinBinary(interp, Interpreter::BinaryOp::kFloorDiv, args.self, other));
    if (q.IsNotImplemented()) return q;
    COBRA_TRY_ASSIGN(Value r, BuiltinBinary(interp, Interpreter::BinaryOp::kMod, args.self, other));
    return Value(interp.NewTuple({q, r}));
  });
  // The plain number, also for an instance of a subclass.
  const auto plain = [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (IsIntLike(args.self)) return MakeIntOf(interp, interp.types().int_type, args.self);
    double d;
    return NumberAsDouble(args.self, &d) ? Value::Float(d) : args.self;
  };
  AddMethod(interp, cls, "conjugate", plain);
  if (cls == interp.types().float_type) AddMethod(interp, cls, "is_integer", IsIntegerMethod);
  AddMethod(interp, cls, "as_integer_ratio", AsIntegerRatio);
  AddProperty(interp, cls, "real", plain);
  if (cls == interp.types().int_type) AddProperty(interp, cls, "numerator", plain);
  AddProperty(interp, cls, "imag", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return IsIntLike(args.self) ? Value::Int(0) : Value::Float(0);
  });
}

Result<Value> ToBytes(Interpreter& interp, const CallArgs& args) {
  int64_t length = 1;
  absl::string_view order = "big";
  ArgReader reader(interp, "to_bytes", args);
  bool is_signed = false;
  COBRA_TRY(reader.Optional("length", &length)
                .Optional("byteorder", &order)
                .KeywordOnly()
                .Optional("signed", &is_signed)
                .Finish());
  if (length < 0) return interp.Raise(interp.types().ValueError, "length argument must be non-negative");
  if (order != "big" && order != "little")
    return interp.Raise(interp.types().ValueError, "byteorder must be either 'little' or 'big'");
  COBRA_TRY(interp.CheckSize(length, 1));
  BigInt v = ToBigInt(args.self);
  if (v.negative() && !is_signed)
    return interp.Raise(interp.types().OverflowError, "can't convert negative int to unsigned");
  BigInt magnitude = v.negative() ? -v - BigInt(1) : v;
  if (magnitude.bits() > length * 8 - (is_signed ? 1 : 0))
    return interp.Raise(interp.types().OverflowError, "int too big to convert");
  if (v.negative()) v = v + BigInt(1).ShiftLeft(length * 8);
  std::string out;
  COBRA_TRY(interp.Charge(length / 8));
  for (int64_t i = 0; i < length; ++i) out.push_back(static_cast<char>(v.Byte(i)));
  if (order == "big") std::reverse(out.begin(), out.end());
  return Value(interp.NewBytes(out));
}

Result<Value> FromBytes(Interpreter& interp, const CallArgs& args) {
  Value source;
  absl::string_view order = "big";
  bool is_signed = false;
  COBRA_TRY(ArgReader(interp, "from_bytes", args)
                .Required("bytes", &source)
                .Optional("byteorder", &order)
                .KeywordOnly()
                .Optional("signed", &is_signed)
                .Finish());
  if (order != "big" && order != "little")
    return interp.Raise(interp.types().ValueError, "byteorder must be either 'little' or 'big'");
  COBRA_TRY_ASSIGN(Value bytes, interp.Call(Value(interp.types().bytes), {source}));
  std::string text(bytes.as<BytesObject>()->view());
  if (static_cast<int64_t>(text.size()) * 8 > interp.limits().big_int_bits) return interp.IntTooLarge();
  COBRA_TRY(interp.Charge(static_cast<int64_t>(text.size()) / 8));
  if (order == "big") std::reverse(text.begin(), text.end());
  BigInt v = BigInt::FromBytes(text);
  if (is_signed && !text.empty() && (static_cast<unsigned char>(text.back()) & 0x80)) {
    v = v - BigInt(1).ShiftLeft(static_cast<int64_t>(text.size()) * 8);
  }
  return MakeIntOf(interp, args.self.as<ClassObject>(), interp.NewInt(v));
}

Result<Value> FloatHex(Interpreter& interp, const CallArgs& args) {
  double d;
  NumberAsDouble(args.self, &d);
  if (!std::isfinite(d)) return Value(interp.NewStr(FloatRepr(d)));
  int exponent = 0;
  double m = std::frexp(std::fabs(d), &exponent);  // in [0.5, 1)
  int shift = d == 0 ? 0 : 1;
  // A subnormal keeps its leading zeros.
  if (d != 0 && exponent < -1021) shift -= -1021 - exponent;
  exponent -= shift;
  m = std::ldexp(m, shift);
  std::string digits;
  double whole = std::floor(m);
  std::string lead = std::to_string(static_cast<int>(whole));
  m -= whole;
  for (int i = 0; i < 13; ++i) {
    m *= 16;
    double digit = std::floor(m);
    digits.push_back("0123456789abcdef"[static_cast<int>(digit)]);
    m -= digit;
  }
  std::string text = absl::StrCat(std::signbit(d) ? "-" : "", "0x", lead, d == 0 ? ".0" : absl::StrCat(".", digits),
                                  "p", d == 0 || exponent >= 0 ? "+" : "", d == 0 ? 0 : exponent);
  return Value(interp.NewStr(text));
}

Result<Value> FloatFromHex(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(std::string text, OnlyArgument<std::string>(interp, "fromhex", "string", args));
  text = std::string(absl::StripAsciiWhitespace(text));
  std::string sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? text.substr(0, 1) : "";
  std::string body = absl::AsciiStrToLower(text.substr(sign.size()));
  bool word = body == "inf" || body == "infinity" || body == "nan";
  if (!word && body.compare(0, 2, "0x") != 0) body = "0x" + body;
  const std::string number = sign + body;  // into which `end` points
  char* end = nullptr;
  double d = body.find_first_of(" \t") == std::string::npos ? std::strtod(number.c_str(), &end) : 0;
  if (end == nullptr || *end != 0 || body.size() < 3)
    return interp.Raise(interp.types().ValueError, "invalid hexadecimal floating-point string");
  if (std::isinf(d) && !word)
    return interp.Raise(interp.types().OverflowError, "hexadecimal value too large to represent as a float");
  return Value::Float(d);
}

}  // namespace

void InitNumberTypes(Interpreter& interp) {
  using Op = Interpreter::BinaryOp;
  const BuiltinTypes& t = interp.types();
  AddOperatorMethods(interp, t.int_type,
                     {Op::kAdd, Op::kSub, Op::kMult, Op::kDiv, Op::kMod, Op::kPow, Op::kLShift, Op::kRShift, Op::kBitOr,
                      Op::kBitXor, Op::kBitAnd, Op::kFloorDiv},
                     true);
  AddOperatorMethods(interp, t.float_type, {Op::kAdd, Op::kSub, Op::kMult, Op::kDiv, Op::kMod, Op::kPow, Op::kFloorDiv},
                     true);
  AddOperatorMethods(interp, t.complex_type, {Op::kAdd, Op::kSub, Op::kMult, Op::kDiv, Op::kPow}, true);
  for (ClassObject* cls : {t.int_type, t.float_type, t.complex_type}) AddCommonNumberMethods(interp, cls);
  for (ClassObject* cls : {t.int_type, t.float_type}) {
    AddConversions(interp, cls);
    AddRealNumberMethods(interp, cls);
  }
  SetNativeNew(interp, t.int_type, IntNew);
  SetNativeNew(interp, t.bool_type, BoolNew);
  SetNativeNew(interp, t.float_type, FloatNew);
  SetNativeNew(interp, t.complex_type, ComplexNew);
  AddUnary(interp, t.int_type, "__invert__", Interpreter::UnaryOp::kInvert);
  AddMethod(interp, t.int_type, "__index__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return MakeIntOf(interp, interp.types().int_type, args.self);
  });
  AddMethod(interp, t.int_type, "bit_length", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Int(args.self.IsBigInt() ? args.self.as<BigIntObject>()->value.bits() : ToBigInt(args.self).bits());
  });
  AddMethod(interp, t.int_type, "bit_count", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY(interp.Charge(DigitsSteps(ToBigInt(args.self))));
    std::string bits = ToBigInt(args.self).ToString(2);
    return Value::Int(std::count(bits.begin(), bits.end(), '1'));
  });
  AddMethod(interp, t.int_type, "to_bytes", ToBytes);
  AddClassMethod(interp, t.int_type, "from_bytes", FromBytes);
  AddProperty(interp, t.int_type, "denominator",
              [](Interpreter&, const CallArgs&) -> Result<Value> { return Value::Int(1); });
  AddProperty(interp, t.complex_type, "real", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Float(args.self.as<ComplexObject>()->real);
  });
  AddProperty(interp, t.complex_type, "imag", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Float(args.self.as<ComplexObject>()->imag);
  });
  AddMethod(interp, t.complex_type, "conjugate", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return interp.NewComplex(args.self.as<ComplexObject>()->real, -args.self.as<ComplexObject>()->imag);
  });
  AddMethod(interp, t.float_type, "hex", FloatHex);
  AddStaticMethod(interp, t.float_type, "fromhex", FloatFromHex);
}

}  // namespace cobra::python
