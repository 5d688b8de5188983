// What every unary method of every service has in common: a deadline, cancellation, a place in the queue, a thread,
// metrics.
#ifndef COBRA_SERVER_UNARY_CALLS_H_
#define COBRA_SERVER_UNARY_CALLS_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "google/protobuf/arena.h"
#include "grpcpp/grpcpp.h"
#include "server/call_context.h"
#include "server/limits.h"
#include "server/message_bytes.h"
#include "server/metrics.h"
#include "server/worker_pool.h"

namespace cobra::server {

class UnaryCalls {
 public:
  // Neither pointer is owned; both must live longer.
  UnaryCalls(WorkerPool* pool, Metrics* metrics, const ServerLimits& limits)
      : pool_(pool),
        metrics_(metrics),
        default_deadline_(limits.default_deadline),
        max_parsed_bytes_(limits.max_parsed_bytes) {}

  // Parses the request and runs `handle` on the pool; its status is the call's. `method` is a literal; gRPC keeps both
  // buffers until the call ends.
  template <typename Service, typename Request, typename Response>
  grpc::ServerUnaryReactor* Run(const char* method, grpc::CallbackServerContext* context,
                                const grpc::ByteBuffer* request_bytes, grpc::ByteBuffer* response_bytes,
                                Service* service,
                                absl::Status (Service::*handle)(const Request&, Response*, const CallContext&)) const {
    return RunBytes(method, context, [=, most = max_parsed_bytes_](const CallContext& call) -> absl::Status {
      google::protobuf::Arena arena;
      auto* request = google::protobuf::Arena::CreateMessage<Request>(&arena);
      Response response;
      COBRA_RETURN_IF_ERROR(ParseMessage(*request_bytes, most, request));
      COBRA_RETURN_IF_ERROR((service->*handle)(*request, &response, call));
      return SerializeMessage(response, response_bytes);
    });
  }
  int64_t max_parsed_bytes() const { return max_parsed_bytes_; }

 private:
  grpc::ServerUnaryReactor* RunBytes(const char* method, grpc::CallbackServerContext* context,
                                     std::function<absl::Status(const CallContext&)> work) const;

  WorkerPool* pool_;
  Metrics* metrics_;
  absl::Duration default_deadline_;
  int64_t max_parsed_bytes_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_UNARY_CALLS_H_
