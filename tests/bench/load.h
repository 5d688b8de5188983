// Asks a gRPC server and measures how it answers. The bytes of requests are prepared beforehand and
// those of replies are only counted, so that the time of a call is gRPC's and the server's.
//
// Closed loop: a fixed number of calls is in flight, and each reply starts the next call. It shows
// the throughput, but a server that stalls is asked less meanwhile, so it hides what the callers of
// a busy server see. Open loop: calls are due at a fixed mean rate, whatever the server does. A
// latency counts from the moment at which the call was due, even if it was sent later because too
// many were in flight: a stall counts for every call that it delays.
#ifndef COBRA_TESTS_BENCH_LOAD_H_
#define COBRA_TESTS_BENCH_LOAD_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "grpcpp/generic/generic_stub.h"
#include "grpcpp/grpcpp.h"
#include "tests/bench/latency_histogram.h"

namespace cobra::bench {

struct LoadTarget {
  std::string address;  // without TLS
  std::string method = "/cobra.v1.Cobra/Predict";
  int connections = 1;  // each with a thread of its own
  absl::Duration connect_time = absl::Seconds(10);
};

// Whether a reply is right for the request of this position in the list. Called by several threads
// at a time, once the latency has been counted.
using CheckReply = std::function<bool(size_t request, const grpc::ByteBuffer& reply)>;

struct ClosedLoop {
  int in_flight = 1;
  absl::Duration warm_up;  // replies that come in this time do not count
  absl::Duration duration = absl::Seconds(1);
  bool each_once = false;  // ends when each request has been sent once, even if that is before the time
  CheckReply is_right;     // may be empty
};

struct OpenLoop {
  double rate_per_s = 100;
  absl::Duration warm_up;  // calls that are due in this time do not count
  absl::Duration duration = absl::Seconds(1);
  int max_in_flight = 512;  // bounds the memory; with more, the next call waits, and its wait counts
  uint64_t seed = 1;
  CheckReply is_right;  // may be empty
};

// When the calls of an open loop are due: with exponential gaps, as callers who know nothing of
// each other would come.
class DueTimes {
 public:
  DueTimes(double rate_per_s, uint64_t seed) : random_(seed), mean_gap_ns_(1e9 / rate_per_s) {}
  // From the beginning of the loop; never less than the one before.
  int64_t NextNs();

 private:
  std::mt19937_64 random_;
  const double mean_gap_ns_;
  double due_ns_ = 0;
};

struct LoadResult {
  LatencyHistogram latencies;  // of calls that succeeded
  int64_t wrong = 0;           // of these, replies that are not right
  int64_t reply_bytes = 0;     // of all of them together
  double seconds = 0;
  std::array<int64_t, 17> errors = {};  // by grpc::StatusCode

  double requests_per_s() const { return seconds > 0 ? static_cast<double>(latencies.count()) / seconds : 0; }
  // "3 x RESOURCE_EXHAUSTED, 1 x UNAVAILABLE, 2 x wrong"; empty if every call succeeded and was
  // right.
  std::string ErrorText() const;
};

class LoadGenerator {
 public:
  // Waits until every connection stands; Unavailable if one does not within its time.
  static absl::StatusOr<std::unique_ptr<LoadGenerator>> Connect(const LoadTarget& target);

  // Sends `requests` in turn, from the first one on. A call that has no reply within ten seconds of
  // the loop's end is an error. REQUIRES: requests is not empty; no other Run meanwhile.
  LoadResult Run(const ClosedLoop& loop, const std::vector<grpc::ByteBuffer>& requests);
  LoadResult Run(const OpenLoop& loop, const std::vector<grpc::ByteBuffer>& requests);

  // The first connection, for other calls.
  const std::shared_ptr<grpc::Channel>& channel() const { return channels_[0]; }

 private:
  LoadGenerator() = default;

  std::string method_;
  std::vector<std::shared_ptr<grpc::Channel>> channels_;
  std::vector<std::unique_ptr<grpc::GenericStub>> stubs_;  // one per channel
};

// A message of these bytes.
grpc::ByteBuffer ToByteBuffer(absl::string_view bytes);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_LOAD_H_
