// The queue client between a spool and a server: leases tasks into the spool, renews the leases,
// reports measured records. It is a separate process (`cobra-worker queue-client`, started by
// `cobra-worker work`), because gRPC has threads and the measuring process must have none.
#ifndef COBRA_WORKER_QUEUE_QUEUE_CLIENT_H_
#define COBRA_WORKER_QUEUE_QUEUE_CLIENT_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/connection_files.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "worker/meter/meter.h"
#include "worker/queue/spool.h"

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
  // In nanoseconds; a clock that is set back must not stop renewals.
  std::function<double()> steady_now_ns = SteadyNowNs;
};

class QueueClient {
 public:
  QueueClient(const QueueClientOptions& options, Spool spool, std::unique_ptr<v1::Measurements::StubInterface> stub);
  // Reports, renews and leases once. Unavailable if the server is unreachable; the call can be
  // repeated without loss. A record that the server does not take stops neither the other tasks nor
  // the other calls: it becomes an outcome of its task, or stays in rejected/ of the spool, or is
  // tried again.
  absl::Status RunOnce();
  // Reports finished tasks and releases the others.
  absl::Status Shutdown();
  bool IsIdle() const { return idle_; }  // the last run found no task to lease, to report or to wait for

 private:
  static constexpr int kMostIds = 500;  // of one call; servers take 1,000
  // Records of one Report.
  struct Batch {
    v1::ReportRequest request;
    std::vector<std::string> ids;
    int64_t bytes = 0;
  };
  absl::Status UploadRecords();
  absl::StatusOr<Batch> NextBatch(const std::vector<std::string>& done, size_t* next);
  absl::Status SendBatch(const Batch& batch);
  absl::Status SendReport(const v1::ReportRequest& request, const std::vector<std::string>& ids);
  absl::Status TakeOutcome(const std::string& id, v1::ReportResponse::Outcome outcome, absl::string_view message);
  // The record of the task cannot be stored. `again`: the task may be measured once more; otherwise
  // a failure is reported instead, which is its outcome.
  absl::Status Refused(const std::string& id, absl::string_view why, bool again);
  absl::Status KeepLeases();
  absl::Status RenewLeases(bool release);
  absl::Status RenewSome(absl::Span<const SpooledTask> tasks, const std::set<std::string>& begun, bool release);
  // Those of given_up_ that are not in the spool all the same.
  absl::StatusOr<std::vector<std::string>> GivenUp() const;
  absl::Status LeaseTasks();
  absl::Status AddLeased(const v1::MeasurementTask& task);
  template <typename Request, typename Response>
  absl::Status Call(absl::string_view what,
                    grpc::Status (v1::Measurements::StubInterface::*method)(grpc::ClientContext*, const Request&,
                                                                            Response*),
                    const Request& request, Response* response);

  const QueueClientOptions options_;
  Spool spool_;
  const std::unique_ptr<v1::Measurements::StubInterface> stub_;
  double renew_at_ns_ = 0;
  // The started tasks that were reported at the last renewal.
  std::vector<std::string> started_;
  // How often the records of a task were refused, and the tasks for which a failure was reported.
  std::map<std::string, int> refusals_;
  std::set<std::string> failed_;
  // Leased tasks that are not in the spool, neither to be measured nor to be reported: released
  // with the next Renew, so that whoever can measures them, and not when their lease ends.
  std::set<std::string> given_up_;
  // Tasks of one Lease: fewer after a reply that was too large to be received.
  int most_leased_ = kMostIds;
  bool idle_ = false;
};

// Runs until SIGTERM, with increasing waits while the server is unreachable.
absl::Status RunQueueClient(const QueueClientOptions& options, Spool spool);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_QUEUE_QUEUE_CLIENT_H_
