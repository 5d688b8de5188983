// Records one request of any RPC in the metrics and the log, from its arrival to its status.
#ifndef COBRA_SERVER_REQUEST_RECORD_H_
#define COBRA_SERVER_REQUEST_RECORD_H_

#include "absl/status/status.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "server/metrics.h"
#include "server/rpcs.h"

namespace cobra::server {

class RequestRecord {
 public:
  // Constructed when the request arrives. `metrics` is not owned and must live longer.
  RequestRecord(Rpc rpc, Metrics* metrics) : rpc_(rpc), metrics_(metrics) {}

  // Counts the request; logs an error that is the server's and not the caller's. REQUIRES: called once.
  void Done(const absl::Status& status) const;

 private:
  Rpc rpc_;
  Metrics* metrics_;
  absl::Time arrived_ = absl::Now();
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_REQUEST_RECORD_H_
