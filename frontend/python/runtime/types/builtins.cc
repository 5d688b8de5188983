// The built-in functions.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/numpy_number.h"

namespace cobra::python {

Value NewSentinelIterator(Interpreter& interp, Value f, Value sentinel);

namespace {

// The object with which the program has replaced sys.stdout; None if it has not replaced it.
Value RedirectedStdout(Interpreter& interp) {
  Value* sys = interp.state().importer->modules()->table.GetStr(interp.Intern("sys"));
  if (sys == nullptr || !sys->IsModule()) return Value::None();
  DictTable& names = sys->as<ModuleObject>()->attrs->table;
  Value* now = names.GetStr(interp.Intern("stdout"));
  Value* original = names.GetStr(interp.Intern("__stdout__"));
  return now == nullptr || original == nullptr || now->IsSame(*original) ? Value::None() : *now;
}

Result<Value> Print(Interpreter& interp, const CallArgs& args) {
  absl::Span<const Value> items;
  Value separator, end, file;
  bool flush = false;
  COBRA_TRY(ArgReader(interp, "print", args)
                .VarArgs(&items)
                .Optional("sep", &separator)
                .Optional("end", &end)
                .Optional("file", &file)
                .Optional("flush", &flush)
                .Finish());
  if (!separator.IsNone() && !separator.IsStr())
    return interp.Raise(interp.types().TypeError, "sep must be None or a string, not ", interp.TypeName(separator));
  if (!end.IsNone() && !end.IsStr())
    return interp.Raise(interp.types().TypeError, "end must be None or a string, not ", interp.TypeName(end));
  std::string out;
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) absl::StrAppend(&out, separator.IsNone() ? " " : separator.str());
    COBRA_TRY_ASSIGN(StrObject * s, interp.Str(items[i]));
    COBRA_TRY(interp.Charge(1 + StepsToCopy(s->view().size())));
    absl::StrAppend(&out, s->view());
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(out.size()), 1));
  }
  absl::StrAppend(&out, end.IsNone() ? "\n" : end.str());
  if (file.IsNone()) file = RedirectedStdout(interp);
  if (file.IsNone()) {
    COBRA_TRY(interp.Print(out));
  } else {
    COBRA_TRY(interp.CallMethod(file, "write", {Value(interp.NewStr(out))}));
  }
  return Value::None();
}

Result<Value> Len(Interpreter& interp, const CallArgs& args) {
  if (args.positional.size() != 1) {
    return interp.Raise(interp.types().TypeError, "len() takes exactly one argument (", args.positional.size(),
                        " given)");
  }
  COBRA_TRY_ASSIGN(int64_t n, interp.Length(args.positional[0]));
  return Value::Int(n);
}

Result<Value> MinMax(Interpreter& interp, const CallArgs& args, bool max) {
  absl::string_view name = max ? "max" : "min";
  absl::Span<const Value> items;
  Value key, fallback = Value::Unbound();
  ArgReader reader(interp, name, args);
  COBRA_TRY(reader.VarArgs(&items).Optional("key", &key).Optional("default", &fallback).Finish());
  if (items.empty()) return interp.Raise(interp.types().TypeError, name, " expected at least 1 argument, got 0");
  Value best = Value::Unbound(), best_key;
  auto consider = [&](Value v) -> Result<bool> {
    Value k = v;
    if (!key.IsNone()) COBRA_TRY_SET(k, interp.Call(key, {v}));
    if (!best.IsUnbound()) {
      COBRA_TRY_ASSIGN(Value r,
                       interp.Compare(max ? Interpreter::CompareOp::kGt : Interpreter::CompareOp::kLt, k, best_key));
      COBRA_TRY_ASSIGN(bool better, interp.Truth(r));
      if (!better) return true;
    }
    best = v;
    best_key = k;
    return true;
  };
  if (items.size() > 1) {
    if (!fallback.IsUnbound()) {
      return interp.Raise(interp.types().TypeError, "Cannot specify a default for ", name,
                          "() with multiple positional arguments");
    }
    for (Value v : items) {
      COBRA_TRY(interp.Step());
      COBRA_TRY(consider(v));
    }
    return best;
  }
  COBRA_TRY(interp.Iterate(items[0], consider));
  if (!best.IsUnbound()) return best;
  if (!fallback.IsUnbound()) return fallback;
  return interp.Raise(interp.types().ValueError, name, "() arg is an empty sequence");
}

