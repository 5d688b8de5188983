// From a model as the user named it to requests for a server: what the commands that ask have in
// common.
#ifndef COBRA_CLIENT_REQUEST_REQUEST_H_
#define COBRA_CLIENT_REQUEST_REQUEST_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/input/model_input.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"

namespace cobra::client {

// How a model is asked about, whichever it is.
struct AskFlags {
  bool send_source = false;  // let the server read it
  bool breakdown = false;
  bool keep_private = false;
  std::string model_version;  // that is to answer; empty: the one that serves
};

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

}  // namespace cobra::client

#endif  // COBRA_CLIENT_REQUEST_REQUEST_H_
