// enumerate, zip, map, filter, reversed, iter(callable, sentinel): classes whose instances are
// native iterators.
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

class EnumerateIterator : public NativeIterator {
 public:
  EnumerateIterator(Value it, int64_t at) : it_(it), at_(at) {}
  Result<Value> Next(Interpreter& interp) override {
    COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
    if (v.IsUnbound()) return v;
    return Value(interp.NewTuple({Value::Int(at_++), v}));
  }

 private:
  Value it_;
  int64_t at_;
};

class ZipIterator : public NativeIterator {
 public:
  ZipIterator(Value* its, size_t n, bool strict) : its_(its), n_(n), strict_(strict) {}
  Result<Value> Next(Interpreter& interp) override {
    if (n_ == 0) return Value::Unbound();
    interp.Spend(static_cast<int64_t>(n_) / 4);
    TupleObject* t = interp.NewTupleOfSize(static_cast<int64_t>(n_));
    for (size_t i = 0; i < n_; ++i) {
      COBRA_TRY_ASSIGN(t->items[i], interp.Next(its_[i]));
      if (!t->items[i].IsUnbound()) continue;
      if (!strict_) return Value::Unbound();
      if (i > 0) {
        return interp.Raise(interp.types().ValueError, "zip() argument ", i + 1, " is shorter than argument",
                            i == 1 ? " 1" : absl::StrCat("s 1-", i));
      }
      for (size_t j = 1; j < n_; ++j) {
        COBRA_TRY_ASSIGN(Value v, interp.Next(its_[j]));
        if (!v.IsUnbound()) {
          return interp.Raise(interp.types().ValueError, "zip() argument ", j + 1, " is longer than argument",
                              j == 1 ? " 1" : absl::StrCat("s 1-", j));
        }
      }
      return Value::Unbound();
    }
    return Value(t);
  }

 private:
  Value* its_;
  size_t n_;
  bool strict_;
};

class MapIterator : public NativeIterator {
 public:
  MapIterator(Value f, Value* its, size_t n) : f_(f), its_(its), n_(n) {}
  Result<Value> Next(Interpreter& interp) override {
    interp.Spend(static_cast<int64_t>(n_) / 4);
    std::vector<Value> args(n_);
    for (size_t i = 0; i < n_; ++i) {
      COBRA_TRY_ASSIGN(args[i], interp.Next(its_[i]));
      if (args[i].IsUnbound()) return args[i];
    }
    return interp.Call(f_, absl::MakeConstSpan(args), {});
  }

 private:
  Value f_;
  Value* its_;
  size_t n_;
};

class FilterIterator : public NativeIterator {
 public:
  FilterIterator(Value f, Value it) : f_(f), it_(it) {}
  Result<Value> Next(Interpreter& interp) override {
    while (true) {
      COBRA_TRY(interp.Step());
      COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
      if (v.IsUnbound()) return v;
      Value test = v;
      if (!f_.IsNone()) COBRA_TRY_SET(test, interp.Call(f_, {v}));
      COBRA_TRY_ASSIGN(bool keep, interp.Truth(test));
      if (keep) return v;
    }
  }

 private:
  Value f_, it_;
};

class SentinelIterator : public NativeIterator {
 public:
  SentinelIterator(Value f, Value sentinel) : f_(f), sentinel_(sentinel) {}
  Result<Value> Next(Interpreter& interp) override {
    if (done_) return Value::Unbound();
    COBRA_TRY_ASSIGN(Value v, interp.Call(f_, {}));
    COBRA_TRY_ASSIGN(done_, interp.Equal(v, sentinel_));
    return done_ ? Value::Unbound() : v;
  }

 private:
  Value f_, sentinel_;
  bool done_ = false;
};

Result<Value*> IterAll(Interpreter& interp, absl::Span<const Value> items) {
  auto* its = static_cast<Value*>(interp.heap().Allocate((items.size() + 1) * sizeof(Value)));
  for (size_t i = 0; i < items.size(); ++i) COBRA_TRY_SET(its[i], interp.Iter(items[i]));
  return its;
}

Value Make(Interpreter& interp, const CallArgs& args, NativeIterator* it) {
  Value v = interp.NewIterator(it);
  v.object()->cls = args.self.as<ClassObject>();
  return v;
}

