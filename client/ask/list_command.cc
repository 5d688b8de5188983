#include "client/ask/list_command.h"

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/without_escapes.h"
#include "base/user_error.h"
#include "client/answer/exit_code.h"
#include "client/answer/memory_fit.h"
#include "client/answer/written_file.h"
#include "client/ask/prediction_rows.h"
#include "client/input/model_list.h"
#include "client/many_requests.h"
#include "client/request/model_question.h"
#include "client/request/target_names.h"
#include "client/terminal/progress.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

// Flags that a list takes the place of. One that was ignored would give the answer to another
// question.
absl::Status CheckListFlags(const CommonFlags& common, const PredictFlags& flags) {
  const ModelArguments& model = flags.model;
  const struct {
    std::string given;  // empty: it is not
    absl::string_view column;
  } of_a_row[] = {{model.path, "model"},
                  {model.architecture.empty() ? "" : "--arch", "model"},
                  {model.entry.empty() ? "" : "--entry", "entry"},
                  {model.inputs.empty() ? "" : "--input", "inputs"},
                  {model.arguments.empty() ? "" : "--arg", "arguments"},
                  {model.training ? "--mode" : "", "mode"}};
  for (const auto& flag : of_a_row) {
    if (flag.given.empty()) continue;
    return UsageError(absl::StrCat(flag.given, ": with --list, each row has its own"),
                      absl::StrCat("write it into the column ", flag.column, " of ", flags.list));
  }
  const std::pair<bool, absl::string_view> of_one_model[] = {{flags.ask.breakdown, "--breakdown"},
                                                             {flags.budget_ms > 0, "--budget-ms"},
                                                             {flags.min_confidence >= 0, "--min-confidence"},
                                                             {!flags.baseline.empty(), "--baseline"},
                                                             {common.json, "--format json"},
                                                             {!flags.format.empty(), "--format"}};
  for (const auto& [given, name] : of_one_model) {
    if (given) return UsageError(absl::StrCat(name, ": is for one model; --list writes a CSV file of many"));
  }
  return CheckReplaces("--out ", flags.out, {flags.list}, common.client.connection);
}

// Whether an error is about what is the same for all rows: the target, the credentials, the model's
// version.
bool ConcernsAllRows(const absl::Status& status) {
  return absl::IsNotFound(status) || absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status) ||
         (absl::IsFailedPrecondition(status) && ExitCodeOf(status) == kExitUsage);
}

// The questions of a list: each of its models on each target, in order.
class ListRun {
 public:
  // The pointers are not owned.
  ListRun(const CommonFlags& common, const PredictFlags& flags, const v1::ListTargetsResponse& targets, ModelList* list,
          PredictionRows* rows)
      : time_(common.client.deadline),
        ask_(flags.ask),
        targets_(DifferentNames(flags.targets)),
        versions_(TorchVersions(targets)),
        sheets_(SheetsOf(targets)),
        list_(list),
        rows_(rows),
        progress_(absl::StrCat("asking ", common.client.address)),
        address_(common.client.address) {}

  ManyRequests requests() {
    return {
        [this] { return Next(); },
        [this](int64_t index, absl::StatusOr<v1::PredictResponse> answer) { return Take(index, std::move(answer)); }};
  }

  // Writes why the rest has no answer.
  void GiveUp(const absl::Status& why) {
    const absl::Status not_answered(why.code(), absl::StrCat("not answered: ", WhyText(why)));
    for (const auto& [index, question] : asked_) Fail(question.cell, question.name, not_answered);
    asked_.clear();
    while (output_.ok() && BeginCell()) Fail(cell_ - 1, name_, not_answered);
  }

