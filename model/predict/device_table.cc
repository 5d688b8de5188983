#include "model/predict/device_table.h"

#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/csv.h"
#include "base/status_macros.h"

namespace cobra::predict {
namespace {

absl::StatusOr<const CsvTable::Row*> FindRow(const CsvTable& table, size_t name_column, absl::string_view device) {
  const std::string wanted = absl::AsciiStrToLower(device);
  std::vector<std::string> all, found;
  const CsvTable::Row* row = nullptr;
  for (const CsvTable::Row& candidate : table.rows) {
    const std::string& name = candidate.fields[name_column];
    if (absl::EqualsIgnoreCase(name, device)) return &candidate;
    all.push_back(name);
    if (!absl::StrContains(absl::AsciiStrToLower(name), wanted)) continue;
    found.push_back(name);
    row = &candidate;
  }
  if (found.empty())
    return absl::NotFoundError(
        absl::StrCat("\"", device, "\": is not in the table; there are ", absl::StrJoin(all, ", ")));
  if (found.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat("\"", device, "\": may be ", absl::StrJoin(found, ", ")));
  }
  return row;
}

}  // namespace

absl::StatusOr<TargetSpec> TargetFromTable(absl::string_view csv, absl::string_view device) {
  COBRA_ASSIGN_OR_RETURN(const CsvTable table, ParseCsv(csv));
  const int name_column = table.Column("name");
  if (name_column < 0) return absl::InvalidArgumentError("line 1: the header has no column name");
  COBRA_ASSIGN_OR_RETURN(const CsvTable::Row* row, FindRow(table, static_cast<size_t>(name_column), device));
  TargetSpec spec;
  spec.device = row->fields[static_cast<size_t>(name_column)];
  spec.name = absl::StrCat("gpu-", absl::StrReplaceAll(absl::AsciiStrToLower(spec.device), {{" ", "-"}}));
  spec.kind = "gpu";
  struct Column {
    const char* name;
    double TargetSpec::*value;
  };
  for (const Column& column :
       {Column{"mem_bw_gb_s", &TargetSpec::memory_gb_per_s}, Column{"num_sm", &TargetSpec::cores},
        Column{"freq_mhz", &TargetSpec::clock_mhz}, Column{"fp32_gflops", &TargetSpec::peak_gflops},
        Column{"l2_mb", &TargetSpec::last_level_cache_mb}, Column{"mem_gb", &TargetSpec::memory_gb},
        Column{"board_power_w", &TargetSpec::board_power_w}}) {
    const int at = table.Column(column.name);
    if (at < 0) return absl::InvalidArgumentError(absl::StrCat("line 1: the header has no column ", column.name));
    const std::string& text = row->fields[static_cast<size_t>(at)];
    if (text.empty()) continue;  // no sheet states it
    if (!absl::SimpleAtod(text, &(spec.*column.value))) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", row->line, ": ", column.name, " \"", text, "\": is not a number"));
    }
  }
  return spec;
}

}  // namespace cobra::predict
