// Many requests over one call of PredictStream, which is reopened if it breaks.
// Client::PredictMany() uses it.
#ifndef COBRA_CLIENT_PREDICT_STREAM_H_
#define COBRA_CLIENT_PREDICT_STREAM_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "client/many_requests.h"
#include "client/retry.h"
#include "cobra/v1/cobra.grpc.pb.h"
#include "cobra/v1/cobra.pb.h"
#include "grpcpp/grpcpp.h"

namespace cobra::client {

// Requests that are sent and not answered: enough for the server, which takes 64 of a stream, and
// for the way to it.
constexpr size_t kMostRequestsInFlight = 256;
constexpr int64_t kMostBytesInFlight = 16 << 20;  // one request may be larger

class PredictStream {
 public:
  struct Options {
    RetryPolicy retry;
    absl::Duration patience = absl::Seconds(60);                // without any answer
    std::function<absl::Status(grpc::ClientContext*)> prepare;  // labels, credentials
  };
  // REQUIRES: the pointers outlive this object.
  PredictStream(v1::Cobra::Stub* stub, const ManyRequests* requests, Options options)
      : stub_(stub), requests_(requests), options_(std::move(options)) {}

  // One call: until all requests are answered (OK), or until it breaks. After Unavailable another
  // attempt continues with the unanswered requests. DeadlineExceeded: no answer came within
  // `patience`.
  absl::Status Attempt();
  // Answers of all attempts.
  int64_t answered() const { return answered_; }

 private:
  class Call;
  struct Pending {
    std::shared_ptr<const v1::PredictStreamRequest> message;
    int64_t bytes = 0;
    int unavailable = 0;  // answers that the server is about to stop
    absl::Time again = absl::InfiniteFuture();
  };

  absl::Status Exchange(Call* call);
  bool CanAsk() const;
  void Ask(Call* call);
  // Resends what is due; returns when the next one is due.
  absl::Time SendDue(Call* call);
  absl::Status Take(v1::PredictStreamResponse response);
  // Schedules another attempt if the error is temporary; returns whether it did.
  bool ScheduleRetry(const absl::Status& status, Pending* pending) const;

  v1::Cobra::Stub* const stub_;
  const ManyRequests* const requests_;
  const Options options_;
  std::map<uint64_t, Pending> pending_;
  int64_t pending_bytes_ = 0;
  uint64_t asked_ = 0;
  bool exhausted_ = false;  // `next` has nothing more
  int64_t answered_ = 0;
  absl::Time last_answer_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_PREDICT_STREAM_H_
