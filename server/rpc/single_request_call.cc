#include "server/rpc/single_request_call.h"

#include <grpc/grpc.h>
#include <grpc/support/alloc.h>

#include "base/user_error.h"

namespace cobra::server {

std::shared_ptr<Connection> ConnectionOf(const ConnectionTable& table, const grpc::CallbackServerContext& context) {
  // As ServerContext::peer(), without a copy.
  const std::unique_ptr<char, decltype(&gpr_free)> peer(
      grpc_call_get_peer(const_cast<grpc::CallbackServerContext&>(context).c_call()), &gpr_free);
  return table.Find(peer.get());
}

SingleRequestCall::SingleRequestCall(Arrivals* arrivals, grpc::CallbackServerContext* context)
    : arrivals_(arrivals), connection_(ConnectionOf(arrivals->connections(), *context)) {
  connection_->CallBegan();
}

SingleRequestCall::~SingleRequestCall() { connection_->CallEnded(); }

void SingleRequestCall::AwaitRequest(bool to_the_end) {
  if (const absl::Status admitted = arrivals_->Begin(this, connection_, to_the_end); !admitted.ok())
    return Lost(admitted);
  StartRead(&request_);
}

void SingleRequestCall::OnReadDone(bool ok) {
  if (!arrivals_->End(this)) return;  // Refuse() ends the call, and gRPC then gives up the read
  if (!ok) {
    return Lost(UsageError("the request: its message is missing", "send one message before the end of the call"));
  }
  connection_->Took(request_.Length());
  Received();
}

}  // namespace cobra::server
