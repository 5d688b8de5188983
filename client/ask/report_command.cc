#include "client/ask/report_command.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/user_error.h"
#include "client/adapt/usual_targets.h"
#include "client/answer/exit_code.h"
#include "client/answer/memory_fit.h"
#include "client/answer/target_ranking.h"
#include "client/answer/written_file.h"
#include "client/request/ask_about.h"
#include "client/request/target_names.h"
#include "client/series/batch.h"
#include "client/series/sweep_command.h"
#include "client/series/sweep_render.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"
#include "frontend/python/torch/names/torch_version.h"
#include "nlohmann/json.hpp"
#include "proto/graph_proto.h"
#include "report/answers.h"
#include "report/document.h"
#include "report/page.h"
#include "report/question.h"

namespace cobra::client {
namespace {

using nlohmann::json;

absl::Status CheckPageFlags(const CommonFlags& common, const PageFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckReplaces("--out ", flags.out, {flags.model.path}, common.client.connection));
  if (flags.out.empty()) return UsageError("--out: is empty", "name a file, or - for standard output");
  return flags.no_sweep ? absl::OkStatus() : ParseBatches(flags.batches).status();
}

absl::Status CheckTargetCount(const PageFlags& flags) {
  const size_t count = DifferentNames(flags.targets).size();
  if (count <= report::kMostReported) return absl::OkStatus();
  return UsageError(absl::StrCat("--target: ", count, " targets; a page shows at most ", report::kMostReported),
                    "name some of `cobra-client targets`: --target A,B,C");
}

// Of targets that nobody named, as many as a page shows: the fastest, without guesses where there
// are enough others.
absl::StatusOr<std::vector<std::string>> FastestTargets(const CommonFlags& common, const PageFlags& flags,
                                                        ModelInput* input) {
  CommonFlags unlabelled = common;  // the history has what the page shows
  unlabelled.client.labels.clear();
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse response,
                         AskAbout(unlabelled, flags.ask, flags.targets, flags.model, input));
  std::vector<std::string> names;
  COBRA_ASSIGN_OR_RETURN(const TargetSheets sheets, SheetsOf(Client::Connect(common.client).get()));
  for (const RankedTarget& target : RankTargets(response, sheets)) {
    if (names.size() < report::kMostReported) names.push_back(target.name);
  }
  return names;
}

// The networks of the model, each with its answers: for another version of PyTorch a program may be
// another one.
class Asked {
 public:
  Asked(const CommonFlags& common, const PageFlags& flags, const v1::ListTargetsResponse& sheets)
      : common_(common), flags_(flags), versions_(TorchVersions(sheets)) {}

  absl::Status Ask(ModelInput* input) {
    std::map<std::string, std::vector<std::string>> by_version{{"", DifferentNames(flags_.targets)}};
    if (DependsOnTarget(flags_.model, *input)) by_version = TargetsByVersion(versions_, by_version[""]);
    for (const auto& [version, targets] : by_version) COBRA_RETURN_IF_ERROR(AskFor(version, targets, input));
    return absl::OkStatus();
  }

  std::vector<report::Answer> TakeAnswers() { return answers_.Take(); }

 private:
  absl::Status AskFor(const std::string& version, const std::vector<std::string>& targets, ModelInput* input) {
    if (!version.empty()) input->set_torch_version(version);
    Progress progress(absl::StrCat("reading ", report::TitleOf(flags_.model)));
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, input->Read(LimitsOf(flags_.model, common_.client.deadline)));
    AskFlags ask = flags_.ask;
    ask.breakdown = true;
    COBRA_ASSIGN_OR_RETURN(v1::PredictRequest request, RequestAbout(graph, ask, flags_.model));
    for (const std::string& target : targets) request.add_targets(target);
    COBRA_RETURN_IF_ERROR(CheckSize(request, flags_.model));
    progress.Update(absl::StrCat("asking ", common_.client.address));
    COBRA_ASSIGN_OR_RETURN(v1::PredictResponse response, Client::Connect(common_.client)->Predict(request));
    for (v1::TargetPrediction& prediction : *response.mutable_predictions())
      prediction.set_torch_version(version.empty() ? flags_.model.torch_version : version);
    answers_.Add(std::move(graph), std::move(response));
    return absl::OkStatus();
  }

  const CommonFlags& common_;
  const PageFlags& flags_;
  const std::map<std::string, std::string> versions_;
  report::Answers answers_;
};

report::Question PageQuestion(const PageFlags& flags) {
  report::Question question{flags.model};
  question.targets = DifferentNames(flags.targets);
  question.no_sweep = flags.no_sweep;
  if (flags.batches != PageFlags().batches) question.batches = flags.batches;
  return question;
}

// A page without a sweep says why it has none: a graph's sizes are fixed, and some models take one
// batch only.
json SweepOf(const CommonFlags& common, const PageFlags& flags) {
  if (flags.no_sweep) return json();
  SweepFlags asked;
  asked.model = flags.model;
  asked.targets = flags.targets;
  asked.ask = flags.ask;
  asked.batches = flags.batches;
  absl::StatusOr<AskedSweep> sweep = AskSweep(common, std::move(asked));
  if (sweep.ok()) return SweepDocument(sweep->sweep, flags.model);
  return {{"error", ErrorText(sweep.status())}};
}

}  // namespace

absl::StatusOr<int> RunReport(const CommonFlags& common, PageFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_RETURN_IF_ERROR(CheckPageFlags(common, flags));
  COBRA_RETURN_IF_ERROR(CheckTargetCount(flags));
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  if (flags.targets.empty()) {
    COBRA_ASSIGN_OR_RETURN(flags.targets, UsualTargets(common));
    if (flags.targets.size() > report::kMostReported) {
      COBRA_ASSIGN_OR_RETURN(flags.targets, FastestTargets(common, flags, &input));
    }
  }
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse sheets, Client::Connect(common.client)->ListTargets({}));
  COBRA_RETURN_IF_ERROR(CheckTargets(common.client, sheets, flags.targets));
  Asked asked(common, flags, sheets);
  if (absl::Status status = asked.Ask(&input); !status.ok()) return input.WithUserPaths(status);

  report::Contents contents;
  contents.title = report::TitleOf(flags.model);
  contents.answers = asked.TakeAnswers();
  contents.question = report::QuestionJson(PageQuestion(flags), contents.answers[0].response.model_version());
  contents.targets = DifferentNames(flags.targets);
  contents.sheets = &sheets;
  contents.sweep = SweepOf(common, flags);
  contents.shown_file = [&input](const std::string& file) { return input.UserPath(file); };
  contents.source_text = [&input](const std::string& file) { return input.SourceText(file); };
  COBRA_ASSIGN_OR_RETURN(const json document, report::MakeDocument(contents));
  const std::string text = common.json ? IndentedJson(document) : report::ReportPage(document);
  COBRA_RETURN_IF_ERROR(WriteOutput(flags.out, text));
  if (flags.out != "-") {
    PrintText(absl::StrCat(flags.out, ": ", Counted(contents.answers[0].graph->nodes().size(), "call"), " on ",
                           absl::StrJoin(contents.targets, ", ")));
  }
  return kExitOk;
}

}  // namespace cobra::client
