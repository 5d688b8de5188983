#include "frontend/model_source.h"

#include <utility>

#include "graph/json.h"

namespace cobra::frontend {
namespace {

using graph::Graph;

// One reader for each form.
struct Reader {
  const Limits& limits;

  absl::StatusOr<Graph> operator()(const python::SourceRequest& source) const {
    return python::ReadPythonModel(source, limits);
  }
  absl::StatusOr<Graph> operator()(const OnnxFile& file) const {
    return onnx::ReadOnnxModel(file.bytes, file.request, limits);
  }
  absl::StatusOr<Graph> operator()(const TfliteFile& file) const {
    return tflite::ReadTfliteModel(file.bytes, file.request, limits);
  }
  absl::StatusOr<Graph> operator()(const nas::ArchitectureRequest& architecture) const {
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
