#include "client/check/checking.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/similar_words.h"
#include "base/user_error.h"
#include "client/adapt/usual_targets.h"
#include "client/answer/memory_fit.h"
#include "client/answer/repository_root.h"
#include "client/answer/written_file.h"
#include "client/ask/prediction_render.h"
#include "client/compare/check_formats.h"
#include "client/compare/line_changes.h"
#include "client/request/ask_about.h"
#include "client/request/target_names.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "report/question.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

// The path of a file as reports name it: relative to the root, or as it is.
std::string ReportPath(const std::string& file, const FileVersion& version) {
  if (file.empty() || version.root.empty()) return file;
  return PathInFolder(file, version.root).value_or(file);
}

void UseReportPaths(const FileVersion& version, SavedPrediction* saved) {
  std::map<std::string, std::string> known;  // a network has many calls on few lines
  for (SavedTarget& target : saved->targets) {
    for (SavedCall& call : target.calls) {
      const auto [place, is_new] = known.emplace(call.place, "");
      if (is_new) {
        const SourceLine at = SplitPlace(call.place);
        const std::string path = ReportPath(at.file, version);
        place->second = absl::StrCat(path, call.place.substr(at.file.size()));
      }
      call.place = place->second;
    }
  }
}

// An error with names that the user knows: "origin/main:net.py" for a file of an exported commit.
absl::Status WithKnownPaths(const absl::Status& status, const FileVersion& version) {
  std::optional<Diagnostic> d = DiagnosticFromStatus(status);
  if (!d.has_value() || !version.exported) return status;
  const std::vector<std::pair<std::string, std::string>> names = {
      {absl::StrCat(version.root, "/"), absl::StrCat(version.label.substr(0, version.label.find(' ')), ":")}};
  std::vector<std::string*> texts = {&d->message, &d->hint, &d->position.file};
  for (DiagnosticFrame& frame : d->frames) texts.push_back(&frame.position.file);
  for (std::string* text : texts) absl::StrReplaceAll(names, text);
  return DiagnosticToStatus(*d);
}

// What `predict --format json --breakdown` would save of that version.
absl::StatusOr<SavedPrediction> PredictVersion(const CommonFlags& common, const CheckQuestion& question,
                                               ModelArguments model, const FileVersion& version) {
  constexpr size_t kTargetsAtOnce = 8;  // a breakdown for more may not fit into one reply
  AskFlags ask = question.ask;
  ask.breakdown = true;
  COBRA_ASSIGN_OR_RETURN(ModelInput input, ModelInput::Load(model, LimitsOf(model, common.client.deadline)));
  if (model.entry.empty()) model.entry = input.entry();
  PredictionView view{report::TitleOf(model), 0, true, model, {}, nullptr};
  COBRA_ASSIGN_OR_RETURN(view.targets, SheetsOf(Client::Connect(common.client).get()));
  const std::vector<std::string> targets = DifferentNames(question.targets);
  SavedPrediction saved;
  for (size_t i = 0; i < targets.size(); i += kTargetsAtOnce) {
    const std::vector<std::string> asked(targets.begin() + i,
                                         targets.begin() + std::min(i + kTargetsAtOnce, targets.size()));
    COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse response, AskAbout(common, ask, asked, model, &input));
    COBRA_ASSIGN_OR_RETURN(SavedPrediction some, ParsePrediction(PredictionJson(response, view), version.label));
    if (i > 0)
      std::move(some.targets.begin(), some.targets.end(), std::back_inserter(saved.targets));
    else
      saved = std::move(some);
  }
  UseReportPaths(version, &saved);
  return saved;
}

CheckedModel Unreadable(const absl::Status& status, const FileVersion& version) {
  CheckedModel model;
  model.status = CheckedModel::Status::kUnreadable;
  if (const std::optional<Diagnostic> d = DiagnosticFromStatus(status); d.has_value() && d->position.line > 0) {
    const std::string path =
        version.root.empty() ? d->position.file : PathInFolder(d->position.file, version.root).value_or("");
    if (!path.empty() && path[0] != '<') {
      model.error_file = path;
      model.error_line = d->position.line;
    }
  }
  model.error = WithKnownPaths(status, version);
  return model;
}

absl::StatusOr<CheckedModel> Checked(const CommonFlags& common, const CheckQuestion& q) {
  absl::StatusOr<SavedPrediction> after = PredictVersion(common, q, q.after, q.after_version);
  if (!after.ok()) {
    if (!DiagnosticFromStatus(after.status()).has_value()) return after.status();
    return Unreadable(after.status(), q.after_version);
  }
  const auto without_before = [&](bool is_new) {
    CheckedModel model = PredictedModel(*after, q.thresholds, q.budgets_ms);
    if (is_new) model.status = CheckedModel::Status::kNew;
    return model;
  };
  if (!q.before.has_value()) return without_before(q.is_new);
  CommonFlags of_before = common;
  of_before.client.labels.clear();  // they are of the new version: commit=...
  absl::StatusOr<SavedPrediction> before = PredictVersion(of_before, q, *q.before, q.before_version);
  if (!before.ok()) {
    const bool of_model = DiagnosticFromStatus(before.status()).has_value();
    const absl::Status status = WithKnownPaths(before.status(), q.before_version);
    if (!of_model || !q.tolerate_before) return status;
    CheckedModel model = without_before(true);
    model.notes.push_back(absl::StrCat("the old version cannot be read: ", std::string(status.message())));
    return model;
  }
  std::vector<std::string> differences = QuestionDifferences(*before, *after);
  const auto is_name = [](const std::string& difference) { return absl::StartsWith(difference, "model is "); };
  differences.erase(std::remove_if(differences.begin(), differences.end(), is_name), differences.end());
  CompareOptions options;
  options.max_increase = q.thresholds.allowed();
  options.different_models = true;  // the differences are notes
  COBRA_ASSIGN_OR_RETURN(const Comparison comparison, Compare(*std::move(before), *std::move(after), options));
  CheckedModel model = ComparedModel(comparison, q.thresholds, q.budgets_ms);
  if (!differences.empty()) model.notes.push_back(absl::StrJoin(differences, "; "));
  return model;
}