  int64_t answered() const { return answered_; }
  // Of the file that is written.
  const absl::Status& output() const { return output_; }
  std::string Summary(const std::string& out) const {
    const int64_t all = answered_ + failed_;
    std::string text = absl::StrCat(out == "-" ? "" : absl::StrCat(out, ": "), answered_, " of ",
                                    Counted(all, targets_.size() > 1 ? "question" : "row"), " answered");
    if (failed_ > 0) absl::StrAppend(&text, "; the first without an answer: ", first_failure_);
    if (lacking_ > 0) {
      absl::StrAppend(&text, "; more memory than the device has: ", Counted(lacking_, "answer"), ", the first ",
                      first_lacking_);
    }
    return text;
  }

 private:
  struct Question {
    int64_t cell = 0;
    RowName name;
    std::shared_ptr<const ModelQuestion> sent;  // if the server reads it, for its errors
  };

  // Steps to the next model and target; false after the last one.
  bool BeginCell() {
    if (target_ == 0) {
      std::optional<ListedModel> next = list_->Next();
      if (!next.has_value()) return false;
      row_ = next->row;
      found_ = next->found;
      AskFlags ask = ask_;
      if (!next->model.architecture.empty()) ask.send_source = true;  // the string: a hundredth of its graph
      question_ = QuestionOf(ask, std::move(next->model));
    }
    name_ = {row_, targets_.size() > 1 ? targets_[target_] : ""};
    asked_target_ = targets_[target_];
    target_ = (target_ + 1) % targets_.size();
    ++cell_;
    return true;
  }

  // Lists repeat models, and reading one takes longer than all the rest. (An architecture is not
  // read here.)
  std::shared_ptr<ModelQuestion> QuestionOf(const AskFlags& ask, ModelArguments model) {
    constexpr size_t kMostKept = 64;
    const bool is_read = model.architecture.empty();
    const std::string key = is_read ? ModelKey(model) : "";
    if (const auto known = kept_.find(key); is_read && known != kept_.end()) return known->second;
    auto question = std::make_shared<ModelQuestion>(ask, std::move(model), &versions_, time_);
    if (!is_read) return question;
    if (kept_.size() == kMostKept) kept_.clear();
    kept_.emplace(key, question);
    return question;
  }

  std::optional<v1::PredictRequest> Next() {
    while (output_.ok() && BeginCell()) {
      absl::StatusOr<v1::PredictRequest> request =
          found_.ok() ? question_->RequestFor(asked_target_) : absl::StatusOr<v1::PredictRequest>(found_);
      if (request.ok()) {
        asked_.emplace(sent_++, Question{cell_ - 1, name_, ask_.send_source ? question_ : nullptr});
        // The file has neither.
        request->add_omit(v1::NETWORK_PART_FINGERPRINT);
        request->add_omit(v1::NETWORK_PART_COUNTS);
        return *std::move(request);
      }
      Fail(cell_ - 1, name_, request.status());
    }
    return std::nullopt;
  }

  absl::Status Take(int64_t index, absl::StatusOr<v1::PredictResponse> answer) {
    if (!answer.ok() && ConcernsAllRows(answer.status())) return answer.status();
    const Question question = std::move(asked_.extract(index).mapped());
    if (answer.ok() && answer->predictions_size() != 1)
      answer = absl::InternalError("the server's response does not match the request");
    if (answer.ok()) {
      ++answered_;
      NoteMemory(question, *answer);
      Write(question.cell, AnswerLine(question.name, answer->predictions(0)));
    } else {
      Fail(question.cell, question.name,
           question.sent == nullptr ? answer.status() : question.sent->WithUserPaths(answer.status()));
    }
    progress_.Count(absl::StrCat("asking ", address_), answered_ + failed_,
                    list_->size() * static_cast<int64_t>(targets_.size()));
    return output_;
  }

  // The file has no column for it, and a latency of what does not fit is of no use.
  void NoteMemory(const Question& question, const v1::PredictResponse& answer) {
    const std::string lack = LackOfMemory(answer, answer.predictions(0), sheets_);
    if (lack.empty()) return;
    if (lacking_++ == 0 || question.cell < first_lacking_cell_) {
      first_lacking_cell_ = question.cell;
      first_lacking_ = absl::StrCat(PlaceText(question.name), ": ", lack);
    }
  }

