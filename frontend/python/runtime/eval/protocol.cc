// The object protocol of built-in and user types: truth, text, equality, hashes, items, iteration.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/heap/set_order.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

// ---- truth, type tests ----

Result<bool> Interpreter::TruthOfOther(Value v) {
  switch (v.tag()) {
    case Value::Tag::kNone: return false;
    case Value::Tag::kBool:
    case Value::Tag::kInt: return v.as_int() != 0;
    case Value::Tag::kFloat: return v.as_float() != 0;
    case Value::Tag::kObject: break;
    default: return true;
  }
  ClassObject* cls = v.object()->cls;
  if (!cls->is_native || v.IsInstance()) {
    if (!cls->has_bool_or_len) return true;
    COBRA_TRY_ASSIGN(Value b, CallSpecial(v, names_.__bool__, {}));
    if (!b.IsUnbound()) {
      if (!b.IsBool()) return Raise(types_.TypeError, "__bool__ should return bool, returned ", TypeName(b));
      return b.as_bool();
    }
    COBRA_TRY_ASSIGN(Value n, CallSpecial(v, names_.__len__, {}));
    if (!n.IsUnbound()) {
      COBRA_TRY_ASSIGN(int64_t length, Index(n));
      if (length < 0) return Raise(types_.ValueError, "__len__() should return >= 0");
      return length != 0;
    }
  }
  switch (v.object()->kind) {
    case ObjectKind::kStr: return v.as<StrObject>()->size != 0;
    case ObjectKind::kBytes: return v.as<BytesObject>()->size != 0;
    case ObjectKind::kBigInt: return !v.as<BigIntObject>()->value.zero();
    case ObjectKind::kFloatBox: return v.as<FloatBoxObject>()->value != 0;
    case ObjectKind::kComplex: return v.as<ComplexObject>()->real != 0 || v.as<ComplexObject>()->imag != 0;
    case ObjectKind::kTuple: return v.as<TupleObject>()->size != 0;
    case ObjectKind::kList: return !v.as<ListObject>()->items.empty();
    case ObjectKind::kDict: return v.as<DictObject>()->table.size() != 0;
    case ObjectKind::kSet: return v.as<SetObject>()->table.size() != 0;
    case ObjectKind::kDictView: return v.as<DictViewObject>()->dict->table.size() != 0;
    case ObjectKind::kRange: return v.as<RangeObject>()->length != 0;
    case ObjectKind::kClass: {
      if (!cls->has_bool_or_len) return true;
      COBRA_TRY_ASSIGN(Value b, CallSpecial(v, names_.__bool__, {}));
      if (!b.IsUnbound()) return Truth(b);
      return true;
    }
    case ObjectKind::kOpaque:
      return OpaqueUsed(*this, v.as<OpaqueObject>()->dotted_name->view(), "the truth value of ");
    default: return true;
  }
}

Result<bool> Interpreter::IsInstance(Value v, Value c) {
  COBRA_TRY(CheckStack());
  if (c.IsClass()) {
    auto *cls = c.as<ClassObject>(), *own = class_of(v);
    Spend(static_cast<int64_t>(own->mro.size()) / 64);
    if (IsSubclassOf(own, cls)) return true;
    if (cls->has_metaclass) {
      COBRA_TRY_ASSIGN(Value r, CallSpecial(c, names_.__instancecheck__, {v}));
      if (!r.IsUnbound()) return Truth(r);
    }
    return false;
  }
  if (c.IsTuple()) {
    COBRA_TRY(Charge(c.as<TupleObject>()->size / 4));
    for (Value item : c.as<TupleObject>()->span()) {
      COBRA_TRY_ASSIGN(bool is, IsInstance(v, item));
      if (is) return true;
    }
    return false;
  }
  if (c.IsGenericAlias()) {
    auto* alias = c.as<GenericAliasObject>();
    if (alias->is_union) {
      COBRA_TRY(Charge(alias->args->size / 4));
      for (Value item : alias->args->span()) {
        COBRA_TRY_ASSIGN(bool is, IsInstance(v, item.IsNone() ? Value(types_.none_type) : item));
        if (is) return true;
      }
      return false;
    }
    return Raise(types_.TypeError, "isinstance() argument 2 cannot be a parameterized generic");
  }
  if (c.IsOpaque()) return false;
  if (c.IsInstance()) {  // typing.Sequence and the like
    COBRA_TRY_ASSIGN(Value r, CallSpecial(c, names_.__instancecheck__, {v}));
    if (!r.IsUnbound()) return Truth(r);
  }
  return Raise(types_.TypeError, "isinstance() arg 2 must be a type, a tuple of types, or a union");
}

