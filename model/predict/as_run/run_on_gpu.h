// A network as PyTorch runs it on a GPU, if the graph has one call for several kernels that other
// networks call separately, or a call whose time is counted elsewhere. Targets that never measured
// the one call know its parts.
#ifndef COBRA_MODEL_PREDICT_AS_RUN_RUN_ON_GPU_H_
#define COBRA_MODEL_PREDICT_AS_RUN_RUN_ON_GPU_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.h"
#include "model/predict/price/prediction.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

struct RunOnGpu {
  // What is predicted for `graph`, for the network as it was given: a call takes what its parts
  // take.
  LatencyPrediction ExpandToOriginalCalls(LatencyPrediction prediction) const;

  graph::Graph graph;
  std::vector<int32_t> first_part;  // of each call, its place in `graph`; one more: the end of the last one's
};

// On a GPU under PyTorch. multi_head_attention_forward becomes the projections, products and copies
// of torch.nn.functional (attention_parts.h). What counts a batch normalization's batches takes
// nothing: targets that were measured in training mode have it in the normalization's price, since
// their graphs lack it. Nothing elsewhere, without such calls, or if a part cannot be written: the
// network is asked about as it is.
std::optional<RunOnGpu> AsRunOnGpu(const graph::Graph& graph, const TargetSpec& spec);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_AS_RUN_RUN_ON_GPU_H_
