// Records one request of any RPC in the metrics and the log, from its arrival to its status.
#ifndef COBRA_SERVER_LANES_REQUEST_RECORD_H_
#define COBRA_SERVER_LANES_REQUEST_RECORD_H_

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"
#include "server/lanes/metrics.h"
#include "server/lanes/rpcs.h"

namespace cobra::server {

// Where the time of a request went. What was not measured is zero.
struct RequestStages {
  absl::Duration waited;     // for a thread
  absl::Duration read;       // source or graph
  absl::Duration predicted;  // all targets
};

class RequestRecord {
 public:
  // Constructed when the request begins to arrive. The pointers are not owned and must live longer;
  // `context` may be null. A request that takes longer than `slow` is logged with its stages.
  RequestRecord(Rpc rpc, Metrics* metrics, const grpc::CallbackServerContext* context,
                absl::Duration slow = absl::InfiniteDuration());

  // The whole request is there: until now the caller's network was at work. Before all else.
  void Arrived() {
    arrived_ = absl::Now();
    MessageReceived();
  }
  void MessageReceived() const { metrics_->MessageReceived(rpc_); }
  void MessageSent() const { metrics_->MessageSent(rpc_); }
  // Counts the request; logs an error that is the server's and not the caller's. REQUIRES: called
  // once.
  void Done(const absl::Status& status, absl::string_view caller = "", const RequestStages& stages = {}) const;

 private:
  const Rpc rpc_;
  Metrics* const metrics_;
  const grpc::CallbackServerContext* const context_;
  const absl::Duration slow_;
  absl::Time arrived_ = absl::Now();
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_REQUEST_RECORD_H_