Result<bool> Interpreter::IsSubclass(Value v, Value c) {
  COBRA_TRY(CheckStack());
  if (c.IsTuple()) {
    COBRA_TRY(Charge(c.as<TupleObject>()->size / 4));
    for (Value item : c.as<TupleObject>()->span()) {
      COBRA_TRY_ASSIGN(bool is, IsSubclass(v, item));
      if (is) return true;
    }
    return false;
  }
  if (v.IsOpaque() || c.IsOpaque()) return false;
  if (!v.IsClass()) return Raise(types_.TypeError, "issubclass() arg 1 must be a class");
  if (c.IsClass()) {
    if (IsSubclassOf(v.as<ClassObject>(), c.as<ClassObject>())) return true;
    if (c.as<ClassObject>()->has_metaclass) {
      COBRA_TRY_ASSIGN(Value r, CallSpecial(c, names_.__subclasscheck__, {v}));
      if (!r.IsUnbound()) return Truth(r);
    }
    return false;
  }
  if (c.IsGenericAlias() && c.as<GenericAliasObject>()->is_union)
    return IsSubclass(v, Value(c.as<GenericAliasObject>()->args));
  if (c.IsInstance()) {
    COBRA_TRY_ASSIGN(Value r, CallSpecial(c, names_.__subclasscheck__, {v}));
    if (!r.IsUnbound()) return Truth(r);
  }
  return Raise(types_.TypeError, "issubclass() arg 2 must be a class, a tuple of classes, or a union");
}

// ---- equality and hashes ----

Result<bool> Interpreter::Equal(Value a, Value b) {
  if (a.IsSame(b) && !a.IsFloat()) {
    if (!a.IsInstance() || !a.object()->cls->has_eq) return true;
  }
  if (a.IsStr() && b.IsStr() && a.object()->cls == types_.str && b.object()->cls == types_.str) {
    if (a.as<StrObject>()->interned && b.as<StrObject>()->interned) return false;
    if (a.as<StrObject>()->size == b.as<StrObject>()->size) Spend(StepsToCopy(a.str().size()));
    return a.str() == b.str();
  }
  COBRA_TRY_ASSIGN(Value r, Compare(CompareOp::kEq, a, b));
  return Truth(r);
}

namespace {

uint64_t NotMinusOne(uint64_t hash) { return hash == ~uint64_t{0} ? ~uint64_t{1} : hash; }

// Works as tupleobject.c does, because the order of a set of tuples depends on it.
class TupleHash {
 public:
  void Add(uint64_t item) {
    hash_ += NotMinusOne(item) * 14029467366897019727u;
    hash_ = ((hash_ << 31) | (hash_ >> 33)) * 11400714785074694791u;
    ++size_;
  }
  uint64_t Finish() const {
    const uint64_t h = hash_ + (size_ ^ (kStart ^ 3527539u));
    return h == ~uint64_t{0} ? uint64_t{1546275796} : h;
  }

