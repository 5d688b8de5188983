#include "worker/queue/exchange_command.h"

#include <cstdio>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "store/record_file.h"
#include "worker/queue/exchange.h"

namespace cobra::worker {
namespace {

bool IsCsv(absl::string_view path) { return absl::EndsWith(path, ".csv") || absl::EndsWith(path, ".csv.gz"); }

absl::Status WriteOut(const std::string& path, const std::string& text) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return absl::OkStatus();
  }
  return WriteMaybeGzip(path, text);
}

}  // namespace

absl::Status RunExport(const ExchangeFlags& flags) {
  std::string lines;
  for (const std::string& file : flags.files) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, store::ReadRecordFile(file));
    absl::StrAppend(&lines, text, absl::EndsWith(text, "\n") ? "" : "\n");
  }
  if (flags.format == "jsonl") return WriteOut(flags.out, lines);
  COBRA_ASSIGN_OR_RETURN(const std::string csv, RecordsToCsv(lines));
  return WriteOut(flags.out, csv);
}

absl::Status RunImport(const ExchangeFlags& flags) {
  std::string lines;
  int64_t problems = 0;
  for (const std::string& file : flags.files) {
    COBRA_ASSIGN_OR_RETURN(std::string text, store::ReadRecordFile(file));
    if (IsCsv(file)) {
      absl::StatusOr<std::string> converted = CsvToRecords(text);
      if (!converted.ok()) return absl::InvalidArgumentError(absl::StrCat(file, ": ", converted.status().message()));
      text = *std::move(converted);
    }
    CheckedRecords checked = CheckRecords(text);
    for (const std::string& problem : checked.problems)
      std::fprintf(stderr, "%s\n", WithoutEscapes(absl::StrCat(file, ": ", problem)).c_str());
    std::fprintf(stderr, "%s: %lld records of %lld sessions valid, %zu lines invalid\n", file.c_str(),
                 static_cast<long long>(checked.records), static_cast<long long>(checked.sessions),
                 checked.problems.size());
    problems += static_cast<int64_t>(checked.problems.size());
    lines += checked.json_lines;
  }
  if (problems > 0 && !flags.skip_invalid) {
    return absl::InvalidArgumentError("nothing is written (--skip-invalid writes the valid records)");
  }
  return WriteOut(flags.out, lines);
}

}  // namespace cobra::worker
