// Export and import of records: `cobra-worker export` and `import` between JSON lines
// (store/measurement.h) and CSV, one row a record with its conditions beside it
// (docs/measurements.md).
#ifndef COBRA_WORKER_QUEUE_EXCHANGE_H_
#define COBRA_WORKER_QUEUE_EXCHANGE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::worker {

// JSON lines -> CSV. The sessions are taken from the text; records of a missing session have empty
// columns.
absl::StatusOr<std::string> RecordsToCsv(absl::string_view json_lines);
// CSV -> JSON lines: a line for each session, then the records.
absl::StatusOr<std::string> CsvToRecords(absl::string_view csv);

struct CheckedRecords {
  // The valid lines, with rebuilt graphs and newly computed fingerprints.
  std::string json_lines;
  int64_t records = 0, sessions = 0;
  // "line 17: latency_us -3: is not a time"
  std::vector<std::string> problems;
};
// Checks every line: its graph must pass our shape rules, its times must be positive and in order
// (min <= p10 <= median <= p90), its outcome must exist, its session must be present, and its key
// must be unique.
CheckedRecords CheckRecords(absl::string_view json_lines);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_QUEUE_EXCHANGE_H_
