#include "client/request/ask_about.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/utf8.h"
#include "base/text/without_escapes.h"
#include "client/input/input_proposal.h"
#include "client/request/target_names.h"
#include "client/terminal/progress.h"
#include "proto/joined_reply.h"
#include "proto/label.h"

namespace cobra::client {
namespace {

std::string ReadingText(const ModelArguments& model) {
  return absl::StrCat("reading ", model.path.empty() ? model.architecture.substr(0, 60) : model.path);
}

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

absl::StatusOr<v1::PredictResponse> Ask(const CommonFlags& common, const AskFlags& ask,
                                        const std::vector<std::string>& asked, const ModelArguments& model,
                                        ModelInput* input) {
  std::map<std::string, std::vector<std::string>> by_version{{"", asked}};
  absl::Status unreachable;
  if (!ask.send_source) {
    auto found = TargetsOfReadings(common, model, *input, asked);
    unreachable = found.status();  // an error in the model comes first
    if (found.ok()) by_version = *std::move(found);
  }
  proto::JoinedReply reply(asked);
  for (const auto& [version, targets] : by_version) {
    if (!version.empty()) input->set_torch_version(version);
    COBRA_ASSIGN_OR_RETURN(const v1::PredictRequest request, ToRequest(common, ask, model, *input, targets));
    COBRA_RETURN_IF_ERROR(unreachable);
    COBRA_ASSIGN_OR_RETURN(v1::PredictResponse answer, Client::Connect(common.client)->Predict(request));
    const std::string& read_as = version.empty() ? model.torch_version : version;
    if (!ask.send_source) {
      for (v1::TargetPrediction& prediction : *answer.mutable_predictions()) prediction.set_torch_version(read_as);
    }
    reply.Add(std::move(answer));
  }
  return std::move(reply).Take();
}

// Of a call that has labels: the label "model" as well, unless it is given or there is no room, so
// that `history` tells models apart. The path as it was typed, or only the file's name if the path
// is absolute, so that it is the same in every checkout; then the entry.
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

absl::StatusOr<std::map<std::string, std::vector<std::string>>> TargetsOfReadings(
    const CommonFlags& common, const ModelArguments& model, const ModelInput& input,
    const std::vector<std::string>& targets) {
  if (!DependsOnTarget(model, input)) return {{{"", targets}}};
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse known, Client::Connect(common.client)->ListTargets({}));
  return TargetsByVersion(TorchVersions(known), targets);
}

absl::StatusOr<v1::PredictResponse> AskAbout(const CommonFlags& common, const AskFlags& ask,
                                             const std::vector<std::string>& targets, const ModelArguments& model,
                                             ModelInput* input) {
  CommonFlags labelled = common;
  AddModelLabel(model, &labelled.client.labels);
  absl::StatusOr<v1::PredictResponse> response = Ask(labelled, ask, targets, model, input);
  if (!response.ok()) return input->WithUserPaths(response.status());
  // The server names files as in the request; the breakdown shows them as the user typed them, as
  // `explain` does.
  for (v1::TargetPrediction& prediction : *response->mutable_predictions()) {
    for (v1::NodeLatency& row : *prediction.mutable_breakdown()) row.set_file(input->UserPath(row.file()));
  }
  return response;
}

}  // namespace cobra::client
