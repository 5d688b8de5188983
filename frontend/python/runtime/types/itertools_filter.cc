// Iterators over the items of another iterator: accumulate, takewhile, groupby, tee and their like.
// All are lazy: they read an item only when one is requested.
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/types/itertools.h"

namespace cobra::python {
namespace {

class AccumulateIterator : public NativeIterator {
 public:
  AccumulateIterator(Value it, Value function, Value initial) : it_(it), function_(function), total_(initial) {}
  Result<Value> Next(Interpreter& interp) override {
    if (!started_) {
      started_ = true;
      if (total_.IsUnbound()) COBRA_TRY_SET(total_, interp.Next(it_));
      return total_;
    }
    COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
    if (v.IsUnbound()) return v;
    if (function_.IsNone()) {
      COBRA_TRY_ASSIGN(total_, interp.Binary(Interpreter::BinaryOp::kAdd, total_, v));
    } else {
      COBRA_TRY_ASSIGN(total_, interp.Call(function_, {total_, v}));
    }
    return total_;
  }

 private:
  Value it_, function_, total_;
  bool started_ = false;
};

class StarMapIterator : public NativeIterator {
 public:
  StarMapIterator(Value function, Value it) : function_(function), it_(it) {}
  Result<Value> Next(Interpreter& interp) override {
    COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
    if (v.IsUnbound()) return v;
    COBRA_TRY_ASSIGN(std::vector<Value> arguments, interp.ToVector(v));
    return interp.Call(function_, arguments, {});
  }

 private:
  Value function_, it_;
};

// takewhile, dropwhile, filterfalse.
class PredicateIterator : public NativeIterator {
 public:
  enum class Kind : uint8_t { kTakeWhile, kDropWhile, kFilterFalse };
  PredicateIterator(Kind kind, Value predicate, Value it) : kind_(kind), predicate_(predicate), it_(it) {}
  Result<Value> Next(Interpreter& interp) override {
    if (done_) return Value::Unbound();
    while (true) {
      COBRA_TRY(interp.Step());
      COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
      if (v.IsUnbound() || (kind_ == Kind::kDropWhile && dropped_)) return v;
      Value verdict = v;
      if (kind_ != Kind::kFilterFalse || !predicate_.IsNone()) COBRA_TRY_SET(verdict, interp.Call(predicate_, {v}));
      COBRA_TRY_ASSIGN(bool holds, interp.Truth(verdict));
      if (kind_ == Kind::kTakeWhile) {
        done_ = !holds;
        return holds ? v : Value::Unbound();
      }
      if (holds) continue;
      dropped_ = true;
      return v;
    }
  }

 private:
  Kind kind_;
  Value predicate_, it_;
  bool done_ = false, dropped_ = false;
};

class CompressIterator : public NativeIterator {
 public:
  CompressIterator(Value data, Value selectors) : data_(data), selectors_(selectors) {}
  Result<Value> Next(Interpreter& interp) override {
    while (true) {
      COBRA_TRY(interp.Step());
      COBRA_TRY_ASSIGN(Value v, interp.Next(data_));
      if (v.IsUnbound()) return v;
      COBRA_TRY_ASSIGN(Value s, interp.Next(selectors_));
      if (s.IsUnbound()) return s;
      COBRA_TRY_ASSIGN(bool chosen, interp.Truth(s));
      if (chosen) return v;
    }
  }

 private:
  Value data_, selectors_;
};

class PairwiseIterator : public NativeIterator {
 public:
  explicit PairwiseIterator(Value it) : it_(it) {}
  Result<Value> Next(Interpreter& interp) override {
    if (previous_.IsUnbound()) COBRA_TRY_SET(previous_, interp.Next(it_));
    if (previous_.IsUnbound()) return previous_;
    COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
    if (v.IsUnbound()) return v;
    Value pair = interp.NewTuple({previous_, v});
    previous_ = v;
    return pair;
  }

