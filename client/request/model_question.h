// One model on many targets, as the lists and sweeps ask.
#ifndef COBRA_CLIENT_REQUEST_MODEL_QUESTION_H_
#define COBRA_CLIENT_REQUEST_MODEL_QUESTION_H_

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/request/request.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// One model, asked about on one target after the other. It is loaded with the first request, and a
// program is read once for each version of PyTorch. A model that cannot be read has the same error
// for each target that it concerns.
class ModelQuestion {
 public:
  // `versions`: TorchVersions(), must outlive this object. `time`: of reading it once.
  ModelQuestion(const AskFlags& ask, ModelArguments model, const std::map<std::string, std::string>* versions,
                absl::Duration time)
      : ask_(ask), model_(std::move(model)), versions_(versions), time_(time) {}

  absl::StatusOr<v1::PredictRequest> RequestFor(const std::string& target);
  // An error of the server, with the paths that the user typed.
  absl::Status WithUserPaths(const absl::Status& status) const;
  // As the user gave it; with the entry that was chosen for lack of one, after the first request.
  const ModelArguments& model() const { return model_; }

 private:
  absl::StatusOr<v1::PredictRequest> Read(const std::string& version);

  const AskFlags ask_;
  ModelArguments model_;
  const std::map<std::string, std::string>* const versions_;
  const absl::Duration time_;
  std::optional<absl::StatusOr<ModelInput>> input_;
  std::map<std::string, absl::StatusOr<v1::PredictRequest>> by_version_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_REQUEST_MODEL_QUESTION_H_