Result<Value> EnumerateNew(Interpreter& interp, const CallArgs& args) {
  Value items;
  int64_t start = 0;
  COBRA_TRY(ArgReader(interp, "enumerate", args).Required("iterable", &items).Optional("start", &start).Finish());
  COBRA_TRY_ASSIGN(Value it, interp.Iter(items));
  return Make(interp, args, interp.heap().New<EnumerateIterator>(it, start));
}

Result<Value> ZipNew(Interpreter& interp, const CallArgs& args) {
  absl::Span<const Value> items;
  bool strict = false;
  COBRA_TRY(ArgReader(interp, "zip", args).VarArgs(&items).Optional("strict", &strict).Finish());
  COBRA_TRY_ASSIGN(Value * its, IterAll(interp, items));
  return Make(interp, args, interp.heap().New<ZipIterator>(its, items.size(), strict));
}

Result<Value> MapNew(Interpreter& interp, const CallArgs& args) {
  if (args.positional.size() < 2)
    return interp.Raise(interp.types().TypeError, "map() must have at least two arguments.");
  COBRA_TRY_ASSIGN(Value * its, IterAll(interp, args.positional.subspan(1)));
  return Make(interp, args, interp.heap().New<MapIterator>(args.positional[0], its, args.positional.size() - 1));
}

Result<Value> FilterNew(Interpreter& interp, const CallArgs& args) {
  if (args.positional.size() != 2)
    return interp.Raise(interp.types().TypeError, "filter expected 2 arguments, got ", args.positional.size());
  COBRA_TRY_ASSIGN(Value it, interp.Iter(args.positional[1]));
  return Make(interp, args, interp.heap().New<FilterIterator>(args.positional[0], it));
}

Result<Value> ReversedNew(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "reversed", "sequence", args));
  COBRA_TRY_ASSIGN(Value it, interp.CallSpecial(v, interp.names().__reversed__, {}));
  if (!it.IsUnbound()) return it;
  bool sequence = v.IsObject() && !interp.LookupClass(v.object()->cls, interp.names().__getitem__).IsUnbound() &&
                  !interp.LookupClass(v.object()->cls, interp.names().__len__).IsUnbound() && !v.IsDict();
  if (!sequence) return interp.Raise(interp.types().TypeError, "'", interp.TypeName(v), "' object is not reversible");
  COBRA_TRY_ASSIGN(int64_t n, interp.Length(v));
  ListObject* items = interp.NewList();
  for (int64_t i = n; i > 0; --i) {
    COBRA_TRY(interp.Step());
    COBRA_TRY_ASSIGN(Value item, interp.GetItem(v, Value::Int(i - 1)));
    items->items.push_back(interp.heap(), item);
  }
  return interp.Iter(Value(items));
}

void AddClass(Interpreter& interp, absl::string_view name, const NativeFunction& make) {
  ClassObject* cls = NewBuiltinClass(interp, name, interp.types().iterator, ObjectKind::kIterator);
  cls->module = interp.Intern("builtins");
  SetNativeNew(interp, cls, make);
  UpdateClassFlags(interp, cls);
  interp.state().builtins->table.SetStr(interp.heap(), interp.Intern(name), cls);
}

}  // namespace

void InitIteratorTypes(Interpreter& interp) {
  ClassObject* base = interp.types().iterator;
  AddMethod(interp, base, "__iter__", [](Interpreter&, const CallArgs& args) -> Result<Value> { return args.self; });
  AddMethod(interp, base, "__next__", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    COBRA_TRY_ASSIGN(Value v, args.self.as<IteratorObject>()->iterator->Next(interp));
    if (v.IsUnbound()) return interp.RaiseValue(NewException(interp, interp.types().StopIteration, 0, nullptr));
    return v;
  });
  AddMethod(interp, base, "__length_hint__", [](Interpreter&, const CallArgs& args) -> Result<Value> {
    return Value::Int(std::max<int64_t>(0, args.self.as<IteratorObject>()->iterator->LengthHint()));
  });
  AddClass(interp, "enumerate", EnumerateNew);
  AddClass(interp, "zip", ZipNew);
  AddClass(interp, "map", MapNew);
  AddClass(interp, "filter", FilterNew);
  AddClass(interp, "reversed", ReversedNew);
}

Value NewSentinelIterator(Interpreter& interp, Value f, Value sentinel) {
  return interp.NewIterator(interp.heap().New<SentinelIterator>(f, sentinel));
}

}  // namespace cobra::python
