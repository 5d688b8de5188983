// A network as ncnn's FILE.param (layers, text) and FILE.bin (weights). ncnn computes one sample in
// float32: tensors lose a batch of 1 (export/ncnn/call_writer.h), and a call on a larger batch is
// an error. A call becomes one layer if ncnn has one for it, otherwise several; nothing is fused. A
// layer's name begins with the call that it belongs to ("call17/Convolution"). Inputs are the blobs
// in0, in1, ...; outputs out0, out1, ...
#ifndef COBRA_EXPORT_NCNN_WRITER_H_
#define COBRA_EXPORT_NCNN_WRITER_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "export/weights.h"
#include "graph/graph.h"

namespace cobra::exporting {

struct NcnnFiles {
  std::string param, bin;
};

// An error is a Diagnostic of kind kUnsupported that begins with the operator of the call that
// cannot be written, or with the input, and says where in the source it is, and why.
absl::StatusOr<NcnnFiles> WriteNcnn(const graph::Graph& graph, const Weights& weights);
// Writes PATH.param as above and, beside it, PATH.bin. `path` ends in ".param".
absl::Status WriteNcnnFiles(const graph::Graph& graph, const Weights& weights, const std::string& path);
// "folder/net.bin" of "folder/net.param".
std::string NcnnWeightsPath(absl::string_view param_path);

// What can be written, for docs/ncnn_export.md; in the order of graph/ops.def.
struct NcnnOperator {
  graph::Op op;
  absl::string_view note;  // what is not written of it
};
std::vector<NcnnOperator> NcnnOperators();

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_NCNN_WRITER_H_
