// A file of graphs to measure, one a line: what `cobra-worker sample` draws, `cobra-train select` chooses from and
// `cobra-worker measure --graphs` measures.
//   {"space","index","seed","is_network","label","graph"}
// graph as in a record (graph/json.h); the rest may be left out: space "asked", index the line's number, seed 1, a
// network where there are several calls. A file of records will do: its subjects are measured again.
#ifndef COBRA_WORKER_GRAPH_LIST_H_
#define COBRA_WORKER_GRAPH_LIST_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/campaign.h"
#include "worker/sampler.h"

namespace cobra::worker {

struct GraphList {
  std::vector<SpaceCount> spaces;  // as they first appear; each with its indices in the file's order, and a sampler
                                   // that returns what the lines say
  uint64_t seed = 1;               // of the samples; a file has one
};

// Every graph is built once here, so that an error names its line and not a task of the series.
absl::StatusOr<GraphList> ReadGraphList(absl::string_view path);

// Lines of `count` samples of `space` from `first` on; an index at which nothing came up within the caps has none.
absl::StatusOr<std::string> CandidateLines(absl::string_view space, int64_t first, int64_t count,
                                           const SamplerOptions& options);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_GRAPH_LIST_H_
