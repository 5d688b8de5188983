// Items: len, x[i], in; and the dict and set operations that may run a program's __eq__ and
// __hash__.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/heap/set_order.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

// ---- dict and set ----

namespace {
auto SameKey(Interpreter& interp, Value key) {
  return [&interp, key](Value other) -> Result<bool> {
    Result<bool> same = interp.Equal(other, key);
    if (same.ok() && !*same) interp.Spend(1);  // a program may choose keys with the same hash
    return same;
  };
}
bool PlainStr(Interpreter& interp, Value v) { return v.IsStr() && v.object()->cls == interp.types().str; }
}  // namespace

Result<Value> Interpreter::DictGet(DictObject* dict, Value key) {
  if (PlainStr(*this, key)) {
    if (!key.as<StrObject>()->interned) Spend(2 * StepsToCopy(key.str().size()));
    Value* v = dict->table.GetStr(key.as<StrObject>());
    if (v != nullptr) return *v;
  }
  COBRA_TRY_ASSIGN(uint64_t hash, Hash(key));
  COBRA_TRY_ASSIGN(int64_t at, dict->table.Find(key, hash, SameKey(*this, key)));
  return at < 0 ? Value::Unbound() : dict->table.entry(static_cast<size_t>(at)).value;
}

Value Interpreter::DictGetStr(DictObject* dict, absl::string_view key) {
  Value* v = dict->table.GetStr(Intern(key));
  return v == nullptr ? Value::Unbound() : *v;
}

Result<void> Interpreter::DictSet(DictObject* dict, Value key, Value value) {
  COBRA_TRY_ASSIGN(uint64_t hash, Hash(key));
  COBRA_TRY_ASSIGN(int64_t at, dict->table.Find(key, hash, SameKey(*this, key)));
  if (at >= 0) {
    dict->table.entry(static_cast<size_t>(at)).value = value;
  } else {
    COBRA_TRY(CheckSize(dict->table.size(), 64));
    dict->table.Append(heap_, hash, key, value);
  }
  return {};
}

Result<bool> Interpreter::DictErase(DictObject* dict, Value key) {
  COBRA_TRY_ASSIGN(uint64_t hash, Hash(key));
  COBRA_TRY_ASSIGN(int64_t at, dict->table.Find(key, hash, SameKey(*this, key)));
  if (at < 0) return false;
  dict->table.EraseAt(at);
  return true;
}

Result<void> Interpreter::DictUpdate(DictObject* dict, Value source) {
  // As in CPython, a dict whose class has its own __iter__ is copied through keys() and []; others
  // are copied directly.
  if (source.IsDict() &&
      (source.object()->cls == types_.dict || LookupClass(source.object()->cls, names_.__iter__).IsBuiltin())) {
    auto* other = source.as<DictObject>();
    for (size_t i = 0; i < other->table.entry_count(); ++i) {
      DictTable::Entry e = other->table.entry(i);
      if (e.key.IsUnbound()) continue;
      COBRA_TRY(Step());
      COBRA_TRY(DictSet(dict, e.key, e.value));
    }
    return {};
  }
  COBRA_TRY_ASSIGN(Value keys, GetAttrOrUnbound(source, names_.keys));
  if (!keys.IsUnbound()) {
    COBRA_TRY_ASSIGN(Value all, Call(keys, {}));
    return Iterate(all, [&](Value key) -> Result<bool> {
      COBRA_TRY_ASSIGN(Value v, GetItem(source, key));
      COBRA_TRY(DictSet(dict, key, v));
      return true;
    });
  }
  int64_t index = 0;
  return Iterate(source, [&](Value pair) -> Result<bool> {
    if (!IsIterable(*this, pair))
      return Raise(types_.TypeError, "cannot convert dictionary update sequence element #", index, " to a sequence");
    COBRA_TRY_ASSIGN(std::vector<Value> kv, ToVector(pair));
    if (kv.size() != 2) {
      return Raise(types_.ValueError, "dictionary update sequence element #", index, " has length ", kv.size(),
                   "; 2 is required");
    }
    ++index;
    COBRA_TRY(DictSet(dict, kv[0], kv[1]));
    return true;
  });
}

Result<bool> Interpreter::SetAdd(SetObject* set, Value item) {
  COBRA_TRY_ASSIGN(uint64_t hash, Hash(item));
  COBRA_TRY_ASSIGN(int64_t at, set->table.Find(item, hash, SameKey(*this, item)));
  if (at >= 0) return false;
  COBRA_TRY(CheckSize(set->table.size(), 64));
  set->table.Append(heap_, hash, item, Value::None());
  NoteSetAdd(heap_, set, hash, item);
  return true;
}

