#include "cobra/v1/graph.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "graph/form/json.h"
#include "proto/graph_proto.h"
#include "proto/parsed_size.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {
namespace {

constexpr int64_t kMostParsedBytes = int64_t{1} << 30;

}  // namespace

void GraphMessage(absl::string_view data) {
  static const bool quiet =
      (google::protobuf::SetLogHandler(nullptr), true);  // it complains of each name that is not UTF-8
  (void)quiet;
  if (!data.empty() && data[0] == '{') return Check(graph::GraphFromJson(data), data);
  const absl::StatusOr<graph::Graph> graph = proto::GraphFromWire(data, SmallLimits().graph);
  Check(graph, data);
  // protobuf is the judge: what it cannot parse is refused, and what it parses to is the same
  // graph.
  v1::Graph message;
  if (!message.ParseFromArray(data.data(), static_cast<int>(data.size()))) {
    if (graph.ok()) Fail("read, but not a message for protobuf", graph::PrintGraph(*graph));
    return;
  }
  if (!proto::ParsedSizeOf(data, *v1::Graph::descriptor(), kMostParsedBytes).well_formed) return;  // groups
  const absl::StatusOr<graph::Graph> parsed = proto::GraphFromProto(message, SmallLimits().graph);
  if (parsed.ok() != graph.ok() || (graph.ok() && proto::GraphToWire(*parsed) != proto::GraphToWire(*graph)))
    Fail("another graph than protobuf's", parsed.status().ToString() + "; " + graph.status().ToString());
}

}  // namespace cobra::fuzz
