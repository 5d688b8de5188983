#include "client/commands.h"

#include <algorithm>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/address.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/json.h"
#include "base/status_macros.h"
#include "base/subprocess.h"
#include "base/user_error.h"
#include "base/without_escapes.h"
#include "client/asking.h"
#include "client/calibration_offer.h"
#include "client/check_formats.h"
#include "client/check_report.h"
#include "client/checking.h"
#include "client/compare.h"
#include "client/compare_render.h"
#include "client/exit_code.h"
#include "client/explain.h"
#include "client/explain_render.h"
#include "client/input_proposal.h"
#include "client/output.h"
#include "client/progress.h"
#include "client/render.h"
#include "client/target_cards.h"
#include "client/target_ranking.h"
#include "client/text_table.h"
#include "export/ncnn/writer.h"
#include "export/onnx/writer.h"
#include "export/python/program.h"
#include "export/weights.h"
#include "frontend/python/torch/torch_version.h"
#include "graph/constant_calls.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "proto/connection.h"
#include "proto/graph_proto.h"
#include "proto/joined_reply.h"
#include "proto/label.h"
#include "report/network_svg.h"

namespace cobra::client {
namespace {

std::string ReadingText(const ModelArguments& model) {
  return absl::StrCat("reading ", model.path.empty() ? model.architecture.substr(0, 60) : model.path);
}

absl::StatusOr<graph::Graph> ReadWithProgress(const ModelInput& input, const ModelArguments& model,
                                              absl::Duration time) {
  absl::StatusOr<graph::Graph> graph;
  {
    Progress progress(ReadingText(model));
    graph = input.Read(LimitsOf(model, time));
  }
  if (!graph.ok()) return WithProposedInputs(graph.status(), model);
  return graph;
}

ExplainBy ByName(absl::string_view name) {
  if (name == "layer") return ExplainBy::kLayer;
  if (name == "module") return ExplainBy::kModule;
  if (name == "op") return ExplainBy::kOp;
  if (name == "line") return ExplainBy::kLine;
  return ExplainBy::kOverview;
}

constexpr int64_t kMaxProbeBytes = int64_t{64} << 20;
// The limit of a saved result: a breakdown of 20,000 calls on ten targets has 40 MB.
constexpr int64_t kMaxJsonBytes = int64_t{256} << 20;

absl::StatusOr<SavedPrediction> LoadPrediction(const std::string& path) {
  Progress progress(absl::StrCat("reading ", path));
  const absl::StatusOr<std::string> text = ReadMaybeCompressed(path, kMaxJsonBytes);
  if (!text.ok()) return UserError(Diagnostic::Kind::kUsage, std::string(text.status().message()));
  return ParsePrediction(*text, path);
}

absl::StatusOr<v1::PredictResponse> SendPredictRequest(const CommonFlags& common, const v1::PredictRequest& request) {
  return Client::Connect(common.client)->Predict(request);
}

// As the server checks it, before a minute of measuring.
absl::Status CheckTargetName(const std::string& name) {
  constexpr char kAllowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  if (!name.empty() && name.find_first_not_of(kAllowed) == std::string::npos) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kUsage,
                   absl::StrCat("--name \"", name, "\": may have letters, digits, '-', '_' and '.' only"),
                   "for example --name pi-4");
}

absl::StatusOr<std::string> Probe(const CalibrateFlags& flags) {
  if (!flags.probe_file.empty()) {
    absl::StatusOr<std::string> text = ReadMaybeCompressed(flags.probe_file, kMaxProbeBytes);
    if (!text.ok()) return UserError(Diagnostic::Kind::kUsage, absl::StrCat("--probe ", text.status().message()));
    if (ParseJson<nlohmann::json>(*text).is_object()) return text;
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat("--probe ", flags.probe_file, ": is not a probe"),
                     "pass the unchanged output of `cobra-worker probe --json`");
  }
  const std::string worker = flags.worker.empty() ? SiblingProgram("cobra-worker") : flags.worker;
  Note(absl::StrCat("measuring this machine with ", worker, " probe for ", flags.budget, "; leave it idle"));
  std::vector<std::string> command = {worker,     "probe",     "--json", "--threads", absl::StrCat(flags.threads),
                                      "--budget", flags.budget};
  if (flags.core >= 0) command.insert(command.end(), {"--core", absl::StrCat(flags.core)});
  if (!flags.runner.empty()) command.insert(command.end(), {"--runner", flags.runner});
  int exit_status = 0;
  SubprocessOptions options;
  options.exit_status = &exit_status;
  options.timeout = absl::InfiniteDuration();  // the worker keeps to the budget, the user has Ctrl-C
  absl::StatusOr<std::string> probe = RunProgram(command, options);
  if (exit_status == kExitUsage) return UserError(Diagnostic::Kind::kUsage, "what cobra-worker was asked to do");
  return probe;
}

}  // namespace

