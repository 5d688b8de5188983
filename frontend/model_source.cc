#include "frontend/model_source.h"

#include <utility>

#include "base/status_macros.h"
#include "frontend/python/request_limits.h"
#include "graph/form/json.h"

namespace cobra::frontend {
namespace {

using graph::Graph;

// Reads each form of model source with the reader for that form.
struct Reader {
  const Limits& limits;

  absl::StatusOr<Graph> operator()(const python::SourceRequest& source) const {
    return python::ReadPythonModel(source, limits);
  }
  absl::StatusOr<Graph> operator()(const OnnxFile& file) const {
    COBRA_RETURN_IF_ERROR(python::CheckInputs(file.request.inputs, limits));
    return onnx::ReadOnnxModel(file.bytes, file.request, limits);
  }
  absl::StatusOr<Graph> operator()(const TfliteFile& file) const {
    COBRA_RETURN_IF_ERROR(python::CheckInputs(file.request.inputs, limits));
    return tflite::ReadTfliteModel(file.bytes, file.request, limits);
  }
  absl::StatusOr<Graph> operator()(const NcnnFile& file) const {
    COBRA_RETURN_IF_ERROR(python::CheckInputs(file.request.inputs, limits));
    return ncnn::ReadNcnnModel(file.text, file.request, limits);
  }
  absl::StatusOr<Graph> operator()(const nas::ArchitectureRequest& architecture) const {
    COBRA_RETURN_IF_ERROR(python::CheckInputs(architecture.inputs, limits));
    return nas::ReadArchitecture(architecture, limits);
  }
  absl::StatusOr<Graph> operator()(const GraphJson& json) const {
    return graph::GraphFromJson(json.text, limits.graph);
  }
  absl::StatusOr<Graph> operator()(const Graph& graph) const { return graph; }
  absl::StatusOr<Graph> operator()(Graph&& graph) const { return std::move(graph); }
};

}  // namespace

absl::StatusOr<Graph> ReadModel(const ModelSource& source, const Limits& limits) {
  return std::visit(Reader{limits}, source);
}

absl::StatusOr<Graph> ReadModel(ModelSource&& source, const Limits& limits) {
  return std::visit(Reader{limits}, std::move(source));
}

}  // namespace cobra::frontend
