// Whether a runtime computes what LibTorch, or PyTorch, computes.
#ifndef COBRA_WORKER_RUN_SAME_RESULTS_H_
#define COBRA_WORKER_RUN_SAME_RESULTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "export/weights.h"
#include "graph/graph.h"

namespace cobra::worker {

// The largest difference that is accepted, over the largest number of the output.
constexpr double kFloat32Tolerance = 1e-3;
constexpr double kLowPrecisionTolerance = 3e-2;

// Runs the graph in LibTorch (float32, in this process, which has configured it) and compares.
// `inputs`: the bytes of each. `outputs_file`: a safetensors file with what the other runtime
// computed, named by position. Internal names the first output that differs (only in size, if it
// depends on random numbers); ResourceExhausted, Unimplemented: LibTorch itself cannot run it.
absl::Status CompareWithLibTorch(const graph::Graph& graph, const exporting::Weights& weights,
                                 absl::Span<const std::string> inputs, absl::string_view outputs_file,
                                 double tolerance);

// The same without LibTorch: `torch_file` is what PyTorch computed from the same inputs and
// weights.
absl::Status CompareWithPyTorch(const graph::Graph& graph, absl::string_view torch_file, absl::string_view outputs_file,
                                double tolerance);

// Where nobody else computes them: whether there are as many outputs and numbers as the graph has.
absl::Status CheckSizes(const graph::Graph& graph, absl::string_view outputs_file);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_SAME_RESULTS_H_
