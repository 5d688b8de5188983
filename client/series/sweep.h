// What `cobra-client sweep` finds out: latency and throughput of one model by batch, on each of
// some targets.
#ifndef COBRA_CLIENT_SERIES_SWEEP_H_
#define COBRA_CLIENT_SERIES_SWEEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "cobra/v1/cobra.pb.h"
#include "cobra/v1/target.pb.h"

namespace cobra::client {

struct SweepPoint {
  int64_t batch = 0;
  absl::Status status;  // why there is no answer; then only `batch` counts
  v1::TargetPrediction prediction;
  int64_t peak_memory_bytes = 0;

  bool ok() const { return status.ok(); }
  // Items (of the batch) a second, and the ends of the interval.
  double per_second() const { return PerSecond(prediction.latency_us()); }
  double low_per_second() const { return PerSecond(prediction.high_us()); }
  double high_per_second() const { return PerSecond(prediction.low_us()); }

 private:
  double PerSecond(double us) const { return us > 0 ? 1e6 * static_cast<double>(batch) / us : 0; }
};

struct TargetSweep {
  v1::TargetSpec spec;
  double memory_gb = 0;            // 10^9 bytes; 0: unknown
  std::vector<SweepPoint> points;  // batches ascend

  // Whether the peak memory of a point is within that of the target. An unknown memory holds
  // everything.
  bool Fits(const SweepPoint& point) const;
};

// A larger batch is worth little from here on: the smallest batch whose throughput is at least
// kKneeShare of the best among those that fit into memory. Batches whose latency is a guess count
// only where all are.
constexpr double kKneeShare = 0.9;
struct Knee {
  size_t point = 0, best = 0;  // indices
  bool is_last = false;        // no larger batch that fits was asked about: the throughput may rise further
  bool is_guess = false;       // the model extrapolates at the knee or at the best batch
};
std::optional<Knee> KneeOf(const TargetSweep& sweep);  // nothing if no point fits

// Where memory ends. Peak memory is taken as a line between two batches, and beyond the last two.
struct MemoryEnd {
  std::optional<int64_t> largest_that_fits;  // of the batches that were asked about
  // The largest batch that would fit, about. Nothing if a single batch was answered, or memory does
  // not depend on it.
  std::optional<int64_t> estimate;
};
std::optional<MemoryEnd> MemoryEndOf(const TargetSweep& sweep);  // nothing if the memory is unknown

struct Sweep {
  std::string title;                // "Net() from net.py"
  std::vector<std::string> inputs;  // with B: batch.h
  std::string model_version;
  std::vector<int64_t> batches;
  std::vector<TargetSweep> targets;  // each with a point for every batch
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_SWEEP_H_
