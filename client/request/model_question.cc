#include "client/request/model_question.h"

#include "base/status_macros.h"

namespace cobra::client {

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
