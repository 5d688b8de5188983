// The queue client between a spool and a server: leases tasks into the spool, renews the leases, reports measured
// records. It is a separate process (`cobra-worker queue-client`, started by `cobra-worker work`), because gRPC has
// threads and the measuring process must have none.
#ifndef COBRA_WORKER_QUEUE_CLIENT_H_
#define COBRA_WORKER_QUEUE_CLIENT_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/connection_files.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "worker/spool.h"

namespace cobra::worker {

struct QueueClientOptions {
  std::string server = "127.0.0.1:50051";
  ConnectionFiles connection;
  // Name of the target that this worker measures.
  std::string target;
  // Tasks in the spool: two groups.
  int lease_tasks = 120;
  // Renewed after a third of it.
  absl::Duration lease = absl::Minutes(5);
  absl::Duration period = absl::Milliseconds(200);
  // Exit when there is nothing to do.
  bool until_idle = false;
};

class QueueClient {
 public:
  QueueClient(const QueueClientOptions& options, Spool spool, std::unique_ptr<v1::Measurements::StubInterface> stub);
  // Reports, renews and leases once. Unavailable if the server is unreachable; the call can be repeated without loss.
  absl::Status RunOnce();
  // Reports finished tasks and releases the others.
  absl::Status Shutdown();
  bool IsIdle() const { return idle_; }  // the last run found no task to lease, to report or to wait for

 private:
  absl::Status UploadRecords();
  absl::Status RenewLeases(bool release);
  absl::Status LeaseTasks();
  template <typename Request, typename Response>
  absl::Status Call(absl::string_view what,
                    grpc::Status (v1::Measurements::StubInterface::*method)(grpc::ClientContext*, const Request&,
                                                                            Response*),
                    const Request& request, Response* response);

  const QueueClientOptions options_;
  Spool spool_;
  const std::unique_ptr<v1::Measurements::StubInterface> stub_;
  // SteadyNowNs(): a clock that is set back must not stop renewals.
  double renew_at_ns_ = 0;
  // Number of started tasks reported at the last renewal.
  size_t started_ = 0;
  bool idle_ = false;
};

// Runs until SIGTERM, with increasing waits while the server is unreachable.
absl::Status RunQueueClient(const QueueClientOptions& options, Spool spool);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_QUEUE_CLIENT_H_
