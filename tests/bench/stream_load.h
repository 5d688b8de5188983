// Asks over one stream, and measures how it is answered. Messages are sent as fast as gRPC's flow
// control takes them, and are prepared beforehand; those that come back are only counted.
#ifndef COBRA_TESTS_BENCH_STREAM_LOAD_H_
#define COBRA_TESTS_BENCH_STREAM_LOAD_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "grpcpp/grpcpp.h"

namespace cobra::bench {

struct StreamLoop {
  std::string method = "/cobra.v1.Cobra/PredictStream";
  absl::Duration warm_up;  // answers that come in this time do not count
  absl::Duration duration = absl::Seconds(1);
  bool each_once = false;  // ends when each request has been sent once; the two times above do not count
  std::function<void(const grpc::ByteBuffer&)> on_answer;  // may be empty; called by one thread at a time
};

struct StreamResult {
  int64_t answers = 0, answer_bytes = 0;
  double seconds = 0;  // with each_once: from the opening of the stream to the last answer

  double answers_per_s() const { return seconds > 0 ? static_cast<double>(answers) / seconds : 0; }
};

// Sends `requests` in turn, from the first one on. An error if the stream ends with one, or with
// requests that have no answer. REQUIRES: requests is not empty.
absl::StatusOr<StreamResult> RunStream(const std::shared_ptr<grpc::Channel>& channel, const StreamLoop& loop,
                                       const std::vector<grpc::ByteBuffer>& requests);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_STREAM_LOAD_H_
