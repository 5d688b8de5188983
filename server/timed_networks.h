// Networks that callers have timed: from a request to graphs, and back to what is refused.
#ifndef COBRA_SERVER_TIMED_NETWORKS_H_
#define COBRA_SERVER_TIMED_NETWORKS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"
#include "google/protobuf/repeated_field.h"
#include "model/predict/timings.h"
#include "server/call_context.h"
#include "server/pipeline.h"

namespace cobra::server {

using TimedNetworkMessages = google::protobuf::RepeatedPtrField<v1::TimedNetwork>;

struct ReadTimings {
  std::vector<predict::TimedNetwork> networks;
  std::vector<predict::RefusedRow> refused;  // cannot be read
};

// Moves the models out of `messages`. Rows without a name get their position. An error only if the call ends.
absl::StatusOr<ReadTimings> ReadTimedNetworks(TimedNetworkMessages* messages, absl::string_view runtime,
                                              Pipeline* pipeline, const CallContext& call);

// One error for all of them, with the kind of the first: "row 3: ...; row 7: ...". REQUIRES: there is one.
absl::Status RefusedError(const std::vector<predict::RefusedRow>& refused);
void FillRefused(const std::vector<predict::RefusedRow>& refused,
                 google::protobuf::RepeatedPtrField<v1::RefusedTiming>* messages);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TIMED_NETWORKS_H_