Result<bool> Interpreter::SetContains(SetObject* set, Value item) {
  COBRA_TRY_ASSIGN(uint64_t hash, Hash(item));
  COBRA_TRY_ASSIGN(int64_t at, set->table.Find(item, hash, SameKey(*this, item)));
  return at >= 0;
}

Result<bool> Interpreter::SetErase(SetObject* set, Value item) {
  COBRA_TRY_ASSIGN(uint64_t hash, Hash(item));
  COBRA_TRY_ASSIGN(int64_t at, set->table.Find(item, hash, SameKey(*this, item)));
  if (at < 0) return false;
  NoteSetErase(set, hash, set->table.entry(static_cast<size_t>(at)).key);
  set->table.EraseAt(at);
  return true;
}

// ---- len and [] ----

Result<int64_t> Interpreter::Length(Value v) {
  if (v.IsObject()) {
    bool native = v.object()->cls->is_native;
    Value method = native && !v.IsInstance() ? Value::Unbound() : LookupClass(v.object()->cls, names_.__len__);
    bool own = method.IsUnbound() || (method.IsBuiltin() && !v.IsInstance());
    if (own) {
      switch (v.object()->kind) {
        case ObjectKind::kStr: return v.as<StrObject>()->length;
        case ObjectKind::kBytes: return v.as<BytesObject>()->size;
        case ObjectKind::kTuple: return v.as<TupleObject>()->size;
        case ObjectKind::kList: return static_cast<int64_t>(v.as<ListObject>()->items.size());
        case ObjectKind::kDict: return v.as<DictObject>()->table.size();
        case ObjectKind::kSet: return v.as<SetObject>()->table.size();
        case ObjectKind::kDictView: return v.as<DictViewObject>()->dict->table.size();
        case ObjectKind::kRange: return v.as<RangeObject>()->length;
        default: break;
      }
    }
    COBRA_TRY_ASSIGN(Value n, CallSpecial(v, names_.__len__, {}));
    if (!n.IsUnbound()) {
      if (!IsIntLike(n))
        return Raise(types_.TypeError, "'", TypeName(n), "' object cannot be interpreted as an integer");
      COBRA_TRY_ASSIGN(int64_t length, Index(n));
      if (length < 0) return Raise(types_.ValueError, "__len__() should return >= 0");
      return length;
    }
    if (v.IsOpaque()) return OpaqueUsed(*this, v.as<OpaqueObject>()->dotted_name->view(), "len(", ")");
  }
  return Raise(types_.TypeError, "object of type '", TypeName(v), "' has no len()");
}

namespace {

Result<Value> RangeGetItem(Interpreter& interp, RangeObject* r, Value key) {
  if (key.IsSlice()) {
    COBRA_TRY_ASSIGN(Interpreter::SliceIndices s, interp.ResolveSlice(key.as<SliceObject>(), r->length));
    return interp.NewRange(r->start + s.start * r->step, r->start + s.stop * r->step, r->step * s.step);
  }
  COBRA_TRY_ASSIGN(int64_t i, interp.Index(key));
  if (i < 0) i += r->length;
  if (i < 0 || i >= r->length) return interp.Raise(interp.types().IndexError, "range object index out of range");
  return Value::Int(r->start + i * r->step);
}

Result<Value> DictGetItem(Interpreter& interp, Value v, Value key) {
  COBRA_TRY_ASSIGN(Value found, interp.DictGet(v.as<DictObject>(), key));
  if (!found.IsUnbound()) return found;
  if (!v.object()->cls->is_native) {
    COBRA_TRY_ASSIGN(Value made, interp.CallSpecial(v, interp.names().__missing__, {key}));
    if (!made.IsUnbound()) return made;
  }
  return interp.RaiseValue(NewException(interp, interp.types().KeyError, 1, &key));
}

// Whether hints may subscript the class: those of the standard library that have a
// __class_getitem__ in CPython and need none for anything else.
bool IsGenericStandardClass(const ClassObject* cls) {
  static const auto* const kNames = new absl::flat_hash_set<absl::string_view>({
      "builtins.enumerate",
      "collections.ChainMap",
      "collections.abc.MappingView",
      "collections.deque",
      "contextlib.AbstractAsyncContextManager",
      "contextlib.AbstractContextManager",
      "contextlib.AsyncExitStack",
      "contextlib.ExitStack",
      "contextlib.aclosing",
      "contextlib.chdir",
      "contextlib.closing",
      "contextlib.nullcontext",
      "contextlib.redirect_stderr",
      "contextlib.redirect_stdout",
      "contextlib.suppress",
      "contextvars.Token",
      "dataclasses.Field",
      "difflib.SequenceMatcher",
      "functools.cached_property",
      "functools.partial",
      "functools.partialmethod",
      "importlib.resources.abc.Traversable",
      "itertools.chain",
      "logging.LoggerAdapter",
      "logging.StreamHandler",
      "os.DirEntry",
      "os.PathLike",
      "tempfile.SpooledTemporaryFile",
      "tempfile.TemporaryDirectory",
  });
  for (const ClassObject* c : cls->mro) {
    if (c->module.IsStr() && kNames->contains(absl::StrCat(c->module.str(), ".", c->name->view()))) return true;
  }
  return false;
}

Result<Value> ClassGetItem(Interpreter& interp, Value v, Value key) {
  auto* cls = v.as<ClassObject>();
  if (cls->has_metaclass) {
    COBRA_TRY_ASSIGN(Value r, interp.CallSpecial(v, interp.names().__getitem__, {key}));
    if (!r.IsUnbound()) return r;
  }
  COBRA_TRY_ASSIGN(Value hook, interp.GetAttrOrUnbound(v, interp.names().__class_getitem__));
  if (!hook.IsUnbound()) return interp.Call(hook, {key});
  const BuiltinTypes& t = interp.types();
  for (ClassObject* c : {t.list, t.dict, t.tuple, t.set, t.frozenset, t.type}) {
    if (Interpreter::IsSubclassOf(cls, c)) return MakeGenericAlias(interp, v, key);
  }
  if (IsGenericStandardClass(cls)) return MakeGenericAlias(interp, v, key);
  return interp.Raise(t.TypeError, "type '", cls->name->view(), "' is not subscriptable");
}

}  // namespace