 private:
  static constexpr uint64_t kStart = 2870177450012600261u;
  uint64_t hash_ = kStart;
  uint64_t size_ = 0;
};

uint64_t MixHashes(uint64_t h, uint64_t x) {
  h ^= x + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

uint64_t HashOfBytes(absl::string_view bytes) {
  uint64_t h = 0x8422;
  for (char c : bytes) h = MixHashes(h, static_cast<unsigned char>(c));
  return h;
}

uint64_t HashBigInt(const BigInt& b) {
  if (b.FitsInt64()) return HashInt(b.ToInt64());
  const uint64_t h = b.ModMersenne61();
  return b.negative() ? uint64_t{0} - h : h;
}

uint64_t HashComplex(const ComplexObject& c) {
  return c.imag == 0 ? HashDouble(c.real) : HashDouble(c.real) + 1000003 * HashDouble(c.imag);
}

// Works as setobject.c does.
uint64_t HashFrozenSet(const DictTable& table) {
  uint64_t h = 0;
  for (size_t i = 0; i < table.entry_count(); ++i) {
    if (table.entry(i).key.IsUnbound()) continue;
    const uint64_t x = NotMinusOne(table.entry(i).hash);
    h ^= ((x ^ 89869747u) ^ (x << 16)) * 3644798167u;
  }
  h ^= (static_cast<uint64_t>(table.size()) + 1) * 1927868237u;
  h ^= (h >> 11) ^ (h >> 25);
  h = h * 69069u + 907133923u;
  return h == ~uint64_t{0} ? uint64_t{590923713} : h;
}

uint64_t HashRange(const RangeObject& r) {
  TupleHash h;
  h.Add(HashInt(r.length));
  h.Add(r.length > 0 ? HashInt(r.start) : 0);
  h.Add(r.length > 1 ? HashInt(r.step) : 0);
  return h.Finish();
}

uint64_t HashBoundMethod(const BoundMethodObject& m) {
  return MixHashes(reinterpret_cast<uintptr_t>(m.function.object()),
                   m.self.IsObject() ? reinterpret_cast<uintptr_t>(m.self.object()) : 1);
}

Failure RaiseUnhashable(Interpreter& interp, Value v) {
  return interp.Raise(interp.types().TypeError, "unhashable type: '", interp.TypeName(v), "'");
}

// Steps of hashing the value itself, without its items.
int64_t StepsToHash(Value v) {
  switch (v.object()->kind) {
    case ObjectKind::kStr: return v.as<StrObject>()->hash == 0 ? StepsToCopy(v.str().size()) : 0;
    case ObjectKind::kBytes: return StepsToScan(v.as<BytesObject>()->view().size());
    case ObjectKind::kBigInt: return v.as<BigIntObject>()->value.bits() / 64;
    case ObjectKind::kSet: return StepsToScan(v.as<SetObject>()->table.entry_count());
    default: return 0;
  }
}

// Whether the class of `o` has a __hash__ that takes precedence over that of its layout.
bool HasOwnHash(Object* o, Value method) {
  // A native __hash__ inherited by a user class is the layout's own.
  return (method.IsFunction() || o->cls->has_hash) && (!method.IsBuiltin() || o->kind == ObjectKind::kInstance);
}

}  // namespace

Result<uint64_t> Interpreter::Hash(Value v) {
  switch (v.tag()) {
    case Value::Tag::kNone: return uint64_t{0xfca86420};
    case Value::Tag::kEllipsis: return uint64_t{0x1234567};
    case Value::Tag::kNotImplemented: return uint64_t{0x7654321};
    case Value::Tag::kBool:
    case Value::Tag::kInt: return HashInt(v.as_int());
    case Value::Tag::kFloat: return HashDouble(v.as_float());
    default: break;
  }
  Object* o = v.object();
  Spend(StepsToHash(v));
  if (o->kind == ObjectKind::kStr && o->cls == types_.str) return HashOfStr(v.as<StrObject>());
  if (!o->cls->is_native || o->kind == ObjectKind::kInstance) {
    Value method = LookupClass(o->cls, names_.__hash__);
    if (method.IsNone()) return RaiseUnhashable(*this, v);
    if (HasOwnHash(o, method)) {
      COBRA_TRY_ASSIGN(Value h, CallSpecial(v, names_.__hash__, {}));
      if (!IsIntLike(h)) return Raise(types_.TypeError, "__hash__ method should return an integer");
      // A small int is used as it is; only a big one is hashed.
      return h.IsIntOrBool() ? static_cast<uint64_t>(h.as_int()) : ToBigInt(h).ModMersenne61();
    }
  }
  COBRA_TRY(CheckStack());
  switch (o->kind) {
    case ObjectKind::kStr: return HashOfStr(v.as<StrObject>());
    case ObjectKind::kBytes: return HashOfBytes(v.as<BytesObject>()->view());
    case ObjectKind::kBigInt: return HashBigInt(v.as<BigIntObject>()->value);
    case ObjectKind::kFloatBox: return HashDouble(v.as<FloatBoxObject>()->value);
    case ObjectKind::kComplex: return HashComplex(*v.as<ComplexObject>());
    case ObjectKind::kTuple: {
      TupleHash h;
      for (Value item : v.as<TupleObject>()->span()) {
        COBRA_TRY(Step());
        COBRA_TRY_ASSIGN(uint64_t x, Hash(item));
        h.Add(x);
      }
      return h.Finish();
    }
    case ObjectKind::kSet:
      if (!v.as<SetObject>()->frozen) return RaiseUnhashable(*this, v);
      return HashFrozenSet(v.as<SetObject>()->table);
    case ObjectKind::kRange: return HashRange(*v.as<RangeObject>());
    case ObjectKind::kDictView:
      if (v.as<DictViewObject>()->what == DictViewObject::What::kValues) return reinterpret_cast<uintptr_t>(o) >> 4;
      [[fallthrough]];
    case ObjectKind::kList:
    case ObjectKind::kDict:
    case ObjectKind::kSlice: return RaiseUnhashable(*this, v);
    case ObjectKind::kBoundMethod: return HashBoundMethod(*v.as<BoundMethodObject>());
    case ObjectKind::kGenericAlias: {
      auto* alias = v.as<GenericAliasObject>();
      COBRA_TRY_ASSIGN(uint64_t h, Hash(Value(alias->args)));
      if (alias->is_union) return h;
      COBRA_TRY_ASSIGN(uint64_t origin, Hash(alias->origin));
      return MixHashes(h, origin);
    }
    default: return reinterpret_cast<uintptr_t>(o) >> 4;
  }
}

// ---- text ----

namespace {

// Containers that hold themselves print as [...].
class ReprGuard {
 public:
  ReprGuard(RuntimeState& state, Value v) : state_(state) {
    for (Value x : state.repr_in_progress) entered_ = entered_ && !x.IsSame(v);
    if (entered_) state.repr_in_progress.push_back(v);
  }
  ~ReprGuard() {
    if (entered_) state_.repr_in_progress.pop_back();
  }
  bool entered() const { return entered_; }