Result<Value> Sum(Interpreter& interp, const CallArgs& args) {
  Value items, start = Value::Int(0);
  COBRA_TRY(ArgReader(interp, "sum", args).Required("iterable", &items).Optional("start", &start).Finish());
  if (start.IsStr())
    return interp.Raise(interp.types().TypeError, "sum() can't sum strings [use ''.join(seq) instead]");
  COBRA_TRY(interp.Iterate(items, [&](Value v) -> Result<bool> {
    COBRA_TRY_ASSIGN(start, interp.Binary(Interpreter::BinaryOp::kAdd, start, v));
    return true;
  }));
  return start;
}

Result<Value> AnyAll(Interpreter& interp, const CallArgs& args, bool any) {
  COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, any ? "any" : "all", "iterable", args));
  bool result = !any;
  COBRA_TRY(interp.Iterate(items, [&](Value v) -> Result<bool> {
    COBRA_TRY_ASSIGN(bool b, interp.Truth(v));
    if (b == any) result = any;
    return b != any;
  }));
  return Value::Bool(result);
}

Result<Value> Abs(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "abs", "x", args));
  if (v.IsInt() && v.as_int() != INT64_MIN) return Value::Int(std::abs(v.as_int()));
  if (v.IsFloat()) return Value::Float(std::fabs(v.as_float()));
  COBRA_TRY_ASSIGN(Value r, interp.CallSpecial(v, interp.names().__abs__, {}));
  if (!r.IsUnbound()) return r;
  return interp.Raise(interp.types().TypeError, "bad operand type for abs(): '", interp.TypeName(v), "'");
}

Result<Value> Round(Interpreter& interp, const CallArgs& args) {
  Value v, digits;
  COBRA_TRY(ArgReader(interp, "round", args).Required("number", &v).Optional("ndigits", &digits).Finish());
  Value method = interp.LookupClass(interp.class_of(v), interp.names().__round__);
  if (method.IsUnbound())
    return interp.Raise(interp.types().TypeError, "type ", interp.TypeName(v), " doesn't define __round__ method");
  if (digits.IsNone()) return interp.CallSpecial(v, interp.names().__round__, {});
  return interp.CallSpecial(v, interp.names().__round__, {digits});
}

Result<Value> DivMod(Interpreter& interp, const CallArgs& args) {
  Value a, b;
  COBRA_TRY(ArgReader(interp, "divmod", args).Required("x", &a).Required("y", &b).Finish());
  ClassObject* const of_a = interp.class_of(a);
  ClassObject* const of_b = interp.class_of(b);
  const bool b_first =
      of_a != of_b && (Interpreter::IsSubclassOf(of_b, of_a) || LeavesToNumpy(interp.types(), of_a, of_b));
  for (const bool reflected : {b_first, !b_first}) {
    COBRA_TRY_ASSIGN(Value r, reflected ? interp.CallSpecial(b, interp.names().__rdivmod__, {a})
                                        : interp.CallSpecial(a, interp.names().__divmod__, {b}));
    if (!r.IsUnbound() && !r.IsNotImplemented()) return r;
  }
  return interp.Raise(interp.types().TypeError, "unsupported operand type(s) for divmod(): '", interp.TypeName(a),
                      "' and '", interp.TypeName(b), "'");
}

Result<Value> Pow(Interpreter& interp, const CallArgs& args) {
  Value base, exponent, modulus;
  ArgReader reader(interp, "pow", args);
  COBRA_TRY(reader.Required("base", &base).Required("exp", &exponent).Optional("mod", &modulus).Finish());
  if (modulus.IsNone()) return interp.Binary(Interpreter::BinaryOp::kPow, base, exponent);
  if (base.IsInstance()) {
    COBRA_TRY_ASSIGN(Value own, interp.CallSpecial(base, interp.names().__pow__, {exponent, modulus}));
    if (!own.IsUnbound() && !own.IsNotImplemented()) return own;
    return interp.Raise(interp.types().TypeError, "unsupported operand type(s) for ** or pow(): '",
                        interp.TypeName(base), "', '", interp.TypeName(exponent), "', '", interp.TypeName(modulus),
                        "'");
  }
  if (!IsIntLike(base) || !IsIntLike(exponent) || !IsIntLike(modulus))
    return interp.Raise(interp.types().TypeError, "pow() 3rd argument not allowed unless all arguments are integers");
  const BigInt b = ToBigInt(base), e = ToBigInt(exponent), m = ToBigInt(modulus);
  if (m.zero()) return interp.Raise(interp.types().ValueError, "pow() 3rd argument cannot be 0");
  return ModularPower(interp, b, e, m);
}

