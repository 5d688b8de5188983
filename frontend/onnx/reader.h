// ONNX file in, graph out: the phase that `cobra-client` and the server call for *.onnx. The graph's calls are
// PyTorch's (conv2d, batch_norm ...), so that a network exported from PyTorch gives the graph that its source gives.
// Opsets 6 to 17 of the default domain; what is claimed: docs/onnx_support.md. Nothing but the given bytes is read:
// external data is refused.
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
#include "graph/builder.h"
#include "graph/graph.h"

namespace cobra::onnx {

struct OnnxRequest {
  std::string name = "model.onnx";  // what messages call the file
  // "name=1x3x224x224", "name=1x128:int64", or without a name, in the file's order. Needed where the file leaves sizes
  // open; an open batch (first dimension) that nothing binds is 1. The dtype is the file's.
  std::vector<std::string> inputs;
  // Inputs whose values are known beforehand and shape the network: ("axes", "[0, 1]"), ("k", "5"). Lists nest by
  // dimension.
  std::vector<std::pair<std::string, std::string>> arguments;
};

// Errors carry a Diagnostic (base/diagnostic.h) naming file, node, operator and opset.
absl::StatusOr<graph::Graph> ReadOnnxModel(absl::string_view bytes, const OnnxRequest& request,
                                           const Limits& limits = {});

// What the file holds beside shapes: for whoever runs the graph and wants the file's own numbers.
struct OnnxValue {
  graph::ValueRef ref;  // a parameter, buffer or constant of the graph
  std::shared_ptr<const std::vector<double>> values;
};
struct OnnxModel {
  graph::Graph graph;
  std::vector<std::string> output_names;  // as the file's graph has them; one per tensor of Graph::outputs()
  std::vector<OnnxValue> values;
};
// The same with every weight's values carried along (8 bytes an element), whatever its size.
absl::StatusOr<OnnxModel> ReadOnnxModelWithValues(absl::string_view bytes, const OnnxRequest& request,
                                                  const Limits& limits = {});

// One operator that the reader knows, for docs/onnx_support.md.
struct OnnxOperator {
  std::string name;
  std::string note;  // what of it is not supported; may be empty
};
std::vector<OnnxOperator> OnnxOperators();  // sorted

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_READER_H_