Result<Value> Interpreter::GetItem(Value v, Value key) {
  if (v.IsObject()) {
    if (UsesBuiltin(*this, v, names_.__getitem__)) {
      switch (v.object()->kind) {
        case ObjectKind::kList: {
          auto& items = v.as<ListObject>()->items;
          if (key.IsInt()) {
            int64_t i = key.as_int();
            if (i < 0) i += static_cast<int64_t>(items.size());
            if (i >= 0 && i < static_cast<int64_t>(items.size())) return items[static_cast<size_t>(i)];
          }
          return SeqGetItem(*this, absl::MakeConstSpan(items.data(), items.size()), key, false, "list");
        }
        case ObjectKind::kTuple: {
          Result<Value> r = SeqGetItem(*this, v.as<TupleObject>()->span(), key, true, "tuple");
          return r.ok() && key.IsSlice() ? Result<Value>(WithTupleClassOf(*this, v, *r)) : r;
        }
        case ObjectKind::kDict: return DictGetItem(*this, v, key);
        case ObjectKind::kStr: return StrGetItem(*this, v.as<StrObject>(), key);
        case ObjectKind::kRange: return RangeGetItem(*this, v.as<RangeObject>(), key);
        case ObjectKind::kClass: return ClassGetItem(*this, v, key);
        case ObjectKind::kOpaque: {
          auto* o = heap_.New<OpaqueObject>(*v.as<OpaqueObject>());
          o->dotted_name = NewStr(absl::StrCat(o->dotted_name->view(), "[...]"));
          return Value(o);
        }
        default: break;
      }
    }
    COBRA_TRY_ASSIGN(Value r, CallSpecial(v, names_.__getitem__, {key}));
    if (!r.IsUnbound()) return r;
  }
  return Raise(types_.TypeError, "'", TypeName(v), "' object is not subscriptable");
}

Result<void> Interpreter::SetItem(Value v, Value key, Value value) {
  if (v.IsObject()) {
    if (UsesBuiltin(*this, v, names_.__setitem__)) {
      if (v.IsList()) return ListSetItem(*this, v.as<ListObject>(), key, value);
      if (v.IsDict()) return DictSet(v.as<DictObject>(), key, value);
    }
    COBRA_TRY_ASSIGN(Value r, CallSpecial(v, names_.__setitem__, {key, value}));
    if (!r.IsUnbound()) return {};
  }
  return Raise(types_.TypeError, "'", TypeName(v), "' object does not support item assignment");
}

Result<void> Interpreter::DelItem(Value v, Value key) {
  if (v.IsObject()) {
    if (UsesBuiltin(*this, v, names_.__delitem__)) {
      if (v.IsList()) return ListDelItem(*this, v.as<ListObject>(), key);
      if (v.IsDict()) {
        COBRA_TRY_ASSIGN(bool erased, DictErase(v.as<DictObject>(), key));
        if (!erased) return RaiseValue(python::NewException(*this, types_.KeyError, 1, &key));
        return {};
      }
    }
    COBRA_TRY_ASSIGN(Value r, CallSpecial(v, names_.__delitem__, {key}));
    if (!r.IsUnbound()) return {};
  }
  return Raise(types_.TypeError, "'", TypeName(v), "' object doesn't support item deletion");
}

