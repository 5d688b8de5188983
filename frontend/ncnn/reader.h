// ncnn's network description (.param, text) in, graph out: the phase that `cobra-client` and the
// server call for *.param. The weights (.bin) are not needed: their sizes follow from the layers.
// The graph's calls are PyTorch's. An ncnn blob has no batch dimension, the graph's tensors have
// one in front: a blob of w, h and c is [batch, c, h, w]. Activations that ncnn fused into a layer
// are calls again: docs/ncnn_support.md.
#ifndef COBRA_FRONTEND_NCNN_READER_H_
#define COBRA_FRONTEND_NCNN_READER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/builder/builder.h"
#include "graph/graph.h"

namespace cobra::ncnn {

struct NcnnRequest {
  std::string name = "model.param";  // name of the file in messages
  // "data=1x3x224x224", or without a name, in the order of the file's inputs: batch x channels x
  // height x width, fewer for blobs of fewer dimensions. Required if the file does not give the
  // sizes. Without it the batch is 1.
  std::vector<std::string> inputs;
};

// Errors carry a Diagnostic (base/diagnostic.h) naming file, line and layer: model_error for a file
// that contradicts itself, unsupported for an unknown layer, limit beyond a limit.
absl::StatusOr<graph::Graph> ReadNcnnModel(absl::string_view text, const NcnnRequest& request,
                                           const Limits& limits = {});

// One array of the network's .bin file, for callers that run the graph with the file's own weights.
struct NcnnWeight {
  graph::ValueRef ref;           // none: ncnn reads it, the graph does not need it (the scales of int8 layers)
  graph::Shape shape;            // as it lies in the .bin file
  std::vector<int> permutation;  // dimension i of the graph's tensor is dimension permutation[i] of `shape`
  bool has_flag = false;         // four bytes in front say how the numbers are stored; they are 0 for float32
};

struct NcnnModel {
  graph::Graph graph;
  std::vector<NcnnWeight> weights;  // in the order of the .bin file
  // Every blob of the file by name, and what it is in the graph; none if its size depends on
  // values.
  std::vector<std::pair<std::string, graph::ValueRef>> blobs;
};
absl::StatusOr<NcnnModel> ReadNcnnModelWithWeights(absl::string_view text, const NcnnRequest& request,
                                                   const Limits& limits = {});

// One layer type that the reader knows, for docs/ncnn_support.md.
struct NcnnLayerType {
  std::string name;   // "Convolution"
  std::string calls;  // PyTorch's; empty if the layer is refused
  std::string note;   // restrictions (may be empty), or why it is refused
};
std::vector<NcnnLayerType> NcnnLayerTypes();  // sorted, those that are refused at the end

}  // namespace cobra::ncnn

#endif  // COBRA_FRONTEND_NCNN_READER_H_
