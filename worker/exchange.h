// Records for others, and from others: `cobra-worker export` and `import` between JSON lines (store/record.h) and CSV,
// one row a record with its conditions beside it (docs/measurements.md).
#ifndef COBRA_WORKER_EXCHANGE_H_
#define COBRA_WORKER_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::worker {

// JSON lines -> CSV. Session lines are looked for in the text; records of a session that is not there have empty
// columns.
absl::StatusOr<std::string> RecordsToCsv(absl::string_view json_lines);
// CSV -> JSON lines: one session line for each session, then the records.
absl::StatusOr<std::string> CsvToRecords(absl::string_view csv);

struct CheckedRecords {
  std::string json_lines;  // what is in order: graph rebuilt, fingerprint computed anew
  int64_t records = 0, sessions = 0;
  std::vector<std::string> problems;  // "line 17: latency_us -3: is no time"
};
// Every line: its graph must build by our own shape rules, its times must be times and in order (min <= p10 <= median
// <= p90), its outcome one that there is, its session must be there, no key twice.
CheckedRecords CheckRecords(absl::string_view json_lines);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXCHANGE_H_
