// A PyTorch network as a file of ncnn has it, for targets that were measured with such files:
// ncnn's converters fold a batch normalization into the convolution or the linear layer before it.
#ifndef COBRA_MODEL_PREDICT_AS_RUN_FOLDED_NORMS_H_
#define COBRA_MODEL_PREDICT_AS_RUN_FOLDED_NORMS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "model/predict/price/prediction.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

struct FoldedNorms {
  static constexpr int32_t kFolded = -1;
  // What is predicted for `graph`, for the network as it was given: a call that is folded takes
  // nothing.
  LatencyPrediction ExpandToOriginalCalls(LatencyPrediction prediction) const;

  graph::Graph graph;
  std::vector<int32_t> place_of_call;  // of each call of the network its place in `graph`, or kFolded
};

// Nothing if there is no normalization to fold, or if a call cannot be written so: it is asked
// about as it is. Those in training mode stay.
std::optional<FoldedNorms> WithFoldedNorms(const graph::Graph& graph);

// Whether the target's runtime computes once what depends on no input, also of parameters
// (graph/constants/constant_calls.h): ONNX Runtime, OpenVINO, ncnn and TensorFlow Lite do when they
// load a network, and TorchInductor if it freezes parameters. PyTorch runs such calls each time,
// compiled or not.
bool FoldsConstants(const TargetSpec& target);

// Whether the target was measured with files of ncnn. Those with a version in their runtime are
// ours, which ran all calls of a network in PyTorch (docs/ncnn_export.md). `is_adapted`: by
// timings, or from a data sheet.
bool RunsConvertedFiles(const TargetSpec& target, bool is_adapted);

// What runs of a network on a machine that is adapted: of its precision
// (model/predict/as_run/half_precision.h), and converted. Nothing: the network as it was given.
std::optional<graph::Graph> AsRunBy(const TargetSpec& machine, const graph::Graph& graph);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_AS_RUN_FOLDED_NORMS_H_
