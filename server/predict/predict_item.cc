#include "server/predict/predict_item.h"

#include <utility>

#include "base/status_macros.h"
#include "cobra/v1/cobra.pb.h"
#include "proto/status_proto.h"
#include "server/predict/predict_message.h"

namespace cobra::server {

absl::StatusOr<std::string> AnswerItem(absl::string_view request, int64_t max_parsed_bytes, const CallContext& call,
                                       Pipeline* pipeline) {
  COBRA_RETURN_IF_ERROR(call.Check());
  const auto bytes = [request] { return std::string(request); };
  if (const auto known = pipeline->FindReply(call, bytes, /*may_wait=*/true).reply) return known->bytes;
  PredictMessage message;
  COBRA_RETURN_IF_ERROR(message.Parse(request, max_parsed_bytes));
  COBRA_ASSIGN_OR_RETURN(const v1::PredictResponse reply, pipeline->Predict(message.request(), message.graph(), call));
  return reply.SerializeAsString();
}

HeldBytes::Part WriteResult(const absl::StatusOr<std::string>& reply, const ItemCaller& caller,
                            const ResultFields& fields, WireWriter* out) {
  absl::StatusOr<HeldBytes::Part> held = caller.replies->Hold(caller.name, reply.ok() ? reply->size() : 0);
  if (held.ok() && reply.ok()) {
    out->Text(fields.response, *reply);
    return *std::move(held);
  }
  const absl::Status status = held.ok() ? reply.status() : held.status();
  caller.metrics->ItemFailed(caller.rpc, status.code());
  v1::RpcStatus error;
  proto::StatusToProto(status, &error);
  out->Text(fields.error, error.SerializeAsString());
  return held.ok() ? *std::move(held) : HeldBytes::Part();
}

}  // namespace cobra::server
