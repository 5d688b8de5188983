// Fixed amounts of work, timed: the canary's (measure.h), and those that show a machine's speeds.
// In LibTorch, or where there is none in loops of our own (plain_speed.h). Always with warm caches.
#ifndef COBRA_WORKER_RUN_SPEEDS_H_
#define COBRA_WORKER_RUN_SPEEDS_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "graph/graph.h"
#include "model/predict/target/target.h"
#include "worker/machine/execution.h"
#include "worker/meter/plain_speed.h"

namespace cobra::worker {

// A square matrix product.
absl::StatusOr<TimedLoop> ProductLoop(int64_t size, const Execution& execution);
absl::StatusOr<TimedLoop> CopyLoop(int64_t floats, const Execution& execution);
// Unimplemented without LibTorch. A run that fails takes 0.
absl::StatusOr<TimedLoop> LibTorchLoop(const graph::Graph& graph, const Execution& execution);

// Measures the speeds of TargetSpec: of a CPU all of them, in half a second; of a GPU only
// peak_gflops, by a product of 8192 x 8192 matrices, and memory_gb_per_s. Without LibTorch those of
// convolutions stay as they are, and so do those of another precision than float32.
absl::Status MeasureSpeeds(const Execution& execution, predict::TargetSpec* machine);

// The median of `runs` runs of a graph, in microseconds.
using GraphTimer = std::function<absl::StatusOr<double>(const graph::Graph& graph, int runs)>;
// The speeds of convolutions, and of products in another precision than float32: what loops of our
// own do not tell, timed in a PyTorch. What is faster than before counts.
absl::Status MeasureSpeedsOfPyTorch(const Execution& execution, const GraphTimer& time_us,
                                    predict::TargetSpec* machine);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_SPEEDS_H_
