// product, permutations, combinations: each keeps a state of indices that every call advances, as
// in the "roughly equivalent to" code of CPython's documentation. They read their inputs at once
// and produce their results one by one.
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/types/itertools.h"

namespace cobra::python {
namespace {

class ProductIterator : public NativeIterator {
 public:
  explicit ProductIterator(std::vector<std::vector<Value>> pools)
      : pools_(std::move(pools)), indices_(pools_.size(), 0) {
    for (const auto& pool : pools_) done_ = done_ || pool.empty();
  }
  Result<Value> Next(Interpreter& interp) override {
    if (done_) return Value::Unbound();
    COBRA_TRY(interp.Step());
    TupleObject* t = interp.NewTupleOfSize(static_cast<int64_t>(pools_.size()));
    for (size_t i = 0; i < pools_.size(); ++i) t->items[i] = pools_[i][indices_[i]];
    size_t i = pools_.size();
    while (i > 0 && ++indices_[i - 1] == pools_[i - 1].size()) indices_[--i] = 0;
    done_ = i == 0;
    return Value(t);
  }

 private:
  std::vector<std::vector<Value>> pools_;
  std::vector<size_t> indices_;
  bool done_ = false;
};

// Chooses r out of n items; the kinds differ in the first choice and in how it advances.
class ChoiceIterator : public NativeIterator {
 public:
  enum class Kind : uint8_t { kCombinations, kWithReplacement, kPermutations };
  ChoiceIterator(Kind kind, std::vector<Value> pool, size_t r) : kind_(kind), pool_(std::move(pool)), r_(r) {
    size_t n = pool_.size();
    done_ = kind_ == Kind::kWithReplacement ? n == 0 && r > 0 : r > n;
    if (done_) return;
    if (kind_ == Kind::kPermutations) {
      for (size_t i = 0; i < n; ++i) indices_.push_back(i);
      for (size_t i = 0; i < r; ++i) cycles_.push_back(n - i);
    } else {
      for (size_t i = 0; i < r; ++i) indices_.push_back(kind_ == Kind::kCombinations ? i : 0);
    }
  }
  Result<Value> Next(Interpreter& interp) override {
    if (done_) return Value::Unbound();
    COBRA_TRY(interp.Step());
    TupleObject* t = interp.NewTupleOfSize(static_cast<int64_t>(r_));
    for (size_t i = 0; i < r_; ++i) t->items[i] = pool_[indices_[i]];
    done_ = kind_ == Kind::kPermutations ? !NextPermutation() : !NextCombination();
    return Value(t);
  }

 private:
  bool NextCombination() {
    size_t n = pool_.size();
    for (size_t i = r_; i > 0; --i) {
      size_t most = kind_ == Kind::kCombinations ? n - r_ + i - 1 : n - 1;
      if (indices_[i - 1] == most) continue;
      size_t value = ++indices_[i - 1];
      for (size_t j = i; j < r_; ++j) indices_[j] = kind_ == Kind::kCombinations ? ++value : value;
      return true;
    }
    return false;
  }
  bool NextPermutation() {
    size_t n = pool_.size();
    for (size_t i = r_; i > 0; --i) {
      size_t k = i - 1;
      if (--cycles_[k] == 0) {
        size_t first = indices_[k];
        for (size_t j = k; j + 1 < n; ++j) indices_[j] = indices_[j + 1];
        indices_[n - 1] = first;
        cycles_[k] = n - k;
      } else {
        std::swap(indices_[k], indices_[n - cycles_[k]]);
        return true;
      }
    }
    return false;
  }

  Kind kind_;
  std::vector<Value> pool_;
  size_t r_;
  std::vector<size_t> indices_, cycles_;
  bool done_ = false;
};

Result<Value> Product(Interpreter& interp, const CallArgs& args) {
  absl::Span<const Value> iterables;
  int64_t repeat = 1;
  COBRA_TRY(ArgReader(interp, "product", args).VarArgs(&iterables).Optional("repeat", &repeat).Finish());
  if (repeat < 0) return interp.Raise(interp.types().ValueError, "repeat argument cannot be negative");
  COBRA_TRY(interp.CheckSize(repeat * static_cast<int64_t>(iterables.size() + 1), 64));
  std::vector<std::vector<Value>> pools;
  for (Value v : iterables) {
    COBRA_TRY_ASSIGN(std::vector<Value> pool, interp.ToVector(v));
    pools.push_back(std::move(pool));
  }
  std::vector<std::vector<Value>> all;
  for (int64_t i = 0; i < repeat; ++i) all.insert(all.end(), pools.begin(), pools.end());
  return MakeIterator(interp, args, interp.heap().New<ProductIterator>(std::move(all)));
}

NativeFunction Choice(absl::string_view name, ChoiceIterator::Kind kind) {
  return [name = std::string(name), kind](Interpreter& interp, const CallArgs& args) -> Result<Value> {
    Value iterable, count;
    ArgReader reader(interp, name, args);
    reader.Required("iterable", &iterable);
    bool permutations = kind == ChoiceIterator::Kind::kPermutations;
    COBRA_TRY((permutations ? reader.Optional("r", &count) : reader.Required("r", &count)).Finish());
    COBRA_TRY_ASSIGN(std::vector<Value> pool, interp.ToVector(iterable));
    auto r = static_cast<int64_t>(pool.size());
    if (!count.IsNone() || !permutations) COBRA_TRY_SET(r, interp.Index(count));
    if (r < 0) return interp.Raise(interp.types().ValueError, "r must be non-negative");
    COBRA_TRY(interp.CheckSize(r));
    return MakeIterator(interp, args, interp.heap().New<ChoiceIterator>(kind, std::move(pool), static_cast<size_t>(r)));
  };
}

// Since Python 3.12 (strict: 3.13).
constexpr absl::string_view kBatched = R"py(
class batched:
    def __init__(self, iterable, n, *, strict=False):
        if n < 1:
            raise ValueError('n must be at least one')
        self._items, self._n, self._strict = iter(iterable), n, strict
    def __iter__(self):
        return self
    def __next__(self):
        batch = tuple(islice(self._items, self._n))
        if not batch:
            raise StopIteration
        if self._strict and len(batch) != self._n:
            raise ValueError('batched(): incomplete batch')
        return batch
)py";

}  // namespace

void AddCombiningIterators(Interpreter& interp, NativeModuleBuilder& m) {
  AddIteratorClass(interp, m, "product", Product);
  AddIteratorClass(interp, m, "permutations", Choice("permutations", ChoiceIterator::Kind::kPermutations));
  AddIteratorClass(interp, m, "combinations", Choice("combinations", ChoiceIterator::Kind::kCombinations));
  AddIteratorClass(interp, m, "combinations_with_replacement",
                   Choice("combinations_with_replacement", ChoiceIterator::Kind::kWithReplacement));
  m.Source(kBatched);
}

}  // namespace cobra::python
