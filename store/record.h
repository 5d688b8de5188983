// What the worker writes: JSON lines, append-only. Two kinds of line.
//
// {"kind":"session", "session":ID, "worker_version", "time_utc", "machine":{TargetSpec fields},
// "environment":{"torch","blas_core_type",
//  "governor","clock_mhz","huge_pages","core","load"}, "rules":{meter options for layers and for networks}, "seed",
//  "canary_us":{"conv","matmul","copy"}}      one per start of the worker; its canary_us is measured at the start.
//
// {"kind":"record", ...}, one per measured subject; docs/measurements.md says what each field is:
//   session, target, cache                                conditions: the session line, the target's name, warm or cold caches
//   space, seed, index, repeat, is_network, label         which subject (no seed: asked for by its graph); repeat 1: for the floor, 2 to 4: again, it was disturbed
//   fingerprint, graph                                    the subject itself, as graph/json.h writes it
//   outcome, message                                      only "ok" has the times that follow
//   latency_us, p10_us ... ci_high_us, runs, batch        wall clock of one call
//   device_us                                             the same on the device's own clock (CUDA)
//   cold_us                                               the very first call
//   peak_memory_bytes, node_latency_us, energy_j
//   canary_ratio, canary_copy_ratio, suspect, load, time_utc, clock_before_mhz, clock_after_mhz, memory_clock_mhz,
//   temperature_c, power_w
// What the machine does not say is absent, never 0.
#ifndef COBRA_STORE_RECORD_H_
#define COBRA_STORE_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::store {

#define COBRA_OUTCOMES(X) \
  X(ok)                   \
  X(out_of_memory)        \
  X(timeout)              \
  X(unsupported)          \
  X(crashed)

enum class Outcome {
#define COBRA_OUTCOME_ENUM(name) name,
  COBRA_OUTCOMES(COBRA_OUTCOME_ENUM)
#undef COBRA_OUTCOME_ENUM
};

absl::string_view OutcomeName(Outcome outcome);

// Of one call, in microseconds, wall clock.
struct Latency {
  double median_us = 0, p10_us = 0, p90_us = 0, min_us = 0, mean_us = 0;
  double ci_low_us = 0, ci_high_us = 0;
  int runs = 0;
  int batch = 1;
  double cold_us = 0;  // the first call of all; the caller made it
  double device_us =
      0;  // the same calls on the device's own clock (CUDA events around the region), median; 0: it has none
};

struct Record {
  std::string session;
  std::string space;
  uint64_t seed = 0;
  int64_t index = 0;
  int repeat = 0;
  bool is_network = false;
  std::string label;
  std::string fingerprint;
  std::string graph_json;
  Outcome outcome = Outcome::ok;
  std::string message;
  Latency latency;
  int64_t peak_memory_bytes = 0;
  std::vector<double> node_latency_us;
  double canary_ratio = 1;
  double canary_copy_ratio = 1;
  bool suspect = false;
  double load = 0;
  std::string time_utc;
  std::string target;              // name of the session's machine: device, precision, layout, threads
  std::string cache;               // "warm", "cold"
  std::optional<double> energy_j;  // of one call
  std::optional<double> clock_before_mhz, clock_after_mhz, memory_clock_mhz, temperature_c, power_w;

  // "paper-layers@20261120/17": what was measured; "paper-layers/17" without a seed.
  std::string SubjectKey() const;
  // "paper-layers@20261120/17/0": unique in a file.
  std::string Key() const;
};

std::string RecordToJson(const Record& record);  // one line, no newline
absl::StatusOr<Record> RecordFromJson(absl::string_view line);

// What a child sends of one task: the fields that it measured (outcome, message, latency, peak memory, node latencies).
std::string ResultToJson(const Record& record);
absl::Status MergeResult(absl::string_view json, Record* record);

}  // namespace cobra::store

#endif  // COBRA_STORE_RECORD_H_
