// Latencies of the architectures of one search space: a table with one row per architecture and one
// column per device, in milliseconds (docs/spaces.md).
#ifndef COBRA_MODEL_SPACE_ARCHITECTURES_ARCH_ROWS_H_
#define COBRA_MODEL_SPACE_ARCHITECTURES_ARCH_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::space {

struct ArchRows {
  std::vector<std::string> row;   // the table's own row numbers, as text
  std::vector<std::string> arch;  // architecture strings
  std::vector<int> line;          // of each row in its file
  std::vector<std::string> devices;
  std::vector<std::vector<double>> latency_ms;  // [device][row]; NaN if the table has none

  size_t size() const { return arch.size(); }
  // NotFound lists the devices.
  absl::StatusOr<size_t> Device(absl::string_view name) const;
};

// CSV, plain or gzip, with columns `row`, `arch` and one per device (`latency_ms` if there is only
// one); a column `vector` is ignored. InvalidArgument names file and line of a latency that is not
// a positive number.
absl::StatusOr<ArchRows> LoadArchRows(absl::string_view path);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ARCHITECTURES_ARCH_ROWS_H_
