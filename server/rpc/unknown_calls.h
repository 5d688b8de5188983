// Calls of methods that this server does not have. gRPC would keep as many of them as come before
// it answers one.
#ifndef COBRA_SERVER_RPC_UNKNOWN_CALLS_H_
#define COBRA_SERVER_RPC_UNKNOWN_CALLS_H_

#include "grpcpp/generic/async_generic_service.h"
#include "server/transport/connection_table.h"

namespace cobra::server {

// Answers UNIMPLEMENTED. The calls count to their connection, as all others do (arrivals.h).
class UnknownCalls final : public grpc::CallbackGenericService {
 public:
  // `connections` is not owned and must outlive this object.
  explicit UnknownCalls(const ConnectionTable* connections) : connections_(*connections) {}

  grpc::ServerGenericBidiReactor* CreateReactor(grpc::GenericCallbackServerContext* context) override;

 private:
  const ConnectionTable& connections_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_UNKNOWN_CALLS_H_
