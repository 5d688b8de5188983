// A network in half precision, as its targets know it: their measurements have the graphs in
// float32, and the precision is the target's.
#ifndef COBRA_MODEL_PREDICT_AS_RUN_HALF_PRECISION_H_
#define COBRA_MODEL_PREDICT_AS_RUN_HALF_PRECISION_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// The same calls with float32 instead of `precision` ("bfloat16", "float16"). Nothing if no
// parameter has it, or if a call cannot be written so: it is asked about as it is.
std::optional<graph::Graph> InFloat32(const graph::Graph& graph, absl::string_view precision);

// Weights of another precision than the target's need other kernels, which may not exist: no
// measurement tells their time.
absl::Status CheckPrecision(const graph::Graph& graph, const TargetSpec& spec);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_AS_RUN_HALF_PRECISION_H_