absl::StatusOr<ModelInput> LoadModel(ModelArguments* model, absl::Duration time, bool says_entry) {
  absl::StatusOr<ModelInput> loaded;
  {
    Progress progress(ReadingText(*model));
    loaded = ModelInput::Load(*model, LimitsOf(*model, time));
  }
  COBRA_ASSIGN_OR_RETURN(ModelInput input, std::move(loaded));
  if (!model->entry.empty() || input.entry().empty()) return input;
  model->entry = input.entry();
  // The name of a model of ours stands for its entry.
  if (says_entry && FileExists(model->path))
    Note(absl::StrCat(WithoutEscapes(model->path), ": no --entry, taking ", model->entry));
  return input;
}

absl::Status CheckServer(const CommonFlags& common) {
  for (const auto& [name, value] : common.client.labels) COBRA_RETURN_IF_ERROR(proto::CheckLabel(name, value));
  if (common.client.address == kOwnServer) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(CheckAddress("--server", common.client.address));
  return proto::CheckConnection(common.client.connection, common.client.address);
}

namespace {

absl::Status WriteModel(const graph::Graph& given, const GraphFlags& flags, absl::string_view source) {
  if (flags.file.format == "python") {
    COBRA_ASSIGN_OR_RETURN(const std::string program, exporting::WriteProgram(given, source));
    return WriteFileAtomic(flags.file.path, program);
  }
  // What depends on no input is a constant of a file, with its values where they are known.
  const std::optional<graph::WithoutCalls> prepared = graph::WithoutConstantCalls(given, /*of_parameters=*/false);
  const graph::Graph& graph = prepared.has_value() ? prepared->graph : given;
  const auto seed = static_cast<uint64_t>(flags.seed);
  absl::StatusOr<exporting::Weights> weights = exporting::Weights::Random(graph, seed);
  if (!weights.ok()) return UserError(Diagnostic::Kind::kUnsupported, std::string(weights.status().message()));
  if (flags.file.format == "ncnn") return exporting::WriteNcnnFiles(graph, *weights, flags.file.path);
  return exporting::WriteOnnxFiles(graph, *weights, flags.file.path);
}

// Where the weights of a written file are, for people.
std::string WeightsOf(const WrittenFile& file) {
  if (file.format == "python") return "its weights are random numbers when it runs";
  return absl::StrCat("weights, random numbers, in ", file.format == "ncnn" ? exporting::NcnnWeightsPath(file.path)
                                                                            : exporting::WeightsPath(file.path));
}

}  // namespace

absl::StatusOr<int> RunGraph(const CommonFlags& common, GraphFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckWrittenFile(flags.file, flags.model.path));
  const bool is_picture = flags.file.format == "svg";
  flags.model.keep_values = !flags.file.format.empty() && !is_picture;
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  for (const std::string& path : WrittenPaths(flags.file))
    COBRA_RETURN_IF_ERROR(CheckIsNone("--out ", path, input.Files()));
  COBRA_ASSIGN_OR_RETURN(graph::Graph graph, ReadWithProgress(input, flags.model, common.client.deadline));
  if (is_picture) {
    COBRA_RETURN_IF_ERROR(
        WriteOutput(flags.file.path.empty() ? "-" : flags.file.path, report::NetworkSvg(graph, Title(flags.model))));
    return kExitOk;
  }
  if (!flags.file.format.empty()) {
    const std::string source = absl::StrCat(flags.model.path, " ", flags.model.entry);
    if (absl::Status status = WriteModel(graph, flags, source); !status.ok()) return input.WithUserPaths(status);
    PrintText(absl::StrCat(flags.file.path, ": ", graph.nodes().size(), " calls; ", WeightsOf(flags.file)));
    return kExitOk;
  }
  common.json ? PrintData(graph::GraphToJson(graph)) : PrintText(GraphTable(graph));
  return kExitOk;
}