Result<StrObject*> NameArgument(Interpreter& interp, Value v) {
  if (v.IsStr()) return interp.InternStr(v.as<StrObject>());
  return interp.Raise(interp.types().TypeError, "attribute name must be string, not '", interp.TypeName(v), "'");
}

Result<Value> GetAttr(Interpreter& interp, const CallArgs& args) {
  Value v, name, fallback = Value::Unbound();
  ArgReader reader(interp, "getattr", args);
  COBRA_TRY(reader.Required("object", &v).Required("name", &name).Optional("default", &fallback).Finish());
  COBRA_TRY_ASSIGN(StrObject * key, NameArgument(interp, name));
  if (fallback.IsUnbound()) return interp.GetAttr(v, key);
  COBRA_TRY_ASSIGN(Value found, interp.GetAttrOrUnbound(v, key));
  return found.IsUnbound() ? fallback : found;
}
Result<Value> HasAttr(Interpreter& interp, const CallArgs& args) {
  Value v, name;
  COBRA_TRY(ArgReader(interp, "hasattr", args).Required("object", &v).Required("name", &name).Finish());
  COBRA_TRY_ASSIGN(StrObject * key, NameArgument(interp, name));
  COBRA_TRY_ASSIGN(Value found, interp.GetAttrOrUnbound(v, key));
  return Value::Bool(!found.IsUnbound());
}
Result<Value> SetAttr(Interpreter& interp, const CallArgs& args) {
  Value v, name, value;
  ArgReader reader(interp, "setattr", args);
  COBRA_TRY(reader.Required("object", &v).Required("name", &name).Required("value", &value).Finish());
  COBRA_TRY_ASSIGN(StrObject * key, NameArgument(interp, name));
  COBRA_TRY(interp.SetAttr(v, key, value));
  return Value::None();
}
Result<Value> DelAttr(Interpreter& interp, const CallArgs& args) {
  Value v, name;
  COBRA_TRY(ArgReader(interp, "delattr", args).Required("object", &v).Required("name", &name).Finish());
  COBRA_TRY_ASSIGN(StrObject * key, NameArgument(interp, name));
  COBRA_TRY(interp.DelAttr(v, key));
  return Value::None();
}

Result<Value> IsInstance(Interpreter& interp, const CallArgs& args) {
  if (args.positional.size() == 2 && args.keywords.empty()) {
    COBRA_TRY_ASSIGN(bool is, interp.IsInstance(args.positional[0], args.positional[1]));
    return Value::Bool(is);
  }
  Value v, c;
  COBRA_TRY(ArgReader(interp, "isinstance", args).Required("obj", &v).Required("class_or_tuple", &c).Finish());
  COBRA_TRY_ASSIGN(bool is, interp.IsInstance(v, c));
  return Value::Bool(is);
}
Result<Value> IsSubclass(Interpreter& interp, const CallArgs& args) {
  Value v, c;
  COBRA_TRY(ArgReader(interp, "issubclass", args).Required("cls", &v).Required("class_or_tuple", &c).Finish());
  COBRA_TRY_ASSIGN(bool is, interp.IsSubclass(v, c));
  return Value::Bool(is);
}

Result<Value> IterFunction(Interpreter& interp, const CallArgs& args) {
  Value v, sentinel = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "iter", args).Required("object", &v).Optional("sentinel", &sentinel).Finish());
  if (sentinel.IsUnbound()) return interp.Iter(v);
  return NewSentinelIterator(interp, v, sentinel);
}
Result<Value> NextFunction(Interpreter& interp, const CallArgs& args) {
  Value it, fallback = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "next", args).Required("iterator", &it).Optional("default", &fallback).Finish());
  if (!it.IsIterator() && !it.IsGenerator() &&
      interp.LookupClass(interp.class_of(it), interp.names().__next__).IsUnbound()) {
    return interp.Raise(interp.types().TypeError, "'", interp.TypeName(it), "' object is not an iterator");
  }
  if (fallback.IsUnbound() && !it.IsIterator()) return interp.CallSpecial(it, interp.names().__next__, {});
  COBRA_TRY_ASSIGN(Value v, interp.Next(it));
  if (!v.IsUnbound()) return v;
  if (!fallback.IsUnbound()) return fallback;
  return interp.RaiseValue(NewException(interp, interp.types().StopIteration, 0, nullptr));
}

