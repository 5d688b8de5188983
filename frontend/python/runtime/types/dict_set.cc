// dict, its views, set and frozenset.
#include "frontend/python/runtime/heap/set_order.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

Result<bool> DictsEqual(Interpreter& interp, DictObject* a, DictObject* b) {
  if (a->table.size() != b->table.size()) return false;
  for (size_t i = 0; i < a->table.entry_count(); ++i) {
    DictTable::Entry e = a->table.entry(i);
    if (e.key.IsUnbound()) continue;
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(Value other, interp.DictGet(b, e.key));
    if (other.IsUnbound()) return false;
    COBRA_TRY_ASSIGN(bool equal, e.value.IsSame(other) ? Result<bool>(true) : interp.Equal(e.value, other));
    if (!equal) return false;
  }
  return true;
}

namespace {

DictObject* Self(const CallArgs& args) { return args.self.as<DictObject>(); }
SetObject* SelfSet(const CallArgs& args) { return args.self.as<SetObject>(); }

Result<Value> DictNew(Interpreter& interp, const CallArgs& args) {
  DictObject* d = interp.NewDict();
  d->cls = args.self.as<ClassObject>();
  return Value(d);
}

Result<void> UpdateFrom(Interpreter& interp, DictObject* d, const CallArgs& args, absl::string_view name) {
  if (args.positional.size() > 1)
    return interp.Raise(interp.types().TypeError, name, " expected at most 1 argument, got ", args.positional.size());
  if (args.positional.size() == 1) {
    Value source = args.positional[0];
    if (!source.IsDict() && !IsIterable(interp, source)) {
      COBRA_TRY_ASSIGN(Value keys, interp.GetAttrOrUnbound(source, interp.names().keys));
      if (keys.IsUnbound())
        return interp.Raise(interp.types().TypeError, "'", interp.TypeName(source), "' object is not iterable");
    }
    COBRA_TRY(interp.DictUpdate(d, source));
  }
  for (const KeywordArg& k : args.keywords) d->table.SetStr(interp.heap(), k.name, k.value);
  return {};
}

Result<Value> DictInit(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY(UpdateFrom(interp, Self(args), args, "dict"));
  return Value::None();
}
Result<Value> Update(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY(UpdateFrom(interp, Self(args), args, "update"));
  return Value::None();
}
Result<Value> Get(Interpreter& interp, const CallArgs& args) {
  Value key, fallback;
  COBRA_TRY(ArgReader(interp, "get", args).Required("key", &key).Optional("default", &fallback).Finish());
  COBRA_TRY_ASSIGN(Value v, interp.DictGet(Self(args), key));
  return v.IsUnbound() ? fallback : v;
}
Result<Value> SetDefault(Interpreter& interp, const CallArgs& args) {
  Value key, fallback;
  COBRA_TRY(ArgReader(interp, "setdefault", args).Required("key", &key).Optional("default", &fallback).Finish());
  COBRA_TRY_ASSIGN(Value v, interp.DictGet(Self(args), key));
  if (!v.IsUnbound()) return v;
  COBRA_TRY(interp.DictSet(Self(args), key, fallback));
  return fallback;
}
Result<Value> Pop(Interpreter& interp, const CallArgs& args) {
  Value key, fallback = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "pop", args).Required("key", &key).Optional("default", &fallback).Finish());
  Value v = Value::Unbound();
  // With an empty dict, the hash of the key is not computed.
  if (Self(args)->table.size() > 0) COBRA_TRY_SET(v, interp.DictGet(Self(args), key));
  if (v.IsUnbound()) {
    if (!fallback.IsUnbound()) return fallback;
    return interp.RaiseValue(NewException(interp, interp.types().KeyError, 1, &key));
  }
  COBRA_TRY(interp.DictErase(Self(args), key));
  return v;
}
Result<Value> PopItem(Interpreter& interp, const CallArgs& args) {
  bool last = true;
  COBRA_TRY(ArgReader(interp, "popitem", args).Optional("last", &last).Finish());
  DictTable& t = Self(args)->table;
  if (t.size() == 0) return interp.Raise(interp.types().KeyError, "popitem(): dictionary is empty");
  const size_t first = last ? t.entry_count() - 1 : 0;
  size_t i = first;
  while (t.entry(i).key.IsUnbound()) i += last ? -1 : 1;
  interp.Spend(StepsToScan(last ? first - i : i));
  Value pair = interp.NewTuple({t.entry(i).key, t.entry(i).value});
  t.EraseAt(static_cast<int64_t>(i));
  return pair;
}
Result<Value> DictCopy(Interpreter& interp, const CallArgs& args) {
  DictObject* d = interp.NewDict();
  COBRA_TRY(interp.DictUpdate(d, args.self));
  return Value(d);
}
Result<Value> FromKeys(Interpreter& interp, const CallArgs& args) {
  Value keys, value;
  COBRA_TRY(ArgReader(interp, "fromkeys", args).Required("iterable", &keys).Optional("value", &value).Finish());
  COBRA_TRY_ASSIGN(Value d, interp.Call(args.self, {}));
  COBRA_TRY(interp.Iterate(keys, [&](Value key) -> Result<bool> {
    COBRA_TRY(interp.SetItem(d, key, value));
    return true;
  }));
  return d;
}