namespace {

absl::StatusOr<v1::PredictRequest> ToRequest(const CommonFlags& common, const AskFlags& ask,
                                             const ModelArguments& model, const ModelInput& input,
                                             const std::vector<std::string>& targets) {
  absl::StatusOr<v1::PredictRequest> request;
  {
    Progress progress(ReadingText(model));
    request = MakeRequest(ask, model, input, common.client.deadline);
  }
  if (!request.ok()) return WithProposedInputs(request.status(), model);
  for (const std::string& target : DifferentNames(targets)) request->add_targets(target);
  COBRA_RETURN_IF_ERROR(CheckSize(*request, model));
  return request;
}

// A program is read here as for the runtimes of the targets: by version of PyTorch, the targets in
// their order. All under "" if the version is given or does not matter.
absl::StatusOr<std::map<std::string, std::vector<std::string>>> TargetsOfReadings(
    const CommonFlags& common, const ModelArguments& model, const ModelInput& input,
    const std::vector<std::string>& targets) {
  if (!DependsOnTarget(model, input)) return {{{"", targets}}};
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse known, Client::Connect(common.client)->ListTargets({}));
  return TargetsByVersion(TorchVersions(known), targets);
}

absl::StatusOr<v1::PredictResponse> Ask(const CommonFlags& common, const PredictFlags& flags,
                                        const ModelArguments& model, ModelInput* input) {
  std::map<std::string, std::vector<std::string>> by_version{{"", flags.targets}};
  absl::Status unreachable;
  if (!flags.ask.send_source) {
    auto found = TargetsOfReadings(common, model, *input, flags.targets);
    unreachable = found.status();  // an error in the model comes first
    if (found.ok()) by_version = *std::move(found);
  }
  proto::JoinedReply reply(flags.targets);
  for (const auto& [version, targets] : by_version) {
    if (!version.empty()) input->set_torch_version(version);
    COBRA_ASSIGN_OR_RETURN(const v1::PredictRequest request, ToRequest(common, flags.ask, model, *input, targets));
    COBRA_RETURN_IF_ERROR(unreachable);
    COBRA_ASSIGN_OR_RETURN(v1::PredictResponse answer, SendPredictRequest(common, request));
    const std::string& read_as = version.empty() ? model.torch_version : version;
    if (!flags.ask.send_source) {
      for (v1::TargetPrediction& prediction : *answer.mutable_predictions()) prediction.set_torch_version(read_as);
    }
    reply.Add(std::move(answer));
  }
  return std::move(reply).Take();
}

// Compares the answer with the baseline, in the form in which the answer would be saved.
absl::StatusOr<Comparison> CompareWithBaseline(SavedPrediction baseline, const v1::PredictResponse& response,
                                               const PredictionView& view, const Thresholds& thresholds) {
  COBRA_ASSIGN_OR_RETURN(SavedPrediction now, ParsePrediction(PredictionJson(response, view), "this prediction"));
  CompareOptions options;
  options.max_increase = thresholds.allowed();
  options.different_hint = absl::StrCat(
      "predict what the baseline predicted; or compare two models: this command with --format json > new.json instead "
      "of --baseline, then cobra-client compare ",
      baseline.name, " new.json --different-models");
  return Compare(std::move(baseline), std::move(now), options);
}

constexpr char kThisMachine[] = "this-machine";

// What the formats of check reports show of one model's predictions.
CheckReport ReportOf(const v1::PredictResponse& response, const PredictFlags& flags, const Thresholds& thresholds,
                     const PredictionView& view) {
  const Comparison* const comparison = view.comparison;
  const Budgets budgets_ms{{"", flags.budget_ms}};
  SavedPrediction saved;
  saved.model_version = response.model_version();
  for (const v1::TargetPrediction& p : response.predictions()) {
    SavedTarget& target = saved.targets.emplace_back();
    target.target = p.target();
    target.latency_us = p.latency_us();
    target.low_us = p.low_us();
    target.high_us = p.high_us();
    target.confidence = p.confidence();
    target.extrapolating = p.extrapolating();
    target.lacks_memory = LackOfMemory(response, p, view.targets);
  }
  CheckReport report{comparison == nullptr ? "" : comparison->before.name, "this prediction", {}};
  report.models.push_back(comparison == nullptr ? PredictedModel(saved, thresholds, budgets_ms)
                                                : ComparedModel(*comparison, thresholds, budgets_ms));
  report.models[0].name = Title(flags.model);
  report.models[0].file = flags.model.path;
  return report;
}

}  // namespace

