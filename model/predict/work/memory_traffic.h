// What a network's calls move between a GPU and its memory. A run is repeated (benchmarks do, and
// services nearly): a tensor that was touched not long ago is still in the last cache, which newer
// GPUs have 40 to 128 MB of, several times as fast as their memory. Estimated from reuse distances
// (Mattson et al., "Evaluation techniques for storage hierarchies", 1970), a tensor at a time.
#ifndef COBRA_MODEL_PREDICT_WORK_MEMORY_TRAFFIC_H_
#define COBRA_MODEL_PREDICT_WORK_MEMORY_TRAFFIC_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "model/predict/work/fusion.h"

namespace cobra::predict {

struct Traffic {
  int64_t bytes = 0;         // read and written by a kernel, from a cache or from memory
  int64_t missed_bytes = 0;  // of these, that the cache does not hold
};
// One for each call of the graph. `fusion` may be null: each call is a separate kernel. With a
// smaller cache no call misses less. REQUIRES: cache_bytes > 0.
std::vector<Traffic> TrafficOf(const graph::Graph& graph, const MemoryOf& memory_of, double cache_bytes,
                               const Fusion* fusion = nullptr);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_MEMORY_TRAFFIC_H_
