// Items and iteration: len, x[i], in, iter, next; and the dict and set operations that may run a program's __eq__ and
// __hash__.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/import.h"
#include "frontend/python/runtime/internal.h"
#include "frontend/python/runtime/set_order.h"

namespace cobra::python {

// ---- dict and set ----

namespace {
auto SameKey(Interpreter& interp, Value key) {
  return [&interp, key](Value other) -> Result<bool> { return interp.Equal(other, key); };
}
bool PlainStr(Interpreter& interp, Value v) { return v.IsStr() && v.object()->cls == interp.types().str; }
}  // namespace

Result<Value> Interpreter::DictGet(DictObject* dict, Value key) {
  if (PlainStr(*this, key)) {
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
  // As in CPython, a class that iterates in its own way is asked for its keys() and items; others are copied as they
  // are.
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
    if (!IsIterable(*this, pair)) {
      return Raise(types_.TypeError,
                   absl::StrCat("cannot convert dictionary update sequence element #", index, " to a sequence"));
    }
    COBRA_TRY_ASSIGN(std::vector<Value> kv, ToVector(pair));
    if (kv.size() != 2) {
      return Raise(types_.ValueError, absl::StrCat("dictionary update sequence element #", index, " has length ",
                                                   kv.size(), "; 2 is required"));
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
        return Raise(types_.TypeError, absl::StrCat("'", TypeName(n), "' object cannot be interpreted as an integer"));
      COBRA_TRY_ASSIGN(int64_t length, Index(n));
      if (length < 0) return Raise(types_.ValueError, "__len__() should return >= 0");
      return length;
    }
    if (v.IsOpaque()) return OpaqueUsed(*this, v.as<OpaqueObject>()->dotted_name->view(), "len(", ")");
  }
  return Raise(types_.TypeError, absl::StrCat("object of type '", TypeName(v), "' has no len()"));
}

namespace {

// Whether the class is the built-in one or does not redefine `name` below it.
bool UsesBuiltin(Interpreter& interp, Value v, StrObject* name) {
  ClassObject* cls = v.object()->cls;
  if (v.IsInstance()) return false;
  if (cls->is_native) return true;
  Value method = interp.LookupClass(cls, name);
  return method.IsUnbound() || method.IsBuiltin();
}

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
  return interp.Raise(t.TypeError, absl::StrCat("type '", cls->name->view(), "' is not subscriptable"));
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
          return r.ok() && key.IsSlice() ? Result<Value>(OfSameTupleClass(*this, v, *r)) : r;
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
  return Raise(types_.TypeError, absl::StrCat("'", TypeName(v), "' object is not subscriptable"));
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
  return Raise(types_.TypeError, absl::StrCat("'", TypeName(v), "' object does not support item assignment"));
}

Result<void> Interpreter::DelItem(Value v, Value key) {
  if (v.IsObject()) {
    if (UsesBuiltin(*this, v, names_.__delitem__)) {
      if (v.IsList()) return ListDelItem(*this, v.as<ListObject>(), key);
      if (v.IsDict()) {
        COBRA_TRY_ASSIGN(bool erased, DictErase(v.as<DictObject>(), key));
        if (!erased) return RaiseValue(NewException(*this, types_.KeyError, 1, &key));
        return {};
      }
    }
    COBRA_TRY_ASSIGN(Value r, CallSpecial(v, names_.__delitem__, {key}));
    if (!r.IsUnbound()) return {};
  }
  return Raise(types_.TypeError, absl::StrCat("'", TypeName(v), "' object doesn't support item deletion"));
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
        if (!item.IsStr()) {
          return Raise(types_.TypeError,
                       absl::StrCat("'in <string>' requires string as left operand, not ", TypeName(item)));
        }
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
  if (!IsIterable(*this, container)) {
    return Raise(types_.TypeError, absl::StrCat("argument of type '", TypeName(container), "' is not iterable"));
  }
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
      if (!IsIntLike(r))
        return Raise(types_.TypeError, absl::StrCat("__index__ returned non-int (type ", TypeName(r), ")"));
      return Index(r);
    }
  }
  return Raise(types_.TypeError, absl::StrCat("'", TypeName(v), "' object cannot be interpreted as an integer"));
}

