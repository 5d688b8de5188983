// A call that has one message to take: every RPC but PredictStream, and health. For gRPC all are
// streams. A unary RPC would be hidden from us until its message has arrived, and nobody could
// bound how many such calls there are.
#ifndef COBRA_SERVER_RPC_SINGLE_REQUEST_CALL_H_
#define COBRA_SERVER_RPC_SINGLE_REQUEST_CALL_H_

#include <memory>

#include "absl/status/status.h"
#include "grpcpp/grpcpp.h"
#include "server/rpc/arrivals.h"
#include "server/rpc/bytes_service.h"
#include "server/transport/connection_table.h"

namespace cobra::server {

// The connection on which a call came.
std::shared_ptr<Connection> ConnectionOf(const ConnectionTable& table, const grpc::CallbackServerContext& context);

// gRPC owns it once its method has returned it, and calls OnDone() last.
class SingleRequestCall : public BytesReactor, private Arrivals::Call {
 public:
  // The message is waited for within `arrivals`, which is not owned.
  SingleRequestCall(Arrivals* arrivals, grpc::CallbackServerContext* context);

  // Then Received() or Lost() is called, once, on any thread. Whoever has not begun may call
  // Finish() at once. `to_the_end`: also while the server stops.
  void AwaitRequest(bool to_the_end = false);

  void OnReadDone(bool ok) final;

 protected:
  ~SingleRequestCall() override;

  // The whole message is in request().
  virtual void Received() = 0;
  // There will be none. The call has to be finished.
  virtual void Lost(const absl::Status& why) = 0;

  const grpc::ByteBuffer& request() const { return request_; }
  const Connection& connection() const { return *connection_; }

 private:
  void Refuse(const absl::Status& why) final { Lost(why); }

  Arrivals* const arrivals_;
  const std::shared_ptr<Connection> connection_;
  grpc::ByteBuffer request_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_SINGLE_REQUEST_CALL_H_
