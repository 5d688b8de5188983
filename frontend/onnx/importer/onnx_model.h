// What is asked of the reader, and what it gives back.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_ONNX_MODEL_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_ONNX_MODEL_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

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

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_ONNX_MODEL_H_