 private:
  RuntimeState& state_;
  bool entered_ = true;
};

Result<std::string> JoinReprs(Interpreter& interp, absl::Span<const Value> items) {
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(StrObject * s, interp.Repr(items[i]));
    if (i > 0) out += ", ";
    out.append(s->data, static_cast<size_t>(s->size));
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
  }
  return out;
}

Result<std::string> DictText(Interpreter& interp, Value v) {
  ReprGuard guard(interp.state(), v);
  if (!guard.entered()) return std::string("{...}");
  auto* d = v.as<DictObject>();
  std::string out = "{";
  for (size_t i = 0; i < d->table.entry_count(); ++i) {
    DictTable::Entry e = d->table.entry(i);
    if (e.key.IsUnbound()) continue;
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(StrObject * key, interp.Repr(e.key));
    COBRA_TRY_ASSIGN(StrObject * value, interp.Repr(e.value));
    absl::StrAppend(&out, out.size() > 1 ? ", " : "", key->view(), ": ", value->view());
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
  }
  return out + "}";
}

std::string TypeText(ClassObject* c) {
  if (c->module.IsStr() && c->module.str() != "builtins")
    return absl::StrCat(c->module.str(), ".", c->qualname->view());
  return std::string(c->qualname->view());
}

Result<std::string> AliasPart(Interpreter& interp, Value v) {
  if (v.IsClass()) return TypeText(v.as<ClassObject>());
  if (v.IsEllipsis()) return std::string("...");
  if (v.IsList()) {
    std::string out = "[";
    auto& items = v.as<ListObject>()->items;
    for (size_t i = 0; i < items.size(); ++i) {
      COBRA_TRY_ASSIGN(std::string part, AliasPart(interp, items[i]));
      absl::StrAppend(&out, i > 0 ? ", " : "", part);
    }
    return out + "]";
  }
  COBRA_TRY_ASSIGN(StrObject * s, interp.Repr(v));
  return std::string(s->view());
}

Result<std::string> BigIntText(Interpreter& interp, const BigInt& value) {
  // The length is limited as in CPython since 3.11: conversion to decimal is quadratic.
  if (value.bits() <= 14500) COBRA_TRY(interp.Charge(DigitsSteps(value)));
  std::string digits = value.bits() > 14500 ? "" : value.ToString();
  if (digits.empty() || digits.size() > 4300 + (digits[0] == '-')) {
    return interp.Raise(interp.types().ValueError,
                        "Exceeds the limit (4300 digits) for integer string conversion; use "
                        "sys.set_int_max_str_digits() to increase the limit");
  }
  return digits;
}

std::string ComplexText(const ComplexObject& c) {
  auto part = [](double d) {
    std::string s = FloatRepr(d);
    if (s.size() > 2 && s.substr(s.size() - 2) == ".0") s.resize(s.size() - 2);
    return s;
  };
  if (c.real == 0 && !std::signbit(c.real)) return part(c.imag) + "j";
  std::string imag = part(c.imag);
  if (imag[0] != '-') imag = "+" + imag;
  return absl::StrCat("(", part(c.real), imag, "j)");
}

Result<std::string> TupleText(Interpreter& interp, Value v) {
  ReprGuard guard(interp.state(), v);
  if (!guard.entered()) return std::string("(...)");
  COBRA_TRY_ASSIGN(std::string s, JoinReprs(interp, v.as<TupleObject>()->span()));
  return absl::StrCat("(", s, v.as<TupleObject>()->size == 1 ? ",)" : ")");
}

Result<std::string> ListText(Interpreter& interp, Value v) {
  ReprGuard guard(interp.state(), v);
  if (!guard.entered()) return std::string("[...]");
  std::vector<Value> items(v.as<ListObject>()->items.begin(), v.as<ListObject>()->items.end());
  COBRA_TRY_ASSIGN(std::string s, JoinReprs(interp, items));
  return absl::StrCat("[", s, "]");
}

Result<std::string> SetText(Interpreter& interp, Value v) {
  auto* set = v.as<SetObject>();
  std::string name(set->cls->name->view());
  if (set->table.size() == 0) return name + "()";
  ReprGuard guard(interp.state(), v);
  if (!guard.entered()) return name + "(...)";
  COBRA_TRY_ASSIGN(std::string s, JoinReprs(interp, SetItems(*set)));
  return set->cls == interp.types().set ? absl::StrCat("{", s, "}") : absl::StrCat(name, "({", s, "})");
}

Result<std::string> DictViewText(Interpreter& interp, Value v) {
  COBRA_TRY_ASSIGN(std::vector<Value> items, interp.ToVector(v));
  ReprGuard guard(interp.state(), v);
  if (!guard.entered()) return std::string("...");
  COBRA_TRY_ASSIGN(std::string s, JoinReprs(interp, items));
  return absl::StrCat(v.object()->cls->name->view(), "([", s, "])");
}

Result<std::string> SliceText(Interpreter& interp, const SliceObject& s) {
  Value parts[3] = {s.start, s.stop, s.step};
  COBRA_TRY_ASSIGN(std::string text, JoinReprs(interp, absl::MakeConstSpan(parts, 3)));
  return absl::StrCat("slice(", text, ")");
}

std::string AddressText(Value v) {
  return absl::StrCat(" at 0x", absl::Hex(reinterpret_cast<uintptr_t>(v.object()), absl::kZeroPad12));
}

std::string BuiltinText(const BuiltinObject& b) {
  if (b.is_method && b.owner != nullptr)
    return absl::StrCat("<method '", b.name->view(), "' of '", b.owner->name->view(), "' objects>");
  return absl::StrCat("<built-in function ", b.name->view(), ">");
}

Result<std::string> BoundMethodText(Interpreter& interp, Value v) {
  auto* m = v.as<BoundMethodObject>();
  COBRA_TRY_ASSIGN(StrObject * self, interp.Repr(m->self));
  if (m->function.IsFunction()) {
    return absl::StrCat("<bound method ", m->function.as<FunctionObject>()->qualname->view(), " of ", self->view(),
                        ">");
  }
  if (m->function.IsBuiltin()) {
    return absl::StrCat("<built-in method ", m->function.as<BuiltinObject>()->name->view(), " of ",
                        interp.TypeName(m->self), " object", AddressText(v), ">");
  }
  return absl::StrCat("<bound method of ", self->view(), ">");
}

std::string ModuleText(Interpreter& interp, const ModuleObject& m) {
  Value* file = m.attrs->table.GetStr(interp.names().__file__);
  if (file == nullptr || !file->IsStr()) return absl::StrCat("<module '", m.name->view(), "' (built-in)>");
  return absl::StrCat("<module '", m.name->view(), "' from '", file->str(), "'>");
}

Result<std::string> ExceptionRepr(Interpreter& interp, const ExceptionObject& e) {
  COBRA_TRY_ASSIGN(std::string s, JoinReprs(interp, e.args.as<TupleObject>()->span()));
  return absl::StrCat(e.cls->name->view(), "(", s, ")");
}

Result<std::string> AliasText(Interpreter& interp, const GenericAliasObject& alias) {
  std::string out;
  if (!alias.is_union) {
    COBRA_TRY_ASSIGN(out, AliasPart(interp, alias.origin));
    out += "[";
  }
  for (int64_t i = 0; i < alias.args->size; ++i) {
    Value arg = alias.args->items[i];
    std::string part = "None";
    if (!alias.is_union || !arg.IsSame(Value(interp.types().none_type))) COBRA_TRY_SET(part, AliasPart(interp, arg));
    absl::StrAppend(&out, i == 0 ? "" : alias.is_union ? " | " : ", ", part);
  }
  return alias.is_union ? out : out + (alias.args->size == 0 ? "()]" : "]");
}

std::string InstanceText(Value v) {
  ClassObject* c = v.object()->cls;
  const bool user = c->module.IsStr() && c->module.str() != "builtins";
  return absl::StrCat("<", user ? absl::StrCat(c->module.str(), ".") : "", c->qualname->view(), " object",
                      AddressText(v), ">");
}

Result<std::string> ReprText(Interpreter& interp, Value v) {
  switch (v.tag()) {
    case Value::Tag::kNone: return std::string("None");
    case Value::Tag::kEllipsis: return std::string("Ellipsis");
    case Value::Tag::kNotImplemented: return std::string("NotImplemented");
    case Value::Tag::kBool: return std::string(v.as_bool() ? "True" : "False");
    case Value::Tag::kInt: return absl::StrCat(v.as_int());
    case Value::Tag::kFloat: return FloatRepr(v.as_float());
    default: break;
  }
  if (v.IsStr() || v.IsBytes())
    COBRA_TRY(interp.Charge(StepsToScan(v.IsStr() ? v.str().size() : v.as<BytesObject>()->view().size())));
  switch (v.object()->kind) {
    case ObjectKind::kStr: return QuotedStr(v.str());
    case ObjectKind::kBytes: return QuotedBytes(v.as<BytesObject>()->view());
    case ObjectKind::kBigInt: return BigIntText(interp, v.as<BigIntObject>()->value);
    case ObjectKind::kFloatBox: return FloatRepr(v.as<FloatBoxObject>()->value);
    case ObjectKind::kComplex: return ComplexText(*v.as<ComplexObject>());
    case ObjectKind::kTuple: return TupleText(interp, v);
    case ObjectKind::kList: return ListText(interp, v);
    case ObjectKind::kDict: return DictText(interp, v);
    case ObjectKind::kSet: return SetText(interp, v);
    case ObjectKind::kDictView: return DictViewText(interp, v);
    case ObjectKind::kSlice: return SliceText(interp, *v.as<SliceObject>());
    case ObjectKind::kRange: {
      auto* r = v.as<RangeObject>();
      return absl::StrCat("range(", r->start, ", ", r->stop, r->step == 1 ? "" : absl::StrCat(", ", r->step), ")");
    }
    case ObjectKind::kFunction:
      return absl::StrCat("<function ", v.as<FunctionObject>()->qualname->view(), AddressText(v), ">");
    case ObjectKind::kBuiltin: return BuiltinText(*v.as<BuiltinObject>());
    case ObjectKind::kBoundMethod: return BoundMethodText(interp, v);
    case ObjectKind::kClass: return absl::StrCat("<class '", TypeText(v.as<ClassObject>()), "'>");
    case ObjectKind::kModule: return ModuleText(interp, *v.as<ModuleObject>());
    case ObjectKind::kException: return ExceptionRepr(interp, *v.as<ExceptionObject>());
    case ObjectKind::kGenericAlias: return AliasText(interp, *v.as<GenericAliasObject>());
    case ObjectKind::kOpaque: return absl::StrCat("<", v.as<OpaqueObject>()->dotted_name->view(), ">");
    case ObjectKind::kGenerator:
      return absl::StrCat("<generator object ", v.as<GeneratorObject>()->name->view(), AddressText(v), ">");
    default: return InstanceText(v);
  }
}

}  // namespace

