// ONNX file in, graph out: the phase that `cobra-client` and the server call for *.onnx. The
// graph's calls are PyTorch's (conv2d, batch_norm ...), so that a network exported from PyTorch
// gives the same graph as its source. Opsets 6 to 24 of the default domain and what ONNX Runtime's
// optimiser writes; docs/onnx_support.md lists the operators. Only the given bytes are read: the
// caller puts small tensors of other files into them (without_weights.h).
#ifndef COBRA_FRONTEND_ONNX_READER_H_
#define COBRA_FRONTEND_ONNX_READER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "frontend/onnx/importer/onnx_model.h"
#include "graph/graph.h"

namespace cobra::onnx {

// Errors carry a Diagnostic (base/diagnostic.h) naming file, node, operator and opset.
absl::StatusOr<graph::Graph> ReadOnnxModel(absl::string_view bytes, const OnnxRequest& request,
                                           const Limits& limits = {});

// The same, with the values of every weight (8 bytes an element), whatever its size.
absl::StatusOr<OnnxModel> ReadOnnxModelWithValues(absl::string_view bytes, const OnnxRequest& request,
                                                  const Limits& limits = {});

// One operator that the reader knows, for docs/onnx_support.md.
struct OnnxOperator {
  std::string domain;  // empty: the default one
  std::string name;
  std::string note;  // restrictions, or why it is refused; may be empty
  bool is_supported = true;
};
std::vector<OnnxOperator> OnnxOperators();  // sorted, the default domain first

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_READER_H_