Result<Interpreter::SliceIndices> Interpreter::ResolveSlice(const SliceObject* s, int64_t length) {
  auto index = [&](Value v) -> Result<int64_t> {
    if (v.IsBigInt()) return ToBigInt(v).negative() ? INT64_MIN : INT64_MAX;  // clamped below
    if (v.IsIntOrBool()) return v.as_int();
    Result<int64_t> i = Index(v);
    if (!i.ok() && CatchException(types_.TypeError)) {
      return Raise(types_.TypeError, "slice indices must be integers or None or have an __index__ method");
    }
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

// ---- iteration ----

bool IsIterable(Interpreter& interp, Value v) {
  if (!v.IsObject()) return false;
  if (v.IsClass() && !v.as<ClassObject>()->has_metaclass) return false;
  ClassObject* cls = v.object()->cls;
  Value iter = interp.LookupClass(cls, interp.names().__iter__);
  if (!iter.IsUnbound()) return !iter.IsNone();
  return !interp.LookupClass(cls, interp.names().__getitem__).IsUnbound() && !v.IsClass() && !v.IsGenericAlias();
}

namespace {

class ListIterator : public NativeIterator {
 public:
  explicit ListIterator(ListObject* list) : list_(list) {}
  Result<Value> Next(Interpreter&) override {
    if (list_ == nullptr || at_ >= list_->items.size()) {
      list_ = nullptr;
      return Value::Unbound();
    }
    return list_->items[at_++];
  }
  int64_t LengthHint() const override { return list_ == nullptr ? 0 : static_cast<int64_t>(list_->items.size() - at_); }

 private:
  ListObject* list_;
  size_t at_ = 0;
};

class TupleIterator : public NativeIterator {
 public:
  explicit TupleIterator(TupleObject* tuple) : tuple_(tuple) {}
  Result<Value> Next(Interpreter&) override { return at_ < tuple_->size ? tuple_->items[at_++] : Value::Unbound(); }
  int64_t LengthHint() const override { return tuple_->size - at_; }

 private:
  TupleObject* tuple_;
  int64_t at_ = 0;
};

class RangeIterator : public NativeIterator {
 public:
  explicit RangeIterator(const RangeObject* r) : next_(r->start), step_(r->step), left_(r->length) {}
  Result<Value> Next(Interpreter&) override {
    if (left_ == 0) return Value::Unbound();
    Value v = Value::Int(next_);
    if (--left_ > 0) next_ += step_;
    return v;
  }
  int64_t LengthHint() const override { return left_; }

 private:
  int64_t next_, step_, left_;
};

class StrIterator : public NativeIterator {
 public:
  explicit StrIterator(StrObject* s) : s_(s) {}
  Result<Value> Next(Interpreter& interp) override {
    if (at_ >= s_->size) return Value::Unbound();
    int64_t begin = at_;
    DecodeUtf8(s_->data, &at_);
    return Value(interp.NewStr(absl::string_view(s_->data + begin, static_cast<size_t>(at_ - begin))));
  }

 private:
  StrObject* s_;
  int64_t at_ = 0;
};

class BytesIterator : public NativeIterator {
 public:
  explicit BytesIterator(BytesObject* b) : b_(b) {}
  Result<Value> Next(Interpreter&) override {
    return at_ < b_->size ? Value::Int(static_cast<unsigned char>(b_->data[at_++])) : Value::Unbound();
  }

 private:
  BytesObject* b_;
  int64_t at_ = 0;
};

class TableIterator : public NativeIterator {
 public:
  TableIterator(DictTable* table, DictViewObject::What what) : table_(table), what_(what), version_(table->version()) {}
  Result<Value> Next(Interpreter& interp) override {
    if (done_) return Value::Unbound();
    if (table_->version() != version_) {
      done_ = true;
      return interp.Raise(interp.types().RuntimeError, "dictionary changed size during iteration");
    }
    while (at_ < table_->entry_count()) {
      const DictTable::Entry& e = table_->entry(at_++);
      if (e.key.IsUnbound()) continue;
      switch (what_) {
        case DictViewObject::What::kKeys: return e.key;
        case DictViewObject::What::kValues: return e.value;
        case DictViewObject::What::kItems: return Value(interp.NewTuple({e.key, e.value}));
      }
    }
    done_ = true;
    return Value::Unbound();
  }
  int64_t LengthHint() const override { return table_->size(); }

 private:
  DictTable* table_;
  DictViewObject::What what_;
  uint32_t version_;
  bool done_ = false;
  size_t at_ = 0;
};

class SetIterator : public NativeIterator {
 public:
  explicit SetIterator(SetObject* set) : set_(set), order_(SetItems(*set)), version_(set->table.version()) {}
  Result<Value> Next(Interpreter& interp) override {
    if (at_ >= order_.size()) return Value::Unbound();
    if (set_->table.version() != version_) {
      at_ = order_.size();
      return interp.Raise(interp.types().RuntimeError, "Set changed size during iteration");
    }
    return order_[at_++];
  }
  int64_t LengthHint() const override { return static_cast<int64_t>(order_.size() - at_); }

 private:
  SetObject* set_;
  std::vector<Value> order_;
  uint32_t version_;
  size_t at_ = 0;
};

// The old protocol: __getitem__ with 0, 1, 2, ... until IndexError.
class GetItemIterator : public NativeIterator {
 public:
  explicit GetItemIterator(Value v) : v_(v) {}
  Result<Value> Next(Interpreter& interp) override {
    if (done_) return Value::Unbound();
    Result<Value> r = interp.GetItem(v_, Value::Int(at_++));
    if (r.ok()) return r;
    if (!interp.CatchException(interp.types().IndexError) && !interp.CatchException(interp.types().StopIteration))
      return r;
    done_ = true;
    return Value::Unbound();
  }

 private:
  Value v_;
  int64_t at_ = 0;
  bool done_ = false;
};

}  // namespace

Result<Value> Interpreter::Iter(Value v) {
  if (v.IsObject()) {
    if (UsesBuiltin(*this, v, names_.__iter__)) {
      switch (v.object()->kind) {
        case ObjectKind::kGenerator:
          if (v.object()->cls != types_.generator) break;  // a coroutine
          return v;
        case ObjectKind::kIterator: return v;
        case ObjectKind::kList: return NewIterator(heap_.New<ListIterator>(v.as<ListObject>()));
        case ObjectKind::kTuple: return NewIterator(heap_.New<TupleIterator>(v.as<TupleObject>()));
        case ObjectKind::kRange: return NewIterator(heap_.New<RangeIterator>(v.as<RangeObject>()));
        case ObjectKind::kStr: return NewIterator(heap_.New<StrIterator>(v.as<StrObject>()));
        case ObjectKind::kBytes: return NewIterator(heap_.New<BytesIterator>(v.as<BytesObject>()));
        case ObjectKind::kDict:
          return NewIterator(heap_.New<TableIterator>(&v.as<DictObject>()->table, DictViewObject::What::kKeys));
        case ObjectKind::kSet: return NewIterator(heap_.New<SetIterator>(v.as<SetObject>()));
        case ObjectKind::kDictView: {
          auto* view = v.as<DictViewObject>();
          return NewIterator(heap_.New<TableIterator>(&view->dict->table, view->what));
        }
        case ObjectKind::kOpaque:
          return OpaqueUsed(*this, v.as<OpaqueObject>()->dotted_name->view(), "iterating over ");
        default: break;
      }
    }
    Value method = LookupClass(v.object()->cls, names_.__iter__);
    if (!method.IsUnbound() && !method.IsNone()) {
      COBRA_TRY_ASSIGN(Value it, CallSpecial(v, names_.__iter__, {}));
      if (it.IsIterator() || it.IsGenerator()) return it;
      if (LookupClass(class_of(it), names_.__next__).IsUnbound()) {
        return Raise(types_.TypeError, absl::StrCat("iter() returned non-iterator of type '", TypeName(it), "'"));
      }
      return it;
    }
    if (method.IsUnbound() && IsIterable(*this, v)) return NewIterator(heap_.New<GetItemIterator>(v));
  }
  return Raise(types_.TypeError, absl::StrCat("'", TypeName(v), "' object is not iterable"));
}

Result<Value> Interpreter::Next(Value it) {
  if (it.IsIterator()) return it.as<IteratorObject>()->iterator->Next(*this);
  if (it.IsGenerator()) return ResumeGenerator(*this, it.as<GeneratorObject>(), Value::None(), nullptr);
  Result<Value> r = CallSpecial(it, names_.__next__, {});
  if (!r.ok()) {
    if (CatchException(types_.StopIteration)) return Value::Unbound();
    return r;
  }
  if (r->IsUnbound()) return Raise(types_.TypeError, absl::StrCat("'", TypeName(it), "' object is not an iterator"));
  return r;
}

Result<void> Interpreter::Iterate(Value v, absl::FunctionRef<Result<bool>(Value)> visit) {
  // The three commonest without an iterator object. A list may change while it is walked.
  if (v.IsRange()) {
    auto* r = v.as<RangeObject>();
    int64_t at = r->start;
    for (int64_t i = 0; i < r->length; ++i) {
      COBRA_TRY(Step());
      COBRA_TRY_ASSIGN(bool more, visit(Value::Int(at)));
      if (!more) return {};
      if (i + 1 < r->length) at += r->step;
    }
    return {};
  }
  if (v.IsList() && v.object()->cls == types_.list) {
    auto* list = v.as<ListObject>();
    for (size_t i = 0; i < list->items.size(); ++i) {
      COBRA_TRY(Step());
      COBRA_TRY_ASSIGN(bool more, visit(list->items[i]));
      if (!more) return {};
    }
    return {};
  }
  if (v.IsTuple() && v.object()->cls == types_.tuple) {
    for (Value item : v.as<TupleObject>()->span()) {
      COBRA_TRY(Step());
      COBRA_TRY_ASSIGN(bool more, visit(item));
      if (!more) return {};
    }
    return {};
  }
  COBRA_TRY_ASSIGN(Value it, Iter(v));
  while (true) {
    COBRA_TRY(Step());
    COBRA_TRY_ASSIGN(Value item, Next(it));
    if (item.IsUnbound()) return {};
    COBRA_TRY_ASSIGN(bool more, visit(item));
    if (!more) return {};
  }
}

Result<std::vector<Value>> Interpreter::ToVector(Value v) {
  std::vector<Value> items;
  COBRA_TRY(Iterate(v, [&](Value item) -> Result<bool> {
    items.push_back(item);
    COBRA_TRY(CheckSize(static_cast<int64_t>(items.size())));
    return true;
  }));
  return items;
}

Result<ListObject*> Interpreter::ToList(Value v) {
  ListObject* list = NewList();
  COBRA_TRY(ListExtend(*this, list, v));
  return list;
}

}  // namespace cobra::python
