// From the submitted model to a graph: programs and files of other tools are read in separate
// processes (reader_processes.h), graphs and architecture strings are checked here.
#ifndef COBRA_SERVER_READER_NETWORK_READER_H_
#define COBRA_SERVER_READER_NETWORK_READER_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "cobra/v1/cobra.pb.h"
#include "graph/graph.h"
#include "server/lanes/call_context.h"
#include "server/lanes/held_bytes.h"
#include "server/lanes/limits.h"
#include "server/lanes/metrics.h"
#include "server/reader/reader_processes.h"

namespace cobra::server {

// A usage error: the request names no network.
absl::Status NoModelError();

class NetworkReader {
 public:
  // The pointers are not owned and must outlive this object. `readers` may be null if nothing but
  // graphs and architecture strings is read.
  NetworkReader(const ServerLimits& limits, ReaderProcesses* readers, Metrics* metrics);

  // Moves the texts and files of the model out of `request`, to avoid copies. `graph`: the bytes of
  // the request's graph, which is then not in `request`. Errors carry a Diagnostic if the model is
  // at fault, also where the network takes no time: without calls, or on empty inputs.
  // `names_blocks`: of an architecture string (nas::ArchitectureRequest).
  absl::StatusOr<ReadResult> Read(v1::PredictRequest* request, std::optional<absl::string_view> graph,
                                  const CallContext& call, bool names_blocks = true);
  // The same for a network that its device has timed. Source without a version of PyTorch is read
  // as for `runtime`.
  absl::StatusOr<graph::Graph> ReadFor(absl::string_view runtime, v1::PredictRequest* request,
                                       std::optional<absl::string_view> graph, const CallContext& call);

  // A graph that is worked on counts to the caller as long as the part is kept. ResourceExhausted
  // if too much does.
  absl::StatusOr<HeldBytes::Part> Hold(const graph::Graph& graph, const CallContext& call);
  absl::StatusOr<HeldBytes::Part> HoldBytes(int64_t bytes, const CallContext& call);
  const ServerLimits& limits() const { return limits_; }

 private:
  absl::StatusOr<ReadResult> ReadWithin(const Limits& limits, v1::PredictRequest* request,
                                        std::optional<absl::string_view> graph, const CallContext& call,
                                        bool names_blocks);

  const ServerLimits limits_;
  ReaderProcesses* const readers_;
  Metrics* const metrics_;
  HeldBytes graphs_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_READER_NETWORK_READER_H_
