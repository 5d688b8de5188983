#include "cobra/v1/graph.pb.h"
#include "google/protobuf/stubs/logging.h"
#include "graph/json.h"
#include "proto/graph_proto.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/entry_points.h"

namespace cobra::fuzz {

void GraphMessage(absl::string_view data) {
  static const bool quiet =
      (google::protobuf::SetLogHandler(nullptr), true);  // it complains of each name that is not UTF-8
  (void)quiet;
  if (!data.empty() && data[0] == '{') return Check(graph::GraphFromJson(data));
  v1::Graph proto;
  if (!proto.ParseFromArray(data.data(), static_cast<int>(data.size()))) return;
  Check(proto::GraphFromProto(proto, SmallLimits().graph));
}

}  // namespace cobra::fuzz
