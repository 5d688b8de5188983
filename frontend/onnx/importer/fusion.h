// Fuses chains of nodes that the exporter of older opsets made from one PyTorch layer: silu,
// hardswish, gelu, layer_norm, avg_pool with padding. After fusion, the file gives the same graph
// as the source.
#ifndef COBRA_FRONTEND_ONNX_IMPORTER_FUSION_H_
#define COBRA_FRONTEND_ONNX_IMPORTER_FUSION_H_

#include "absl/status/statusor.h"
#include "frontend/onnx/importer/importer.h"

namespace cobra::onnx {

// True if node `index` begins such a chain; its result is then computed and all its nodes are
// marked done. REQUIRES: every value before it is computed.
absl::StatusOr<bool> RunFused(Importer* importer, GraphRun* run, int index);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_IMPORTER_FUSION_H_
