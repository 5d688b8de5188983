// itertools: this file has repeat, count, cycle, chain and islice.
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/modules/stdlib.h"
#include "frontend/python/runtime/types/itertools.h"

namespace cobra::python {
namespace {

class RepeatIterator : public NativeIterator {
 public:
  RepeatIterator(Value v, int64_t left) : v_(v), left_(left) {}
  Result<Value> Next(Interpreter&) override {
    if (left_ == 0) return Value::Unbound();
    if (left_ > 0) --left_;
    return v_;
  }

 private:
  Value v_;
  int64_t left_;  // negative: unlimited
};

class CountIterator : public NativeIterator {
 public:
  CountIterator(Value start, Value step) : next_(start), step_(step) {}
  Result<Value> Next(Interpreter& interp) override {
    Value v = next_;
    COBRA_TRY_ASSIGN(next_, interp.Binary(Interpreter::BinaryOp::kAdd, next_, step_));
    return v;
  }

 private:
  Value next_, step_;
};

class CycleIterator : public NativeIterator {
 public:
  CycleIterator(Value it, ListObject* saved) : it_(it), saved_(saved) {}
  Result<Value> Next(Interpreter& interp) override {
    if (!exhausted_) {
      COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
      if (!v.IsUnbound()) {
        saved_->items.push_back(interp.heap(), v);
        return v;
      }
      exhausted_ = true;
    }
    if (saved_->items.empty()) return Value::Unbound();
    Value v = saved_->items[at_];
    at_ = (at_ + 1) % saved_->items.size();
    return v;
  }

 private:
  Value it_;
  ListObject* saved_;
  size_t at_ = 0;
  bool exhausted_ = false;
};

class ChainIterator : public NativeIterator {
 public:
  explicit ChainIterator(Value sources) : sources_(sources) {}
  Result<Value> Next(Interpreter& interp) override {
    while (true) {
      COBRA_TRY(interp.Step());
      if (current_.IsUnbound()) {
        COBRA_TRY_ASSIGN(Value next, interp.Next(sources_));
        if (next.IsUnbound()) return next;
        COBRA_TRY_ASSIGN(current_, interp.Iter(next));
      }
      COBRA_TRY_ASSIGN(Value v, interp.Next(current_));
      if (!v.IsUnbound()) return v;
      current_ = Value::Unbound();
    }
  }

 private:
  Value sources_;
  Value current_ = Value::Unbound();
};

class SliceIterator : public NativeIterator {
 public:
  SliceIterator(Value it, int64_t start, int64_t stop, int64_t step)
      : it_(it), next_(start), stop_(stop), step_(step) {}
  Result<Value> Next(Interpreter& interp) override {
    if (stop_ >= 0 && next_ >= stop_) return Value::Unbound();
    while (true) {
      COBRA_TRY(interp.Step());
      COBRA_TRY_ASSIGN(Value v, interp.Next(it_));
      if (v.IsUnbound()) {
        stop_ = 0;
        return v;
      }
      if (at_++ < next_) continue;
      next_ += step_;
      return v;
    }
  }

 private:
  Value it_;
  int64_t at_ = 0, next_, stop_, step_;
};

Result<int64_t> SliceBound(Interpreter& interp, Value v, int64_t absent, absl::string_view what) {
  if (v.IsNone()) return absent;
  if (IsIntLike(v) || v.IsInstance()) {
    COBRA_TRY_ASSIGN(int64_t i, interp.Index(v));
    if (i >= 0) return i;
  }
  return interp.Raise(interp.types().ValueError, what, " must be None or an integer: 0 <= x <= sys.maxsize.");
}

}  // namespace

void AddIteratorClass(Interpreter& interp, NativeModuleBuilder& m, absl::string_view name, NativeFunction make) {
  ClassObject* cls = m.Class(name, {interp.types().iterator}).New(std::move(make)).Build();
  cls->module = interp.Intern("itertools");
}

Value MakeIterator(Interpreter& interp, const CallArgs& args, NativeIterator* it) {
  Value v = interp.NewIterator(it);
  if (args.self.IsClass()) v.object()->cls = args.self.as<ClassObject>();
  return v;
}

void AddItertoolsModule(NativeRegistry* registry) {
  NativeModule module;
  module.name = "itertools";
  module.define = [](Interpreter& interp, NativeModuleBuilder& m) -> Result<void> {
    AddIteratorClass(interp, m, "repeat", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      Value v;
      int64_t times = -1;
      ArgReader reader(interp, "repeat", args);
      COBRA_TRY(reader.Required("object", &v).Optional("times", &times).Finish());
      if (reader.Given("times")) times = std::max<int64_t>(times, 0);
      return MakeIterator(interp, args, interp.heap().New<RepeatIterator>(v, times));
    });
    AddIteratorClass(interp, m, "count", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      Value start = Value::Int(0), step = Value::Int(1);
      COBRA_TRY(ArgReader(interp, "count", args).Optional("start", &start).Optional("step", &step).Finish());
      return MakeIterator(interp, args, interp.heap().New<CountIterator>(start, step));
    });
    AddIteratorClass(interp, m, "cycle", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, "cycle", "iterable", args));
      COBRA_TRY_ASSIGN(Value it, interp.Iter(items));
      return MakeIterator(interp, args, interp.heap().New<CycleIterator>(it, interp.NewList()));
    });
    AddIteratorClass(interp, m, "chain", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY_ASSIGN(Value sources, interp.Iter(Value(interp.NewTuple(args.positional))));
      return MakeIterator(interp, args, interp.heap().New<ChainIterator>(sources));
    });
    ClassObject* chain = m.module()->attrs->table.GetStr(interp.Intern("chain"))->as<ClassObject>();
    AddClassMethod(interp, chain, "from_iterable", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      COBRA_TRY_ASSIGN(Value items, OnlyArgument(interp, "from_iterable", "iterable", args));
      COBRA_TRY_ASSIGN(Value sources, interp.Iter(items));
      return MakeIterator(interp, args, interp.heap().New<ChainIterator>(sources));
    });
    AddIteratorClass(interp, m, "islice", [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
      auto p = args.positional;
      if (p.size() < 2 || p.size() > 4)
        return interp.Raise(interp.types().TypeError, "islice expected 2 to 4 arguments, got ", p.size());
      COBRA_TRY_ASSIGN(Value it, interp.Iter(p[0]));
      int64_t start = 0, stop = -1, step = 1;
      if (p.size() == 2) {
        COBRA_TRY_SET(stop, SliceBound(interp, p[1], -1, "Stop argument for islice()"));
      } else {
        COBRA_TRY_SET(start, SliceBound(interp, p[1], 0, "Indices for islice()"));
        COBRA_TRY_SET(stop, SliceBound(interp, p[2], -1, "Indices for islice()"));
        if (p.size() == 4) COBRA_TRY_SET(step, SliceBound(interp, p[3], 1, "Step for islice()"));
        if (step == 0)
          return interp.Raise(interp.types().ValueError, "Step for islice() must be a positive integer or None.");
      }
      return MakeIterator(interp, args, interp.heap().New<SliceIterator>(it, start, stop, step));
    });
    AddFilteringIterators(interp, m);
    AddCombiningIterators(interp, m);
    return {};
  };
  registry->Add(std::move(module));
}

}  // namespace cobra::python
