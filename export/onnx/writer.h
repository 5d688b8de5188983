// A network as an ONNX model: opset 17 of the default domain, IR version 8. A call becomes one node
// if ONNX has one for it, otherwise several. A node's name begins with the call that it belongs to
// ("call17/Conv"), so that the times that a runtime measures can be assigned to the calls of the
// graph. Large weights stay in the weights' file (export/weights.h), and the model says where in it
// each of them is.
#ifndef COBRA_EXPORT_ONNX_WRITER_H_
#define COBRA_EXPORT_ONNX_WRITER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "export/weights.h"
#include "graph/graph.h"

namespace cobra::exporting {

struct OnnxOptions {
  // The name of the weights' file, which is in the model's folder. Empty: all numbers are put into
  // the model, which then cannot be larger than 2 GiB.
  std::string weights_file;
  // Tensors of fewer bytes are put into the model in either case: numbers that a reader looks at.
  int64_t smallest_external_bytes = 1024;
};

// The bytes of the model. An error is a Diagnostic of kind kUnsupported that names the call that
// cannot be written: its operator, its place in the source, and why.
absl::StatusOr<std::string> WriteOnnx(const graph::Graph& graph, const Weights& weights,
                                      const OnnxOptions& options = {});
// Writes PATH.onnx as above and, beside it, PATH.safetensors. `path` ends in ".onnx".
absl::Status WriteOnnxFiles(const graph::Graph& graph, const Weights& weights, const std::string& path);
// "net.safetensors" of "folder/net.onnx"; the file's own name with the folder.
std::string WeightsPath(absl::string_view onnx_path);

// The call that a node belongs to: 17 of "call17/Conv_2"; -1 if the name is not one of these.
int32_t CallOfNode(absl::string_view node_name);

// What can be written, for docs/onnx_export.md and tests.
struct WrittenOperator {
  graph::Op op;
  bool is_written = true;
  absl::string_view note;  // what is not written of it, or why it is not
};
std::vector<WrittenOperator> WrittenOperators();  // in the order of graph/ops.def

}  // namespace cobra::exporting

#endif  // COBRA_EXPORT_ONNX_WRITER_H_
