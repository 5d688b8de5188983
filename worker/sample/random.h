// A small generator whose sequence is the same with every compiler: a sample is determined by
// (seed, space, index).
#ifndef COBRA_WORKER_SAMPLE_RANDOM_H_
#define COBRA_WORKER_SAMPLE_RANDOM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/bytes/hash.h"

namespace cobra::worker {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  Random(uint64_t seed, absl::string_view space, int64_t index)
      : state_(HashBytes(absl::StrCat(seed, "/", space, "/", index)).low) {}

  uint64_t Next() {  // splitmix64
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }  // [0, 1)
  int64_t Between(int64_t low, int64_t high) {                             // both included
    return low + static_cast<int64_t>(Unit() * static_cast<double>(high - low + 1));
  }
  int64_t LogBetween(int64_t low, int64_t high) {
    const double value = std::exp(std::log(low) + Unit() * (std::log(high + 1.0) - std::log(low)));
    return std::min<int64_t>(high, static_cast<int64_t>(value));
  }
  double Uniform(double low, double high) { return low + Unit() * (high - low); }
  bool Chance(double p) { return Unit() < p; }
  template <typename T>
  T Pick(std::initializer_list<T> values) {
    return values.begin()[Between(0, static_cast<int64_t>(values.size()) - 1)];
  }
  template <typename C>
  const typename C::value_type& PickFrom(const C& values) {
    return values[Between(0, static_cast<int64_t>(values.size()) - 1)];
  }

  // 0 .. n - 1 in random order.
  std::vector<int64_t> Permutation(int64_t n) {
    std::vector<int64_t> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), int64_t{0});
    for (int64_t i = n - 1; i > 0; --i) std::swap(order[i], order[Between(0, i)]);
    return order;
  }

 private:
  uint64_t state_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_SAMPLE_RANDOM_H_