Result<bool> Interpreter::Contains(Value container, Value item) {
  if (container.IsObject() && UsesBuiltin(*this, container, names_.__contains__)) {
    switch (container.object()->kind) {
      case ObjectKind::kDict: {
        COBRA_TRY_ASSIGN(Value v, DictGet(container.as<DictObject>(), item));
        return !v.IsUnbound();
      }
      case ObjectKind::kSet: return SetContains(container.as<SetObject>(), item);
      case ObjectKind::kStr:
        if (!item.IsStr())
          return Raise(types_.TypeError, "'in <string>' requires string as left operand, not ", TypeName(item));
        COBRA_TRY(Charge(SearchSteps(container.str(), item.str())));
        return container.str().find(item.str()) != absl::string_view::npos;
      case ObjectKind::kRange: {
        if (!IsIntLike(item)) break;
        auto* r = container.as<RangeObject>();
        if (!item.IsIntOrBool()) return false;
        int64_t i = item.as_int();
        if (r->step > 0 ? i < r->start || i >= r->stop : i > r->start || i <= r->stop) return false;
        return (i - r->start) % r->step == 0;
      }
      case ObjectKind::kDictView:
        if (container.as<DictViewObject>()->what == DictViewObject::What::kKeys) {
          return Contains(Value(container.as<DictViewObject>()->dict), item);
        }
        break;
      default: break;
    }
  } else if (container.IsObject()) {
    COBRA_TRY_ASSIGN(Value r, CallSpecial(container, names_.__contains__, {item}));
    if (!r.IsUnbound()) return Truth(r);
  }
  if (container.IsBytes()) {
    COBRA_TRY_ASSIGN(Value r, CallSpecial(container, names_.__contains__, {item}));
    return Truth(r);
  }
  if (!IsIterable(*this, container))
    return Raise(types_.TypeError, "argument of type '", TypeName(container), "' is not iterable");
  bool found = false;
  COBRA_TRY(Iterate(container, [&](Value v) -> Result<bool> {
    if (v.IsSame(item)) {
      found = true;
      return false;
    }
    COBRA_TRY_ASSIGN(found, Equal(v, item));
    return !found;
  }));
  return found;
}

Result<int64_t> Interpreter::Index(Value v) {
  if (v.IsIntOrBool()) return v.as_int();
  if (v.IsBigInt()) return ToInt64(*this, v, "Python int too large to convert to C ssize_t");
  if (v.IsObject()) {
    COBRA_TRY_ASSIGN(Value r, CallSpecial(v, names_.__index__, {}));
    if (!r.IsUnbound()) {
      if (!IsIntLike(r)) return Raise(types_.TypeError, "__index__ returned non-int (type ", TypeName(r), ")");
      return Index(r);
    }
  }
  return Raise(types_.TypeError, "'", TypeName(v), "' object cannot be interpreted as an integer");
}

Result<Interpreter::SliceIndices> Interpreter::ResolveSlice(const SliceObject* s, int64_t length) {
  auto index = [&](Value v) -> Result<int64_t> {
    if (v.IsBigInt()) return ToBigInt(v).negative() ? INT64_MIN : INT64_MAX;  // clamped below
    if (v.IsIntOrBool()) return v.as_int();
    Result<int64_t> i = Index(v);
    if (!i.ok() && CatchException(types_.TypeError))
      return Raise(types_.TypeError, "slice indices must be integers or None or have an __index__ method");
    return i;
  };
  SliceIndices r{0, 0, 1, 0};
  if (!s->step.IsNone()) COBRA_TRY_SET(r.step, index(s->step));
  if (r.step == 0) return Raise(types_.ValueError, "slice step cannot be zero");
  int64_t low = r.step < 0 ? -1 : 0;
  int64_t high = r.step < 0 ? length - 1 : length;
  auto clamp = [&](Value v, int64_t absent) -> Result<int64_t> {
    if (v.IsNone()) return absent;
    COBRA_TRY_ASSIGN(int64_t i, index(v));
    if (i < 0) i = i < -length ? low : std::max(i + length, low);
    return std::min(i, high);
  };
  COBRA_TRY_ASSIGN(r.start, clamp(s->start, r.step < 0 ? high : low));
  COBRA_TRY_ASSIGN(r.stop, clamp(s->stop, r.step < 0 ? low : high));
  if (r.step > 0 && r.start < r.stop) r.length = (r.stop - r.start - 1) / r.step + 1;
  if (r.step < 0 && r.stop < r.start) r.length = r.step == INT64_MIN ? 1 : (r.start - r.stop - 1) / -r.step + 1;
  return r;
}

}  // namespace cobra::python
