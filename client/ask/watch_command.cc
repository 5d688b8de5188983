#include "client/ask/watch_command.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/adapt/usual_targets.h"
#include "client/answer/exit_code.h"
#include "client/answer/memory_fit.h"
#include "client/answer/target_ranking.h"
#include "client/answer/unknown.h"
#include "client/ask/prediction_render.h"
#include "client/ask/watch.h"
#include "client/request/ask_about.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"
#include "client/terminal/text_table.h"
#include "report/question.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

volatile sig_atomic_t g_erases_line = 0;

// Everything that was printed is flushed, so the process can end at any moment.
void EndOnInterrupt() {
  g_erases_line = CanRedrawStandardError() ? 1 : 0;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    constexpr char kErase[] = "\r\033[K";
    if (g_erases_line != 0 && ::write(STDERR_FILENO, kErase, sizeof(kErase) - 1) < 0) ::_exit(1);
    ::_exit(0);
  };
  ::sigaction(SIGINT, &action, nullptr);
}

absl::Status CheckWatchFlags(const CommonFlags& common, const PredictFlags& flags) {
  const std::pair<bool, const char*> once[] = {{common.json, "--format json"},
                                               {!flags.baseline.empty(), "--baseline"},
                                               {!flags.list.empty(), "--list"},
                                               {flags.min_confidence >= 0, "--min-confidence"},
                                               {!flags.model.architecture.empty(), "--arch"}};
  for (const auto& [given, name] : once) {
    if (given)
      return UsageError(absl::StrCat(name, ": is for one answer, but --watch gives many"), "give only one of the two");
  }
  return absl::OkStatus();
}

std::string FolderOf(const std::string& path) {
  if (IsDirectory(path)) return path;
  const std::string folder = fs::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

bool IsOfUser(const absl::Status& status) {
  const int code = ExitCodeOf(status);
  return code == kExitUsage || code == kExitUnavailable;
}

std::string TimeText() { return absl::FormatTime("%H:%M:%S", absl::Now(), absl::LocalTimeZone()); }

const v1::TargetPrediction* Find(const v1::PredictResponse& response, const std::string& target) {
  for (const v1::TargetPrediction& p : response.predictions()) {
    if (p.target() == target) return &p;
  }
  return nullptr;
}

class Watcher {
 public:
  Watcher(const CommonFlags& common, PredictFlags flags, FileWatch watch)
      : common_(common), flags_(std::move(flags)), watch_(std::move(watch)), style_(StandardOutputStyle(common.color)) {
    shortens_ = flags_.targets.empty() && !flags_.all && !common.quiet;
  }

  absl::StatusOr<int> Run() {
    if (flags_.targets.empty()) {
      COBRA_ASSIGN_OR_RETURN(flags_.targets, UsualTargets(common_));
    }
    if (!common_.quiet) {
      COBRA_ASSIGN_OR_RETURN(sheets_, SheetsOf(Client::Connect(common_.client).get()));
    }
    COBRA_RETURN_IF_ERROR(watch_.Add({FolderOf(flags_.model.path)}));
    for (bool first = true;; first = false) {
      const absl::Status status = LookAgain();
      if (first && IsOfUser(status)) return status;
      if (!status.ok()) SayError(status);
      failed_ = !status.ok();
      if (first) Note(absl::StrCat("watching ", WithoutEscapes(flags_.model.path), "; Ctrl-C ends"));
      const std::string name = fs::path(flags_.model.path).filename().string();
      COBRA_RETURN_IF_ERROR(watch_.Wait(
          [&name](const std::string& changed) { return changed == name || absl::EndsWith(changed, ".py"); }));
    }
  }

 private:
  absl::Status LookAgain() {
    ModelArguments model = flags_.model;
    COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&model, common_.client.deadline, /*says_entry=*/!input_));
    COBRA_RETURN_IF_ERROR(watch_.Add(input.Folders()));
    if (input_.has_value() && !failed_ && input.HasSameText(*input_)) return absl::OkStatus();  // another file's change
    absl::StatusOr<v1::PredictResponse> response = AskAbout(common_, flags_.ask, flags_.targets, model, &input);
    if (!response.ok()) {
      input_ = std::move(input);
      return response.status();
    }
    Show(*response, model);
    last_ = *std::move(response);
    if (std::exchange(shortens_, false)) {  // the shown ones stay the same from now on
      flags_.targets.clear();
      const v1::PredictResponse fastest = FastestOf(*last_, sheets_);
      for (const v1::TargetPrediction& p : fastest.predictions()) flags_.targets.push_back(p.target());
    }
    input_ = std::move(input);
    return absl::OkStatus();
  }

  void SayError(const absl::Status& status) const {
    const bool color = StandardErrorStyle(common_.color).color;
    Say(absl::StrCat(PaintedMessage(WithoutEscapes(ErrorText(status)), color), "\n"), color);
  }

  void Show(const v1::PredictResponse& response, const ModelArguments& model) {
    std::string text;
    if (common_.quiet) {
      text = LatencyLines(response);
    } else if (!last_.has_value()) {
      const PredictionView view{
          report::TitleOf(model), flags_.budget_ms, flags_.ask.breakdown, model, sheets_, nullptr, style_};
      text = shortens_ ? ShortPredictionTable(response, view) : PredictionTable(response, view);
    } else {
      text = absl::StrCat(
          "\n", Painter(style_.color).Heading(absl::StrCat(TimeText(), " ", WithoutEscapes(report::TitleOf(model)))),
          "\n", ChangedAnswerText(*last_, response, flags_.budget_ms, style_));
    }
    PrintText(text, style_.color);
    FlushOutput();
  }

  const CommonFlags& common_;
  PredictFlags flags_;
  bool shortens_ = false;  // the first answer, to the fastest targets
  FileWatch watch_;
  const TerminalStyle style_;
  std::optional<ModelInput> input_;  // as it was read last
  std::optional<v1::PredictResponse> last_;
  TargetSheets sheets_;
  bool failed_ = false;
};

}  // namespace

