// A graph as a PyTorch program: one nn.Module whose forward() makes the graph's calls in their
// order, with their arguments. It needs nothing but torch (1.13 or any 2.x; torchvision for its
// operators), and names its parameters and buffers as the graph does, so that load_state_dict()
// takes those of the original model.
#ifndef COBRA_EXPORT_PYTHON_PROGRAM_H_
#define COBRA_EXPORT_PYTHON_PROGRAM_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "graph/graph.h"

namespace cobra::exporting {

// `source` is what the graph was read from, for the first comment; it may be empty. Unimplemented,
// beginning with the operator, if a call cannot be written: those of quantized tensors.
absl::StatusOr<std::string> WriteProgram(const graph::Graph& graph, absl::string_view source);

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_PYTHON_PROGRAM_H_