absl::StatusOr<v1::PredictResponse> AskAbout(const CommonFlags& common, const PredictFlags& flags,
                                             const ModelArguments& model, ModelInput* input) {
  CommonFlags labelled = common;
  AddModelLabel(model, &labelled.client.labels);
  absl::StatusOr<v1::PredictResponse> response = Ask(labelled, flags, model, input);
  if (!response.ok()) return input->WithUserPaths(response.status());
  // The server names files as in the request; the breakdown shows them as the user typed them, as
  // `explain` does.
  for (v1::TargetPrediction& prediction : *response->mutable_predictions()) {
    for (v1::NodeLatency& row : *prediction.mutable_breakdown()) row.set_file(input->UserPath(row.file()));
  }
  return response;
}

absl::StatusOr<std::vector<std::string>> ThisMachine(const CommonFlags& common) {
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse known, Client::Connect(common.client)->ListTargets({}));
  for (const v1::Target& target : known.targets()) {
    if (target.spec().name() == kThisMachine) return std::vector<std::string>{kThisMachine};
  }
  return UserError(Diagnostic::Kind::kUsage, "--target: is missing, and this machine is not calibrated",
                   "name one of `cobra-client targets`: --target NAME; or measure this machine for a minute: "
                   "cobra-client calibrate");
}

absl::StatusOr<SavedPrediction> PredictForCheck(const CommonFlags& common, PredictFlags flags,
                                                const std::string& name) {
  constexpr size_t kTargetsAtOnce = 8;  // a breakdown for more may not fit into one reply
  flags.ask.breakdown = true;
  COBRA_ASSIGN_OR_RETURN(ModelInput input,
                         ModelInput::Load(flags.model, LimitsOf(flags.model, common.client.deadline)));
  if (flags.model.entry.empty()) flags.model.entry = input.entry();
  PredictionView view{Title(flags.model), 0, true, flags.model, {}, nullptr};
  COBRA_ASSIGN_OR_RETURN(view.targets, SheetsOf(Client::Connect(common.client).get()));
  const std::vector<std::string> targets = DifferentNames(flags.targets);
  SavedPrediction all;
  for (size_t i = 0; i < targets.size(); i += kTargetsAtOnce) {
    flags.targets.assign(targets.begin() + i, targets.begin() + std::min(i + kTargetsAtOnce, targets.size()));
    COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse response, AskAbout(common, flags, flags.model, &input));
    COBRA_ASSIGN_OR_RETURN(SavedPrediction some, ParsePrediction(PredictionJson(response, view), name));
    if (i > 0)
      std::move(some.targets.begin(), some.targets.end(), std::back_inserter(all.targets));
    else
      all = std::move(some);
  }
  return all;
}

absl::StatusOr<std::vector<std::string>> UsualTargets(const CommonFlags& common) {
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse known, Client::Connect(common.client)->ListTargets({}));
  std::vector<std::string> trained;
  for (const v1::Target& target : known.targets()) {
    if (target.spec().name() == kThisMachine) return std::vector<std::string>{kThisMachine};
    if (!target.calibrated()) trained.push_back(target.spec().name());
  }
  if (OfferCalibration(common)) return std::vector<std::string>{kThisMachine};
  return trained;
}

