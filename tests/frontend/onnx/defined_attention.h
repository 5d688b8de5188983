#ifndef COBRA_TESTS_FRONTEND_ONNX_DEFINED_ATTENTION_H_
#define COBRA_TESTS_FRONTEND_ONNX_DEFINED_ATTENTION_H_

#include "absl/status/statusor.h"
#include "graph/graph.h"

namespace cobra::onnx {

// The graph with what Debian's LibTorch 1.13 does not have in the way that PyTorch's documentation
// defines it: the scale and the grouped heads of scaled_dot_product_attention, and its zeros for a
// query that attends to nothing. Parameters, buffers and constants keep their places.
absl::StatusOr<graph::Graph> WithDefinedAttention(const graph::Graph& graph);

}  // namespace cobra::onnx

#endif  // COBRA_TESTS_FRONTEND_ONNX_DEFINED_ATTENTION_H_
