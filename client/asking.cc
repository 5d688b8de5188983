#include "client/asking.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/diagnostic.h"
#include "base/limit_message.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "base/utf8.h"
#include "base/without_escapes.h"
#include "frontend/python/torch/torch_version.h"
#include "proto/graph_proto.h"
#include "proto/label.h"
#include "proto/message_limits.h"

namespace cobra::client {

Limits LimitsOf(const ModelArguments& model, absl::Duration time) {
  Limits limits;
  limits.wall_time_ms = absl::ToInt64Milliseconds(time);
  for (int64_t* limit : {&limits.steps, &limits.library_steps, &limits.memory_bytes, &limits.graph.max_nodes,
                         &limits.graph.max_results, &limits.graph.max_dimensions, &limits.sequence_items,
                         &limits.source_bytes, &limits.syntax_nodes, &limits.syntax_names, &limits.onnx.max_steps}) {
    *limit = static_cast<int64_t>(static_cast<double>(*limit) * model.limits_times);
  }
  return limits;
}

report::Question ReportQuestion(const ModelArguments& model) {
  report::Question question;
  question.path = model.path;
  question.architecture = model.architecture;
  question.entry = model.entry;
  question.method = model.method;
  question.inputs = model.inputs;
  question.arguments = model.arguments;
  question.libraries = model.libraries;
  question.training = model.training;
  question.torch_version = model.torch_version;
  question.cached_tokens = model.cached_tokens;
  return question;
}

std::string Title(const ModelArguments& model) { return report::TitleOf(ReportQuestion(model)); }

void AddModelLabel(const ModelArguments& model, std::vector<std::pair<std::string, std::string>>* labels) {
  static constexpr char kName[] = "model";
  if (labels->empty() || labels->size() >= proto::kMaxLabels ||
      std::any_of(labels->begin(), labels->end(), [](const auto& l) { return l.first == kName; }))
    return;
  const std::filesystem::path path = std::filesystem::path(model.path).lexically_normal();
  std::vector<std::string> parts = {
      model.architecture.empty() ? (path.is_absolute() ? path.filename() : path).generic_string() : model.architecture};
  if (!model.entry.empty()) parts.push_back(model.entry);
  parts.insert(parts.end(), model.inputs.begin(), model.inputs.end());
  if (model.training) parts.push_back("in training");
  std::string value = WithoutEscapes(ReplaceInvalidUtf8(absl::StrJoin(parts, " ")));
  std::replace_if(
      value.begin(), value.end(), [](char c) { return c == '\n' || c == '\t'; }, '?');
  value.resize(std::min(value.size(), proto::kMaxLabelBytes));
  while (!IsUtf8(value)) value.pop_back();  // the last character was cut
  labels->emplace_back(kName, std::move(value));
}

absl::Status CheckSize(const v1::PredictRequest& request, const ModelArguments& model) {
  const auto bytes = static_cast<int64_t>(request.ByteSizeLong());
  if (bytes <= proto::kMaxRequestBytes) return absl::OkStatus();
  return UserError(Diagnostic::Kind::kLimit,
                   LimitMessage(absl::StrCat(Title(model), ": the request"), bytes, proto::kMaxRequestBytes, "bytes"),
                   request.has_graph() ? "predict its parts, or leave repeated blocks out"
                                       : "leave --send source out: the file is read here, and only its graph is sent");
}

namespace {

v1::PredictRequest RequestWith(const AskFlags& ask) {
  v1::PredictRequest request;
  request.set_breakdown(ask.breakdown);
  request.set_keep_private(ask.keep_private);
  request.set_model_version(ask.model_version);
  return request;
}

}  // namespace

absl::StatusOr<v1::PredictRequest> RequestAbout(const graph::Graph& graph, const AskFlags& ask,
                                                const ModelArguments& model) {
  if (graph.nodes().empty()) {
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat(Title(model), ": calls no operator, so there is no time to predict"),
                     "its result is an input, a parameter or a constant: check --entry and --method");
  }
  v1::PredictRequest request = RequestWith(ask);
  proto::GraphToProto(graph, request.mutable_graph());
  return request;
}

