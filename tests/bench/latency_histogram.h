// Latencies of any number of calls in constant memory: adding one is a few instructions, and
// allocates nothing.
#ifndef COBRA_TESTS_BENCH_LATENCY_HISTOGRAM_H_
#define COBRA_TESTS_BENCH_LATENCY_HISTOGRAM_H_

#include <array>
#include <cstddef>
#include <cstdint>

namespace cobra::bench {

// Each power of two is divided into 128 buckets: a percentile is within 0.4 % of the latency that
// it stands for, up to 36 minutes. Whatever is longer counts as that. Not safe for several threads:
// each has its own, and they are merged.
class LatencyHistogram {
 public:
  void Add(int64_t latency_ns);
  void Merge(const LatencyHistogram& other);

  int64_t count() const { return count_; }
  // The latency that `percent` of all do not exceed (nearest rank); 0 if there are none.
  double PercentileUs(double percent) const;
  // The longest, exactly.
  double MaxUs() const { return static_cast<double>(max_ns_) / 1e3; }

 private:
  static constexpr int kSubBits = 7;  // 128 buckets to a power of two
  static constexpr int kMaxBits = 41;
  static constexpr size_t kBuckets = (size_t{1} << kSubBits) * (kMaxBits - kSubBits + 1);
  static size_t BucketOf(int64_t latency_ns);
  static double MiddleNs(size_t bucket);

  std::array<int64_t, kBuckets> counts_ = {};
  int64_t count_ = 0, max_ns_ = 0;
};

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_LATENCY_HISTOGRAM_H_
