// Common code of all unary methods: who calls, deadline, cancellation, queue, thread, metrics.
#ifndef COBRA_SERVER_UNARY_CALLS_H_
#define COBRA_SERVER_UNARY_CALLS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "google/protobuf/arena.h"
#include "grpcpp/grpcpp.h"
#include "server/access.h"
#include "server/call_context.h"
#include "server/lanes.h"
#include "server/limits.h"
#include "server/message_bytes.h"
#include "server/metrics.h"
#include "server/rpcs.h"

namespace cobra::server {

class UnaryCalls {
 public:
  // The pointers are not owned and must outlive this object. `access` is null where access control is off.
  UnaryCalls(Lanes* lanes, Metrics* metrics, const ServerLimits& limits, Access* access)
      : lanes_(lanes), metrics_(metrics), access_(access), limits_(limits) {}

  // Answers a request, found by the keyed hash of its bytes, without parsing it. kLater: on a thread of the pool it
  // can, since that takes a while. Of `call` only the hash and the labels are known yet.
  enum class Shortcut { kAnswered, kUnknown, kLater };
  using TakeShortcut = std::function<Shortcut(const CallContext& call, bool may_wait)>;

  // Parses the request and runs `handle` in the RPC's lane; its status becomes the call's. Request is const unless
  // `handle` changes it. gRPC keeps both buffers until the call ends.
  template <typename Service, typename Request, typename Response>
  grpc::ServerUnaryReactor* Run(Rpc rpc, grpc::CallbackServerContext* context, const grpc::ByteBuffer* request_bytes,
                                grpc::ByteBuffer* response_bytes, Service* service,
                                absl::Status (Service::*handle)(Request&, Response*, const CallContext&)) const {
    const auto work = [=, most = limits_.max_parsed_bytes](const CallContext& call) -> absl::Status {
      google::protobuf::Arena arena;
      auto* request = google::protobuf::Arena::CreateMessage<std::remove_const_t<Request>>(&arena);
      Response response;
      COBRA_RETURN_IF_ERROR(ParseMessage(*request_bytes, most, request));
      COBRA_RETURN_IF_ERROR((service->*handle)(*request, &response, call));
      return SerializeMessage(response, response_bytes);
    };
    return RunBytes(rpc, context, *request_bytes, response_bytes, nullptr, work);
  }
  // The same for a method that parses its request itself. `shortcut`, if it is not empty, is asked first, on gRPC's own
  // thread.
  grpc::ServerUnaryReactor* RunBytes(Rpc rpc, grpc::CallbackServerContext* context, const grpc::ByteBuffer& request,
                                     const grpc::ByteBuffer* response, TakeShortcut shortcut,
                                     std::function<absl::Status(const CallContext&)> work) const;
  // Work of one call that several threads of the pool share, a little at a time, so that others have their turns.
  class SharedWork {
   public:
    virtual ~SharedWork() = default;
    // On one thread, before all else. An error ends the call.
    virtual absl::Status Begin(const CallContext& call) = 0;
    // On several threads: does some of what is left; false if nothing is.
    virtual bool RunSome(const CallContext& call) = 0;
    // On one thread, after all else.
    virtual absl::Status Finish() = 0;
  };
  grpc::ServerUnaryReactor* RunShared(Rpc rpc, grpc::CallbackServerContext* context, const grpc::ByteBuffer& request,
                                      const grpc::ByteBuffer* response, std::shared_ptr<SharedWork> work) const;
  Metrics* metrics() const { return metrics_; }
  HeldBytes* replies() const { return &lanes_->replies(); }
  Access* access() const { return access_; }
  const ServerLimits& limits() const { return limits_; }

 private:
  Lanes* lanes_;
  Metrics* metrics_;
  Access* access_;
  ServerLimits limits_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_UNARY_CALLS_H_
