// Which networks to measure on a machine that no training has seen, when there is time for a few:
// those that determine best how the latencies of all networks differ from a trained target's.
#ifndef COBRA_MODEL_PREDICT_TARGET_PROBE_DESIGN_H_
#define COBRA_MODEL_PREDICT_TARGET_PROBE_DESIGN_H_

#include <cstddef>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"

namespace cobra::predict {

// Up to `count` indices into `pool`, in the order in which to measure them: each is the one that
// lowers the mean variance over the whole pool most for the time that it takes (I-optimal design,
// greedily). To first order the log-ratio of a network between two machines is the sum of its
// operator groups' log-ratios by their shares of its time. Shares and time are estimated from work
// and bytes, so that the order is the same on all machines.
std::vector<size_t> DesignProbe(absl::Span<const graph::Graph* const> pool, size_t count);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_PROBE_DESIGN_H_