template <DictViewObject::What what>
Result<Value> View(Interpreter& interp, const CallArgs& args) {
  DictViewObject* v = interp.heap().New<DictViewObject>();
  v->cls = what == DictViewObject::What::kKeys     ? interp.types().dict_keys
           : what == DictViewObject::What::kValues ? interp.types().dict_values
                                                   : interp.types().dict_items;
  v->dict = Self(args);
  v->what = what;
  return Value(v);
}

class ReverseTableIterator : public NativeIterator {
 public:
  ReverseTableIterator(DictTable* t, DictViewObject::What what) : table_(t), what_(what), at_(t->entry_count()) {}
  Result<Value> Next(Interpreter& interp) override {
    for (int64_t erased = 0; at_ > 0 && at_ <= table_->entry_count(); ++erased) {
      const DictTable::Entry& e = table_->entry(--at_);
      if (e.key.IsUnbound()) continue;
      interp.Spend(erased / 16);
      if (what_ == DictViewObject::What::kKeys) return e.key;
      if (what_ == DictViewObject::What::kValues) return e.value;
      return Value(interp.NewTuple({e.key, e.value}));
    }
    return Value::Unbound();
  }

 private:
  DictTable* table_;
  DictViewObject::What what_;
  size_t at_;
};

void InitDictViews(Interpreter& interp) {
  using Op = Interpreter::BinaryOp;
  for (ClassObject* cls : {interp.types().dict_keys, interp.types().dict_values, interp.types().dict_items}) {
    AddMethod(interp, cls, "__iter__",
              [](Interpreter& interp, const CallArgs& args) { return interp.Iter(args.self); });
    AddMethod(interp, cls, "__len__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
      return Value::Int(args.self.as<DictViewObject>()->dict->table.size());
    });
    AddMethod(interp, cls, "__reversed__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      auto* v = args.self.as<DictViewObject>();
      return interp.NewIterator(interp.heap().New<ReverseTableIterator>(&v->dict->table, v->what));
    });
    if (cls == interp.types().dict_values) continue;
    AddOperatorMethods(interp, cls, {Op::kSub, Op::kBitAnd, Op::kBitOr, Op::kBitXor}, true);
    AddMethod(interp, cls, "isdisjoint", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY_ASSIGN(Value other, OnlyArgument(interp, "isdisjoint", "other", args));
      bool found = false;
      COBRA_TRY(interp.Iterate(other, [&](Value v) -> Result<bool> {
        COBRA_TRY_ASSIGN(found, interp.Contains(args.self, v));
        return !found;
      }));
      return Value::Bool(!found);
    });
  }
}

// ---- set ----

Result<void> AddAll(Interpreter& interp, SetObject* s, Value items) {
  if (items.IsSet()) return MergeSet(interp, s, items.as<SetObject>());
  if (items.IsDict() && items.object()->cls == interp.types().dict)
    NoteSetMerge(interp.heap(), s, items.as<DictObject>()->table.size());
  return interp.Iterate(items, [&](Value v) -> Result<bool> {
    COBRA_TRY(interp.SetAdd(s, v));
    return true;
  });
}

Result<SetObject*> AsSet(Interpreter& interp, Value v) {
  if (v.IsSet()) return v.as<SetObject>();
  SetObject* s = interp.NewSet();
  COBRA_TRY(AddAll(interp, s, v));
  return s;
}

