// Comparison: exact between numbers, element by element in sequences, and by the classes' methods
// otherwise.
#include <algorithm>
#include <cmath>

#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/numpy_number.h"

namespace cobra::python {

StrObject* CompareName(Interpreter& interp, CompareOp op) {
  const CommonNames& n = interp.names();
  StrObject* names[] = {n.__eq__, n.__ne__, n.__lt__, n.__le__, n.__gt__, n.__ge__};
  return names[static_cast<size_t>(op)];
}

namespace {

const absl::string_view kCompareSymbols[] = {"==", "!=", "<", "<=", ">", ">="};
CompareOp Swapped(CompareOp op) {
  switch (op) {
    case CompareOp::kLt: return CompareOp::kGt;
    case CompareOp::kLtE: return CompareOp::kGtE;
    case CompareOp::kGt: return CompareOp::kLt;
    case CompareOp::kGtE: return CompareOp::kLtE;
    default: return op;
  }
}
Value FromOrder(CompareOp op, int order) {
  switch (op) {
    case CompareOp::kEq: return Value::Bool(order == 0);
    case CompareOp::kNotEq: return Value::Bool(order != 0);
    case CompareOp::kLt: return Value::Bool(order < 0);
    case CompareOp::kLtE: return Value::Bool(order <= 0);
    case CompareOp::kGt: return Value::Bool(order > 0);
    case CompareOp::kGtE: return Value::Bool(order >= 0);
  }
  return Value::None();
}
template <typename T>
Value FromValues(CompareOp op, const T& a, const T& b) {
  switch (op) {
    case CompareOp::kEq: return Value::Bool(a == b);
    case CompareOp::kNotEq: return Value::Bool(a != b);
    case CompareOp::kLt: return Value::Bool(a < b);
    case CompareOp::kLtE: return Value::Bool(a <= b);
    case CompareOp::kGt: return Value::Bool(a > b);
    case CompareOp::kGtE: return Value::Bool(a >= b);
  }
  return Value::None();
}

// Exact, as CPython compares int with float.
Value CompareIntFloat(CompareOp op, Value i, double d) {
  if (std::isnan(d)) return Value::Bool(op == CompareOp::kNotEq);
  if (std::isinf(d)) return FromOrder(op, d > 0 ? -1 : 1);
  if (i.IsIntOrBool() && std::fabs(static_cast<double>(i.as_int())) < 9e15)
    return FromValues(op, static_cast<double>(i.as_int()), d);
  double whole = std::trunc(d);
  int order = BigInt::Compare(ToBigInt(i), BigInt::FromDouble(whole));
  if (order == 0 && whole != d) order = d > whole ? -1 : 1;
  return FromOrder(op, order);
}

Value CompareTexts(Interpreter& interp, CompareOp op, absl::string_view a, absl::string_view b) {
  const bool equality = op == CompareOp::kEq || op == CompareOp::kNotEq;
  if (equality && a.size() != b.size()) return Value::Bool(op == CompareOp::kNotEq);
  interp.Spend(StepsToCopy(std::min(a.size(), b.size())));
  return FromOrder(op, a.compare(b));
}

Result<Value> CompareSets(Interpreter& interp, CompareOp op, SetObject* a, SetObject* b) {
  auto subset = [&](SetObject* x, SetObject* y) -> Result<bool> {
    if (x->table.size() > y->table.size()) return false;
    for (size_t i = 0; i < x->table.entry_count(); ++i) {
      if (x->table.entry(i).key.IsUnbound()) continue;
      COBRA_TRY(interp.Step());
      COBRA_TRY_ASSIGN(bool in, interp.SetContains(y, x->table.entry(i).key));
      if (!in) return false;
    }
    return true;
  };
  bool same_size = a->table.size() == b->table.size();
  switch (op) {
    case CompareOp::kEq:
    case CompareOp::kNotEq: {
      COBRA_TRY_ASSIGN(bool in, subset(a, b));
      return Value::Bool((same_size && in) == (op == CompareOp::kEq));
    }
    case CompareOp::kLt:
    case CompareOp::kLtE: {
      COBRA_TRY_ASSIGN(bool in, subset(a, b));
      return Value::Bool(in && (op == CompareOp::kLtE || !same_size));
    }
    default: {
      COBRA_TRY_ASSIGN(bool in, subset(b, a));
      return Value::Bool(in && (op == CompareOp::kGtE || !same_size));
    }
  }
}

Result<Value> CompareSpans(Interpreter& interp, CompareOp op, absl::Span<const Value> a, absl::Span<const Value> b) {
  bool equality = op == CompareOp::kEq || op == CompareOp::kNotEq;
  if (equality && a.size() != b.size()) return Value::Bool(op == CompareOp::kNotEq);
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    COBRA_TRY(interp.Step());
    if (a[i].IsSame(b[i])) continue;
    COBRA_TRY_ASSIGN(bool equal, interp.Equal(a[i], b[i]));
    if (equal) continue;
    if (equality) return Value::Bool(op == CompareOp::kNotEq);
    return interp.Compare(op, a[i], b[i]);
  }
  return FromValues(op, a.size(), b.size());
}

Result<Value> CompareRanges(CompareOp op, RangeObject* a, RangeObject* b) {
  if (op != CompareOp::kEq && op != CompareOp::kNotEq) return Value::NotImplemented();
  bool equal =
      a->length == b->length && (a->length == 0 || (a->start == b->start && (a->length == 1 || a->step == b->step)));
  return Value::Bool(equal == (op == CompareOp::kEq));
}

}  // namespace

