// list, tuple, range, slice.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

Result<Value> SeqGetItem(Interpreter& interp, absl::Span<const Value> items, Value key, bool as_tuple,
                         absl::string_view type_name) {
  if (key.IsSlice()) {
    COBRA_TRY_ASSIGN(Interpreter::SliceIndices r,
                     interp.ResolveSlice(key.as<SliceObject>(), static_cast<int64_t>(items.size())));
    if (as_tuple) {
      TupleObject* t = interp.NewTupleOfSize(r.length);
      for (int64_t i = 0, at = r.start; i < r.length; ++i, at += r.step) t->items[i] = items[static_cast<size_t>(at)];
      return Value(t);
    }
    ListObject* l = interp.NewList();
    l->items.reserve(interp.heap(), static_cast<size_t>(r.length));
    for (int64_t i = 0, at = r.start; i < r.length; ++i, at += r.step)
      l->items.push_back(interp.heap(), items[static_cast<size_t>(at)]);
    return Value(l);
  }
  if (!IsIntLike(key) &&
      (!key.IsObject() || interp.LookupClass(key.object()->cls, interp.names().__index__).IsUnbound())) {
    return interp.Raise(interp.types().TypeError, type_name, " indices must be integers or slices, not ",
                        interp.TypeName(key));
  }
  COBRA_TRY_ASSIGN(int64_t i, interp.Index(key));
  int64_t n = static_cast<int64_t>(items.size());
  if (i < 0) i += n;
  if (i < 0 || i >= n) return interp.Raise(interp.types().IndexError, type_name, " index out of range");
  return items[static_cast<size_t>(i)];
}

Value WithTupleClassOf(Interpreter& interp, Value like, Value made) {
  ClassObject* cls = like.object()->cls;
  if (cls == interp.types().tuple || !cls->is_native || !made.IsTuple() ||
      interp.LookupClass(cls, interp.Intern("_closed")).IsUnbound())
    return made;
  auto* tuple = made.as<TupleObject>();
  if (tuple->size == 0) tuple = interp.heap().New<TupleObject>();  // the empty tuple is shared
  tuple->cls = cls;
  return tuple;
}

Result<void> ListExtend(Interpreter& interp, ListObject* list, Value items) {
  if (items.IsList() && items.object()->cls == interp.types().list) {  // possibly the list itself
    auto* other = items.as<ListObject>();
    size_t n = other->items.size();
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(list->items.size() + n)));
    list->items.reserve(interp.heap(), list->items.size() + n);
    for (size_t i = 0; i < n; ++i) list->items.push_back(interp.heap(), other->items[i]);
    return {};
  }
  return interp.Iterate(items, [&](Value v) -> Result<bool> {
    COBRA_TRY(interp.CheckSize(static_cast<int64_t>(list->items.size()) + 1));
    list->items.push_back(interp.heap(), v);
    return true;
  });
}

Result<void> ListSetItem(Interpreter& interp, ListObject* list, Value key, Value value) {
  auto& items = list->items;
  if (key.IsSlice()) {
    std::vector<Value> fresh;
    if (!IsIterable(interp, value)) return interp.Raise(interp.types().TypeError, "can only assign an iterable");
    COBRA_TRY_ASSIGN(fresh, interp.ToVector(value));
    COBRA_TRY_ASSIGN(Interpreter::SliceIndices r,
                     interp.ResolveSlice(key.as<SliceObject>(), static_cast<int64_t>(items.size())));
    if (r.step == 1) {
      COBRA_TRY(interp.Charge((static_cast<int64_t>(items.size()) - r.start) / 8));
      std::vector<Value> tail(items.begin() + std::max(r.start, r.stop), items.end());
      COBRA_TRY(interp.CheckSize(r.start + static_cast<int64_t>(fresh.size() + tail.size())));
      while (static_cast<int64_t>(items.size()) > r.start) items.pop_back();
      for (Value v : fresh) items.push_back(interp.heap(), v);
      for (Value v : tail) items.push_back(interp.heap(), v);
      return {};
    }
    if (static_cast<int64_t>(fresh.size()) != r.length) {
      return interp.Raise(interp.types().ValueError, "attempt to assign sequence of size ", fresh.size(),
                          " to extended slice of size ", r.length);
    }
    for (int64_t i = 0, at = r.start; i < r.length; ++i, at += r.step)
      items[static_cast<size_t>(at)] = fresh[static_cast<size_t>(i)];
    return {};
  }
  if (!IsIntLike(key) &&
      (!key.IsObject() || interp.LookupClass(key.object()->cls, interp.names().__index__).IsUnbound())) {
    return interp.Raise(interp.types().TypeError, "list indices must be integers or slices, not ",
                        interp.TypeName(key));
  }
  COBRA_TRY_ASSIGN(int64_t i, interp.Index(key));
  if (i < 0) i += static_cast<int64_t>(items.size());
  if (i < 0 || i >= static_cast<int64_t>(items.size()))
    return interp.Raise(interp.types().IndexError, "list assignment index out of range");
  items[static_cast<size_t>(i)] = value;
  return {};
}

