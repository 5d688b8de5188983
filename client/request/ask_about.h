// A model is loaded, read and asked about, with progress for people.
#ifndef COBRA_CLIENT_REQUEST_ASK_ABOUT_H_
#define COBRA_CLIENT_REQUEST_ASK_ABOUT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/input/model_input.h"
#include "client/request/common_flags.h"
#include "client/request/request.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"

namespace cobra::client {

// Loads what the user named. An entry that was chosen for lack of one is put into `model`, and
// printed.
absl::StatusOr<ModelInput> LoadModel(ModelArguments* model, absl::Duration time, bool says_entry = true);

// Reads it here; an error about missing inputs proposes some.
absl::StatusOr<graph::Graph> ReadWithProgress(const ModelInput& input, const ModelArguments& model,
                                              absl::Duration time);

// A program is read here as for the runtimes of the targets: by version of PyTorch, the targets in
// their order. All under "" if the version is given or does not matter.
absl::StatusOr<std::map<std::string, std::vector<std::string>>> TargetsOfReadings(
    const CommonFlags& common, const ModelArguments& model, const ModelInput& input,
    const std::vector<std::string>& targets);

// The answer for this model on these targets: one request for each version of PyTorch among the
// targets. Paths in it and in errors are as the user typed them.
absl::StatusOr<v1::PredictResponse> AskAbout(const CommonFlags& common, const AskFlags& ask,
                                             const std::vector<std::string>& targets, const ModelArguments& model,
                                             ModelInput* input);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_REQUEST_ASK_ABOUT_H_
