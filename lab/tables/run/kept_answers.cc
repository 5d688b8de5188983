#include "lab/tables/run/kept_answers.h"

#include <lzma.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file/file.h"
#include "base/process/processes.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "nlohmann/json.hpp"

namespace cobra::lab {
namespace {

using Json = nlohmann::json;

constexpr char kSuffix[] = ".jsonl.xz";

// "lab/results/boards.partial." of "lab/results/boards.partial.jsonl".
std::string PrefixOf(absl::string_view state) { return absl::StrCat(absl::StripSuffix(state, "jsonl")); }

std::string PathOf(const TableOptions& options, absl::string_view part) {
  return absl::StrCat(PrefixOf(options.state), part, kSuffix);
}

// More than a latency and the width of an interval have; all seventeen would be most of the file.
constexpr int kDigits = 6, kDigitsOfWidth = 3;
std::string Numbers(const std::vector<double>& values, int digits) {
  std::string text = "[";
  for (const double value : values) absl::StrAppendFormat(&text, "%s%.*g", text.size() == 1 ? "" : ",", digits, value);
  return text + "]";
}

// A quarter of what gzip leaves: a row is in several groups, which are further apart than gzip
// looks back.
absl::StatusOr<std::string> Xz(const std::string& text) {
  std::string packed(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  const lzma_ret done = lzma_easy_buffer_encode(LZMA_PRESET_DEFAULT, LZMA_CHECK_CRC64, nullptr,
                                                reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                                reinterpret_cast<uint8_t*>(packed.data()), &size, packed.size());
  if (done != LZMA_OK) return absl::InternalError(absl::StrCat("xz: error ", done));
  packed.resize(size);
  return packed;
}

std::string ToLines(const AnswersOfGroups& answers) {
  std::string lines;
  for (const auto& [key, rows] : answers) {
    absl::StrAppend(&lines, "{\"group\":", Json(key.first).dump(), ",\"method\":", Json(key.second).dump(),
                    ",\"predicted\":", Numbers(rows.predicted(), kDigits),
                    ",\"measured\":", Numbers(rows.measured(), kDigits),
                    ",\"half_width\":", Numbers(rows.half_width(), kDigitsOfWidth), "}\n");
  }
  return lines;
}

absl::StatusOr<AnswersOfGroups> FromLines(absl::string_view lines) {
  AnswersOfGroups answers;
  for (const absl::string_view line : absl::StrSplit(lines, '\n', absl::SkipEmpty())) {
    const Json j = ParseJson<Json>(line);
    // The library reports a missing or mistyped field with an exception, which is caught here.
    try {
      const auto predicted = j.at("predicted").get<std::vector<double>>();
      const auto measured = j.at("measured").get<std::vector<double>>();
      const auto half_width = j.at("half_width").get<std::vector<double>>();
      if (measured.size() != predicted.size() || (!half_width.empty() && half_width.size() != predicted.size()))
        return absl::DataLossError("its lists have different lengths");
      AnsweredRows& rows = answers[{j.at("group").get<std::string>(), j.at("method").get<std::string>()}];
      for (size_t i = 0; i < predicted.size(); ++i) {
        if (half_width.empty())
          rows.AddWithoutInterval(predicted[i], measured[i]);
        else
          rows.Add(predicted[i], measured[i], half_width[i]);
      }
    } catch (const Json::exception& e) {
      return absl::DataLossError(e.what());
    }
  }
  return answers;
}

}  // namespace

absl::StatusOr<AnswersOfGroups> KeptOrAnswered(const TableOptions& options, const std::string& part,
                                               const std::function<absl::StatusOr<AnswersOfGroups>()>& answer) {
  const std::string path = PathOf(options, part);
  if (!options.state.empty() && FileExists(path)) {
    COBRA_ASSIGN_OR_RETURN(const std::string lines, ReadMaybeCompressed(path));
    absl::StatusOr<AnswersOfGroups> kept = FromLines(lines);
    if (!kept.ok())
      return absl::DataLossError(absl::StrCat(path, ": ", kept.status().message(), "; remove it to compute it again"));
    return kept;
  }
  if (options.finished) return AnswersOfGroups();
  absl::StatusOr<AnswersOfGroups> answers = answer();
  if (!answers.ok()) return absl::Status(answers.status().code(), absl::StrCat(part, ": ", answers.status().message()));
  if (!options.state.empty()) {
    COBRA_ASSIGN_OR_RETURN(const std::string packed, Xz(ToLines(*answers)));
    COBRA_RETURN_IF_ERROR(WriteFileAtomic(path, packed));
  }
  return answers;
}

absl::Status AnswerInParallel(const TableOptions& options, const std::vector<TablePart>& parts) {
  if ((options.jobs <= 1 && !options.parts) || options.finished || options.state.empty()) return absl::OkStatus();
  std::vector<const TablePart*> missing;
  for (const TablePart& part : parts) {
    if (!FileExists(PathOf(options, part.first))) missing.push_back(&part);
  }
  COBRA_ASSIGN_OR_RETURN(const std::vector<size_t> failed, RunInProcesses(missing.size(), options.jobs, [&](size_t i) {
                           return KeptOrAnswered(options, missing[i]->first, missing[i]->second).status();
                         }));
  if (failed.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(missing[failed.front()]->first, ": failed; its message is above"));
}

void AddAnswers(const AnswersOfGroups& more, AnswersOfGroups* answers) {
  for (const auto& [key, rows] : more) (*answers)[key].Append(rows);
}

absl::Status RemoveKeptAnswers(const std::string& state) {
  const std::filesystem::path prefix = PrefixOf(state);
  COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> files, ListFiles(prefix.parent_path().string(), kSuffix));
  for (const std::string& file : files) {
    if (absl::StartsWith(file, prefix.filename().string())) std::remove((prefix.parent_path() / file).c_str());
  }
  return absl::OkStatus();
}

}  // namespace cobra::lab
