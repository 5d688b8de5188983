// What every unary method of every service has in common: a deadline, cancellation, a place in the queue, a thread, metrics.
#ifndef COBRA_SERVER_UNARY_CALLS_H_
#define COBRA_SERVER_UNARY_CALLS_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "server/call_context.h"
#include "server/metrics.h"
#include "server/worker_pool.h"

namespace cobra {

class UnaryCalls {
 public:
  // Neither pointer is owned; both must live longer.
  UnaryCalls(WorkerPool* pool, Metrics* metrics, absl::Duration default_deadline)
      : pool_(pool), metrics_(metrics), default_deadline_(default_deadline) {}

  // Runs `work` on the pool; its status is the call's. `method` is a literal.
  grpc::ServerUnaryReactor* Run(const char* method, grpc::CallbackServerContext* context,
                                std::function<absl::Status(const CallContext&)> work) const;

 private:
  WorkerPool* pool_;
  Metrics* metrics_;
  absl::Duration default_deadline_;
};

}  // namespace cobra

#endif  // COBRA_SERVER_UNARY_CALLS_H_
