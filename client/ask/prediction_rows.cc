#include "client/ask/prediction_rows.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/csv.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/answer/exit_code.h"
#include "client/terminal/output.h"
#include "proto/request_words.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Names(const RowName& name) {
  std::vector<std::string> fields{name.row};
  if (!name.target.empty()) fields.push_back(name.target);
  return fields;
}

std::string Number(double value, int digits) { return absl::StrFormat("%.*g", digits, value); }

}  // namespace

std::string HeaderLine(bool has_targets) {
  return absl::StrCat("row,", has_targets ? "target," : "", "latency_ms,low_ms,high_ms,confidence,error\n");
}

std::string AnswerLine(const RowName& name, const v1::TargetPrediction& prediction) {
  std::vector<std::string> fields = Names(name);
  for (const double us : {prediction.latency_us(), prediction.low_us(), prediction.high_us()}) {
    if (!std::isfinite(us)) return ErrorLine(name, absl::InternalError("the server's answer is not a number"));
    fields.push_back(Number(us / 1000, 9));
  }
  fields.push_back(Number(prediction.confidence(), 6));
  fields.emplace_back();
  return CsvLine(fields);
}

std::string ErrorLine(const RowName& name, const absl::Status& why) {
  std::vector<std::string> fields = Names(name);
  fields.resize(fields.size() + 4);
  fields.push_back(WhyText(why));
  return CsvLine(fields);
}

absl::StatusOr<std::unique_ptr<PredictionRows>> PredictionRows::Open(const std::string& path, bool has_targets) {
  if (path.empty()) return UsageError("--out : is empty", "a file, or - for standard output");
  std::error_code error;  // of a file that is not there
  const bool direct = path == "-" || (fs::exists(path, error) && !fs::is_regular_file(path, error));
  const std::string part = direct ? "" : absl::StrCat(path, ".part");
  // The part of an earlier run goes, and is not written to: it may be a link that somebody else
  // made.
  if (!direct) std::remove(part.c_str());
  std::FILE* file = path == "-" ? nullptr : std::fopen(direct ? path.c_str() : part.c_str(), direct ? "wb" : "wbx");
  std::unique_ptr<PredictionRows> rows(new PredictionRows(path, part, file));
  if (file == nullptr && path != "-") return rows->Error("cannot be written");
  COBRA_RETURN_IF_ERROR(rows->Write(HeaderLine(has_targets)));
  return rows;
}

PredictionRows::~PredictionRows() {
  if (file_ != nullptr) std::fclose(file_);
}

absl::Status PredictionRows::Error(absl::string_view what) const {
  return UsageError(absl::StrCat("--out ", path_, ": ", what, ": ", std::strerror(errno)),
                    "name a file in a folder that exists and has room, or - for standard output");
}

absl::Status PredictionRows::Write(absl::string_view text) {
  if (file_ == nullptr) {
    PrintData(text);
    return FlushOutput() ? absl::OkStatus() : Error("cannot be written");
  }
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
    return Error("cannot be written");
  return absl::OkStatus();
}

absl::Status PredictionRows::Add(int64_t index, std::string line) {
  waiting_.emplace(index, std::move(line));
  std::string ready;
  for (auto next = waiting_.begin(); next != waiting_.end() && next->first == written_; ++written_) {
    ready += next->second;
    next = waiting_.erase(next);
  }
  return ready.empty() ? absl::OkStatus() : Write(ready);
}

absl::Status PredictionRows::Finish() {
  if (file_ != nullptr) {
    const bool closed = std::fclose(std::exchange(file_, nullptr)) == 0;
    if (!closed) return Error("cannot be written");
  }
  if (part_.empty()) return absl::OkStatus();
  if (absl::EndsWith(path_, ".gz")) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(part_));
    COBRA_RETURN_IF_ERROR(WriteMaybeGzip(path_, text));
    std::remove(part_.c_str());
    return absl::OkStatus();
  }
  return std::rename(part_.c_str(), path_.c_str()) == 0 ? absl::OkStatus() : Error("cannot be written");
}

void PredictionRows::Discard() {
  if (!part_.empty()) std::remove(part_.c_str());
}

}  // namespace cobra::client
