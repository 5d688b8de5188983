#include "client/request/request.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "proto/graph_proto.h"
#include "proto/message_limits.h"
#include "report/question.h"

namespace cobra::client {

absl::Status CheckSize(const v1::PredictRequest& request, const ModelArguments& model) {
  const auto bytes = static_cast<int64_t>(request.ByteSizeLong());
  if (bytes <= proto::kMaxRequestBytes) return absl::OkStatus();
  return UserError(
      Diagnostic::Kind::kLimit,
      LimitMessage(absl::StrCat(report::TitleOf(model), ": the request"), bytes, proto::kMaxRequestBytes, "bytes"),
      request.has_graph() ? "predict its parts, or omit repeated blocks"
                          : "omit --send source to read the file here and send only its graph");
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
    return UsageError(absl::StrCat(report::TitleOf(model), ": calls no operator, so there is no time to predict"),
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

}  // namespace cobra::client
