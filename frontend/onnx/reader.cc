#include "frontend/onnx/reader.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "frontend/onnx/importer.h"
#include "frontend/onnx/registry.h"
#include "onnx/onnx_pb.h"

namespace cobra {
namespace {

absl::StatusOr<OnnxModel> Read(absl::string_view bytes, const OnnxRequest& request, const OnnxLimits& limits,
                               bool keep_values) {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kModelError;
  d.position.file = request.name;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    d.kind = Diagnostic::Kind::kLimit;
    d.message = absl::StrCat("has ", bytes.size(), " bytes; ONNX files end at 2 GiB");
    return DiagnosticToStatus(d);
  }
  ::onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    d.message = absl::StrCat("is no ONNX file, or a part of one (", bytes.size(), " bytes)");
    d.hint = "was it downloaded whole? Git LFS pointers are text files of some 130 bytes";
    return DiagnosticToStatus(d);
  }
  return onnx_import::Importer(request, limits, keep_values).Import(model);
}

}  // namespace

absl::StatusOr<Graph> ReadOnnxModel(absl::string_view bytes, const OnnxRequest& request, const OnnxLimits& limits) {
  absl::StatusOr<OnnxModel> model = Read(bytes, request, limits, /*keep_values=*/false);
  if (!model.ok()) return model.status();
  return std::move(model->graph);
}

absl::StatusOr<OnnxModel> ReadOnnxModelWithValues(absl::string_view bytes, const OnnxRequest& request,
                                                  OnnxLimits limits) {
  return Read(bytes, request, limits, /*keep_values=*/true);
}

std::vector<OnnxOperator> OnnxOperators() {
  std::vector<OnnxOperator> operators;
  for (const auto& [name, entry] : onnx_import::Operators().entries()) operators.push_back({name, entry.note});
  return operators;
}

}  // namespace cobra
