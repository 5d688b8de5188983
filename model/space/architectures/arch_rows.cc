#include "model/space/architectures/arch_rows.h"

#include <cmath>
#include <limits>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"

namespace cobra::space {

absl::StatusOr<size_t> ArchRows::Device(absl::string_view name) const {
  for (size_t d = 0; d < devices.size(); ++d) {
    if (devices[d] == name) return d;
  }
  return absl::NotFoundError(absl::StrCat(name, ": no such device; there are ", absl::StrJoin(devices, ", ")));
}

absl::StatusOr<ArchRows> LoadArchRows(absl::string_view path) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(path));
  const absl::StatusOr<CsvTable> csv = ParseCsv(text);
  if (!csv.ok()) return absl::InvalidArgumentError(absl::StrCat(path, ": ", csv.status().message()));
  const int row = csv->Column("row"), arch = csv->Column("arch");
  if (row < 0 || arch < 0)
    return absl::InvalidArgumentError(absl::StrCat(path, ": line 1: the header needs row and arch"));
  ArchRows rows;
  std::vector<int> columns;
  for (int c = 0; c < static_cast<int>(csv->header.size()); ++c) {
    if (c == row || c == arch || csv->header[static_cast<size_t>(c)] == "vector") continue;
    columns.push_back(c);
    rows.devices.push_back(csv->header[static_cast<size_t>(c)]);
  }
  rows.latency_ms.resize(columns.size());
  for (const CsvTable::Row& line : csv->rows) {
    rows.row.push_back(line.fields[static_cast<size_t>(row)]);
    rows.line.push_back(line.line);
    rows.arch.push_back(line.fields[static_cast<size_t>(arch)]);
    for (size_t d = 0; d < columns.size(); ++d) {
      const std::string& field = line.fields[static_cast<size_t>(columns[d])];
      double ms = std::numeric_limits<double>::quiet_NaN();
      if (!field.empty() && (!absl::SimpleAtod(field, &ms) || !(ms > 0) || !std::isfinite(ms))) {
        return absl::InvalidArgumentError(absl::StrCat(path, ": line ", line.line, ": ", rows.devices[d], " \"", field,
                                                       "\": is not a positive number of milliseconds"));
      }
      rows.latency_ms[d].push_back(ms);
    }
  }
  return rows;
}

}  // namespace cobra::space