absl::StatusOr<int> RunPredict(const CommonFlags& common, PredictFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  const bool named = !flags.targets.empty();
  if (!named) {
    COBRA_ASSIGN_OR_RETURN(flags.targets, UsualTargets(common));
  }
  Thresholds thresholds;
  thresholds.min_confidence = flags.min_confidence;
  COBRA_ASSIGN_OR_RETURN(thresholds.max_increase, ParseIncrease("--max-increase", flags.max_increase));
  std::optional<SavedPrediction> baseline;
  if (!flags.baseline.empty()) {
    COBRA_ASSIGN_OR_RETURN(baseline, LoadPrediction(flags.baseline));
  }
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&flags.model, common.client.deadline));
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse response, AskAbout(common, flags, flags.model, &input));
  PredictionView view{Title(flags.model),
                      flags.budget_ms,
                      flags.ask.breakdown,
                      flags.model,
                      {},
                      nullptr,
                      StandardOutputStyle(common.color)};
  if (!common.quiet || common.json || baseline.has_value() || flags.budget_ms > 0) {
    COBRA_ASSIGN_OR_RETURN(view.targets, SheetsOf(Client::Connect(common.client).get()));
  }
  std::optional<Comparison> comparison;
  if (baseline.has_value()) {
    COBRA_ASSIGN_OR_RETURN(comparison, CompareWithBaseline(*std::move(baseline), response, view, thresholds));
    view.comparison = &*comparison;
  }
  const CheckReport report = ReportOf(response, flags, thresholds, view);
  if (!flags.format.empty()) {
    PrintData(CheckIn(flags.format, report));
    return ReportProblems(report);
  }
  const bool shortens = !named && !flags.all;
  if (common.json) {
    PrintData(PredictionJson(response, view));
  } else if (common.quiet) {
    PrintText(LatencyLines(response));
  } else {
    PrintText(shortens ? ShortPredictionTable(response, view) : PredictionTable(response, view), view.style.color);
    if (comparison.has_value())
      PrintText(absl::StrCat("\n", ComparisonText(*comparison, /*top=*/10, view.style)), view.style.color);
  }
  return ReportProblems(report);
}

absl::StatusOr<int> RunCompare(const CommonFlags& common, const CompareFlags& flags) {
  CompareOptions options;
  options.different_models = flags.different_models;
  Thresholds thresholds;
  thresholds.min_confidence = flags.min_confidence;
  COBRA_ASSIGN_OR_RETURN(thresholds.max_increase, ParseIncrease("--max-increase", flags.max_increase));
  options.max_increase = thresholds.allowed();
  COBRA_ASSIGN_OR_RETURN(SavedPrediction before, LoadPrediction(flags.before));
  COBRA_ASSIGN_OR_RETURN(SavedPrediction after, LoadPrediction(flags.after));
  COBRA_ASSIGN_OR_RETURN(const Comparison comparison, Compare(std::move(before), std::move(after), options));
  CheckReport report{flags.before, flags.after, {}};
  CheckedModel& model = report.models.emplace_back(ComparedModel(comparison, thresholds, {}));
  model.name = model.file = comparison.after.model();
  if (!flags.format.empty()) {
    PrintData(CheckIn(flags.format, report, flags.top));
    return ReportProblems(report);
  }
  if (common.json) {
    PrintData(ComparisonJson(comparison).dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    const TerminalStyle style = StandardOutputStyle(common.color);
    PrintText(ComparisonText(comparison, flags.top, style), style.color);
  }
  return ReportProblems(report);
}

namespace {

absl::StatusOr<int> ExplainTargets(const CommonFlags& common, ExplainFlags flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  PredictFlags asked;
  asked.model = std::move(flags.model);
  asked.targets = std::move(flags.targets);
  asked.ask.breakdown = true;
  COBRA_ASSIGN_OR_RETURN(ModelInput input, LoadModel(&asked.model, common.client.deadline));
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse response, AskAbout(common, asked, asked.model, &input));
  COBRA_ASSIGN_OR_RETURN(const TargetSheets sheets, SheetsOf(Client::Connect(common.client).get()));
  const std::string title = Title(asked.model);
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
    absl::StatusOr<v1::PredictResponse> answer = SendPredictRequest(common, request);
    if (!answer.ok()) return input.WithUserPaths(answer.status());
    response = *std::move(answer);
  }
  SourceLookup source;
  source.user_path = [&](const std::string& file) { return input.UserPath(file); };
  source.text = [&](const std::string& file) { return input.SourceText(file); };
  COBRA_ASSIGN_OR_RETURN(const Explanation explanation,
                         Explain(graph, Title(flags.model), source, response ? &*response : nullptr));
  ExplainView view{ByName(flags.by), flags.top, StandardOutputStyle(common.color)};
  if (response) {
    COBRA_ASSIGN_OR_RETURN(const TargetSheets sheets, SheetsOf(Client::Connect(common.client).get()));
    view.lacks_memory = LackOfMemory(*response, response->predictions(0), sheets);
  }
  common.json ? PrintData(ExplanationJson(explanation, view))
              : PrintText(ExplanationText(explanation, view), view.style.color);
  return kExitOk;
}

