// Common code of all unary methods: who calls, deadline, cancellation, queue, thread, metrics. A
// caller who may not is refused before a message is taken.
#ifndef COBRA_SERVER_RPC_UNARY_CALLS_H_
#define COBRA_SERVER_RPC_UNARY_CALLS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "google/protobuf/arena.h"
#include "grpcpp/grpcpp.h"
#include "server/access/access.h"
#include "server/lanes/call_context.h"
#include "server/lanes/lanes.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"
#include "server/rpc/arrivals.h"
#include "server/rpc/bytes_service.h"
#include "server/rpc/message_bytes.h"

namespace cobra::server {

class UnaryCalls {
 public:
  // The pointers are not owned and must outlive this object. `access` is null where access control
  // is off.
  UnaryCalls(Arrivals* arrivals, Lanes* lanes, Metrics* metrics, const ServerLimits& limits, Access* access)
      : arrivals_(arrivals), lanes_(lanes), metrics_(metrics), access_(access), limits_(limits) {}

  // Answers a request, found by the keyed hash of its bytes, without parsing it. kLater: on a
  // thread of the pool it can, since that takes a while. Of `call` only the hash and the labels are
  // known yet.
  enum class Shortcut { kAnswered, kUnknown, kLater };
  using TakeShortcut = std::function<Shortcut(const grpc::ByteBuffer& request, const CallContext& call, bool may_wait,
                                              grpc::ByteBuffer* response)>;
  using Work =
      std::function<absl::Status(const grpc::ByteBuffer& request, const CallContext& call, grpc::ByteBuffer* response)>;

  // Parses the request with `parse` (message_bytes.h) and runs `handle` in the RPC's lane; its
  // status becomes the call's. Request is const unless `handle` changes it.
  template <typename Service, typename Request, typename Response>
  BytesReactor* Run(Rpc rpc, grpc::CallbackServerContext* context, Service* service,
                    absl::Status (Service::*handle)(Request&, Response*, const CallContext&),
                    ParseRequest* parse) const {
    return RunBytes(rpc, context, nullptr,
                    [=, most = limits_.max_parsed_bytes](const grpc::ByteBuffer& bytes, const CallContext& call,
                                                         grpc::ByteBuffer* response_bytes) -> absl::Status {
                      google::protobuf::Arena arena;
                      auto* request = google::protobuf::Arena::CreateMessage<std::remove_const_t<Request>>(&arena);
                      Response response;
                      COBRA_RETURN_IF_ERROR(parse(bytes, most, request));
                      COBRA_RETURN_IF_ERROR((service->*handle)(*request, &response, call));
                      return SerializeMessage(response, response_bytes);
                    });
  }
  // The same for a method that parses its request itself. `shortcut`, if it is not empty, is asked
  // first, on gRPC's own thread.
  BytesReactor* RunBytes(Rpc rpc, grpc::CallbackServerContext* context, TakeShortcut shortcut, Work work) const;
  // Work of one call that several threads of the pool share, a little at a time, so that others
  // have their turns.
  class SharedWork {
   public:
    virtual ~SharedWork() = default;
    // On one thread, before all else. An error ends the call. The request exists until the end of
    // the call.
    virtual absl::Status Begin(const grpc::ByteBuffer& request, const CallContext& call) = 0;
    // On several threads: does some of what is left; false if nothing is.
    virtual bool RunSome(const CallContext& call) = 0;
    // On one thread, after all else.
    virtual absl::Status Finish(grpc::ByteBuffer* response) = 0;
  };
  BytesReactor* RunShared(Rpc rpc, grpc::CallbackServerContext* context, std::shared_ptr<SharedWork> work) const;
  Arrivals* arrivals() const { return arrivals_; }
  Metrics* metrics() const { return metrics_; }
  Lanes* lanes() const { return lanes_; }
  Access* access() const { return access_; }
  const ServerLimits& limits() const { return limits_; }

 private:
  Arrivals* arrivals_;
  Lanes* lanes_;
  Metrics* metrics_;
  Access* access_;
  ServerLimits limits_;
};

// A service most of whose methods are unary.
class UnaryService : public BytesService {
 protected:
  explicit UnaryService(const UnaryCalls& calls) : calls_(calls) {}

  template <typename Service, typename Request, typename Response>
  void AnswerUnary(Rpc rpc, Service* service, absl::Status (Service::*handle)(Request&, Response*, const CallContext&),
                   ParseRequest* parse = ParseMessage) {
    Answer(rpc, [=](grpc::CallbackServerContext* context) { return calls_.Run(rpc, context, service, handle, parse); });
  }
  const UnaryCalls& calls() const { return calls_; }

 private:
  const UnaryCalls calls_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_RPC_UNARY_CALLS_H_