namespace {

// Compares the keys or items of a dict with another view or a set. Only the items that are looked
// up are hashed.
Result<Value> CompareView(Interpreter& interp, CompareOp op, Value view, Value other) {
  COBRA_TRY_ASSIGN(const int64_t own, interp.Length(view));
  COBRA_TRY_ASSIGN(const int64_t others, interp.Length(other));
  const bool wants_less = op == CompareOp::kLt || op == CompareOp::kLtE;
  bool holds = op == CompareOp::kLt    ? own < others
               : op == CompareOp::kLtE ? own <= others
               : op == CompareOp::kGt  ? own > others
               : op == CompareOp::kGtE ? own >= others
                                       : own == others;
  const bool is_equality = op == CompareOp::kEq || op == CompareOp::kNotEq;
  const Value part = wants_less || is_equality ? view : other, whole = wants_less || is_equality ? other : view;
  if (holds) {
    COBRA_TRY(interp.Iterate(part, [&](Value item) -> Result<bool> {
      COBRA_TRY_ASSIGN(holds, interp.Contains(whole, item));
      return holds;
    }));
  }
  return Value::Bool(holds != (op == CompareOp::kNotEq));
}

// REQUIRES: both objects have the same kind, which is neither a number nor a view.
Result<Value> CompareSameKind(Interpreter& interp, CompareOp op, Value a, Value b) {
  const bool equality = op == CompareOp::kEq || op == CompareOp::kNotEq;
  switch (a.object()->kind) {
    case ObjectKind::kStr: return CompareTexts(interp, op, a.str(), b.str());
    case ObjectKind::kBytes: return CompareTexts(interp, op, a.as<BytesObject>()->view(), b.as<BytesObject>()->view());
    case ObjectKind::kTuple: return CompareSpans(interp, op, a.as<TupleObject>()->span(), b.as<TupleObject>()->span());
    case ObjectKind::kList: {
      auto& x_items = a.as<ListObject>()->items;
      auto& y_items = b.as<ListObject>()->items;
      if (equality && x_items.size() != y_items.size()) return Value::Bool(op == CompareOp::kNotEq);
      interp.Spend(StepsToScan(x_items.size() + y_items.size()));
      std::vector<Value> x_copy(x_items.begin(), x_items.end()), y_copy(y_items.begin(), y_items.end());
      return CompareSpans(interp, op, x_copy, y_copy);
    }
    case ObjectKind::kDict: {
      if (!equality) return Value::NotImplemented();
      COBRA_TRY_ASSIGN(bool equal, DictsEqual(interp, a.as<DictObject>(), b.as<DictObject>()));
      return Value::Bool(equal == (op == CompareOp::kEq));
    }
    case ObjectKind::kSet: return CompareSets(interp, op, a.as<SetObject>(), b.as<SetObject>());
    case ObjectKind::kRange: return CompareRanges(op, a.as<RangeObject>(), b.as<RangeObject>());
    case ObjectKind::kSlice: {
      auto* s = a.as<SliceObject>();
      auto* t = b.as<SliceObject>();
      Value x_parts[3] = {s->start, s->stop, s->step}, y_parts[3] = {t->start, t->stop, t->step};
      return CompareSpans(interp, op, absl::MakeConstSpan(x_parts, 3), absl::MakeConstSpan(y_parts, 3));
    }
    case ObjectKind::kBoundMethod: {
      if (!equality) return Value::NotImplemented();
      auto* m = a.as<BoundMethodObject>();
      auto* n = b.as<BoundMethodObject>();
      return Value::Bool((m->self.IsSame(n->self) && m->function.IsSame(n->function)) == (op == CompareOp::kEq));
    }
    case ObjectKind::kGenericAlias: {
      if (!equality) return Value::NotImplemented();
      auto* m = a.as<GenericAliasObject>();
      auto* n = b.as<GenericAliasObject>();
      COBRA_TRY_ASSIGN(bool origins, interp.Equal(m->origin, n->origin));
      COBRA_TRY_ASSIGN(bool args, interp.Equal(Value(m->args), Value(n->args)));
      return Value::Bool((origins && args && m->is_union == n->is_union) == (op == CompareOp::kEq));
    }
    default: return Value::NotImplemented();
  }
}

}  // namespace