Result<Value> Sorted(Interpreter& interp, const CallArgs& args) {
  Value items, key;
  bool reverse = false;
  ArgReader reader(interp, "sorted", args);
  COBRA_TRY(
      reader.Required("iterable", &items).KeywordOnly().Optional("key", &key).Optional("reverse", &reverse).Finish());
  COBRA_TRY_ASSIGN(std::vector<Value> values, interp.ToVector(items));
  COBRA_TRY(SortValues(interp, &values, key, reverse));
  return Value(interp.NewList(values));
}

Result<Value> Vars(Interpreter& interp, const CallArgs& args) {
  if (args.positional.empty()) return Value(LocalsDict(interp, *interp.state().frame));
  COBRA_TRY_ASSIGN(Value d, interp.GetAttrOrUnbound(args.positional[0], interp.names().__dict__));
  if (d.IsUnbound()) return interp.Raise(interp.types().TypeError, "vars() argument must have __dict__ attribute");
  return d;
}
Result<Value> Dir(Interpreter& interp, const CallArgs& args) {
  Value from = Value::Unbound();
  if (args.positional.empty()) {
    from = LocalsDict(interp, *interp.state().frame);
  } else {
    COBRA_TRY_ASSIGN(from, interp.CallSpecial(args.positional[0], interp.Intern("__dir__"), {}));
  }
  COBRA_TRY_ASSIGN(std::vector<Value> names, interp.ToVector(from));
  COBRA_TRY(SortValues(interp, &names, Value::None(), false));
  return Value(interp.NewList(names));
}

Result<Value> Radix(Interpreter& interp, const CallArgs& args, int base, absl::string_view prefix) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "hex", "number", args));
  COBRA_TRY_ASSIGN(v, OfUnknownNumber(interp, v, "_cobra_in_text"));
  if (!IsIntLike(v)) {
    COBRA_TRY_ASSIGN(int64_t i, interp.Index(v));
    v = Value::Int(i);
  }
  BigInt b = ToBigInt(v);
  COBRA_TRY(interp.Charge(DigitsSteps(b)));
  return Value(interp.NewStr(absl::StrCat(b.negative() ? "-" : "", prefix, (b.negative() ? -b : b).ToString(base))));
}

Result<Value> Chr(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(int64_t c, OnlyArgument<int64_t>(interp, "chr", "i", args));
  if (c < 0 || c > 0x10ffff) return interp.Raise(interp.types().ValueError, "chr() arg not in range(0x110000)");
  std::string s;
  AppendUtf8(&s, static_cast<uint32_t>(c));
  return Value(interp.NewStr(s));
}
Result<Value> Ord(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "ord", "c", args));
  if (v.IsBytes() && v.as<BytesObject>()->size == 1)
    return Value::Int(static_cast<unsigned char>(v.as<BytesObject>()->data[0]));
  if (!v.IsStr())
    return interp.Raise(interp.types().TypeError, "ord() expected string of length 1, but ", interp.TypeName(v),
                        " found");
  auto* s = v.as<StrObject>();
  if (s->length != 1) {
    return interp.Raise(interp.types().TypeError, "ord() expected a character, but string of length ", s->length,
                        " found");
  }
  int64_t at = 0;
  return Value::Int(DecodeUtf8(s->data, &at));
}

Result<Value> ImportFunction(Interpreter& interp, const CallArgs& args) {
  std::string name;
  Value globals, locals, from_list;
  int64_t level = 0;
  COBRA_TRY(ArgReader(interp, "__import__", args)
                .Required("name", &name)
                .Optional("globals", &globals)
                .Optional("locals", &locals)
                .Optional("fromlist", &from_list)
                .Optional("level", &level)
                .Finish());
  if (level != 0) return interp.Unsupported("__import__ with a level");
  COBRA_TRY_ASSIGN(ModuleObject * m, interp.ImportModule(name));
  COBRA_TRY_ASSIGN(bool whole, interp.Truth(from_list));
  size_t dot = name.find('.');
  if (whole || dot == std::string::npos) return Value(m);
  COBRA_TRY_ASSIGN(m, interp.ImportModule(name.substr(0, dot)));
  return Value(m);
}

using Simple = Result<Value> (*)(Interpreter&, Value);
template <Simple f>
NativeFunction OneArgument(absl::string_view name) {
  return [name = std::string(name)](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    if (args.positional.size() != 1 || !args.keywords.empty()) {
      return interp.Raise(interp.types().TypeError, name, "() takes exactly one argument (", args.positional.size(),
                          " given)");
    }
    return f(interp, args.positional[0]);
  };
}

