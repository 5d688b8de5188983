#include "client/commands.h"

#include <algorithm>
#include <cstdio>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/subprocess.h"
#include "client/exit_code.h"
#include "client/explain.h"
#include "client/explain_render.h"
#include "client/progress.h"
#include "client/render.h"
#include "client/text_table.h"
#include "graph/json.h"
#include "proto/graph_proto.h"

namespace cobra {
namespace {

void Print(absl::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (text.empty() || text.back() != '\n') std::fputc('\n', stdout);
}

absl::StatusOr<Graph> ReadWithProgress(const ModelInput& input, const ModelArguments& model, absl::Duration time) {
  Progress progress(absl::StrCat("reading ", model.path.empty() ? model.architecture.substr(0, 60) : model.path));
  Limits limits;
  limits.wall_time_ms = absl::ToInt64Milliseconds(time);
  for (int64_t* limit : {&limits.steps, &limits.memory_bytes, &limits.graph.max_nodes, &limits.sequence_items}) {
    *limit = static_cast<int64_t>(static_cast<double>(*limit) * model.limits_times);
  }
  return input.Read(limits);
}

std::string Title(const ModelArguments& model) {
  if (!model.architecture.empty()) return model.architecture;
  return model.entry.empty() ? model.path : absl::StrCat(model.entry, " from ", model.path);
}

ExplainBy ByName(absl::string_view name) {
  if (name == "layer") return ExplainBy::kLayer;
  if (name == "module") return ExplainBy::kModule;
  if (name == "op") return ExplainBy::kOp;
  if (name == "line") return ExplainBy::kLine;
  return ExplainBy::kOverview;
}

absl::StatusOr<v1::PredictResponse> Ask(const CommonFlags& common, const v1::PredictRequest& request) {
  Progress progress(absl::StrCat("asking ", common.client.address));
  return Client::Connect(common.client)->Predict(request);
}

// What the numbers say about the user's conditions.
int Judge(const v1::PredictResponse& response, const PredictFlags& flags) {
  int code = kExitOk;
  for (const v1::TargetPrediction& p : response.predictions()) {
    if (flags.budget_ms > 0 && p.latency_us() > flags.budget_ms * 1000) {
      absl::FPrintF(stderr, "over budget: %s takes %.3f ms, the budget is %g ms\n", p.target(), p.latency_us() / 1000,
                    flags.budget_ms);
      code = kExitOverBudget;
    }
  }
  // An answer that is not to be trusted is no reason to call the model slow, or fast enough.
  for (const v1::TargetPrediction& p : response.predictions()) {
    if (p.confidence() < flags.min_confidence) {
      absl::FPrintF(stderr, "confidence too low: %.2f on %s, asked for at least %g\n", p.confidence(), p.target(),
                    flags.min_confidence);
      code = kExitLowConfidence;
    } else if (flags.min_confidence < 0 && flags.budget_ms > 0 && p.extrapolating()) {
      absl::FPrintF(stderr, "too unsure to judge a budget: confidence %.2f on %s; --min-confidence 0 judges all the same\n", p.confidence(), p.target());
      code = kExitLowConfidence;
    }
  }
  return code;
}

absl::StatusOr<std::string> Probe(const CalibrateFlags& flags) {
  if (!flags.probe_file.empty()) return ReadMaybeGzip(flags.probe_file, int64_t{64} << 20);
  const std::string worker = flags.worker.empty() ? SiblingProgram("cobra-worker") : flags.worker;
  absl::FPrintF(stderr, "measuring this machine with %s probe, about a minute; leave it alone meanwhile\n", worker);
  return RunProgram({worker, "probe", "--json"});
}

}  // namespace

absl::StatusOr<int> RunGraph(const CommonFlags& common, const ModelArguments& model) {
  COBRA_ASSIGN_OR_RETURN(ModelInput input, ModelInput::Load(model));
  COBRA_ASSIGN_OR_RETURN(Graph graph, ReadWithProgress(input, model, common.client.deadline));
  Print(common.json ? GraphToJson(graph) : GraphTable(graph));
  return kExitOk;
}

absl::StatusOr<int> RunPredict(const CommonFlags& common, const PredictFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(ModelInput input, ModelInput::Load(flags.model));
  v1::PredictRequest request;
  for (const std::string& target : flags.targets) {
    const auto& asked = request.targets();
    if (std::find(asked.begin(), asked.end(), target) == asked.end()) request.add_targets(target);
  }
  request.set_breakdown(flags.breakdown);
  request.set_keep_private(flags.keep_private);
  if (flags.send_source) {
    COBRA_RETURN_IF_ERROR(input.FillModel(&request));
  } else {
    COBRA_ASSIGN_OR_RETURN(Graph graph, ReadWithProgress(input, flags.model, common.client.deadline));
    GraphToProto(graph, request.mutable_graph());
  }
  const absl::StatusOr<v1::PredictResponse> response = Ask(common, request);
  if (!response.ok()) return input.WithUserPaths(response.status());
  const PredictionView view{Title(flags.model), flags.budget_ms, flags.breakdown};
  Print(common.json ? PredictionJson(*response, view) : PredictionTable(*response, view));
  return Judge(*response, flags);
}

absl::StatusOr<int> RunExplain(const CommonFlags& common, const ExplainFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(ModelInput input, ModelInput::Load(flags.model));
  COBRA_ASSIGN_OR_RETURN(Graph graph, ReadWithProgress(input, flags.model, common.client.deadline));
  std::optional<v1::PredictResponse> response;
  if (!flags.target.empty()) {
    v1::PredictRequest request;
    request.add_targets(flags.target);
    request.set_breakdown(true);
    GraphToProto(graph, request.mutable_graph());
    absl::StatusOr<v1::PredictResponse> answer = Ask(common, request);
    if (!answer.ok()) return input.WithUserPaths(answer.status());
    response = *std::move(answer);
  }
  SourceLookup source;
  source.user_path = [&](const std::string& file) { return input.UserPath(file); };
  source.text = [&](const std::string& file) { return input.SourceText(file); };
  COBRA_ASSIGN_OR_RETURN(const Explanation explanation,
                         Explain(graph, Title(flags.model), source, response ? &*response : nullptr));
  const ExplainView view{ByName(flags.by), flags.top, StandardOutputStyle()};
  Print(common.json ? ExplanationJson(explanation, view) : ExplanationText(explanation, view));
  return kExitOk;
}

absl::StatusOr<int> RunTargets(const CommonFlags& common) {
  COBRA_ASSIGN_OR_RETURN(v1::ListTargetsResponse response, Client::Connect(common.client)->ListTargets({}));
  Print(common.json ? TargetsJson(response) : TargetsTable(response));
  return kExitOk;
}

absl::StatusOr<int> RunCalibrate(const CommonFlags& common, const CalibrateFlags& flags) {
  std::unique_ptr<Client> client = Client::Connect(common.client);
  // A minute of measuring is not spent on a server that is not there.
  COBRA_RETURN_IF_ERROR(client->GetModelInfo({}).status());
  v1::CalibrateRequest request;
  COBRA_ASSIGN_OR_RETURN(*request.mutable_probe_json(), Probe(flags));
  request.set_target(flags.name);
  COBRA_ASSIGN_OR_RETURN(v1::CalibrateResponse response, client->Calibrate(request));
  const std::string warning = ProbeWarning(request.probe_json());
  Print(common.json ? CalibrationJson(response, warning) : CalibrationTable(response, warning));
  return kExitOk;
}

absl::StatusOr<int> RunModel(const CommonFlags& common) {
  COBRA_ASSIGN_OR_RETURN(v1::GetModelInfoResponse response, Client::Connect(common.client)->GetModelInfo({}));
  Print(common.json ? ModelJson(response) : ModelTable(response));
  return kExitOk;
}

}  // namespace cobra
