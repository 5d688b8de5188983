// ONNX file in, graph out: the phase that `cobra-client` and the server call for *.onnx. The
// graph's calls are PyTorch's (conv2d, batch_norm ...), so that a network exported from PyTorch
// gives the same graph as its source. Opsets 6 to 24 of the default domain and what ONNX Runtime's
// optimiser writes; docs/onnx_support.md lists the operators. Only the given bytes are read: the
// caller puts small tensors of other files into them (without_weights.h).
#ifndef COBRA_FRONTEND_ONNX_READER_H_
#define COBRA_FRONTEND_ONNX_READER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"

namespace cobra::onnx {

struct OnnxRequest {
  std::string name = "model.onnx";  // name of the file in messages
  // "name=1x3x224x224", "name=1x128:int64", or without a name, in the file's order. Required if the
  // file leaves sizes open; an open batch size (first dimension) is 1 by default. The dtype is the
  // file's.
  std::vector<std::string> inputs;
  // Inputs with known values that determine shapes of the network: ("axes", "[0, 1]"), ("k", "5").
  // Lists nest by dimension.
  std::vector<std::pair<std::string, std::string>> arguments;
  bool keep_values = false;  // of constants, where the reader has them: Graph::KnownValues
};

// Errors carry a Diagnostic (base/diagnostic.h) naming file, node, operator and opset.
absl::StatusOr<graph::Graph> ReadOnnxModel(absl::string_view bytes, const OnnxRequest& request,
                                           const Limits& limits = {});

// Values of the file, for callers that run the graph with the file's own weights.
struct OnnxValue {
  graph::ValueRef ref;  // a parameter, buffer or constant of the graph
  std::shared_ptr<const std::vector<double>> values;
};
struct OnnxModel {
  graph::Graph graph;
  std::vector<std::string> output_names;  // as the file's graph has them; one per tensor of Graph::outputs()
  std::vector<OnnxValue> values;
};
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