absl::StatusOr<std::pair<std::string, std::string>> ParseReport(const std::string& text) {
  const size_t equals = text.find('=');
  std::vector<std::string> formats = CiFormats();
  formats.insert(formats.begin(), {"table", "json"});
  const std::string format = text.substr(0, equals);
  if (std::find(formats.begin(), formats.end(), format) == formats.end()) {
    return UsageError(absl::StrCat("--report ", text, ": ", format, " is not a format"),
                      absl::StrCat("formats: ", SimilarNames(format, formats)));
  }
  if (equals == std::string::npos || equals + 1 == text.size()) {
    return UsageError(absl::StrCat("--report ", text, ": names no file"), absl::StrCat("--report ", format, "=FILE"));
  }
  return std::make_pair(format, text.substr(equals + 1));
}

}  // namespace

absl::StatusOr<std::vector<std::string>> TargetsOfCheck(const CommonFlags& common) {
  COBRA_ASSIGN_OR_RETURN(std::vector<std::string> usual, UsualTargets(common));
  if (usual.size() == 1) return usual;
  return UsageError(
      "no target is given, and this machine is not calibrated",
      "name targets: --target NAME, or targets = [\"NAME\"] in cobra.toml; cobra-client targets lists them");
}

absl::StatusOr<CheckedModel> AskAndCompare(const CommonFlags& common, const CheckQuestion& question) {
  COBRA_ASSIGN_OR_RETURN(CheckedModel model, Checked(common, question));
  model.name = question.name;
  model.file = question.file;
  model.line = question.line;
  model.notes.insert(model.notes.begin(), question.notes.begin(), question.notes.end());
  return model;
}

ModelArguments InExported(const ModelArguments& model, const std::string& users_root, const std::string& users_base,
                          const std::string& exported, const std::string& path) {
  ModelArguments moved = model;
  const auto in_exported = [&](const std::string& file) {
    const std::optional<std::string> below = PathInFolder((fs::path(users_base) / file).string(), users_root);
    return below.has_value() ? absl::StrCat(exported, "/", *below) : file;
  };
  if (!path.empty()) {
    moved.path = absl::StrCat(exported, "/", path);
  } else if (!model.path.empty()) {
    moved.path = in_exported(model.path);
  }
  moved.libraries.clear();
  for (const std::string& library : model.libraries) {
    std::string folder = in_exported(library);
    if (FileExists(folder)) moved.libraries.push_back(std::move(folder));  // one that came later has no old version
  }
  return moved;
}

std::function<bool(absl::string_view)> WantedFiles(const std::vector<std::string>& models) {
  std::set<std::string> folders;
  for (const std::string& model : models) {
    const fs::path path(model);
    if (path.has_extension() && path.extension() != ".py") folders.insert(path.parent_path().string());
  }
  return [folders](absl::string_view path) {
    if (absl::EndsWith(path, ".py")) return true;
    const size_t slash = path.rfind('/');
    return folders.count(std::string(path.substr(0, slash == absl::string_view::npos ? 0 : slash))) > 0;
  };
}

absl::Status CheckReportFlags(const ReportFlags& flags, const std::vector<std::string>& read,
                              const ConnectionFiles& connection) {
  std::set<fs::path> written;
  for (const std::string& report : flags.reports) {
    COBRA_ASSIGN_OR_RETURN(const auto parts, ParseReport(report));
    const auto& [format, file] = parts;
    COBRA_RETURN_IF_ERROR(CheckReplaces(absl::StrCat("--report ", format, "="), file, read, connection));
    if (!written.insert(fs::path(file).lexically_normal()).second)
      return UsageError(absl::StrCat("--report ", report, ": another report is written there"),
                        "give each report a different file");
  }
  return absl::OkStatus();
}

absl::StatusOr<int> PrintReport(const CheckReport& report, const ReportFlags& flags) {
  const int code = ReportProblems(report);
  const std::string text = CheckIn(flags.format, report, flags.top);
  flags.format.empty() || flags.format == "table" ? PrintText(text) : PrintData(text);
  for (const std::string& named : flags.reports) {
    COBRA_ASSIGN_OR_RETURN(const auto parts, ParseReport(named));
    const absl::Status written = WriteFileAtomic(parts.second, CheckIn(parts.first, report, flags.top));
    if (!written.ok()) return UsageError(absl::StrCat("--report ", named, ": ", std::string(written.message())));
  }
  return code;
}

}  // namespace cobra::client