Result<Value> BuiltinCompare(Interpreter& interp, CompareOp op, Value a, Value b) {
  if (a.IsIntOrBool() && b.IsIntOrBool()) return FromValues(op, a.as_int(), b.as_int());
  bool int_a = IsIntLike(a), int_b = IsIntLike(b);
  if (a.IsBigInt()) interp.Spend(2 * WordsSteps(a.as<BigIntObject>()->value.bits()));
  if (b.IsBigInt()) interp.Spend(2 * WordsSteps(b.as<BigIntObject>()->value.bits()));
  if (int_a && int_b) return FromOrder(op, BigInt::Compare(ToBigInt(a), ToBigInt(b)));
  bool float_a = a.IsFloat() || a.IsFloatBox(), float_b = b.IsFloat() || b.IsFloatBox();
  double x = 0, y = 0;
  if (float_a) NumberAsDouble(a, &x);
  if (float_b) NumberAsDouble(b, &y);
  if (float_a && float_b) return FromValues(op, x, y);
  if (int_a && float_b) return CompareIntFloat(op, a, y);
  if (float_a && int_b) return CompareIntFloat(Swapped(op), b, x);
  bool equality = op == CompareOp::kEq || op == CompareOp::kNotEq;
  if (a.IsComplex() || b.IsComplex()) {
    double ar, ai, br, bi;
    if (!equality || !AsComplex(a, &ar, &ai) || !AsComplex(b, &br, &bi)) return Value::NotImplemented();
    return Value::Bool((ar == br && ai == bi) == (op == CompareOp::kEq));
  }
  if (!a.IsObject() || !b.IsObject()) return Value::NotImplemented();
  if (a.object()->kind == b.object()->kind && !a.IsDictView()) return CompareSameKind(interp, op, a, b);
  bool view_a = a.IsDictView() && a.as<DictViewObject>()->what != DictViewObject::What::kValues;
  bool view_b = b.IsDictView() && b.as<DictViewObject>()->what != DictViewObject::What::kValues;
  if ((view_a || a.IsSet()) && (view_b || b.IsSet()) && (view_a || view_b)) {
    return view_a ? CompareView(interp, op, a, b) : CompareView(interp, Swapped(op), b, a);
  }
  return Value::NotImplemented();
}

Result<Value> Interpreter::Compare(CompareOp op, Value a, Value b) {
  COBRA_TRY(CheckStack());
  Value r = Value::NotImplemented();
  if (IsPlain(a) && IsPlain(b) && !a.IsClass() && !b.IsClass()) {
    COBRA_TRY_ASSIGN(r, BuiltinCompare(*this, op, a, b));
  } else {
    ClassObject* ca = class_of(a);
    ClassObject* cb = class_of(b);
    StrObject* name = CompareName(*this, op);
    StrObject* swapped = CompareName(*this, Swapped(op));
    bool b_first = ca != cb && (IsSubclassOf(cb, ca) || LeavesToNumpy(types_, ca, cb));
    if (b_first) COBRA_TRY_SET(r, CallSpecial(b, swapped, {a}));
    if (r.IsNotImplemented() || r.IsUnbound()) COBRA_TRY_SET(r, CallSpecial(a, name, {b}));
    if ((r.IsNotImplemented() || r.IsUnbound()) && !b_first) COBRA_TRY_SET(r, CallSpecial(b, swapped, {a}));
  }
  if (!r.IsNotImplemented() && !r.IsUnbound()) return r;
  if (op == CompareOp::kEq) return Value::Bool(a.IsSame(b));
  if (op == CompareOp::kNotEq) return Value::Bool(!a.IsSame(b));
  if (a.IsOpaque() || b.IsOpaque()) {
    return OpaqueUsed(*this, (a.IsOpaque() ? a : b).as<OpaqueObject>()->dotted_name->view(), "comparing ");
  }
  return Raise(types_.TypeError, "'", kCompareSymbols[static_cast<size_t>(op)],
               "' not supported between instances of '", TypeName(a), "' and '", TypeName(b), "'");
}

Result<bool> LessThan(Interpreter& interp, Value a, Value b) {
  if (a.IsIntOrBool() && b.IsIntOrBool()) return a.as_int() < b.as_int();
  COBRA_TRY_ASSIGN(Value r, interp.Compare(CompareOp::kLt, a, b));
  return interp.Truth(r);
}

}  // namespace cobra::python
