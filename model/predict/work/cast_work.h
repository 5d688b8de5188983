// What autocast adds to a network's calls (torch.autocast on a GPU, which keeps the parameters in
// float32): products and convolutions compute in half precision, norms, sums and exponentials in
// float32, everything else in the type of its arguments. So some tensors are twice as large as
// others, and between the two there are casts, each a separate kernel. The lists are those of
// aten/src/ATen/autocast_mode.h (CUDA) and of the type promotion of the others; autocast on a
// processor, which a program may ask for itself, has another
// (frontend/python/torch/tensor/torch_rules.def).
#ifndef COBRA_MODEL_PREDICT_WORK_CAST_WORK_H_
#define COBRA_MODEL_PREDICT_WORK_CAST_WORK_H_

#include <cstdint>
#include <vector>

#include "graph/graph.h"

namespace cobra::predict {

struct CastWork {
  int64_t wide_bytes = 0;  // read and written in float32 by the call itself
  int64_t casts = 0;       // kernels before it
  int64_t cast_bytes = 0;  // that these read and write
};
// One for each call of the graph, whose floating-point inputs and parameters are float32.
std::vector<CastWork> CastWorkOf(const graph::Graph& graph);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_WORK_CAST_WORK_H_
