// Chains of nodes that are one PyTorch layer, which the exporter of older opsets took apart: silu, hardswish, gelu,
// layer_norm, avg_pool with padding. Put together again, the file gives the graph that the source gives.
#ifndef COBRA_FRONTEND_ONNX_FUSION_H_
#define COBRA_FRONTEND_ONNX_FUSION_H_

#include "absl/status/statusor.h"
#include "frontend/onnx/importer.h"

namespace cobra::onnx {

// True when node `index` begins such a chain: its result is there and all its nodes are marked done. REQUIRES: every
// value before it is computed.
absl::StatusOr<bool> RunFused(Importer* importer, GraphRun* run, int index);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_FUSION_H_
