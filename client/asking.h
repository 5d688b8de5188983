// From a model as the user named it to requests for a server: what the commands that ask have in
// common.
#ifndef COBRA_CLIENT_ASKING_H_
#define COBRA_CLIENT_ASKING_H_

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/limits.h"
#include "client/client.h"
#include "client/model_input.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"
#include "report/question.h"

namespace cobra::client {

// How a model is asked about, whichever it is.
struct AskFlags {
  bool send_source = false;  // let the server read it
  bool breakdown = false;
  bool keep_private = false;
  std::string model_version;  // that is to answer; empty: the one that serves
};

// Limits of reading it, `time` among them.
Limits LimitsOf(const ModelArguments& model, absl::Duration time);

// How the model is asked about, without targets.
report::Question ReportQuestion(const ModelArguments& model);

// For people: "Net() from net.py, in training".
std::string Title(const ModelArguments& model);

// Of a call that has labels: the label "model" as well, unless it is given or there is no room, so
// that `history` tells models apart. The path as it was typed, of an absolute one the file's name,
// which is the same in every checkout; then the entry.
void AddModelLabel(const ModelArguments& model, std::vector<std::pair<std::string, std::string>>* labels);

// Of one message to a server.
absl::Status CheckSize(const v1::PredictRequest& request, const ModelArguments& model);

// Requests without targets, not yet CheckSize. About a graph that was read; a graph without calls
// has no latency, and the server's error would mention a "graph" that the user never saw.
absl::StatusOr<v1::PredictRequest> RequestAbout(const graph::Graph& graph, const AskFlags& ask,
                                                const ModelArguments& model);
// About the graph that is read here, or with what the server is to read.
absl::StatusOr<v1::PredictRequest> MakeRequest(const AskFlags& ask, const ModelArguments& model,
                                               const ModelInput& input, absl::Duration time);

// Whether the model may be another network for each target: a program whose version of PyTorch is
// not given.
bool DependsOnTarget(const ModelArguments& model, const ModelInput& input);

// The version of PyTorch as which programs are read for each target.
std::map<std::string, std::string> TorchVersions(const v1::ListTargetsResponse& targets);

// `targets` by the version of PyTorch as which a program is read for them, in their order.
std::map<std::string, std::vector<std::string>> TargetsByVersion(const std::map<std::string, std::string>& versions,
                                                                 const std::vector<std::string>& targets);

// A usage Diagnostic for a target that the server does not have; the server's hint says what to ask
// instead.
absl::Status UnknownTarget(const ClientOptions& server, const std::string& name);

// OK, or UnknownTarget for the first of `names` that is not among `targets`.
absl::Status CheckTargets(const ClientOptions& server, const v1::ListTargetsResponse& targets,
                          const std::vector<std::string>& names);

// `names`, each once, in their order.
std::vector<std::string> DifferentNames(const std::vector<std::string>& names);

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

#endif  // COBRA_CLIENT_ASKING_H_