Result<void> ListDelItem(Interpreter& interp, ListObject* list, Value key) {
  auto& items = list->items;
  if (key.IsSlice()) {
    COBRA_TRY_ASSIGN(Interpreter::SliceIndices r,
                     interp.ResolveSlice(key.as<SliceObject>(), static_cast<int64_t>(items.size())));
    COBRA_TRY(interp.Charge(static_cast<int64_t>(items.size()) / 8));
    std::vector<bool> gone(items.size(), false);
    for (int64_t i = 0, at = r.start; i < r.length; ++i, at += r.step) gone[static_cast<size_t>(at)] = true;
    size_t kept = 0;
    for (size_t i = 0; i < gone.size(); ++i) {
      if (!gone[i]) items[kept++] = items[i];
    }
    while (items.size() > kept) items.pop_back();
    return {};
  }
  COBRA_TRY_ASSIGN(int64_t i, interp.Index(key));
  if (i < 0) i += static_cast<int64_t>(items.size());
  if (i < 0 || i >= static_cast<int64_t>(items.size()))
    return interp.Raise(interp.types().IndexError, "list assignment index out of range");
  interp.Spend((static_cast<int64_t>(items.size()) - i) / 16);
  items.erase(static_cast<size_t>(i), static_cast<size_t>(i) + 1);
  return {};
}

Result<Value> RepeatSequence(Interpreter& interp, Value sequence, Value count) {
  if (!IsIntLike(count)) {
    COBRA_TRY_ASSIGN(int64_t index, interp.Index(count));
    count = Value::Int(index);
  }
  COBRA_TRY_ASSIGN(int64_t n, ToInt64(interp, count, "cannot fit 'int' into an index-sized integer"));
  n = std::max<int64_t>(n, 0);
  COBRA_TRY_ASSIGN(int64_t length,
                   sequence.IsStr()     ? Result<int64_t>(sequence.as<StrObject>()->size)
                   : sequence.IsBytes() ? Result<int64_t>(sequence.as<BytesObject>()->size)
                   : sequence.IsTuple()
                       ? Result<int64_t>(sequence.as<TupleObject>()->size)
                       : Result<int64_t>(static_cast<int64_t>(sequence.as<ListObject>()->items.size())));
  int64_t total = 0;
  if (__builtin_mul_overflow(n, length, &total)) total = INT64_MAX / 32;
  COBRA_TRY(interp.CheckSize(total, sequence.IsStr() || sequence.IsBytes() ? 1 : 16));
  interp.Spend(total / 16);
  if (sequence.IsStr() || sequence.IsBytes()) {
    std::string out;
    out.reserve(static_cast<size_t>(total));
    absl::string_view text = sequence.IsStr() ? sequence.str() : sequence.as<BytesObject>()->view();
    for (int64_t i = 0; length > 0 && i < n; ++i) out.append(text.data(), text.size());
    return sequence.IsStr() ? Value(interp.NewStr(out)) : Value(interp.NewBytes(out));
  }
  if (sequence.IsTuple()) {
    TupleObject* t = interp.NewTupleOfSize(total);
    for (int64_t i = 0; i < total; ++i) t->items[i] = sequence.as<TupleObject>()->items[i % length];
    return WithTupleClassOf(interp, sequence, t);
  }
  ListObject* l = interp.NewList();
  l->items.reserve(interp.heap(), static_cast<size_t>(total));
  for (int64_t i = 0; i < total; ++i)
    l->items.push_back(interp.heap(), sequence.as<ListObject>()->items[static_cast<size_t>(i % length)]);
  return Value(l);
}

