#include "client/explain/explain_command.h"

#include <optional>
#include <utility>

#include "base/status_macros.h"
#include "client/answer/exit_code.h"
#include "client/answer/memory_fit.h"
#include "client/explain/explain.h"
#include "client/explain/explain_render.h"
#include "client/explain/targets_explained.h"
#include "client/request/ask_about.h"
#include "client/request/target_names.h"
#include "client/terminal/output.h"
#include "report/question.h"

namespace cobra::client {
namespace {

ExplainBy ByName(absl::string_view name) {
  if (name == "layer") return ExplainBy::kLayer;
  if (name == "module") return ExplainBy::kModule;
  if (name == "op") return ExplainBy::kOp;
  if (name == "line") return ExplainBy::kLine;
  return ExplainBy::kOverview;
}

absl::StatusOr<int> ExplainTargets(const CommonFlags& common, ExplainFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  AskFlags ask;
  ask.breakdown = true;
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse response, AskAbout(common, ask, flags.targets, flags.model, &input));
  COBRA_ASSIGN_OR_RETURN(const TargetSheets sheets, SheetsOf(Client::Connect(common.client).get()));
  const std::string title = report::TitleOf(flags.model);
  const TerminalStyle style = StandardOutputStyle(common.color);
  common.json ? PrintData(TargetsExplainedJson(response, title, sheets))
              : PrintText(TargetsExplainedText(response, title, flags.top, style, sheets), style.color);
  return kExitOk;
}

}  // namespace

absl::StatusOr<int> RunExplain(const CommonFlags& common, ExplainFlags flags) {
  flags.targets = DifferentNames(flags.targets);
  if (flags.targets.size() > 1) return ExplainTargets(common, std::move(flags));
  const std::string target = flags.targets.empty() ? "" : flags.targets[0];
  if (!target.empty()) COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  absl::Status unreachable;
  if (!target.empty()) {
    const auto found = TargetsOfReadings(common, flags.model, input, {target});
    unreachable = found.status();
    if (found.ok() && !found->begin()->first.empty()) input.set_torch_version(found->begin()->first);
  }
  COBRA_ASSIGN_OR_RETURN(graph::Graph graph, ReadWithProgress(input, flags.model, common.client.deadline));
  COBRA_RETURN_IF_ERROR(unreachable);
  std::optional<v1::PredictResponse> response;
  if (!target.empty()) {
    AskFlags ask;
    ask.breakdown = true;
    COBRA_ASSIGN_OR_RETURN(v1::PredictRequest request, RequestAbout(graph, ask, flags.model));
    request.add_targets(target);
    COBRA_RETURN_IF_ERROR(CheckSize(request, flags.model));
    absl::StatusOr<v1::PredictResponse> answer = Client::Connect(common.client)->Predict(request);
    if (!answer.ok()) return input.WithUserPaths(answer.status());
    response = *std::move(answer);
  }
  SourceLookup source;
  source.user_path = [&](const std::string& file) { return input.UserPath(file); };
  source.text = [&](const std::string& file) { return input.SourceText(file); };
  COBRA_ASSIGN_OR_RETURN(const Explanation explanation,
                         Explain(graph, report::TitleOf(flags.model), source, response ? &*response : nullptr));
  ExplainView view{ByName(flags.by), flags.top, StandardOutputStyle(common.color)};
  if (response) {
    COBRA_ASSIGN_OR_RETURN(const TargetSheets sheets, SheetsOf(Client::Connect(common.client).get()));
    view.lacks_memory = LackOfMemory(*response, response->predictions(0), sheets);
  }
  common.json ? PrintData(ExplanationJson(explanation, view))
              : PrintText(ExplanationText(explanation, view), view.style.color);
  return kExitOk;
}

}  // namespace cobra::client
