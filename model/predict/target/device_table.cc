#include "model/predict/target/device_table.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/file/csv.h"
#include "base/status_macros.h"

namespace cobra::predict {
namespace {

constexpr absl::string_view kWordsOfMakers[] = {"nvidia",     "geforce",  "tesla", "amd", "radeon",
                                                "instinct",   "gpu",      "rtx",   "gtx", "rx",
                                                "generation", "graphics", "r",     "tm"};
// A GPU that is a module, and no card: people say so of any (SXM2 to SXM5), and the driver of an
// H100 by its memory.
constexpr absl::string_view kModule = "sxm", kMemoryOfModule = "hbm3";

// "h100", "4090", "mi300x": what tells the models of a maker apart, and is not a size of memory.
bool IsModelWord(absl::string_view word) {
  const auto digits = absl::c_count_if(word, [](unsigned char c) { return absl::ascii_isdigit(c); });
  return digits > 0 && (static_cast<size_t>(digits) < word.size() || digits >= 3) && !absl::EndsWith(word, "gb");
}

// The rows of a table with the words of their names.
struct NamedRows {
  explicit NamedRows(CsvTable of) : table(std::move(of)), name(static_cast<size_t>(table.Column("name"))) {
    for (const CsvTable::Row& row : table.rows) {
      words.push_back(DeviceWords(row.fields[name], true));
      words_without_memory.push_back(DeviceWords(row.fields[name], false));
    }
  }

  // The row of this name; if there is none, the only one that differs in the size of its memory
  // alone, or that does not say that it is a module ("H200 SXM"). Null: none of them.
  const CsvTable::Row* Find(absl::string_view device) const {
    std::vector<std::string> wanted = DeviceWords(device, true);
    if (const auto row = Only(words, wanted)) return *row;
    wanted = DeviceWords(device, false);
    if (const auto row = Only(words_without_memory, wanted)) return *row;
    const auto module = absl::c_find(wanted, kModule);
    if (module == wanted.end()) return nullptr;
    wanted.erase(module);
    return Only(words_without_memory, wanted).value_or(nullptr);
  }

  // The row with these words; null if several have them, nothing if none has.
  std::optional<const CsvTable::Row*> Only(const std::vector<std::vector<std::string>>& all,
                                           const std::vector<std::string>& wanted) const {
    const auto found = absl::c_find(all, wanted);
    if (wanted.empty() || found == all.end()) return std::nullopt;
    if (std::find(found + 1, all.end(), wanted) != all.end()) return nullptr;
    return &table.rows[static_cast<size_t>(found - all.begin())];
  }