namespace {

ListObject* Self(const CallArgs& args) { return args.self.as<ListObject>(); }

Result<Value> ListNew(Interpreter& interp, const CallArgs& args) {
  ListObject* l = interp.NewList();
  l->cls = args.self.as<ClassObject>();
  return Value(l);
}
Result<Value> ListInit(Interpreter& interp, const CallArgs& args) {
  Value items = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "list", args).Optional("iterable", &items).Finish());
  ListObject* fresh = interp.NewList();
  if (!items.IsUnbound()) COBRA_TRY(ListExtend(interp, fresh, items));
  Self(args)->items.swap(fresh->items);
  return Value::None();
}
Result<Value> Append(Interpreter& interp, const CallArgs& args) {
  if (args.positional.size() != 1 || !args.keywords.empty()) {
    return interp.Raise(interp.types().TypeError, "list.append() takes exactly one argument (", args.positional.size(),
                        " given)");
  }
  COBRA_TRY(interp.CheckSize(static_cast<int64_t>(Self(args)->items.size()) + 1, 0));
  Self(args)->items.push_back(interp.heap(), args.positional[0]);
  return Value::None();
}
Result<Value> Extend(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, "extend", "iterable", args));
  COBRA_TRY(ListExtend(interp, Self(args), items));
  return Value::None();
}
Result<Value> Insert(Interpreter& interp, const CallArgs& args) {
  int64_t index;
  Value v;
  COBRA_TRY(ArgReader(interp, "insert", args).Required("index", &index).Required("object", &v).Finish());
  auto& items = Self(args)->items;
  int64_t n = static_cast<int64_t>(items.size());
  if (index < 0) index = std::max<int64_t>(index + n, 0);
  interp.Spend((n - std::min(index, n)) / 16);
  items.insert(interp.heap(), static_cast<size_t>(std::min(index, n)), v);
  return Value::None();
}
Result<Value> Pop(Interpreter& interp, const CallArgs& args) {
  int64_t index = -1;
  COBRA_TRY(ArgReader(interp, "pop", args).Optional("index", &index).Finish());
  auto& items = Self(args)->items;
  if (items.empty()) return interp.Raise(interp.types().IndexError, "pop from empty list");
  if (index < 0) index += static_cast<int64_t>(items.size());
  if (index < 0 || index >= static_cast<int64_t>(items.size()))
    return interp.Raise(interp.types().IndexError, "pop index out of range");
  Value v = items[static_cast<size_t>(index)];
  interp.Spend((static_cast<int64_t>(items.size()) - index) / 16);
  items.erase(static_cast<size_t>(index), static_cast<size_t>(index) + 1);
  return v;
}