Result<Value> ReprOf(Interpreter& interp, Value v) {
  COBRA_TRY_ASSIGN(StrObject * s, interp.Repr(v));
  return Value(s);
}
Result<Value> AsciiOf(Interpreter& interp, Value v) {
  COBRA_TRY_ASSIGN(StrObject * s, AsciiRepr(interp, v));
  return Value(s);
}
Result<Value> HashOf(Interpreter& interp, Value v) {
  COBRA_TRY_ASSIGN(uint64_t h, interp.Hash(v));
  return Value::Int(h == ~uint64_t{0} ? -2 : static_cast<int64_t>(h));  // CPython reserves -1 as an error code
}
Result<Value> IdOf(Interpreter& interp, Value v) {
  if (v.IsObject()) return Value::Int(static_cast<int64_t>(reinterpret_cast<uintptr_t>(v.object())));
  return Value::Int(0x10000 + static_cast<int64_t>(v.tag()) * 64 + (v.IsIntOrBool() ? v.as_int() * 1024 : 0));
}
Result<Value> CallableOf(Interpreter& interp, Value v) { return Value::Bool(interp.IsCallable(v)); }

}  // namespace

Result<StrObject*> AsciiRepr(Interpreter& interp, Value v) {
  COBRA_TRY_ASSIGN(StrObject * s, interp.Repr(v));
  if (s->ascii) return s;
  std::string out;
  for (int64_t at = 0; at < s->size;) {
    int64_t begin = at;
    uint32_t c = DecodeUtf8(s->data, &at);
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else {
      std::string quoted = QuotedStr(absl::string_view(s->data + begin, static_cast<size_t>(at - begin)), true);
      out += quoted.substr(1, quoted.size() - 2);
    }
  }
  return interp.NewStr(out);
}

DictObject* LocalsDict(Interpreter& interp, Frame& frame) {
  if (frame.names != nullptr) return frame.names;
  if (frame.scope->kind == ScopeKind::kModule) return frame.globals;
  DictObject* d = interp.NewDict();
  const ScopeInfo& s = *frame.scope;
  for (size_t i = 0; i < s.slot_names.size(); ++i) {
    if (s.slot_names[i] == nullptr) continue;
    Value v = frame.locals[i];
    if (v.IsCell()) v = v.as<CellObject>()->value;
    if (!v.IsUnbound()) d->table.SetStr(interp.heap(), interp.Intern(s.slot_names[i]->text), v);
  }
  for (size_t i = 0; i < s.free_names.size(); ++i) {
    Value v = frame.free[i]->value;
    if (!v.IsUnbound()) d->table.SetStr(interp.heap(), interp.Intern(s.free_names[i]->text), v);
  }
  return d;
}

namespace {

Result<Value> FormatFunction(Interpreter& interp, const CallArgs& args) {
  Value v;
  std::string spec;
  COBRA_TRY(ArgReader(interp, "format", args).Required("value", &v).Optional("format_spec", &spec).Finish());
  COBRA_TRY_ASSIGN(StrObject * s, interp.Format(v, spec));
  return Value(s);
}

// Fills the module builtins.
class Builtins {
 public:
  explicit Builtins(Interpreter& interp) : interp_(interp) {}
  void AddTypes();
  void AddConstants();
  void AddFunctions();
  void AddNamespaceFunctions();
  void AddFunctionsOfOneValue();
  void AddLazyTypes();
  void AddUnsupported();

 private:
  void Set(absl::string_view name, Value v) {
    interp_.state().builtins->table.SetStr(interp_.heap(), interp_.Intern(name), v);
  }
  void Add(absl::string_view name, NativeFunction f) {
    BuiltinObject* o = NewBuiltin(interp_, name, std::move(f));
    o->module = interp_.Intern("builtins");
    Set(name, o);
  }

