// _random.Random: the Mersenne Twister, so that a seeded program draws the same numbers as in
// CPython. Numbers without a seed would differ from run to run, and so would the network: they may
// be drawn, and are refused where they are used.
#include <array>

#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {
class Twister;
}  // namespace
template <>
struct IsImmutable<Twister> : std::true_type {};  // it changes, but all of it is on the interpreter's heap

namespace {

class Twister : public NativeObject {
 public:
  NativeObject* Copy(Interpreter& interp) override { return interp.heap().New<Twister>(*this); }

  void Seed(const std::vector<uint32_t>& key) {
    SeedWith(19650218u);
    size_t i = 1, j = 0;
    for (size_t k = std::max(kSize, key.size()); k > 0; --k) {
      state_[i] =
          (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1664525u)) + key[j] + static_cast<uint32_t>(j);
      Advance(&i);
      if (++j >= key.size()) j = 0;
    }
    for (size_t k = kSize - 1; k > 0; --k) {
      state_[i] = (state_[i] ^ ((state_[i - 1] ^ (state_[i - 1] >> 30)) * 1566083941u)) - static_cast<uint32_t>(i);
      Advance(&i);
    }
    state_[0] = 0x80000000u;
    next_ = kSize;
    seeded = true;
  }
  uint32_t Next() {
    if (next_ >= kSize) Refill();
    uint32_t y = state_[next_++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }
  double NextDouble() {
    uint32_t a = Next() >> 5, b = Next() >> 6;
    return (a * 67108864.0 + b) * (1.0 / 9007199254740992.0);
  }
  // What a generator draws without a seed: one possible sequence, another for each number.
  void DrawUnseeded(uint32_t number) {
    SeedWith(number);
    next_ = kSize;
  }
  bool seeded = false;

 private:
  static constexpr size_t kSize = 624, kShift = 397;
  void SeedWith(uint32_t s) {
    state_[0] = s;
    for (size_t i = 1; i < kSize; ++i)
      state_[i] = 1812433253u * (state_[i - 1] ^ (state_[i - 1] >> 30)) + static_cast<uint32_t>(i);
  }
  void Advance(size_t* i) {
    if (++*i < kSize) return;
    state_[0] = state_[kSize - 1];
    *i = 1;
  }
  void Refill() {
    for (size_t i = 0; i < kSize; ++i) {
      uint32_t y = (state_[i] & 0x80000000u) | (state_[(i + 1) % kSize] & 0x7fffffffu);
      state_[i] = state_[(i + kShift) % kSize] ^ (y >> 1) ^ ((y & 1) ? 0x9908b0dfu : 0u);
    }
    next_ = 0;
  }
  std::array<uint32_t, kSize> state_ = {};
  size_t next_ = kSize;
};

// What an unseeded generator gives for a number that it has drawn: one that must not be asked what
// it is (_unknown of the class in random.py).
Result<Value> Unknown(Interpreter& interp, const CallArgs& args, Value drawn, absl::string_view what) {
  COBRA_TRY_ASSIGN(const Value unknown, interp.GetAttr(args.self, interp.Intern("_unknown")));
  return interp.Call(unknown, {drawn, Value(interp.NewStr(what))});
}

Result<Value> DrawUnseeded(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(int64_t number, OnlyArgument<int64_t>(interp, "_draw_unseeded", "number", args));
  NativeCast<Twister>(args.self)->DrawUnseeded(static_cast<uint32_t>(number));
  return Value::None();
}

// Seeds with the magnitude of an int, in words of 32 bits, least significant first.
Result<Value> Seed(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(Value v, OnlyArgument(interp, "seed", "value", args));
  if (!IsIntLike(v)) return interp.Raise(interp.types().TypeError, "the seed must be an int");
  BigInt b = ToBigInt(v);
  if (b.negative()) b = -b;
  std::vector<uint32_t> key;
  for (int64_t shift = 0; shift < b.bits(); shift += 32)
    key.push_back(static_cast<uint32_t>(b.ShiftRight(shift).LowBits()));
  if (key.empty()) key.push_back(0);
  NativeCast<Twister>(args.self)->Seed(key);
  return Value::None();
}

Result<Value> GetRandBits(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(int64_t k, OnlyArgument<int64_t>(interp, "getrandbits", "k", args));
  auto* t = NativeCast<Twister>(args.self);
  if (k < 0) return interp.Raise(interp.types().ValueError, "number of bits must be non-negative");
  if (k > interp.limits().big_int_bits) return interp.IntTooLarge();
  BigInt out(0);
  for (int64_t done = 0; done < k; done += 32) {
    uint32_t word = t->Next();
    if (k - done < 32) word >>= 32 - (k - done);
    out = out + BigInt(static_cast<int64_t>(word)).ShiftLeft(done);
  }
  const Value drawn = interp.NewInt(out);
  return t->seeded ? Result<Value>(drawn) : Unknown(interp, args, drawn, "random.getrandbits()");
}

}  // namespace

void AddRandomModule(NativeRegistry* registry) {
  NativeModule module;
  module.name = "_random";
  module.define = [](Interpreter&, NativeModuleBuilder& m) -> Result<void> {
    m.Class("Random")
        .Payload([](Interpreter& interp) -> NativeObject* { return interp.heap().New<Twister>(); })
        .Method("_seed", Seed)
        .Method("_draw_unseeded", DrawUnseeded)
        .Method("_seeded",
                [](Interpreter&, const CallArgs& args) -> Result<Value> {
                  return Value::Bool(NativeCast<Twister>(args.self)->seeded);
                })
        .Method("getrandbits", GetRandBits)
        .Method("random",
                [](Interpreter& interp, const CallArgs& args) -> Result<Value> {
                  auto* t = NativeCast<Twister>(args.self);
                  const Value drawn = Value::Float(t->NextDouble());
                  return t->seeded ? Result<Value>(drawn) : Unknown(interp, args, drawn, "random.random()");
                })
        .Mutable()
        .Build();
    return {};
  };
  registry->Add(std::move(module));
}

}  // namespace cobra::python
