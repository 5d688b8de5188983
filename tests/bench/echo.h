// What gRPC itself costs: a server that answers every unary call, or every message of a stream,
// with the same bytes and never looks at the request.
#ifndef COBRA_TESTS_BENCH_ECHO_H_
#define COBRA_TESTS_BENCH_ECHO_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "grpcpp/generic/async_generic_service.h"
#include "grpcpp/grpcpp.h"

namespace cobra::bench {

// Serves `service` on a free port of 127.0.0.1 as long as it lives.
class GenericServer {
 public:
  static absl::StatusOr<std::unique_ptr<GenericServer>> Start(std::unique_ptr<grpc::CallbackGenericService> service);
  ~GenericServer();

  const std::string& address() const { return address_; }

 private:
  GenericServer() = default;

  std::unique_ptr<grpc::CallbackGenericService> service_;
  std::unique_ptr<grpc::Server> server_;
  std::string address_;
};

std::unique_ptr<grpc::CallbackGenericService> MakeEchoService(int64_t reply_bytes);
// Reads on while it writes, until 64 messages of a stream are not answered.
std::unique_ptr<grpc::CallbackGenericService> MakeStreamEchoService(int64_t reply_bytes);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_ECHO_H_