absl::StatusOr<v1::PredictRequest> MakeRequest(const AskFlags& ask, const ModelArguments& model,
                                               const ModelInput& input, absl::Duration time) {
  if (ask.send_source) {
    v1::PredictRequest request = RequestWith(ask);
    COBRA_RETURN_IF_ERROR(input.FillModel(&request));
    return request;
  }
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, input.Read(LimitsOf(model, time)));
  return RequestAbout(graph, ask, model);
}

bool DependsOnTarget(const ModelArguments& model, const ModelInput& input) {
  return input.is_program() && model.torch_version.empty();
}

std::map<std::string, std::string> TorchVersions(const v1::ListTargetsResponse& targets) {
  std::map<std::string, std::string> versions;
  for (const v1::Target& target : targets.targets())
    versions[target.spec().name()] = python::TorchVersionOf(target.spec().runtime());
  return versions;
}

std::map<std::string, std::vector<std::string>> TargetsByVersion(const std::map<std::string, std::string>& versions,
                                                                 const std::vector<std::string>& targets) {
  std::map<std::string, std::vector<std::string>> by_version;
  for (const std::string& target : targets) {  // one that the server does not know is its to refuse
    const auto version = versions.find(target);
    by_version[version == versions.end() ? python::kNewestTorchVersion : version->second].push_back(target);
  }
  return by_version;
}

absl::Status UnknownTarget(const ClientOptions& server, const std::string& name) {
  v1::PredictRequest request;
  request.add_targets(name);  // looked up before the model, which is missing
  absl::Status status = Client::Connect(server)->Predict(request).status();
  const std::string message = absl::StrCat(name, ": no such target");
  if (const std::optional<Diagnostic> answer = DiagnosticFromStatus(status); answer && answer->message == message)
    return status;
  return UserError(Diagnostic::Kind::kUsage, message, "`cobra-client targets` lists those that there are");
}

absl::Status CheckTargets(const ClientOptions& server, const v1::ListTargetsResponse& targets,
                          const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool is_known = std::any_of(targets.targets().begin(), targets.targets().end(),
                                      [&](const v1::Target& target) { return target.spec().name() == name; });
    if (!is_known) return UnknownTarget(server, name);
  }
  return absl::OkStatus();
}

std::vector<std::string> DifferentNames(const std::vector<std::string>& names) {
  std::vector<std::string> different;
  for (const std::string& name : names) {
    if (std::find(different.begin(), different.end(), name) == different.end()) different.push_back(name);
  }
  return different;
}

absl::StatusOr<v1::PredictRequest> ModelQuestion::RequestFor(const std::string& target) {
  if (!input_.has_value()) {
    input_ = ModelInput::Load(model_, LimitsOf(model_, time_));
    if (input_->ok() && model_.entry.empty()) model_.entry = (*input_)->entry();
  }
  COBRA_RETURN_IF_ERROR(input_->status());
  const bool depends = !ask_.send_source && DependsOnTarget(model_, **input_);
  const auto version = versions_->find(target);
  const std::string key = depends && version != versions_->end() ? version->second : "";
  auto read = by_version_.find(key);
  if (read == by_version_.end()) read = by_version_.emplace(key, Read(key)).first;
  COBRA_ASSIGN_OR_RETURN(v1::PredictRequest request, read->second);
  request.add_targets(target);
  return request;
}

absl::Status ModelQuestion::WithUserPaths(const absl::Status& status) const {
  return input_.has_value() && input_->ok() ? (*input_)->WithUserPaths(status) : status;
}

absl::StatusOr<v1::PredictRequest> ModelQuestion::Read(const std::string& version) {
  ModelInput& input = **input_;
  if (!version.empty()) input.set_torch_version(version);
  absl::StatusOr<v1::PredictRequest> request = MakeRequest(ask_, model_, input, time_);
  if (!request.ok()) return input.WithUserPaths(request.status());
  COBRA_RETURN_IF_ERROR(CheckSize(*request, model_));
  return request;
}

}  // namespace cobra::client