  // "row 7 on gpu-l4"
  static std::string PlaceText(const RowName& name) {
    constexpr int kMostShown = 60;
    return absl::StrCat("row ", Shortened(name.row, kMostShown),
                        name.target.empty() ? "" : absl::StrCat(" on ", name.target));
  }

  void Fail(int64_t cell, const RowName& name, const absl::Status& why) {
    if (failed_ == 0 || cell < first_failed_) {
      first_failed_ = cell;
      constexpr int kMostWhyShown = 400;
      first_failure_ = absl::StrCat(PlaceText(name), ": ", Shortened(WhyText(why), kMostWhyShown));
    }
    ++failed_;
    Write(cell, ErrorLine(name, why));
  }

  void Write(int64_t cell, std::string line) {
    if (output_.ok()) output_ = rows_->Add(cell, std::move(line));
  }

  const absl::Duration time_;
  const AskFlags ask_;
  const std::vector<std::string> targets_;
  const std::map<std::string, std::string> versions_;
  const TargetSheets sheets_;
  ModelList* const list_;
  PredictionRows* const rows_;
  Progress progress_;
  const std::string address_;

  std::string row_;
  absl::Status found_;                                          // its model
  std::shared_ptr<ModelQuestion> question_;                     // of row_
  std::map<std::string, std::shared_ptr<ModelQuestion>> kept_;  // by ModelKey
  size_t target_ = 0;                                           // the next one of row_; 0: the next row
  std::string asked_target_;
  RowName name_;
  int64_t cell_ = 0;                   // rows of the output that were begun
  int64_t sent_ = 0;                   // requests
  std::map<int64_t, Question> asked_;  // by request
  absl::Status output_;
  int64_t answered_ = 0, failed_ = 0;
  int64_t first_failed_ = 0;
  std::string first_failure_;
  int64_t lacking_ = 0, first_lacking_cell_ = 0;  // answers for devices without the memory
  std::string first_lacking_;
};

}  // namespace

absl::StatusOr<int> RunPredictList(const CommonFlags& common, PredictFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  if (flags.targets.empty()) {
    COBRA_ASSIGN_OR_RETURN(flags.targets, ThisMachine(common));
  }
  COBRA_RETURN_IF_ERROR(CheckListFlags(common, flags));
  COBRA_ASSIGN_OR_RETURN(ModelList list, ModelList::Load(flags.list, flags.model));
  if (!list.ignored().empty()) {
    Say(absl::StrCat(WithoutEscapes(flags.list), ": ignored: the columns ",
                     WithoutEscapes(absl::StrJoin(list.ignored(), ", ")), "\n"));
  }
  std::unique_ptr<Client> client = Client::Connect(common.client);
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse targets, client->ListTargets({}));
  COBRA_RETURN_IF_ERROR(CheckTargets(common.client, targets, flags.targets));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<PredictionRows> rows,
                         PredictionRows::Open(flags.out, DifferentNames(flags.targets).size() > 1));
  absl::Status lost;
  int64_t answered = 0;
  std::string summary;
  {
    ListRun run(common, flags, targets, &list, rows.get());
    lost = client->PredictMany(run.requests());
    answered = run.answered();
    if (answered == 0 && ConcernsAllRows(lost)) {
      rows->Discard();
      return lost;
    }
    if (!lost.ok()) run.GiveUp(lost);
    COBRA_RETURN_IF_ERROR(run.output());
    summary = run.Summary(flags.out);
  }
  COBRA_RETURN_IF_ERROR(rows->Finish());
  Say(absl::StrCat(WithoutEscapes(summary), "\n"));
  COBRA_RETURN_IF_ERROR(lost);
  return answered > 0 ? kExitOk : kExitCannotRead;
}

}  // namespace cobra::client
