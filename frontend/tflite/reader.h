// TensorFlow Lite file in, graph out: the phase that `cobra-client` and the server call for
// *.tflite. The graph's calls are PyTorch's; its inputs and outputs are the file's, images as
// [batch, height, width, channels]. Image operators work on permuted views of them, so that every
// activation keeps the file's order in memory (channels last) and no view costs anything. Integer
// (quantised) networks keep their types: docs/tflite_support.md.
#ifndef COBRA_FRONTEND_TFLITE_READER_H_
#define COBRA_FRONTEND_TFLITE_READER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"

namespace cobra::tflite {

struct TfliteRequest {
  std::string name = "model.tflite";  // name of the file in messages
  // "1x224x224x3", one per input of the file, in its order and layout; empty: the file's sizes,
  // with 1 for open ones.
  std::vector<std::string> inputs;
};

// Errors carry a Diagnostic (base/diagnostic.h) naming file, operator and tensor: model_error for a
// file that is damaged or contradicts itself, unsupported for an unknown operator, limit beyond a
// limit.
absl::StatusOr<graph::Graph> ReadTfliteModel(absl::string_view bytes, const TfliteRequest& request,
                                             const Limits& limits = {});

// The source of a weight's values, for callers that run the graph with the file's own weights.
struct TfliteWeight {
  graph::ValueRef ref;
  int tensor = 0;                // of the file's first subgraph
  graph::Shape shape;            // the file's, filled up with ones in front to as many dimensions as `permutation` has
  std::vector<int> permutation;  // dimension i of the graph's tensor is dimension permutation[i] of `shape`
};
struct TfliteModel {
  graph::Graph graph;
  std::vector<TfliteWeight> weights;
};
absl::StatusOr<TfliteModel> ReadTfliteModelWithWeights(absl::string_view bytes, const TfliteRequest& request,
                                                       const Limits& limits = {});

// One operator that the reader knows, for docs/tflite_support.md.
struct TfliteOperator {
  std::string name;   // "CONV_2D"
  std::string calls;  // PyTorch's
  std::string note;   // restrictions; may be empty
};
std::vector<TfliteOperator> TfliteOperators();  // in the order of their codes

}  // namespace cobra::tflite

#endif  // COBRA_FRONTEND_TFLITE_READER_H_
