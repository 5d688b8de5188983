#include "tests/bench/latency_histogram.h"

#include <algorithm>
#include <cmath>

namespace cobra::bench {

// The first 256 buckets hold one nanosecond each. From there on, a number's first eight bits choose
// the bucket among the 128 of its power of two.
size_t LatencyHistogram::BucketOf(int64_t latency_ns) {
  const uint64_t value = static_cast<uint64_t>(std::clamp<int64_t>(latency_ns, 0, (int64_t{1} << kMaxBits) - 1));
  if (value < (uint64_t{1} << (kSubBits + 1))) return value;
  const int shift = 63 - __builtin_clzll(value) - kSubBits;
  return (static_cast<size_t>(shift) << kSubBits) + (value >> shift);
}

double LatencyHistogram::MiddleNs(size_t bucket) {
  if (bucket < (size_t{1} << (kSubBits + 1))) return static_cast<double>(bucket);
  const int shift = static_cast<int>(bucket >> kSubBits) - 1;
  const size_t first_bits = bucket - (static_cast<size_t>(shift) << kSubBits);
  return std::ldexp(static_cast<double>(first_bits) + 0.5, shift);
}

void LatencyHistogram::Add(int64_t latency_ns) {
  ++counts_[BucketOf(latency_ns)];
  ++count_;
  max_ns_ = std::max(max_ns_, latency_ns);
}

void LatencyHistogram::Merge(const LatencyHistogram& other) {
  for (size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
  count_ += other.count_;
  max_ns_ = std::max(max_ns_, other.max_ns_);
}

double LatencyHistogram::PercentileUs(double percent) const {
  if (count_ == 0) return 0;
  const double rank = std::ceil(percent * static_cast<double>(count_) / 100);
  const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(rank), 1, count_);
  int64_t seen = 0;
  for (size_t i = 0; i < kBuckets; ++i) {
    seen += counts_[i];
    if (seen >= wanted) return MiddleNs(i) / 1e3;
  }
  return MaxUs();
}

}  // namespace cobra::bench
