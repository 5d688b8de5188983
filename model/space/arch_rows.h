// Latencies of the architectures of one search space: a table with a row an architecture and a column a device, in
// milliseconds (DESIGN.md, "Rows for cobra-train").
#ifndef COBRA_MODEL_SPACE_ARCH_ROWS_H_
#define COBRA_MODEL_SPACE_ARCH_ROWS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::space {

struct ArchRows {
  std::vector<std::string> row;   // the table's own numbers, as they are written
  std::vector<std::string> arch;  // architecture strings
  std::vector<int> line;          // of each row in its file
  std::vector<std::string> devices;
  std::vector<std::vector<double>> latency_ms;  // [device][row]; NaN where the table has none

  size_t size() const { return arch.size(); }
  // NotFound lists the devices that there are.
  absl::StatusOr<size_t> Device(absl::string_view name) const;
};

// CSV, plain or gzip, with columns `row`, `arch` and one a device (`latency_ms` where there is only one); a column
// `vector` is passed over. InvalidArgument names file and line of what is no number or not positive.
absl::StatusOr<ArchRows> LoadArchRows(absl::string_view path);

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_ARCH_ROWS_H_