Result<StrObject*> Interpreter::Repr(Value v) {
  COBRA_TRY(CheckStack());
  if (v.IsObject() &&
      (!v.object()->cls->is_native || v.IsInstance() || (v.IsTuple() && v.object()->cls != types_.tuple) ||
       v.object()->cls->has_metaclass || v.IsClass())) {
    Value method = LookupClass(class_of(v), names_.__repr__);
    if (!method.IsUnbound() && !(method.IsBuiltin() && method.as<BuiltinObject>()->owner == types_.object)) {
      COBRA_TRY_ASSIGN(Value s, CallSpecial(v, names_.__repr__, {}));
      if (!s.IsStr()) return Raise(types_.TypeError, "__repr__ returned non-string (type ", TypeName(s), ")");
      return s.as<StrObject>();
    }
  }
  COBRA_TRY_ASSIGN(std::string text, ReprText(*this, v));
  return NewStr(text);
}

// object.__repr__ and that of the built-in types, without looking for an override.
Result<StrObject*> DefaultRepr(Interpreter& interp, Value v) {
  COBRA_TRY(interp.CheckStack());
  COBRA_TRY_ASSIGN(std::string text, ReprText(interp, v));
  return interp.NewStr(text);
}

Result<StrObject*> Interpreter::Str(Value v) {
  if (v.IsStr() && v.object()->cls == types_.str) return v.as<StrObject>();
  if (v.IsObject() && (!v.object()->cls->is_native || v.IsInstance())) {
    Value method = LookupClass(class_of(v), names_.__str__);
    if (!method.IsUnbound() && !(method.IsBuiltin() && method.as<BuiltinObject>()->owner == types_.object)) {
      COBRA_TRY_ASSIGN(Value s, CallSpecial(v, names_.__str__, {}));
      if (!s.IsStr()) return Raise(types_.TypeError, "__str__ returned non-string (type ", TypeName(s), ")");
      return s.as<StrObject>();
    }
  }
  if (v.IsStr()) return v.as<StrObject>();
  if (v.IsException()) return ExceptionText(*this, v.as<ExceptionObject>());
  return Repr(v);
}

