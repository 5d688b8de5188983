// A request of Predict as it came: its graph stays in its bytes, from which proto/graph_proto.h
// reads it.
#ifndef COBRA_SERVER_PREDICT_PREDICT_MESSAGE_H_
#define COBRA_SERVER_PREDICT_PREDICT_MESSAGE_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"
#include "google/protobuf/arena.h"
#include "grpcpp/support/byte_buffer.h"
#include "grpcpp/support/slice.h"

namespace cobra::server {

class PredictMessage {
 public:
  // At most one at a time on a thread. Errors as those of ParseMessage() (rpc/message_bytes.h).
  // What is wrong inside the graph shows when it is read.
  absl::Status Parse(const grpc::ByteBuffer& bytes, int64_t max_parsed_bytes);
  // The same of bytes in one piece, which must outlive this.
  absl::Status Parse(absl::string_view bytes, int64_t max_parsed_bytes);

  // Everything but the graph.
  v1::PredictRequest* request() { return request_; }
  // The bytes of a cobra.v1.Graph, if the request has one.
  std::optional<absl::string_view> graph() const { return graph_; }

 private:
  // The bytes in one piece: gRPC's own, or a copy of its pieces in memory that the next request on
  // this thread uses again. False if there are none.
  bool Join(const grpc::ByteBuffer& bytes, absl::string_view* text);

  google::protobuf::Arena arena_;
  v1::PredictRequest* request_ = google::protobuf::Arena::CreateMessage<v1::PredictRequest>(&arena_);
  grpc::Slice slice_;
  std::string copy_;
  std::optional<absl::string_view> graph_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PREDICT_MESSAGE_H_