// Position of the first item equal to `v` in [start, stop), or -1.
Result<int64_t> FindItem(Interpreter& interp, Value sequence, Value v, int64_t start, int64_t stop) {
  for (int64_t i = start; i < stop; ++i) {
    auto items = sequence.IsTuple() ? sequence.as<TupleObject>()->span()
                                    : absl::MakeConstSpan(sequence.as<ListObject>()->items.data(),
                                                          sequence.as<ListObject>()->items.size());
    if (i >= static_cast<int64_t>(items.size())) break;
    COBRA_TRY(interp.Step());
    Value item = items[static_cast<size_t>(i)];
    if (item.IsSame(v)) return i;
    COBRA_TRY_ASSIGN(bool equal, interp.Equal(item, v));
    if (equal) return i;
  }
  return int64_t{-1};
}
Result<Value> IndexOf(Interpreter& interp, const CallArgs& args) {
  Value v;
  int64_t start = 0, stop = INT64_MAX;
  ArgReader reader(interp, "index", args);
  COBRA_TRY(reader.Required("value", &v).Optional("start", &start).Optional("stop", &stop).Finish());
  COBRA_TRY_ASSIGN(int64_t n, interp.Length(args.self));
  if (args.self.IsRange()) {
    for (int64_t i = 0; i < n; ++i) {
      COBRA_TRY(interp.Step());
      COBRA_TRY_ASSIGN(Value item, interp.GetItem(args.self, Value::Int(i)));
      COBRA_TRY_ASSIGN(bool equal, interp.Equal(item, v));
      if (equal) return Value::Int(i);
    }
    return interp.Raise(interp.types().ValueError, "value is not in range");
  }
  if (start < 0) start = std::max<int64_t>(start + n, 0);
  if (stop < 0) stop += n;
  COBRA_TRY_ASSIGN(int64_t at, FindItem(interp, args.self, v, start, std::min(stop, n)));
  if (at >= 0) return Value::Int(at);
  if (args.self.IsTuple()) return interp.Raise(interp.types().ValueError, "tuple.index(x): x not in tuple");
  COBRA_TRY_ASSIGN(StrObject * repr, interp.Repr(v));
  return interp.Raise(interp.types().ValueError, repr->view(), " is not in list");
}
Result<Value> Count(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "count", "value", args));
  int64_t n = 0;
  COBRA_TRY(interp.Iterate(args.self, [&](Value item) -> Result<bool> {
    COBRA_TRY_ASSIGN(bool equal, item.IsSame(v) ? Result<bool>(true) : interp.Equal(item, v));
    n += equal;
    return true;
  }));
  return Value::Int(n);
}
Result<Value> Remove(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "remove", "value", args));
  COBRA_TRY_ASSIGN(int64_t at, FindItem(interp, args.self, v, 0, INT64_MAX));
  if (at < 0) return interp.Raise(interp.types().ValueError, "list.remove(x): x not in list");
  Self(args)->items.erase(static_cast<size_t>(at), static_cast<size_t>(at) + 1);
  return Value::None();
}
Result<Value> Sort(Interpreter& interp, const CallArgs& args) {
  Value key;
  bool reverse = false;
  COBRA_TRY(ArgReader(interp, "sort", args).KeywordOnly().Optional("key", &key).Optional("reverse", &reverse).Finish());
  // During the sort the program sees an empty list. If a comparison fails, the list gets the values
  // in their partly sorted order.
  auto& items = Self(args)->items;
  std::vector<Value> values(items.begin(), items.end());
  items.clear();
  Result<void> done = SortValues(interp, &values, key, reverse);
  const bool modified = !items.empty();
  items.clear();
  for (Value v : values) items.push_back(interp.heap(), v);
  if (!done.ok()) return Failure();
  if (modified) return interp.Raise(interp.types().ValueError, "list modified during sort");
  return Value::None();
}

class ReverseIterator : public NativeIterator {
 public:
  ReverseIterator(Value sequence, int64_t at) : sequence_(sequence), at_(at) {}
  Result<Value> Next(Interpreter& interp) override {
    if (at_ < 0) return Value::Unbound();
    Result<Value> v = interp.GetItem(sequence_, Value::Int(at_--));
    if (!v.ok() && interp.CatchException(interp.types().IndexError)) {
      at_ = -1;
      return Value::Unbound();
    }
    return v;
  }

 private:
  Value sequence_;
  int64_t at_;
};

Result<Value> Reversed(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(int64_t n, interp.Length(args.self));
  return interp.NewIterator(interp.heap().New<ReverseIterator>(args.self, n - 1));
}

Result<Value> TupleNew(Interpreter& interp, const CallArgs& args) {
  Value items = Value::Unbound();
  COBRA_TRY(ArgReader(interp, "tuple", args).Optional("iterable", &items).Finish());
  auto* cls = args.self.as<ClassObject>();
  if (items.IsTuple() && items.object()->cls == interp.types().tuple && cls == interp.types().tuple) return items;
  std::vector<Value> values;
  if (!items.IsUnbound()) COBRA_TRY_SET(values, interp.ToVector(items));
  TupleObject* t = interp.NewTuple(values);
  if (cls != interp.types().tuple) {
    t = interp.heap().New<TupleObject>(*t);
    t->cls = cls;
    t->attrs = nullptr;
  }
  return Value(t);
}