Result<Value> SetNew(Interpreter& interp, const CallArgs& args) {
  SetObject* s = interp.NewSet();
  s->cls = args.self.as<ClassObject>();
  return Value(s);
}
Result<Value> SetInit(Interpreter& interp, const CallArgs& args) {
  Value items = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "set", args).Optional("iterable", &items).Finish());
  ClearSet(SelfSet(args));
  if (!items.IsUnbound()) COBRA_TRY(AddAll(interp, SelfSet(args), items));
  return Value::None();
}
Result<Value> FrozenSetNew(Interpreter& interp, const CallArgs& args) {
  Value items = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "frozenset", args).Optional("iterable", &items).Finish());
  SetObject* s = interp.NewSet(/*frozen=*/true);
  s->cls = args.self.as<ClassObject>();
  if (!items.IsUnbound()) COBRA_TRY(AddAll(interp, s, items));
  return Value(s);
}

// union, intersection, ... take any iterables.
template <Interpreter::BinaryOp op, bool in_place>
Result<Value> Combine(Interpreter& interp, const CallArgs& args) {
  SetObject* result = SelfSet(args);
  if (!in_place) {
    result = interp.NewSet(SelfSet(args)->frozen);
    if (op == Interpreter::BinaryOp::kBitOr || args.positional.empty())
      COBRA_TRY(MergeSet(interp, result, SelfSet(args)));
  }
  for (size_t i = 0; i < args.positional.size(); ++i) {
    if (op == Interpreter::BinaryOp::kBitOr) {
      COBRA_TRY(AddAll(interp, result, args.positional[i]));
      continue;
    }
    COBRA_TRY_ASSIGN(SetObject * other, AsSet(interp, args.positional[i]));
    if (in_place || i > 0) {
      COBRA_TRY(SetInPlace(interp, op, result, other));
    } else {
      COBRA_TRY_ASSIGN(Value combined, BuiltinBinary(interp, op, args.self, Value(other)));
      result = combined.as<SetObject>();
    }
  }
  return in_place ? Value::None() : Value(result);
}
template <Interpreter::CompareOp op>
Result<Value> CompareWith(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value other, OnlyArgument(interp, "issubset", "other", args));
  COBRA_TRY_ASSIGN(SetObject * s, AsSet(interp, other));
  return BuiltinCompare(interp, op, args.self, Value(s));
}

Result<Value> One(Interpreter& interp, absl::string_view name, const CallArgs& args) {
  if (args.positional.size() != 1) {
    return interp.Raise(interp.types().TypeError, "set.", name, "() takes exactly one argument (",
                        args.positional.size(), " given)");
  }
  return args.positional[0];
}

void InitSet(Interpreter& interp, ClassObject* cls) {
  using Op = Interpreter::BinaryOp;
  using Cmp = Interpreter::CompareOp;
  AddOperatorMethods(interp, cls, {Op::kSub, Op::kBitAnd, Op::kBitOr, Op::kBitXor}, true);
  AddMethod(interp, cls, "union", Combine<Op::kBitOr, false>);
  AddMethod(interp, cls, "intersection", Combine<Op::kBitAnd, false>);
  AddMethod(interp, cls, "difference", Combine<Op::kSub, false>);
  AddMethod(interp, cls, "symmetric_difference", Combine<Op::kBitXor, false>);
  AddMethod(interp, cls, "copy", Combine<Op::kBitOr, false>);
  AddMethod(interp, cls, "issubset", CompareWith<Cmp::kLtE>);
  AddMethod(interp, cls, "issuperset", CompareWith<Cmp::kGtE>);
  AddMethod(interp, cls, "isdisjoint", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value other, One(interp, "isdisjoint", args));
    COBRA_TRY_ASSIGN(SetObject * s, AsSet(interp, other));
    COBRA_TRY_ASSIGN(Value both, BuiltinBinary(interp, Op::kBitAnd, args.self, Value(s)));
    return Value::Bool(both.as<SetObject>()->table.size() == 0);
  });
  AddMethod(interp, cls, "__len__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Int(SelfSet(args)->table.size());
  });
  AddMethod(interp, cls, "__contains__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, One(interp, "__contains__", args));
    COBRA_TRY_ASSIGN(bool in, interp.SetContains(SelfSet(args), v));
    return Value::Bool(in);
  });
  AddMethod(interp, cls, "__iter__", [](Interpreter& interp, const CallArgs& args) { return interp.Iter(args.self); });
  AddMethod(interp, cls, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
    return Value(s);
  });
}

}  // namespace

