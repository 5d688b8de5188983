// Operators: arithmetic of the built-in types and the dispatch to __add__, __radd__, __iadd__ and
// their like.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/heap/set_order.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/numpy_number.h"

namespace cobra::python {

bool AsComplex(Value v, double* real, double* imag) {
  *imag = 0;
  if (v.IsComplex()) {
    *real = v.as<ComplexObject>()->real;
    *imag = v.as<ComplexObject>()->imag;
    return true;
  }
  return NumberAsDouble(v, real);
}

// keys() and items() behave as sets.
Result<Value> ViewAsSet(Interpreter& interp, Value v) {
  if (v.IsSet()) return v;
  SetObject* s = interp.NewSet();
  COBRA_TRY(interp.Iterate(v, [&](Value item) -> Result<bool> {
    COBRA_TRY(interp.SetAdd(s, item));
    return true;
  }));
  return Value(s);
}

namespace {

// In the order of BinaryOp.
const OperatorNames kOperators[] = {
    {"+", &CommonNames::__add__, &CommonNames::__radd__, &CommonNames::__iadd__},
    {"-", &CommonNames::__sub__, &CommonNames::__rsub__, &CommonNames::__isub__},
    {"*", &CommonNames::__mul__, &CommonNames::__rmul__, &CommonNames::__imul__},
    {"@", &CommonNames::__matmul__, &CommonNames::__rmatmul__, &CommonNames::__imatmul__},
    {"/", &CommonNames::__truediv__, &CommonNames::__rtruediv__, &CommonNames::__itruediv__},
    {"%", &CommonNames::__mod__, &CommonNames::__rmod__, &CommonNames::__imod__},
    {"** or pow()", &CommonNames::__pow__, &CommonNames::__rpow__, &CommonNames::__ipow__},
    {"<<", &CommonNames::__lshift__, &CommonNames::__rlshift__, &CommonNames::__ilshift__},
    {">>", &CommonNames::__rshift__, &CommonNames::__rrshift__, &CommonNames::__irshift__},
    {"|", &CommonNames::__or__, &CommonNames::__ror__, &CommonNames::__ior__},
    {"^", &CommonNames::__xor__, &CommonNames::__rxor__, &CommonNames::__ixor__},
    {"&", &CommonNames::__and__, &CommonNames::__rand__, &CommonNames::__iand__},
    {"//", &CommonNames::__floordiv__, &CommonNames::__rfloordiv__, &CommonNames::__ifloordiv__},
};

}  // namespace

const OperatorNames& NamesOf(BinaryOp op) { return kOperators[static_cast<size_t>(op)]; }

namespace {

Failure ZeroDivision(Interpreter& interp, absl::string_view message) {
  return interp.Raise(interp.types().ZeroDivisionError, message);
}

Result<Value> IntPower(Interpreter& interp, BigInt base, Value exponent) {
  if (!exponent.IsIntOrBool()) {
    if (base.zero() || (base.FitsInt64() && base.ToInt64() == 1)) return interp.NewInt(base);
    return interp.IntTooLarge();
  }
  int64_t e = exponent.as_int();
  // The result has more than (bits - 1) * e bits; the exact size is checked as it grows.
  if (static_cast<double>(base.bits() - 1) * static_cast<double>(e) > static_cast<double>(interp.limits().big_int_bits))
    return interp.IntTooLarge();
  BigInt result(1);
  for (; e > 0; e >>= 1) {
    const int64_t bits = std::max(result.bits(), base.bits());
    COBRA_TRY(interp.Charge(1 + 2 * ProductSteps(bits, bits)));
    if (e & 1) result = result * base;
    if (result.bits() > interp.limits().big_int_bits) return interp.IntTooLarge();
    if (e > 1) base = base * base;
  }
  return interp.NewInt(result);
}

Result<Value> BigBinary(Interpreter& interp, BinaryOp op, Value a, Value b) {
  BigInt x = ToBigInt(a), y = ToBigInt(b);
  auto check = [&](int64_t bits) -> Result<void> {
    if (bits <= interp.limits().big_int_bits) return {};
    return interp.IntTooLarge();
  };
  const bool quadratic =
      op == BinaryOp::kMult || op == BinaryOp::kFloorDiv || op == BinaryOp::kMod || op == BinaryOp::kDiv;
  const int64_t passes = 4 * WordsSteps(x.bits() + y.bits());
  interp.Spend(2 + passes + (quadratic ? ProductSteps(x.bits(), y.bits()) : 0));
  switch (op) {
    case BinaryOp::kAdd: return interp.NewInt(x + y);
    case BinaryOp::kSub: return interp.NewInt(x - y);
    case BinaryOp::kMult: COBRA_TRY(check(x.bits() + y.bits())); return interp.NewInt(x * y);
    case BinaryOp::kDiv: {
      if (y.zero()) return ZeroDivision(interp, "division by zero");
      double d = BigInt::TrueDivide(x, y);
      if (std::isinf(d))
        return interp.Raise(interp.types().OverflowError, "integer division result too large for a float");
      return Value::Float(d);
    }
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: {
      if (y.zero())
        return ZeroDivision(interp,
                            op == BinaryOp::kMod ? "integer modulo by zero" : "integer division or modulo by zero");
      BigInt q, r;
      BigInt::FloorDivMod(x, y, &q, &r);
      return interp.NewInt(op == BinaryOp::kMod ? r : q);
    }
    case BinaryOp::kPow:
      if (y.negative()) {
        double base = x.ToDouble();
        if (base == 0) return ZeroDivision(interp, "0.0 cannot be raised to a negative power");
        return Value::Float(std::pow(base, y.ToDouble()));
      }
      return IntPower(interp, x, b);
    case BinaryOp::kLShift:
      if (y.negative()) return interp.Raise(interp.types().ValueError, "negative shift count");
      if (x.zero()) return Value::Int(0);
      if (!y.FitsInt64()) return interp.IntTooLarge();
      COBRA_TRY(check(y.bits() > 40 ? INT64_MAX : x.bits() + y.ToInt64()));
      return interp.NewInt(x.ShiftLeft(y.ToInt64()));
    case BinaryOp::kRShift:
      if (y.negative()) return interp.Raise(interp.types().ValueError, "negative shift count");
      return interp.NewInt(y.FitsInt64() ? x.ShiftRight(y.ToInt64()) : BigInt(x.negative() ? -1 : 0));
    case BinaryOp::kBitAnd: return interp.NewInt(BigInt::BitOperation(BigInt::Bitwise::kAnd, x, y));
    case BinaryOp::kBitOr: return interp.NewInt(BigInt::BitOperation(BigInt::Bitwise::kOr, x, y));
    case BinaryOp::kBitXor: return interp.NewInt(BigInt::BitOperation(BigInt::Bitwise::kXor, x, y));
    case BinaryOp::kMatMult: break;
  }
  return Value::NotImplemented();
}

Result<Value> IntBinary(Interpreter& interp, BinaryOp op, Value a, Value b) {
  if (!a.IsIntOrBool() || !b.IsIntOrBool()) return BigBinary(interp, op, a, b);
  int64_t x = a.as_int(), y = b.as_int(), r;
  bool bools = a.IsBool() && b.IsBool();
  switch (op) {
    case BinaryOp::kAdd:
      if (!__builtin_add_overflow(x, y, &r)) return Value::Int(r);
      break;
    case BinaryOp::kSub:
      if (!__builtin_sub_overflow(x, y, &r)) return Value::Int(r);
      break;
    case BinaryOp::kMult:
      if (!__builtin_mul_overflow(x, y, &r)) return Value::Int(r);
      break;
    case BinaryOp::kDiv:
      if (y == 0) return ZeroDivision(interp, "division by zero");
      if (x >= -(int64_t{1} << 53) && x <= int64_t{1} << 53 && y >= -(int64_t{1} << 53) && y <= int64_t{1} << 53) {
        return Value::Float(static_cast<double>(x) / static_cast<double>(y));
      }
      break;
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: {
      if (y == 0)
        return ZeroDivision(interp,
                            op == BinaryOp::kMod ? "integer modulo by zero" : "integer division or modulo by zero");
      if (x == INT64_MIN && y == -1) break;
      int64_t q = x / y, m = x % y;
      if (m != 0 && (m < 0) != (y < 0)) {
        m += y;
        --q;
      }
      return Value::Int(op == BinaryOp::kMod ? m : q);
    }
    case BinaryOp::kLShift:
      if (y >= 0 && y < 62 && (x < 0 ? -(x + 1) : x) >> (62 - y) == 0) return Value::Int(x * (int64_t{1} << y));
      break;
    case BinaryOp::kRShift:
      if (y >= 0) return Value::Int(x >> std::min<int64_t>(y, 63));
      break;
    case BinaryOp::kBitAnd: return bools ? Value::Bool(x & y) : Value::Int(x & y);
    case BinaryOp::kBitOr: return bools ? Value::Bool(x | y) : Value::Int(x | y);
    case BinaryOp::kBitXor: return bools ? Value::Bool(x ^ y) : Value::Int(x ^ y);
    case BinaryOp::kPow:
    case BinaryOp::kMatMult: break;
  }
  return BigBinary(interp, op, a, b);
}

// As CPython's float_divmod: the remainder has the divisor's sign and the quotient is its floor.
void FloatDivMod(double x, double y, double* quotient, double* remainder) {
  double mod = std::fmod(x, y);
  double div = (x - mod) / y;
  if (mod != 0) {
    if ((y < 0) != (mod < 0)) {
      mod += y;
      div -= 1.0;
    }
  } else {
    mod = std::copysign(0.0, y);
  }
  double floor_div = 0;
  if (div != 0) {
    floor_div = std::floor(div);
    if (div - floor_div > 0.5) floor_div += 1.0;
  } else {
    floor_div = std::copysign(0.0, x / y);
  }
  *quotient = floor_div;
  *remainder = mod;
}

Result<Value> FinitePower(Interpreter& interp, double real, double imag) {
  if (std::isinf(real) || std::isinf(imag)) return interp.Raise(interp.types().OverflowError, "complex exponentiation");
  return interp.NewComplex(real, imag);
}

Result<Value> ComplexPower(Interpreter& interp, double ar, double ai, double br, double bi) {
  if (br == 0 && bi == 0) return interp.NewComplex(1, 0);
  if (ar == 0 && ai == 0) {
    if (bi != 0 || br < 0) return ZeroDivision(interp, "0.0 to a negative or complex power");
    return interp.NewComplex(0, 0);
  }
  // By squaring, as CPython does for small whole exponents.
  if (bi == 0 && br == std::floor(br) && std::fabs(br) <= 100) {
    double rr = 1, ri = 0, pr = ar, pi = ai;
    for (int n = static_cast<int>(std::fabs(br)); n > 0; n >>= 1) {
      double t;
      if (n & 1) {
        t = rr * pr - ri * pi;
        ri = rr * pi + ri * pr;
        rr = t;
      }
      t = pr * pr - pi * pi;
      pi = pr * pi + pi * pr;
      pr = t;
    }
    if (br >= 0) return FinitePower(interp, rr, ri);
    double d = rr * rr + ri * ri;
    return FinitePower(interp, rr / d, -ri / d);
  }
  double magnitude = std::hypot(ar, ai), length = std::pow(magnitude, br), angle = std::atan2(ai, ar),
         phase = angle * br;
  if (bi != 0) {
    length /= std::exp(angle * bi);
    phase += bi * std::log(magnitude);
  }
  // cos() of this argument is undefined.
  if (std::isinf(phase)) return ZeroDivision(interp, "0.0 to a negative or complex power");
  return FinitePower(interp, length * std::cos(phase), length * std::sin(phase));
}

Result<Value> FloatBinary(Interpreter& interp, BinaryOp op, double x, double y) {
  switch (op) {
    case BinaryOp::kAdd: return Value::Float(x + y);
    case BinaryOp::kSub: return Value::Float(x - y);
    case BinaryOp::kMult: return Value::Float(x * y);
    case BinaryOp::kDiv:
      if (y == 0) return ZeroDivision(interp, "float division by zero");
      return Value::Float(x / y);
    case BinaryOp::kFloorDiv:
    case BinaryOp::kMod: {
      if (y == 0) return ZeroDivision(interp, op == BinaryOp::kMod ? "float modulo" : "float floor division by zero");
      double q, r;
      FloatDivMod(x, y, &q, &r);
      return Value::Float(op == BinaryOp::kMod ? r : q);
    }
    case BinaryOp::kPow: {
      if (x == 0 && y < 0 && !std::isinf(y)) return ZeroDivision(interp, "0.0 cannot be raised to a negative power");
      if (x < 0 && std::isfinite(x) && std::isfinite(y) && y != std::floor(y)) return ComplexPower(interp, x, 0, y, 0);
      double r = std::pow(x, y);
      if (std::isinf(r) && std::isfinite(x) && std::isfinite(y))
        return interp.Raise(interp.types().OverflowError, "(34, 'Numerical result out of range')");
      return Value::Float(r);
    }
    default: return Value::NotImplemented();
  }
}

Result<Value> ComplexBinary(Interpreter& interp, BinaryOp op, Value a, Value b) {
  double ar, ai, br, bi;
  if (!AsComplex(a, &ar, &ai) || !AsComplex(b, &br, &bi)) return Value::NotImplemented();
  switch (op) {
    case BinaryOp::kAdd: return interp.NewComplex(ar + br, ai + bi);
    case BinaryOp::kSub: return interp.NewComplex(ar - br, ai - bi);
    case BinaryOp::kMult: return interp.NewComplex(ar * br - ai * bi, ar * bi + ai * br);
    case BinaryOp::kDiv: {
      // Smith's method, as CPython does.
      double abs_r = std::fabs(br), abs_i = std::fabs(bi);
      if (abs_r == 0 && abs_i == 0) return ZeroDivision(interp, "complex division by zero");
      if (abs_r >= abs_i) {
        double ratio = bi / br, denominator = br + bi * ratio;
        return interp.NewComplex((ar + ai * ratio) / denominator, (ai - ar * ratio) / denominator);
      }
      double ratio = br / bi, denominator = br * ratio + bi;
      return interp.NewComplex((ar * ratio + ai) / denominator, (ai * ratio - ar) / denominator);
    }
    case BinaryOp::kPow: return ComplexPower(interp, ar, ai, br, bi);
    default: return Value::NotImplemented();
  }
}

// Works as setobject.c does, because the order of a set of numbers depends on it (set_order.h).
Result<Value> SetBinary(Interpreter& interp, BinaryOp op, SetObject* a, SetObject* b) {
  SetObject* out = interp.NewSet(a->frozen);
  switch (op) {
    case BinaryOp::kBitOr:
      COBRA_TRY(MergeSet(interp, out, a));
      COBRA_TRY(MergeSet(interp, out, b));
      break;
    case BinaryOp::kBitXor:
      COBRA_TRY(MergeSet(interp, out, b));
      COBRA_TRY(ToggleAll(interp, out, a));
      break;
    case BinaryOp::kSub:
      if (a->table.size() / 4 > b->table.size()) {
        COBRA_TRY(MergeSet(interp, out, a));
        for (Value key : SetItems(*b)) {
          COBRA_TRY(interp.Step());
          COBRA_TRY(interp.SetErase(out, key));
        }
        NoteSetDifference(interp.heap(), out);
        break;
      }
      for (Value key : SetItems(*a)) {
        COBRA_TRY(interp.Step());
        COBRA_TRY_ASSIGN(bool in, interp.SetContains(b, key));
        if (!in) COBRA_TRY(interp.SetAdd(out, key));
      }
      break;
    case BinaryOp::kBitAnd: {
      SetObject* all = b->table.size() > a->table.size() ? a : b;
      SetObject* other = all == a ? b : a;
      for (Value key : SetItems(*all)) {
        COBRA_TRY(interp.Step());
        COBRA_TRY_ASSIGN(bool in, interp.SetContains(other, key));
        if (in) COBRA_TRY(interp.SetAdd(out, key));
      }
      break;
    }
    default: return Value::NotImplemented();
  }
  return Value(out);
}

bool IsTypeLike(Value v) { return v.IsClass() || v.IsGenericAlias() || v.IsNone() || v.IsOpaque(); }

Result<Value> SequenceBinary(Interpreter& interp, BinaryOp op, Value a, Value b) {
  if (op == BinaryOp::kAdd) {
    if (a.IsStr() && b.IsStr()) return Concat(interp, a.as<StrObject>(), b.as<StrObject>());
    if (a.IsList() && b.IsList()) {
      auto& x = a.as<ListObject>()->items;
      auto& y = b.as<ListObject>()->items;
      COBRA_TRY(interp.CheckSize(static_cast<int64_t>(x.size() + y.size())));
      ListObject* out = interp.NewList();
      out->items.reserve(interp.heap(), x.size() + y.size());
      for (Value v : x) out->items.push_back(interp.heap(), v);
      for (Value v : y) out->items.push_back(interp.heap(), v);
      return Value(out);
    }
    if (a.IsTuple() && b.IsTuple()) {
      auto x = a.as<TupleObject>()->span(), y = b.as<TupleObject>()->span();
      COBRA_TRY(interp.CheckSize(static_cast<int64_t>(x.size() + y.size())));
      TupleObject* out = interp.NewTupleOfSize(static_cast<int64_t>(x.size() + y.size()));
      std::copy(x.begin(), x.end(), out->items);
      std::copy(y.begin(), y.end(), out->items + x.size());
      return WithTupleClassOf(interp, a, out);
    }
    if (a.IsBytes() && b.IsBytes()) {
      COBRA_TRY(interp.CheckSize(a.as<BytesObject>()->size + b.as<BytesObject>()->size, 1));
      return Value(interp.NewBytes(absl::StrCat(a.as<BytesObject>()->view(), b.as<BytesObject>()->view())));
    }
  }
  if (op == BinaryOp::kMult) {
    auto is_sequence = [](Value v) { return v.IsStr() || v.IsList() || v.IsTuple() || v.IsBytes(); };
    if (is_sequence(a) && IsIntLike(b)) return RepeatSequence(interp, a, b);
    if (is_sequence(b) && IsIntLike(a)) return RepeatSequence(interp, b, a);
  }
  if (op == BinaryOp::kMod && (a.IsStr() || a.IsBytes())) {
    return PercentFormat(interp, a.IsStr() ? a.str() : a.as<BytesObject>()->view(), b, a.IsBytes());
  }
  if (a.IsSet() && b.IsSet()) return SetBinary(interp, op, a.as<SetObject>(), b.as<SetObject>());
  // keys() and items() combine with any iterable.
  auto is_view = [](Value v) {
    return v.IsDictView() && v.as<DictViewObject>()->what != DictViewObject::What::kValues;
  };
  if ((is_view(a) || is_view(b)) && IsIterable(interp, a) && IsIterable(interp, b) &&
      (op == BinaryOp::kSub || op == BinaryOp::kBitAnd || op == BinaryOp::kBitOr || op == BinaryOp::kBitXor)) {
    COBRA_TRY_ASSIGN(Value x, ViewAsSet(interp, a));
    COBRA_TRY_ASSIGN(Value y, ViewAsSet(interp, b));
    return SetBinary(interp, op, x.as<SetObject>(), y.as<SetObject>());
  }
  if (op == BinaryOp::kBitOr) {
    if (a.IsDict() && b.IsDict()) {
      DictObject* out = interp.NewDict();
      COBRA_TRY(interp.DictUpdate(out, a));
      COBRA_TRY(interp.DictUpdate(out, b));
      return Value(out);
    }
    if (IsTypeLike(a) && IsTypeLike(b) && !(a.IsNone() && b.IsNone())) return MakeUnion(interp, a, b);
  }
  return Value::NotImplemented();
}

Failure BadOperands(Interpreter& interp, BinaryOp op, Value a, Value b, bool in_place) {
  const BuiltinTypes& t = interp.types();
  if (a.IsOpaque() || b.IsOpaque()) {
    return OpaqueUsed(interp, (a.IsOpaque() ? a : b).as<OpaqueObject>()->dotted_name->view(), "computing with ");
  }
  if (op == BinaryOp::kAdd && (a.IsStr() || a.IsList() || a.IsTuple()) && !IsIntLike(a)) {
    absl::string_view name = a.IsStr() ? "str" : a.IsList() ? "list" : "tuple";
    return interp.Raise(t.TypeError, "can only concatenate ", name, " (not \"", interp.TypeName(b), "\") to ", name);
  }
  if (op == BinaryOp::kAdd && a.IsBytes())
    return interp.Raise(t.TypeError, "can't concat ", interp.TypeName(b), " to bytes");
  auto is_sequence = [](Value v) { return v.IsStr() || v.IsList() || v.IsTuple() || v.IsBytes(); };
  if (op == BinaryOp::kMult && (is_sequence(a) || is_sequence(b))) {
    return interp.Raise(t.TypeError, "can't multiply sequence by non-int of type '",
                        interp.TypeName(is_sequence(a) ? b : a), "'");
  }
  return interp.Raise(
      t.TypeError, "unsupported operand type(s) for ", in_place && op == BinaryOp::kPow ? "**=" : NamesOf(op).symbol,
      in_place && op != BinaryOp::kPow ? "=" : "", ": '", interp.TypeName(a), "' and '", interp.TypeName(b), "'");
}

// Calls the methods of the classes; NotImplemented if neither operand supports the operation.
Result<Value> DispatchBinary(Interpreter& interp, BinaryOp op, Value a, Value b) {
  const OperatorNames& names = NamesOf(op);
  StrObject* direct = interp.names().*names.direct;
  StrObject* reflected = interp.names().*names.reflected;
  ClassObject* ca = interp.class_of(a);
  ClassObject* cb = interp.class_of(b);
  Value rb = ca == cb ? Value::Unbound() : interp.LookupClass(cb, reflected);
  bool b_first = !rb.IsUnbound() && ca != cb &&
                 (LeavesToNumpy(interp.types(), ca, cb) ||
                  (Interpreter::IsSubclassOf(cb, ca) && !interp.LookupClass(ca, reflected).IsSame(rb)));
  if (b_first) {
    COBRA_TRY_ASSIGN(Value r, interp.CallSpecial(b, reflected, {a}));
    if (!r.IsNotImplemented() && !r.IsUnbound()) return r;
  }
  COBRA_TRY_ASSIGN(Value r, interp.CallSpecial(a, direct, {b}));
  if (!r.IsNotImplemented() && !r.IsUnbound()) return r;
  if (!b_first && !rb.IsUnbound()) {
    COBRA_TRY_ASSIGN(r, interp.CallSpecial(b, reflected, {a}));
    if (!r.IsNotImplemented() && !r.IsUnbound()) return r;
  }
  // This is X | None if X's metaclass or a typing object has no __or__ of its own.
  if (op == BinaryOp::kBitOr && (a.IsClass() || b.IsClass() || a.IsGenericAlias() || b.IsGenericAlias())) {
    return BuiltinBinary(interp, op, a, b);
  }
  return Value::NotImplemented();
}

}  // namespace

Result<Value> BuiltinBinary(Interpreter& interp, BinaryOp op, Value a, Value b) {
  bool int_a = IsIntLike(a), int_b = IsIntLike(b);
  if (int_a && int_b) return IntBinary(interp, op, a, b);
  bool float_a = a.IsFloat() || a.IsFloatBox(), float_b = b.IsFloat() || b.IsFloatBox();
  if ((float_a || int_a) && (float_b || int_b)) {
    double x, y;
    NumberAsDouble(a, &x);
    NumberAsDouble(b, &y);
    if ((int_a && std::isinf(x)) || (int_b && std::isinf(y)))
      return interp.Raise(interp.types().OverflowError, "int too large to convert to float");
    return FloatBinary(interp, op, x, y);
  }
  bool formats = op == BinaryOp::kMod && (a.IsStr() || a.IsBytes());
  if (!formats && (a.IsComplex() || b.IsComplex())) return ComplexBinary(interp, op, a, b);
  return SequenceBinary(interp, op, a, b);
}

namespace {

// Whether the operands are a sequence and an instance that has __index__.
bool IsRepetition(Interpreter& interp, Value sequence, Value count) {
  if (!sequence.IsList() && !sequence.IsTuple() && !sequence.IsStr() && !sequence.IsBytes()) return false;
  return count.IsInstance() && !interp.LookupClass(count.object()->cls, interp.names().__index__).IsUnbound();
}

}  // namespace

Result<Value> Interpreter::Binary(BinaryOp op, Value a, Value b) {
  COBRA_TRY(CheckStack());
  Result<Value> r = IsPlain(a) && IsPlain(b) ? BuiltinBinary(*this, op, a, b) : DispatchBinary(*this, op, a, b);
  if (!r.ok() || !r->IsNotImplemented()) return r;
  if (op == BinaryOp::kMult && IsRepetition(*this, a, b)) return RepeatSequence(*this, a, b);
  if (op == BinaryOp::kMult && IsRepetition(*this, b, a)) return RepeatSequence(*this, b, a);
  return BadOperands(*this, op, a, b, false);
}

Result<Value> Interpreter::InPlace(BinaryOp op, Value a, Value b) {
  if (a.IsObject()) {
    if (a.IsList() && IsPlain(a)) {
      if (op == BinaryOp::kAdd) {
        // The operand's __radd__ is tried before the list's own +=.
        if (b.IsInstance() && !LookupClass(b.object()->cls, names_.__radd__).IsUnbound()) {
          COBRA_TRY_ASSIGN(Value r, CallSpecial(b, names_.__radd__, {a}));
          if (!r.IsNotImplemented()) return r;
        }
        if (!IsIterable(*this, b)) return Raise(types_.TypeError, "'", TypeName(b), "' object is not iterable");
        COBRA_TRY(ListExtend(*this, a.as<ListObject>(), b));
        return a;
      }
      if (op == BinaryOp::kMult && IsIntLike(b)) {
        COBRA_TRY_ASSIGN(Value repeated, RepeatSequence(*this, a, b));
        a.as<ListObject>()->items.swap(repeated.as<ListObject>()->items);
        return a;
      }
    } else if (a.IsSet() && b.IsSet() && IsPlain(a) && !a.as<SetObject>()->frozen) {
      COBRA_TRY_ASSIGN(bool done, SetInPlace(*this, op, a.as<SetObject>(), b.as<SetObject>()));
      if (done) return a;
    } else if (a.IsDict() && op == BinaryOp::kBitOr && IsPlain(a)) {
      COBRA_TRY(DictUpdate(a.as<DictObject>(), b));
      return a;
    } else if (!IsPlain(a)) {
      COBRA_TRY_ASSIGN(Value r, CallSpecial(a, names_.*NamesOf(op).in_place, {b}));
      if (!r.IsUnbound() && !r.IsNotImplemented()) return r;
    }
  }
  COBRA_TRY(CheckStack());
  Result<Value> r = IsPlain(a) && IsPlain(b) ? BuiltinBinary(*this, op, a, b) : DispatchBinary(*this, op, a, b);
  if (!r.ok() || !r->IsNotImplemented()) return r;
  if (op == BinaryOp::kMult && IsRepetition(*this, a, b)) {
    COBRA_TRY_ASSIGN(Value repeated, RepeatSequence(*this, a, b));
    if (!a.IsList()) return repeated;
    a.as<ListObject>()->items.swap(repeated.as<ListObject>()->items);
    return a;
  }
  return BadOperands(*this, op, a, b, true);
}

Result<Value> Interpreter::Unary(UnaryOp op, Value v) {
  if (op == UnaryOp::kNot) {
    COBRA_TRY_ASSIGN(bool b, Truth(v));
    return Value::Bool(!b);
  }
  if (IsPlain(v)) {
    if (v.IsIntOrBool()) {
      int64_t i = v.as_int();
      if (op == UnaryOp::kPlus) return Value::Int(i);
      if (op == UnaryOp::kInvert) return Value::Int(~i);
      if (i != INT64_MIN) return Value::Int(-i);
    }
    if (v.IsFloat() && op != UnaryOp::kInvert)
      return Value::Float(op == UnaryOp::kMinus ? -v.as_float() : v.as_float());
    if (IsIntLike(v)) {
      BigInt b = ToBigInt(v);
      Spend(4 * WordsSteps(b.bits()));
      return NewInt(op == UnaryOp::kPlus ? b : op == UnaryOp::kMinus ? -b : -(b + BigInt(1)));
    }
    if (v.IsComplex() && op != UnaryOp::kInvert) {
      auto* c = v.as<ComplexObject>();
      return op == UnaryOp::kPlus ? v : NewComplex(-c->real, -c->imag);
    }
  } else {
    StrObject* name = op == UnaryOp::kInvert  ? names_.__invert__
                      : op == UnaryOp::kMinus ? names_.__neg__
                                              : names_.__pos__;
    COBRA_TRY_ASSIGN(Value r, CallSpecial(v, name, {}));
    if (!r.IsUnbound()) return r;
  }
  absl::string_view symbol = op == UnaryOp::kInvert ? "~" : op == UnaryOp::kMinus ? "-" : "+";
  return Raise(types_.TypeError, "bad operand type for unary ", symbol, ": '", TypeName(v), "'");
}

}  // namespace cobra::python