 private:
  Value it_;
  Value previous_ = Value::Unbound();
};

class ZipLongestIterator : public NativeIterator {
 public:
  ZipLongestIterator(std::vector<Value> its, Value fill) : its_(std::move(its)), fill_(fill), running_(its_.size()) {}
  Result<Value> Next(Interpreter& interp) override {
    if (running_ == 0) return Value::Unbound();
    TupleObject* t = interp.NewTupleOfSize(static_cast<int64_t>(its_.size()));
    for (size_t i = 0; i < its_.size(); ++i) {
      t->items[i] = fill_;
      if (its_[i].IsUnbound()) continue;
      COBRA_TRY_ASSIGN(Value v, interp.Next(its_[i]));
      if (!v.IsUnbound()) {
        t->items[i] = v;
        continue;
      }
      its_[i] = Value::Unbound();
      if (--running_ == 0) return Value::Unbound();
    }
    return Value(t);
  }

 private:
  std::vector<Value> its_;
  Value fill_;
  size_t running_;
};

// State that the iterators of one tee() share: all items that any of them has read.
struct TeeBuffer {
  Value it;
  ListObject* read = nullptr;
};
class TeeIterator : public NativeIterator {
 public:
  TeeIterator(TeeBuffer* buffer, size_t at) : buffer_(buffer), at_(at) {}
  Result<Value> Next(Interpreter& interp) override {
    if (at_ == buffer_->read->items.size()) {
      COBRA_TRY_ASSIGN(Value v, interp.Next(buffer_->it));
      if (v.IsUnbound()) return v;
      buffer_->read->items.push_back(interp.heap(), v);
    }
    return buffer_->read->items[at_++];
  }
  TeeBuffer* buffer() const { return buffer_; }
  size_t at() const { return at_; }

 private:
  TeeBuffer* buffer_;
  size_t at_;
};

struct GroupState {
  Value it, key_function;
  Value current = Value::Unbound(), current_key = Value::Unbound(), target_key = Value::Unbound();
  uint64_t group = 0;  // a group's items end when the next group begins

  Result<bool> Advance(Interpreter& interp) {
    COBRA_TRY_ASSIGN(Value v, interp.Next(it));
    if (v.IsUnbound()) return false;
    Value key = v;
    if (!key_function.IsNone()) COBRA_TRY_SET(key, interp.Call(key_function, {v}));
    current = v;
    current_key = key;
    return true;
  }
};
class GroupIterator : public NativeIterator {
 public:
  explicit GroupIterator(GroupState* state) : state_(state), group_(state->group) {}
  Result<Value> Next(Interpreter& interp) override {
    if (group_ != state_->group) return Value::Unbound();
    if (state_->current.IsUnbound()) {
      COBRA_TRY_ASSIGN(bool more, state_->Advance(interp));
      if (!more) return Value::Unbound();
    }
    COBRA_TRY_ASSIGN(bool same, interp.Equal(state_->target_key, state_->current_key));
    if (!same) return Value::Unbound();
    Value v = state_->current;
    state_->current = Value::Unbound();
    return v;
  }

 private:
  GroupState* state_;
  uint64_t group_;
};
class GroupByIterator : public NativeIterator {
 public:
  explicit GroupByIterator(GroupState* state) : state_(state) {}
  Result<Value> Next(Interpreter& interp) override {
    ++state_->group;
    while (true) {  // skips the rest of the last group
      COBRA_TRY(interp.Step());
      if (!state_->current_key.IsUnbound() && !state_->current.IsUnbound()) {
        if (state_->target_key.IsUnbound()) break;
        COBRA_TRY_ASSIGN(bool same, interp.Equal(state_->target_key, state_->current_key));
        if (!same) break;
      }
      COBRA_TRY_ASSIGN(bool more, state_->Advance(interp));
      if (!more) return Value::Unbound();
    }
    state_->target_key = state_->current_key;
    Value items = interp.NewIterator(interp.heap().New<GroupIterator>(state_));
    return Value(interp.NewTuple({state_->current_key, items}));
  }