std::string ChangedAnswerText(const v1::PredictResponse& before, const v1::PredictResponse& after, double budget_ms,
                              const TerminalStyle& style) {
  if (!after.fingerprint().empty() && before.fingerprint() == after.fingerprint() &&
      before.model_version() == after.model_version())
    return "the same network: nothing has changed\n";
  const Painter paint(style.color);
  std::vector<std::vector<std::string>> rows = {
      {"target", "predicted ms", "change", IntervalHeader(after), "confidence", ""}};
  std::vector<double> changes = {0};
  for (const v1::TargetPrediction& p : after.predictions()) {
    const v1::TargetPrediction* was = Find(before, p.target());
    const bool known = was != nullptr && was->latency_us() > 0;
    changes.push_back(known ? p.latency_us() / was->latency_us() - 1 : 0);
    const bool over = budget_ms > 0 && p.latency_us() > 1000 * budget_ms;
    rows.push_back({p.target(), MillisecondsText(p.latency_us()),
                    known ? absl::StrFormat("%+.1f %%", 100 * changes.back()) : "", IntervalText(p),
                    absl::StrFormat("%.2f", p.confidence()),
                    over ? absl::StrFormat("over the budget of %g ms", budget_ms) : ""});
  }
  constexpr double kShown = 0.0005;
  const auto painted = [&](size_t row, size_t column, const std::string& text) {
    if (row == 0) return paint.Dim(text);
    if (column == 2 && changes[row] > kShown) return paint.Bad(text);
    if (column == 2 && changes[row] < -kShown) return paint.Good(text);
    if (column == 4) return PaintedConfidence(paint, after.predictions(static_cast<int>(row) - 1).confidence(), text);
    return column == 5 ? paint.Bad(text) : text;
  };
  const std::vector<Column> columns = {{.min_width = 20, .keep_both = true}, {true}, {true},
                                       {.right = true, .leave_out = 1},      {true}, {.below = true}};
  return absl::StrCat(SummaryLine(after.node_count(), after.parameter_count(), after.macs(), after.peak_memory_bytes()),
                      "\n", TextTable(rows, columns, style.width, painted));
}

absl::StatusOr<int> RunPredictWatch(const CommonFlags& common, PredictFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckWatchFlags(common, flags));
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_ASSIGN_OR_RETURN(FileWatch watch, FileWatch::Create());
  EndOnInterrupt();
  return Watcher(common, std::move(flags), std::move(watch)).Run();
}

}  // namespace cobra::client
