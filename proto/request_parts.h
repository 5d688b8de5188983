// The parts of requests that are found in the bytes, without a message in memory: the requests of a
// batch and of a stream, the graphs of a request. They are what protobuf would find
// (tests/fuzz/message_entry.cc compares), but groups, which proto3 does not have, are refused. What
// is wrong inside a part shows when that is read.
#ifndef COBRA_PROTO_REQUEST_PARTS_H_
#define COBRA_PROTO_REQUEST_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::proto {

// Of a PredictBatchRequest: the bytes of each PredictRequest. Stops after one more than `most`.
// False if the bytes are not a message.
bool SplitBatch(absl::string_view message, size_t most, std::vector<absl::string_view>* requests);

// The targets of a PredictRequest; of damaged bytes those before the damage.
int64_t NumTargets(absl::string_view request);

struct StreamRequest {
  uint64_t id = 0;
  absl::string_view bytes;  // of a PredictRequest
};
// Of a PredictStreamRequest. Its request may come in several fields, which protobuf merges: then
// the bytes are those of `*joined`, else of the message. False if the bytes are not a message.
bool ParseStreamRequest(absl::string_view message, StreamRequest* request, std::string* joined);

// Of a PredictRequest: its graph, and everything else. False if it has no graph, or more than one
// model, of which protobuf knows which counts, or the bytes are not a message; `*rest` is then of
// no use.
bool SplitGraph(absl::string_view request, absl::string_view* graph, std::string* rest);

// Of a request with a list of TimedNetwork in field `list`: protobuf will not parse a graph that is
// the only model of its network, and keep its bytes for TakeGraphBytes(). The graph is read from
// them (graph_proto.h).
void KeepGraphBytes(int list, std::string* request);
// The bytes of a cobra.v1.Graph that were kept. Nothing if the network has no graph, or protobuf
// has parsed it.
std::optional<std::string> TakeGraphBytes(v1::TimedNetwork* network);

}  // namespace cobra::proto

#endif  // COBRA_PROTO_REQUEST_PARTS_H_