 private:
  GroupState* state_;
};

Result<Value> Accumulate(Interpreter& interp, const CallArgs& args) {
  Value iterable, function, initial;
  COBRA_TRY(ArgReader(interp, "accumulate", args)
                .Required("iterable", &iterable)
                .Optional("func", &function)
                .KeywordOnly()
                .Optional("initial", &initial)
                .Finish());
  COBRA_TRY_ASSIGN(Value it, interp.Iter(iterable));
  return MakeIterator(
      interp, args, interp.heap().New<AccumulateIterator>(it, function, initial.IsNone() ? Value::Unbound() : initial));
}

Result<Value> StarMap(Interpreter& interp, const CallArgs& args) {
  Value function, iterable;
  ArgReader reader(interp, "starmap", args);
  COBRA_TRY(reader.Required("function", &function).Required("iterable", &iterable).Finish());
  COBRA_TRY_ASSIGN(Value it, interp.Iter(iterable));
  return MakeIterator(interp, args, interp.heap().New<StarMapIterator>(function, it));
}

NativeFunction Predicate(absl::string_view name, PredicateIterator::Kind kind) {
  return [name = std::string(name), kind](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value predicate, iterable;
    COBRA_TRY(ArgReader(interp, name, args).Required("predicate", &predicate).Required("iterable", &iterable).Finish());
    COBRA_TRY_ASSIGN(Value it, interp.Iter(iterable));
    return MakeIterator(interp, args, interp.heap().New<PredicateIterator>(kind, predicate, it));
  };
}

Result<Value> Compress(Interpreter& interp, const CallArgs& args) {
  Value data, selectors;
  COBRA_TRY(ArgReader(interp, "compress", args).Required("data", &data).Required("selectors", &selectors).Finish());
  COBRA_TRY_ASSIGN(Value a, interp.Iter(data));
  COBRA_TRY_ASSIGN(Value b, interp.Iter(selectors));
  return MakeIterator(interp, args, interp.heap().New<CompressIterator>(a, b));
}

Result<Value> Pairwise(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value iterable, OnlyArgument(interp, "pairwise", "iterable", args));
  COBRA_TRY_ASSIGN(Value it, interp.Iter(iterable));
  return MakeIterator(interp, args, interp.heap().New<PairwiseIterator>(it));
}

Result<Value> ZipLongest(Interpreter& interp, const CallArgs& args) {
  absl::Span<const Value> iterables;
  Value fill;
  COBRA_TRY(ArgReader(interp, "zip_longest", args).VarArgs(&iterables).Optional("fillvalue", &fill).Finish());
  std::vector<Value> its;
  for (Value v : iterables) {
    COBRA_TRY_ASSIGN(Value it, interp.Iter(v));
    its.push_back(it);
  }
  return MakeIterator(interp, args, interp.heap().New<ZipLongestIterator>(std::move(its), fill));
}

Result<Value> Tee(Interpreter& interp, const CallArgs& args) {
  Value iterable;
  int64_t n = 2;
  COBRA_TRY(ArgReader(interp, "tee", args).Required("iterable", &iterable).Optional("n", &n).Finish());
  if (n < 0) return interp.Raise(interp.types().ValueError, "n must be >= 0");
  COBRA_TRY(interp.CheckSize(n, 64));
  auto* buffer = interp.heap().New<TeeBuffer>();
  buffer->read = interp.NewList();
  COBRA_TRY_ASSIGN(buffer->it, interp.Iter(iterable));
  TupleObject* out = interp.NewTupleOfSize(n);
  for (int64_t i = 0; i < n; ++i) out->items[i] = interp.NewIterator(interp.heap().New<TeeIterator>(buffer, size_t{0}));
  return Value(out);
}

Result<Value> GroupBy(Interpreter& interp, const CallArgs& args) {
  Value iterable, key;
  COBRA_TRY(ArgReader(interp, "groupby", args).Required("iterable", &iterable).Optional("key", &key).Finish());
  auto* state = interp.heap().New<GroupState>();
  state->key_function = key;
  COBRA_TRY_ASSIGN(state->it, interp.Iter(iterable));
  return MakeIterator(interp, args, interp.heap().New<GroupByIterator>(state));
}

}  // namespace

void AddFilteringIterators(Interpreter& interp, NativeModuleBuilder& m) {
  using Kind = PredicateIterator::Kind;
  AddIteratorClass(interp, m, "accumulate", Accumulate);
  AddIteratorClass(interp, m, "starmap", StarMap);
  AddIteratorClass(interp, m, "takewhile", Predicate("takewhile", Kind::kTakeWhile));
  AddIteratorClass(interp, m, "dropwhile", Predicate("dropwhile", Kind::kDropWhile));
  AddIteratorClass(interp, m, "filterfalse", Predicate("filterfalse", Kind::kFilterFalse));
  AddIteratorClass(interp, m, "compress", Compress);
  AddIteratorClass(interp, m, "pairwise", Pairwise);
  AddIteratorClass(interp, m, "zip_longest", ZipLongest);
  AddIteratorClass(interp, m, "groupby", GroupBy);
  m.Function("tee", Tee);
}

}  // namespace cobra::python