Result<void> MergeSet(Interpreter& interp, SetObject* into, SetObject* from) {
  if (into == from) return {};
  NoteSetMerge(interp.heap(), into, from->table.size());
  if (SetCopiesTable(*into, *from)) {
    for (size_t i = 0; i < from->table.entry_count(); ++i) {
      DictTable::Entry e = from->table.entry(i);
      if (e.key.IsUnbound()) continue;
      COBRA_TRY(interp.Step());
      into->table.Append(interp.heap(), e.hash, e.key, Value::None());
    }
    CopySetTable(interp.heap(), into, *from);
    return {};
  }
  for (Value key : SetItems(*from)) {
    COBRA_TRY(interp.Step());
    COBRA_TRY(interp.SetAdd(into, key));
  }
  return {};
}

Result<void> ToggleAll(Interpreter& interp, SetObject* into, SetObject* from) {
  for (Value key : SetItems(*from)) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(bool erased, interp.SetErase(into, key));
    if (!erased) COBRA_TRY(interp.SetAdd(into, key));
  }
  return {};
}

Result<bool> SetInPlace(Interpreter& interp, Interpreter::BinaryOp op, SetObject* a, SetObject* b) {
  switch (op) {
    case Interpreter::BinaryOp::kBitOr: COBRA_TRY(MergeSet(interp, a, b)); return true;
    case Interpreter::BinaryOp::kSub:
      for (Value key : SetItems(*b)) {
        COBRA_TRY(interp.Step());
        COBRA_TRY(interp.SetErase(a, key));
      }
      NoteSetDifference(interp.heap(), a);
      return true;
    case Interpreter::BinaryOp::kBitXor:
      if (a == b) {
        ClearSet(a);
      } else {
        COBRA_TRY(ToggleAll(interp, a, b));
      }
      return true;
    case Interpreter::BinaryOp::kBitAnd: {
      COBRA_TRY_ASSIGN(Value both, BuiltinBinary(interp, op, Value(a), Value(b)));
      SwapSets(a, both.as<SetObject>());
      return true;
    }
    default: return false;
  }
}

namespace {

// The method move_to_end() of OrderedDict.
Result<Value> MoveToEnd(Interpreter& interp, const CallArgs& args) {
  Value key;
  bool last = true;
  COBRA_TRY(ArgReader(interp, "move_to_end", args).Required("key", &key).Optional("last", &last).Finish());
  COBRA_TRY_ASSIGN(Value v, interp.DictGet(Self(args), key));
  if (v.IsUnbound()) return interp.RaiseValue(NewException(interp, interp.types().KeyError, 1, &key));
  COBRA_TRY_ASSIGN(uint64_t hash, interp.Hash(key));
  COBRA_TRY_ASSIGN(int64_t at, Self(args)->table.Find(key, hash, [&](Value k) { return interp.Equal(k, key); }));
  if (at >= 0) {
    if (!last) interp.Spend(static_cast<int64_t>(Self(args)->table.index_size()) / 4);  // all entries move
    Self(args)->table.MoveToEnd(interp.heap(), at, last);
  }
  return Value::None();
}

void AddDictMethods(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "update", Update);
  AddMethod(interp, cls, "get", Get);
  AddMethod(interp, cls, "setdefault", SetDefault);
  AddMethod(interp, cls, "pop", Pop);
  AddMethod(interp, cls, "popitem", PopItem);
  AddMethod(interp, cls, "copy", DictCopy);
  AddClassMethod(interp, cls, "fromkeys", FromKeys);
  AddMethod(interp, cls, "keys", View<DictViewObject::What::kKeys>);
  AddMethod(interp, cls, "values", View<DictViewObject::What::kValues>);
  AddMethod(interp, cls, "items", View<DictViewObject::What::kItems>);
  AddMethod(interp, cls, "clear", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    interp.Spend(StepsToScan(Self(args)->table.index_size()));
    Self(args)->table.Clear();
    return Value::None();
  });
}

