// Between a spool and a server: leases tasks into it, renews them, hands in what was measured. A process of its own
// (`cobra-worker courier`, started by `cobra-worker work`), because gRPC has threads and the measuring process must
// have none.
#ifndef COBRA_WORKER_COURIER_H_
#define COBRA_WORKER_COURIER_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "cobra/v1/measurements.grpc.pb.h"
#include "worker/spool.h"

namespace cobra::worker {

struct CourierOptions {
  std::string server = "127.0.0.1:50051";
  std::string target;                       // name of the target that this worker measures
  int lease_tasks = 120;                    // kept in the spool: two groups
  absl::Duration lease = absl::Minutes(5);  // renewed at a third of it
  absl::Duration period = absl::Milliseconds(200);
  bool until_idle = false;  // end when there is nothing to do
};

class Courier {
 public:
  Courier(const CourierOptions& options, Spool spool, std::unique_ptr<v1::Measurements::StubInterface> stub);
  // Hands in, renews and leases once. Unavailable while the server is away; nothing is lost by calling it again.
  absl::Status Turn();
  // Hands in what is done and gives the rest back.
  absl::Status Leave();
  bool IsIdle() const { return idle_; }  // the last turn found nothing to do, to hand in or to wait for

 private:
  absl::Status HandIn();
  absl::Status RenewLeases(bool release);
  absl::Status LeaseMore();
  absl::Status Call(absl::string_view what, const grpc::Status& status);
  std::unique_ptr<grpc::ClientContext> NewContext() const;

  const CourierOptions options_;
  Spool spool_;
  const std::unique_ptr<v1::Measurements::StubInterface> stub_;
  double renew_at_ns_ = 0;  // SteadyNowNs(): a clock that is set back must not stop renewals
  size_t started_ = 0;      // told to the server at the last renewal
  bool idle_ = false;
};

// Turns until SIGTERM, with growing waits while the server is away.
absl::Status RunCourier(const CourierOptions& options, Spool spool);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_COURIER_H_