Result<StrObject*> Interpreter::Format(Value v, absl::string_view spec) {
  if (v.IsObject() && !v.object()->cls->is_native) {
    Value method = LookupClass(class_of(v), names_.__format__);
    if (method.IsFunction()) {
      COBRA_TRY_ASSIGN(Value s, CallSpecial(v, names_.__format__, {Value(NewStr(spec))}));
      if (!s.IsStr()) return Raise(types_.TypeError, "__format__ must return a str, not ", TypeName(s));
      return s.as<StrObject>();
    }
  }
  if (v.IsInstance()) {
    Value method = LookupClass(class_of(v), names_.__format__);
    if (method.IsBuiltin() && method.as<BuiltinObject>()->owner != types_.object) {
      COBRA_TRY_ASSIGN(Value s, CallSpecial(v, names_.__format__, {Value(NewStr(spec))}));
      if (s.IsStr()) return s.as<StrObject>();
    }
  }
  if (spec.empty()) return Str(v);
  if (v.IsStr()) return FormatStr(*this, v.as<StrObject>(), spec);
  if (IsIntLike(v) || v.IsFloat() || v.IsFloatBox() || v.IsComplex()) return FormatNumber(*this, v, spec);
  return Raise(types_.TypeError, "unsupported format string passed to ", TypeName(v), ".__format__");
}

}  // namespace cobra::python