Result<Value> RangeNew(Interpreter& interp, const CallArgs& args) {
  if (args.positional.empty() || args.positional.size() > 3 || !args.keywords.empty()) {
    return interp.Raise(interp.types().TypeError,
                        args.positional.empty()
                            ? "range expected at least 1 argument, got 0"
                            : absl::StrCat("range expected at most 3 arguments, got ", args.positional.size()));
  }
  int64_t v[3] = {0, 0, 1};
  for (size_t i = 0; i < args.positional.size(); ++i) COBRA_TRY_SET(v[i], interp.Index(args.positional[i]));
  if (args.positional.size() == 1) return interp.NewRange(0, v[0], 1);
  return interp.NewRange(v[0], v[1], v[2]);
}

Result<Value> SliceNew(Interpreter& interp, const CallArgs& args) {
  auto p = args.positional;
  if (p.empty() || p.size() > 3) return interp.Raise(interp.types().TypeError, "slice expected 1 to 3 arguments");
  if (p.size() == 1) return Value(interp.NewSlice(Value::None(), p[0], Value::None()));
  return Value(interp.NewSlice(p[0], p[1], p.size() > 2 ? p[2] : Value::None()));
}

}  // namespace

// Methods of every built-in sequence, for subclasses and direct calls.
void AddSequenceMethods(Interpreter& interp, ClassObject* cls) {
  AddMethod(interp, cls, "__len__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    switch (args.self.object()->kind) {
      case ObjectKind::kList: return Value::Int(static_cast<int64_t>(args.self.as<ListObject>()->items.size()));
      case ObjectKind::kTuple: return Value::Int(args.self.as<TupleObject>()->size);
      case ObjectKind::kBytes: return Value::Int(args.self.as<BytesObject>()->size);
      default: return Value::Int(args.self.as<RangeObject>()->length);
    }
  });
  AddMethod(interp, cls, "__getitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value key, OnlyArgument(interp, "__getitem__", "key", args));
    if (args.self.IsList()) {
      auto& items = args.self.as<ListObject>()->items;
      return SeqGetItem(interp, absl::MakeConstSpan(items.data(), items.size()), key, false, "list");
    }
    if (args.self.IsTuple()) return SeqGetItem(interp, args.self.as<TupleObject>()->span(), key, true, "tuple");
    return interp.GetItem(args.self, key);
  });
  AddMethod(interp, cls, "__contains__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "__contains__", "key", args));
    if (!args.self.IsList() && !args.self.IsTuple()) {
      COBRA_TRY_ASSIGN(bool in, interp.Contains(args.self, v));
      return Value::Bool(in);
    }
    COBRA_TRY_ASSIGN(int64_t at, FindItem(interp, args.self, v, 0, INT64_MAX));
    return Value::Bool(at >= 0);
  });
  AddMethod(interp, cls, "__iter__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    // Uses the iterator of the layout, without looking at overrides.
    if (args.self.IsList()) {
      ListObject* plain = args.self.as<ListObject>();
      if (plain->cls == interp.types().list) return interp.Iter(args.self);
      return interp.Iter(Value(interp.NewList(absl::MakeConstSpan(plain->items.data(), plain->items.size()))));
    }
    if (args.self.IsTuple()) return interp.Iter(Value(interp.NewTuple(args.self.as<TupleObject>()->span())));
    return interp.Iter(args.self);
  });
  AddMethod(interp, cls, "__reversed__", Reversed);
  AddMethod(interp, cls, "__repr__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(StrObject * s, DefaultRepr(interp, args.self));
    return Value(s);
  });
  AddMethod(interp, cls, "index", IndexOf);
  AddMethod(interp, cls, "count", Count);
}

namespace {

void AddListMethods(Interpreter& interp, ClassObject* list) {
  AddMethod(interp, list, "append", Append);
  AddMethod(interp, list, "extend", Extend);
  AddMethod(interp, list, "insert", Insert);
  AddMethod(interp, list, "pop", Pop);
  AddMethod(interp, list, "remove", Remove);
  AddMethod(interp, list, "sort", Sort);
  AddMethod(interp, list, "clear", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    Self(args)->items.clear();
    return Value::None();
  });
  AddMethod(interp, list, "copy", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    return Value(interp.NewList(absl::MakeConstSpan(Self(args)->items.data(), Self(args)->items.size())));
  });
  AddMethod(interp, list, "reverse", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    interp.Spend(static_cast<int64_t>(Self(args)->items.size()) / 16);
    std::reverse(Self(args)->items.begin(), Self(args)->items.end());
    return Value::None();
  });
}

