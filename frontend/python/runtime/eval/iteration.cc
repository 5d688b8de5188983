// Iteration: iter, next, and the iterators of the built-in types.
#include <vector>

#include "frontend/python/runtime/heap/set_order.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {

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
    for (int64_t erased = 0; at_ < table_->entry_count(); ++erased) {
      const DictTable::Entry& e = table_->entry(at_++);
      if (e.key.IsUnbound()) continue;
      interp.Spend(erased / 16);
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
        case ObjectKind::kSet:
          heap_.Allocate(static_cast<size_t>(v.as<SetObject>()->table.size()) * sizeof(Value));  // of its copy
          return NewIterator(heap_.New<SetIterator>(v.as<SetObject>()));
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
      if (LookupClass(class_of(it), names_.__next__).IsUnbound())
        return Raise(types_.TypeError, "iter() returned non-iterator of type '", TypeName(it), "'");
      return it;
    }
    if (method.IsUnbound() && IsIterable(*this, v)) return NewIterator(heap_.New<GetItemIterator>(v));
  }
  return Raise(types_.TypeError, "'", TypeName(v), "' object is not iterable");
}

Result<Value> Interpreter::Next(Value it) {
  if (it.IsIterator()) return it.as<IteratorObject>()->iterator->Next(*this);
  if (it.IsGenerator()) return ResumeGenerator(*this, it.as<GeneratorObject>(), Value::None(), nullptr);
  Result<Value> r = CallSpecial(it, names_.__next__, {});
  if (!r.ok()) {
    if (CatchException(types_.StopIteration)) return Value::Unbound();
    return r;
  }
  if (r->IsUnbound()) return Raise(types_.TypeError, "'", TypeName(it), "' object is not an iterator");
  return r;
}

Result<void> Interpreter::Iterate(Value v, absl::FunctionRef<Result<bool>(Value)> visit) {
  // The three commonest types need no iterator object. A list may change during the iteration.
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