absl::StatusOr<int> RunTargets(const CommonFlags& common, const TargetsFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  v1::ListTargetsRequest request;
  request.set_name(flags.name);
  request.set_device(flags.device);
  request.set_runtime(flags.runtime);
  request.set_kind(flags.kind);
  request.set_precision(flags.precision);
  if (flags.trained) request.set_origin(v1::ListTargetsRequest::ORIGIN_TRAINED);
  if (flags.calibrated) request.set_origin(v1::ListTargetsRequest::ORIGIN_CALIBRATED);
  COBRA_ASSIGN_OR_RETURN(v1::ListTargetsResponse response, Client::Connect(common.client)->ListTargets(request));
  if (flags.format == "names") {
    // For shells: what has other characters is not the name of ours.
    for (const v1::Target& target : response.targets()) {
      if (CheckTargetName(target.spec().name()).ok()) PrintText(target.spec().name());
    }
  } else if (!flags.format.empty()) {
    const std::string cards = TargetCards(response);
    PrintText(cards);
    if (cards.empty()) Say("no trained target fits, and only these have a card; --format table lists all\n");
  } else if (common.json || response.targets_size() > 0) {
    const TerminalStyle style = StandardOutputStyle(common.color);
    common.json ? PrintData(TargetsJson(response)) : PrintText(TargetsTable(response, style), style.color);
  } else {
    // Whoever looks for a GPU that nobody measured can have a target of it.
    const std::string& wanted = flags.device.empty() ? flags.name : flags.device;
    std::optional<Diagnostic> unknown;
    if (!wanted.empty()) unknown = DiagnosticFromStatus(UnknownTarget(common.client, wanted));
    PrintText(absl::StrCat("no target fits; without filters, cobra-client targets lists all\n",
                           unknown ? absl::StrCat("hint: ", WithoutEscapes(unknown->hint), "\n") : ""));
  }
  return kExitOk;
}

namespace {

// Withdraws the version of the target that serves.
absl::StatusOr<int> UndoCalibration(Client* client, const CommonFlags& common, const std::string& name) {
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse targets, client->ListTargets({}));
  v1::UndoCalibrationRequest request;
  request.set_target(name);
  for (const v1::Target& target : targets.targets()) {
    if (target.spec().name() != name) continue;
    for (const v1::CalibrationVersion& version : target.calibrations()) {
      if (version.serving()) request.set_version(version.version());
    }
  }
  if (request.version() == 0) {
    return UserError(Diagnostic::Kind::kUsage, absl::StrCat("--name ", name, ": is not a calibrated target"),
                     "cobra-client targets lists them");
  }
  COBRA_ASSIGN_OR_RETURN(const v1::UndoCalibrationResponse response, client->UndoCalibration(request));
  common.json ? PrintData(UndoJson(request, response)) : PrintText(UndoText(request, response));
  return kExitOk;
}

}  // namespace

absl::StatusOr<v1::CalibrateResponse> Calibrate(const CommonFlags& common, const CalibrateFlags& flags,
                                                std::string* warning) {
  const std::unique_ptr<Client> client = Client::Connect(common.client);
  // Check that the server is reachable before a minute of measuring.
  COBRA_RETURN_IF_ERROR(client->GetModelInfo({}).status());
  v1::CalibrateRequest request;
  COBRA_ASSIGN_OR_RETURN(*request.mutable_probe_json(), Probe(flags));
  request.set_target(flags.name);
  *warning = ProbeWarning(request.probe_json());
  Progress progress("fitting the target");
  return client->Calibrate(request);
}

absl::StatusOr<int> RunCalibrate(const CommonFlags& common, const CalibrateFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_RETURN_IF_ERROR(CheckTargetName(flags.name));
  if (flags.undo) return UndoCalibration(Client::Connect(common.client).get(), common, flags.name);
  std::string warning;
  const absl::StatusOr<v1::CalibrateResponse> response = Calibrate(common, flags, &warning);
  // It may be why the server refuses the probe.
  if (!response.ok() && !warning.empty()) Say(absl::StrCat("warning: ", warning, "\n"));
  COBRA_RETURN_IF_ERROR(response.status());
  common.json ? PrintData(CalibrationJson(*response, warning)) : PrintText(CalibrationTable(*response, warning));
  return kExitOk;
}

absl::StatusOr<int> RunModel(const CommonFlags& common) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_ASSIGN_OR_RETURN(v1::GetModelInfoResponse response, Client::Connect(common.client)->GetModelInfo({}));
  common.json ? PrintData(ModelJson(response)) : PrintText(ModelTable(response));
  return kExitOk;
}

}  // namespace cobra::client
