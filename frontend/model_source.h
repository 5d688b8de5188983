// What a user submits: a model in one of the forms that COBRA reads. The client creates it from the
// command line, the server from a request (proto/model_source_proto.h). Both read it with
// ReadModel.
//
// A new form needs a struct, an alternative of ModelSource and a case of ReadModel here, and its
// message in proto/model_source_proto.cc. The compiler reports each one that is missing.
#ifndef COBRA_FRONTEND_MODEL_SOURCE_H_
#define COBRA_FRONTEND_MODEL_SOURCE_H_

#include <string>
#include <variant>

#include "absl/status/statusor.h"
#include "base/limits.h"
#include "frontend/nas/reader.h"
#include "frontend/ncnn/reader.h"
#include "frontend/onnx/reader.h"
#include "frontend/python/reader.h"
#include "frontend/tflite/reader.h"
#include "graph/graph.h"

namespace cobra::frontend {

struct OnnxFile {
  std::string bytes;
  onnx::OnnxRequest request;
};

struct TfliteFile {
  std::string bytes;
  tflite::TfliteRequest request;
};

struct NcnnFile {
  std::string text;
  ncnn::NcnnRequest request;
};

// A graph as `cobra-client graph --format json` writes it.
struct GraphJson {
  std::string text;
};

using ModelSource = std::variant<python::SourceRequest, OnnxFile, TfliteFile, NcnnFile, nas::ArchitectureRequest,
                                 GraphJson, graph::Graph>;

// Errors carry a Diagnostic (base/diagnostic.h). The second form moves a graph out of `source`
// instead of copying it.
absl::StatusOr<graph::Graph> ReadModel(const ModelSource& source, const Limits& limits = {});
absl::StatusOr<graph::Graph> ReadModel(ModelSource&& source, const Limits& limits = {});

}  // namespace cobra::frontend

#endif  // COBRA_FRONTEND_MODEL_SOURCE_H_
