// Networks that callers have timed: from a request to graphs, and back to what is refused.
#ifndef COBRA_SERVER_TARGETS_TIMED_NETWORKS_H_
#define COBRA_SERVER_TARGETS_TIMED_NETWORKS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"
#include "google/protobuf/repeated_field.h"
#include "model/predict/target/timings.h"
#include "server/lanes/call_context.h"
#include "server/lanes/held_bytes.h"
#include "server/reader/network_reader.h"

namespace cobra::server {

using TimedNetworkMessages = google::protobuf::RepeatedPtrField<v1::TimedNetwork>;

// Reads the networks of a request one after the other. Moves the models out of the messages.
class TimedNetworkReader {
 public:
  // The pointers are not owned; they, and `call`, must outlive this object.
  TimedNetworkReader(TimedNetworkMessages* messages, absl::string_view runtime, NetworkReader* reader,
                     const CallContext& call)
      : messages_(messages), runtime_(runtime), reader_(reader), call_(call) {}

  // The next one that can be read; nothing at the end. Rows without a name get their position. What
  // cannot be read is refused; an error only if the call ends. The network's bytes count to the
  // caller until the next one is read.
  absl::StatusOr<std::optional<store::TimedNetwork>> Next();
  const std::vector<predict::RefusedRow>& refused() const { return refused_; }
  // They count to the caller as long as the part is kept.
  HeldBytes::Part TakeHeld() { return std::move(held_); }

 private:
  std::string NameOf(const v1::TimedNetwork& message);
  absl::Status Refuse(std::string row, absl::Status why);

  TimedNetworkMessages* const messages_;
  const std::string runtime_;
  NetworkReader* const reader_;
  const CallContext& call_;
  int read_ = 0;  // messages
  absl::flat_hash_set<std::string> rows_;
  std::vector<predict::RefusedRow> refused_;
  int64_t refused_bytes_ = 0;
  HeldBytes::Part held_;
};

struct ReadTimings {
  std::vector<store::TimedNetwork> networks;  // equal ones share their graph
  std::vector<predict::RefusedRow> refused;   // cannot be read
  std::vector<HeldBytes::Part> held;          // of the graphs
};

// All networks of a request. A limit error names the row with which they take more than
// ServerLimits::max_networks_bytes.
absl::StatusOr<ReadTimings> ReadTimedNetworks(TimedNetworkMessages* messages, absl::string_view runtime,
                                              NetworkReader* reader, const CallContext& call);

// What the refused rows take in a reply; a limit error beyond `most`.
absl::Status CheckRefusedBytes(const std::vector<predict::RefusedRow>& refused, int64_t most);
// One error for all of them, with the kind of the first: "row 3: ...; row 7: ...". REQUIRES: there
// is one.
absl::Status RefusedError(const std::vector<predict::RefusedRow>& refused);
void FillRefused(const std::vector<predict::RefusedRow>& refused,
                 google::protobuf::RepeatedPtrField<v1::RefusedTiming>* messages);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TARGETS_TIMED_NETWORKS_H_
