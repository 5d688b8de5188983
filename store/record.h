// What the worker writes: JSON lines, append-only. Two kinds of line.
//
// {"kind":"session", "session":ID, "worker_version", "time_utc", "machine":{TargetSpec fields},
// "environment":{"torch","blas_core_type",
//  "governor","clock_mhz","huge_pages","core","load"}, "rules":{meter options for layers and for networks}, "seed",
//  "canary_us":{"conv","matmul","copy"}}      one per start of the worker; its canary_us is measured at the start.
//
// {"kind":"record", ...}, one per measured subject:
//   session          ID of the session line that holds its conditions
//   space, seed,     "paper-layers", 20261120, 17: which sample of which space; together they determine the subject. No
//   index            seed: what was asked for by its graph
//   repeat           0; 1: measured a second time late in the series (repeatability floor); 2: again because the canary
//   had moved is_network       false: a layer (one compute node, sometimes with the view it needs before it) label
//   layers: operator of the compute node; networks: family fingerprint      32 hex digits (graph/fingerprint.h) graph
//   the graph in its JSON form, without origins (graph/json.h); macs and peak_memory_bytes in it are the rule's outcome
//   "ok" | "out_of_memory" | "timeout" | "unsupported" | "crashed"; only "ok" has what follows message          what
//   went wrong latency_us       median of the wall clock of one call p10_us p90_us min_us mean_us ci_low_us ci_high_us
//   95 % interval of the median (order statistics) runs             timed runs; each is the mean of `batch` calls
//   (short ops) cold_us          the very first call, kept apart peak_memory_bytes      most bytes alive at LibTorch's
//   CPU allocator on the second call, weights and inputs included node_latency_us  networks: for each node the median
//   over a few profiled runs (time stamps around nodes: sums to a little more
//                    than latency_us); absent for layers
//   canary_ratio     convolution and matrix product of the canaries before and after the group: the worst over the
//   session's median
//                    (1.0 = as always); canary_copy_ratio: the same of the copy
//   suspect          true where canary_ratio is off by more than 5 %, or canary_copy_ratio by 25 %: measured again
//   later as repeat 2 load             1-minute load average of the machine time_utc
// Energy, temperature and clock are absent where the machine does not say.
#ifndef COBRA_STORE_RECORD_H_
#define COBRA_STORE_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

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

}  // namespace cobra

#endif  // COBRA_STORE_RECORD_H_