void AddListItemMethods(Interpreter& interp, ClassObject* list) {
  AddMethod(interp, list, "__setitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value key, value;
    COBRA_TRY(ArgReader(interp, "__setitem__", args).Required("key", &key).Required("value", &value).Finish());
    COBRA_TRY(ListSetItem(interp, Self(args), key, value));
    return Value::None();
  });
  AddMethod(interp, list, "__delitem__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value key, OnlyArgument(interp, "__delitem__", "key", args));
    COBRA_TRY(ListDelItem(interp, Self(args), key));
    return Value::None();
  });
  AddMethod(interp, list, "__iadd__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, "__iadd__", "value", args));
    COBRA_TRY(ListExtend(interp, Self(args), items));
    return args.self;
  });
}

void InitList(Interpreter& interp) {
  using Op = Interpreter::BinaryOp;
  ClassObject* list = interp.types().list;
  SetNativeNew(interp, list, ListNew);
  AddSequenceMethods(interp, list);
  AddOperatorMethods(interp, list, {Op::kAdd, Op::kMult}, true);
  AddMethod(interp, list, "__init__", ListInit);
  AddListMethods(interp, list);
  AddListItemMethods(interp, list);
  list->attrs->table.SetStr(interp.heap(), interp.names().__hash__, Value::None());
}

void InitTuple(Interpreter& interp) {
  using Op = Interpreter::BinaryOp;
  ClassObject* tuple = interp.types().tuple;
  SetNativeNew(interp, tuple, TupleNew);
  AddSequenceMethods(interp, tuple);
  AddOperatorMethods(interp, tuple, {Op::kAdd, Op::kMult}, true);
  AddMethod(interp, tuple, "__hash__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(uint64_t h, interp.Hash(Value(interp.NewTuple(args.self.as<TupleObject>()->span()))));
    return Value::Int(static_cast<int64_t>(h >> 4));
  });
}

void InitRange(Interpreter& interp) {
  ClassObject* range = interp.types().range;
  SetNativeNew(interp, range, RangeNew);
  AddSequenceMethods(interp, range);
  AddProperty(interp, range, "start", [](Interpreter&, const CallArgs& a) -> Result<Value> {
    return Value::Int(a.self.as<RangeObject>()->start);
  });
  AddProperty(interp, range, "stop", [](Interpreter&, const CallArgs& a) -> Result<Value> {
    return Value::Int(a.self.as<RangeObject>()->stop);
  });
  AddProperty(interp, range, "step", [](Interpreter&, const CallArgs& a) -> Result<Value> {
    return Value::Int(a.self.as<RangeObject>()->step);
  });
}

void InitSlice(Interpreter& interp) {
  ClassObject* slice = interp.types().slice;
  SetNativeNew(interp, slice, SliceNew);
  AddProperty(interp, slice, "start",
              [](Interpreter&, const CallArgs& a) -> Result<Value> { return a.self.as<SliceObject>()->start; });
  AddProperty(interp, slice, "stop",
              [](Interpreter&, const CallArgs& a) -> Result<Value> { return a.self.as<SliceObject>()->stop; });
  AddProperty(interp, slice, "step",
              [](Interpreter&, const CallArgs& a) -> Result<Value> { return a.self.as<SliceObject>()->step; });
  AddMethod(interp, slice, "indices", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(int64_t length, OnlyArgument<int64_t>(interp, "indices", "length", args));
    COBRA_TRY_ASSIGN(Interpreter::SliceIndices r, interp.ResolveSlice(args.self.as<SliceObject>(), length));
    return Value(interp.NewTuple({Value::Int(r.start), Value::Int(r.stop), Value::Int(r.step)}));
  });
}

}  // namespace

void InitSequenceTypes(Interpreter& interp) {
  InitList(interp);
  InitTuple(interp);
  InitRange(interp);
  InitSlice(interp);
}

}  // namespace cobra::python