void AddDictItemMethods(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "__len__",
            [](Interpreter&, const CallArgs& args) -> Result<Value> { return Value::Int(Self(args)->table.size()); });
  AddMethod(interp, cls, "__contains__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value key, OnlyArgument(interp, "__contains__", "key", args));
    COBRA_TRY_ASSIGN(Value v, interp.DictGet(Self(args), key));
    return Value::Bool(!v.IsUnbound());
  });
  AddMethod(interp, cls, "__getitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value key, OnlyArgument(interp, "__getitem__", "key", args));
    COBRA_TRY_ASSIGN(Value v, interp.DictGet(Self(args), key));
    if (!v.IsUnbound()) return v;
    COBRA_TRY_ASSIGN(v, interp.CallSpecial(args.self, interp.names().__missing__, {key}));
    if (!v.IsUnbound()) return v;
    return interp.RaiseValue(NewException(interp, interp.types().KeyError, 1, &key));
  });
  AddMethod(interp, cls, "__setitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value key, value;
    COBRA_TRY(ArgReader(interp, "__setitem__", args).Required("key", &key).Required("value", &value).Finish());
    COBRA_TRY(interp.DictSet(Self(args), key, value));
    return Value::None();
  });
  AddMethod(interp, cls, "__delitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value key, OnlyArgument(interp, "__delitem__", "key", args));
    COBRA_TRY_ASSIGN(bool erased, interp.DictErase(Self(args), key));
    if (!erased) return interp.RaiseValue(NewException(interp, interp.types().KeyError, 1, &key));
    return Value::None();
  });
}

void AddDictIterationMethods(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "__iter__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    // Iterates over a view: otherwise an override of __iter__ that calls this method would call
    // itself without end.
    COBRA_TRY_ASSIGN(Value view, View<DictViewObject::What::kKeys>(interp, args));
    return interp.Iter(view);
  });
  AddMethod(interp, cls, "__reversed__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return interp.NewIterator(interp.heap().New<ReverseTableIterator>(&Self(args)->table, DictViewObject::What::kKeys));
  });
}

}  // namespace

void InitDictTypes(Interpreter& interp) {
  ClassObject* cls = interp.types().dict;
  SetNativeNew(interp, cls, DictNew);
  AddOperatorMethods(interp, cls, {Interpreter::BinaryOp::kBitOr}, true);
  AddMethod(interp, cls, "__init__", DictInit);
  AddDictMethods(interp, cls);
  AddDictItemMethods(interp, cls);
  AddDictIterationMethods(interp, cls);
  AddMethod(interp, cls, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
    return Value(s);
  });
  AddMethod(interp, cls, "_move_to_end", MoveToEnd);
  cls->attrs->table.SetStr(interp.heap(), interp.names().__hash__, Value::None());
  InitDictViews(interp);
}

void InitSetTypes(Interpreter& interp) {
  using Op = Interpreter::BinaryOp;
  ClassObject* set = interp.types().set;
  SetNativeNew(interp, set, SetNew);
  SetNativeNew(interp, interp.types().frozenset, FrozenSetNew);
  InitSet(interp, set);
  InitSet(interp, interp.types().frozenset);
  set->attrs->table.SetStr(interp.heap(), interp.names().__hash__, Value::None());
  AddMethod(interp, interp.types().frozenset, "__hash__",
            [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
              COBRA_TRY_ASSIGN(uint64_t h, interp.Hash(args.self));
              return Value::Int(static_cast<int64_t>(h >> 4));
            });
  AddMethod(interp, set, "__init__", SetInit);
  AddMethod(interp, set, "update", Combine<Op::kBitOr, true>);
  AddMethod(interp, set, "intersection_update", Combine<Op::kBitAnd, true>);
  AddMethod(interp, set, "difference_update", Combine<Op::kSub, true>);
  AddMethod(interp, set, "symmetric_difference_update", Combine<Op::kBitXor, true>);
  AddMethod(interp, set, "add", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, One(interp, "add", args));
    COBRA_TRY(interp.SetAdd(SelfSet(args), v));
    return Value::None();
  });
  AddMethod(interp, set, "discard", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, One(interp, "discard", args));
    COBRA_TRY(interp.SetErase(SelfSet(args), v));
    return Value::None();
  });
  AddMethod(interp, set, "remove", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, One(interp, "remove", args));
    COBRA_TRY_ASSIGN(bool erased, interp.SetErase(SelfSet(args), v));
    if (!erased) return interp.RaiseValue(NewException(interp, interp.types().KeyError, 1, &v));
    return Value::None();
  });
  AddMethod(interp, set, "pop", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    interp.Spend(static_cast<int64_t>(SelfSet(args)->table.entry_count()) / 8);
    std::vector<Value> items = SetItems(*SelfSet(args));
    if (!items.empty()) {
      COBRA_TRY(interp.SetErase(SelfSet(args), items[0]));
      return items[0];
    }
    return interp.Raise(interp.types().KeyError, "pop from an empty set");
  });
  AddMethod(interp, set, "clear", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    interp.Spend(StepsToScan(SelfSet(args)->table.index_size()));
    ClearSet(SelfSet(args));
    return Value::None();
  });
}

}  // namespace cobra::python