  const CsvTable table;
  const size_t name;
  std::vector<std::vector<std::string>> words, words_without_memory;
};

// Of GpuTable(). Each prediction on a GPU asks.
const NamedRows& Gpus() {
  static const auto* const rows = new NamedRows(ParseCsv(GpuTable()).value_or(CsvTable()));
  return *rows;
}

absl::StatusOr<const CsvTable::Row*> FindRow(const NamedRows& rows, absl::string_view device) {
  if (const CsvTable::Row* row = rows.Find(device)) return row;
  const std::string wanted = absl::AsciiStrToLower(device);
  std::vector<std::string> all, found;
  const CsvTable::Row* row = nullptr;
  for (const CsvTable::Row& candidate : rows.table.rows) {
    const std::string& name = candidate.fields[rows.name];
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

struct Column {
  const char* name;
  double TargetSpec::*value;
};
constexpr char kVectorPeak[] = "fp32_gflops", kTf32Peak[] = "tf32_gflops", kBfloat16Peak[] = "bf16_matrix_gflops";
constexpr Column kColumns[] = {{"mem_bw_gb_s", &TargetSpec::memory_gb_per_s}, {"num_sm", &TargetSpec::cores},
                               {"freq_mhz", &TargetSpec::clock_mhz},          {kVectorPeak, &TargetSpec::peak_gflops},
                               {"l2_mb", &TargetSpec::last_level_cache_mb},   {"mem_gb", &TargetSpec::memory_gb},
                               {"board_power_w", &TargetSpec::board_power_w}};

absl::string_view PeakColumn(absl::string_view precision) {
  if (precision == "float16" || precision == "amp-float16") return "fp16_matrix_gflops";
  if (precision == "bfloat16") return kBfloat16Peak;
  return precision == "tf32" ? kTf32Peak : kVectorPeak;
}

}  // namespace

std::vector<std::string> DeviceWords(absl::string_view name, bool with_memory) {
  std::string text = absl::AsciiStrToLower(name);
  for (char& c : text) c = absl::ascii_isalnum(static_cast<unsigned char>(c)) ? c : ' ';
  std::vector<std::string> words;
  for (absl::string_view word : absl::StrSplit(text, ' ', absl::SkipEmpty())) {
    for (absl::string_view series : {"rtx", "gtx"}) {  // "rtx4090"
      if (absl::StartsWith(word, series) && word.size() > series.size()) word.remove_prefix(series.size());
    }
    if (absl::StartsWith(word, kModule) || word == kMemoryOfModule) word = kModule;
    const bool is_memory = absl::EndsWith(word, "gb") && absl::ascii_isdigit(static_cast<unsigned char>(word[0]));
    if (absl::c_linear_search(kWordsOfMakers, word) || (is_memory && !with_memory)) continue;
    words.emplace_back(word);
  }
  absl::c_sort(words);
  return words;
}

absl::StatusOr<TargetSpec> TargetFromTable(absl::string_view csv, absl::string_view device) {
  COBRA_ASSIGN_OR_RETURN(CsvTable parsed, ParseCsv(csv));
  if (parsed.Column("name") < 0) return absl::InvalidArgumentError("line 1: the header has no column name");
  const NamedRows rows(std::move(parsed));
  const CsvTable& table = rows.table;
  COBRA_ASSIGN_OR_RETURN(const CsvTable::Row* row, FindRow(rows, device));
  TargetSpec spec;
  spec.device = row->fields[rows.name];
  spec.name = absl::StrCat("gpu-", absl::StrReplaceAll(absl::AsciiStrToLower(spec.device), {{" ", "-"}}));
  spec.kind = "gpu";
  for (const Column& column : kColumns) {
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

double ProcessNm(absl::string_view device) {
  double nm = 0;
  if (const CsvTable::Row* row = Gpus().Find(device); row != nullptr)
    (void)absl::SimpleAtod(row->fields[static_cast<size_t>(Gpus().table.Column("process_nm"))], &nm);
  return nm;
}

bool LacksUnitsFor(absl::string_view device, absl::string_view precision) {
  if (precision != "bfloat16" && !absl::StartsWith(precision, "tf32")) return false;
  const CsvTable::Row* const row = Gpus().Find(device);
  if (row == nullptr) return false;
  // What has the one has the other, though no sheet may say how fast.
  const auto is_empty = [row](absl::string_view column) {
    return row->fields[static_cast<size_t>(Gpus().table.Column(column))].empty();
  };
  return is_empty(kBfloat16Peak) && is_empty(kTf32Peak);
}

std::vector<std::string> DevicesNamedLike(absl::string_view device) {
  const NamedRows& gpus = Gpus();
  std::vector<std::string> like;
  const std::vector<std::string> words = DeviceWords(device, true);
  if (words.empty() || gpus.Find(device) != nullptr) return like;
  for (size_t i = 0; i < gpus.words.size(); ++i) {
    if (absl::c_includes(gpus.words[i], words)) like.push_back(gpus.table.rows[i].fields[gpus.name]);
  }
  return like;
}

std::vector<std::string> GpusNamed(absl::string_view device) {
  const CsvTable::Row* const row = Gpus().Find(device);
  if (row == nullptr) return DevicesNamedLike(device);
  return {row->fields[Gpus().name]};
}

std::vector<std::string> GpusOfModel(absl::string_view device) {
  const NamedRows& gpus = Gpus();
  std::vector<std::string> related;
  const std::vector<std::string> words = DeviceWords(device, true);
  const auto is_shared = [](const std::vector<std::string>& of_row, const std::string& word) {
    return IsModelWord(word) && absl::c_linear_search(of_row, word);
  };
  for (size_t i = 0; i < gpus.words.size(); ++i) {
    if (absl::c_any_of(words, [&](const std::string& word) { return is_shared(gpus.words[i], word); }))
      related.push_back(gpus.table.rows[i].fields[gpus.name]);
  }
  return related;
}

TargetSpec FilledFromTable(TargetSpec sheet) {
  if (sheet.kind != "gpu" || sheet.device.empty()) return sheet;
  const CsvTable& table = Gpus().table;
  const CsvTable::Row* row = Gpus().Find(sheet.device);
  if (row == nullptr) return sheet;
  const auto fill = [&](double* field, absl::string_view column) {
    const std::string& text = row->fields[static_cast<size_t>(table.Column(column))];
    double value = 0;
    if (!(*field > 0) && absl::SimpleAtod(text, &value)) *field = value;
  };
  fill(&sheet.peak_gflops, PeakColumn(sheet.precision));
  for (const Column& column : kColumns) fill(&(sheet.*column.value), column.name);
  if (sheet.precision == "tf32-convolutions") fill(&sheet.convolution_gflops, kTf32Peak);
  if (!(sheet.convolution_gflops > 0)) sheet.convolution_gflops = sheet.peak_gflops;
  fill(&sheet.depthwise_gflops, kVectorPeak);
  return sheet;
}

TargetSpec CompletedSheet(TargetSpec sheet) {
  if (sheet.kind != "cpu") return FilledFromTable(std::move(sheet));
  if (sheet.peak_gflops > 0 || !(sheet.clock_mhz > 0) || !(sheet.vector_bits > 0)) return sheet;
  // Two units of fused multiply-adds; one where vectors are narrow and nothing computes in halves
  // (Cortex-A53, A72).
  constexpr double kNarrowBits = 128, kOperations = 2;
  const bool is_half = sheet.precision == "float16";
  const double lanes = sheet.vector_bits / (is_half ? 16 : 32);
  const double units = sheet.vector_bits <= kNarrowBits && !is_half && RuntimeFamily(sheet) == "ncnn" ? 1 : 2;
  sheet.peak_gflops = sheet.clock_mhz / 1000 * sheet.threads * kOperations * units * lanes;
  return sheet;
}

}  // namespace cobra::predict