  Interpreter& interp_;
};

void Builtins::AddTypes() {
  const BuiltinTypes& t = interp_.types();
  for (ClassObject* c :
       {t.object, t.type, t.int_type, t.bool_type, t.float_type, t.complex_type, t.str, t.bytes, t.tuple, t.list,
        t.dict, t.set, t.frozenset, t.slice, t.range, t.property, t.classmethod, t.staticmethod, t.super}) {
    Set(c->name->view(), c);
  }
#define COBRA_BUILTIN_TYPE(name, python_name)
#define COBRA_EXCEPTION_TYPE(name, base) Set(#name, t.name);
#include "frontend/python/runtime/interpreter/builtin_types.def"
#undef COBRA_BUILTIN_TYPE
#undef COBRA_EXCEPTION_TYPE
  Set("EnvironmentError", t.OSError);
  Set("IOError", t.OSError);
}

void Builtins::AddConstants() {
  Set("NotImplemented", Value::NotImplemented());
  Set("Ellipsis", Value::Ellipsis());
  Set("__debug__", Value::Bool(true));
  Set("__name__", interp_.Intern("builtins"));
}

void Builtins::AddFunctions() {
  Add("print", Print);
  Add("len", Len);
  Add("max", [](Interpreter& i, const CallArgs& a) { return MinMax(i, a, true); });
  Add("min", [](Interpreter& i, const CallArgs& a) { return MinMax(i, a, false); });
  Add("sum", Sum);
  Add("any", [](Interpreter& i, const CallArgs& a) { return AnyAll(i, a, true); });
  Add("all", [](Interpreter& i, const CallArgs& a) { return AnyAll(i, a, false); });
  Add("abs", Abs);
  Add("round", Round);
  Add("divmod", DivMod);
  Add("pow", Pow);
  Add("getattr", GetAttr);
  Add("hasattr", HasAttr);
  Add("setattr", SetAttr);
  Add("delattr", DelAttr);
  Add("isinstance", IsInstance);
  Add("issubclass", IsSubclass);
  Add("iter", IterFunction);
  Add("next", NextFunction);
  Add("sorted", Sorted);
  Add("vars", Vars);
  Add("dir", Dir);
}

void Builtins::AddNamespaceFunctions() {
  Add("locals",
      [](Interpreter& i, const CallArgs&) -> Result<Value> { return Value(LocalsDict(i, *i.state().frame)); });
  Add("globals", [](Interpreter& i, const CallArgs&) -> Result<Value> {
    COBRA_TRY(ForceAll(i, i.state().frame->module));
    return Value(i.state().frame->globals);
  });
  Add("__import__", ImportFunction);
}

void Builtins::AddFunctionsOfOneValue() {
  Add("bin", [](Interpreter& i, const CallArgs& a) { return Radix(i, a, 2, "0b"); });
  Add("oct", [](Interpreter& i, const CallArgs& a) { return Radix(i, a, 8, "0o"); });
  Add("hex", [](Interpreter& i, const CallArgs& a) { return Radix(i, a, 16, "0x"); });
  Add("chr", Chr);
  Add("ord", Ord);
  Add("repr", OneArgument<ReprOf>("repr"));
  Add("ascii", OneArgument<AsciiOf>("ascii"));
  Add("hash", OneArgument<HashOf>("hash"));
  Add("id", OneArgument<IdOf>("id"));
  Add("callable", OneArgument<CallableOf>("callable"));
  Add("format", FormatFunction);
}

void Builtins::AddLazyTypes() {
  for (absl::string_view name : {"bytearray", "memoryview"}) {
    auto* lazy = interp_.heap().New<LazyObject>();
    lazy->cls = interp_.types().opaque;
    lazy->module = interp_.Intern("_bytearray");
    lazy->attribute = interp_.Intern(name);
    Set(name, lazy);
  }
}

void Builtins::AddUnsupported() {
  for (absl::string_view name : {"exit", "quit"}) {
    Add(name, [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      return interp.RaiseValue(NewException(interp, interp.types().SystemExit, static_cast<int>(args.positional.size()),
                                            args.positional.data()));
    });
  }
  Add("open", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(const Value io, interp.importer().ImportValue("io"));
    COBRA_TRY_ASSIGN(const Value open, interp.GetAttr(io, interp.Intern("open")));
    return interp.Call(open, args.positional, args.keywords);
  });
  Add("__build_class__",
      [](Interpreter& interp, const CallArgs&) -> Result<Value> { return interp.Unsupported("__build_class__()"); });
  for (absl::string_view name : {"input", "breakpoint", "help", "aiter", "anext", "copyright", "credits", "license"}) {
    Add(name, [what = absl::StrCat(name, "()")](Interpreter& interp, const CallArgs&) -> Result<Value> {
      return interp.Unsupported(what, "a model definition runs here without files, input or code made at run time");
    });
  }
}

}  // namespace

void InitBuiltins(Interpreter& interp) {
  Builtins builtins(interp);
  builtins.AddTypes();
  builtins.AddConstants();
  builtins.AddFunctions();
  builtins.AddNamespaceFunctions();
  builtins.AddFunctionsOfOneValue();
  builtins.AddLazyTypes();
  builtins.AddUnsupported();
}

}  // namespace cobra::python
