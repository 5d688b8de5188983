#include "model/predict/device_table.h"

#include <algorithm>
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

TargetSpec FilledFromTable(TargetSpec sheet) {
  if (sheet.kind != "gpu" || sheet.device.empty()) return sheet;
  const absl::StatusOr<CsvTable> table = ParseCsv(GpuTable());
  if (!table.ok()) return sheet;
  const auto name = static_cast<size_t>(table->Column("name"));
  const auto row = std::find_if(table->rows.begin(), table->rows.end(), [&](const CsvTable::Row& r) {
    return absl::EqualsIgnoreCase(r.fields[name], sheet.device);
  });
  if (row == table->rows.end()) return sheet;
  const auto number = [&](absl::string_view column) {
    double value = 0;
    return absl::SimpleAtod(row->fields[static_cast<size_t>(table->Column(column))], &value) ? value : 0;
  };
  const bool is_half = sheet.precision == "float16" || sheet.precision == "amp-float16";
  const double vector = number("fp32_gflops");
  double peak = is_half                         ? number("fp16_matrix_gflops")
                : sheet.precision == "bfloat16" ? number("bf16_matrix_gflops")
                                                : 0;
  if (sheet.precision == "tf32") peak = number("tf32_gflops");
  if (!(peak > 0)) peak = vector;
  const double convolutions = sheet.precision == "tf32-convolutions" ? number("tf32_gflops") : 0;
  const auto fill = [](double* field, double value) {
    if (!(*field > 0)) *field = value;
  };
  fill(&sheet.peak_gflops, peak);
  fill(&sheet.convolution_gflops, convolutions > 0 ? convolutions : sheet.peak_gflops);
  fill(&sheet.depthwise_gflops, vector);
  fill(&sheet.memory_gb_per_s, number("mem_bw_gb_s"));
  fill(&sheet.last_level_cache_mb, number("l2_mb"));
  fill(&sheet.clock_mhz, number("freq_mhz"));
  fill(&sheet.cores, number("num_sm"));
  fill(&sheet.memory_gb, number("mem_gb"));
  fill(&sheet.board_power_w, number("board_power_w"));
  return sheet;
}

}  // namespace cobra::predict
