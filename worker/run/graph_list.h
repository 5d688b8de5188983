// A file of graphs to measure, one per line: `cobra-worker sample` writes it, `cobra-train select`
// selects from it, and `cobra-worker measure --graphs` measures it.
//   {"space","index","seed","is_network","label","graph"}
// graph as in a record (graph/form/json.h); the rest may be left out: space "asked", index the
// line's number, seed 1, a network if there are several calls. A file of records will do: its
// subjects are measured again.
#ifndef COBRA_WORKER_RUN_GRAPH_LIST_H_
#define COBRA_WORKER_RUN_GRAPH_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/run/campaign.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {

struct GraphList {
  // In the order of first appearance; each with its indices in the file's order, and a sampler that
  // returns the graphs of the lines.
  std::vector<SpaceCount> spaces;
  // Seed of the samples; a file has one.
  uint64_t seed = 1;
};

// Every graph is built once here, so that an error names its line.
absl::StatusOr<GraphList> ReadGraphList(absl::string_view path);

// Lines of `count` samples of `space` from `first` on, without indices whose samples exceed the
// caps.
absl::StatusOr<std::string> CandidateLines(absl::string_view space, int64_t first, int64_t count,
                                           const SamplerOptions& options);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_GRAPH_LIST_H_
