#include "frontend/onnx/reader.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "frontend/onnx/importer/importer.h"
#include "frontend/onnx/importer/registry.h"
#include "frontend/onnx/parsed_size.h"
#include "frontend/onnx/without_weights.h"
#include "onnx/onnx_pb.h"

namespace cobra::onnx {
namespace {

absl::StatusOr<OnnxModel> Read(absl::string_view file, const OnnxRequest& request, const Limits& limits,
                               bool keep_values) {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kModelError;
  d.position.file = request.name;
  const auto no_file = [&] {
    d.message = absl::StrCat("is not an ONNX file, or a part of one (", file.size(), " bytes)");
    d.hint = "was it downloaded whole? Git LFS pointers are text files of some 130 bytes";
    return DiagnosticToStatus(d);
  };
  std::string stripped;
  absl::string_view bytes = file;
  // A copy of a small file would take longer than its weights.
  constexpr size_t kWorthIt = size_t{1} << 20;
  if (!keep_values && file.size() > kWorthIt) {
    COBRA_ASSIGN_OR_RETURN(std::optional<std::string> left, WithoutWeights(file, limits.onnx, INT64_MAX));
    if (!left.has_value()) return no_file();
    stripped = *std::move(left);
    bytes = stripped;
  }
  constexpr int64_t kMaxFileBytes = std::numeric_limits<int>::max();  // the limit of protobuf, and so of the format
  if (static_cast<int64_t>(bytes.size()) > kMaxFileBytes) {
    d.kind = Diagnostic::Kind::kLimit;
    d.message = LimitMessage("", static_cast<int64_t>(bytes.size()), kMaxFileBytes, "bytes");
    return DiagnosticToStatus(d);
  }
  // A parsed node takes many times its size in the file, so the memory is computed before parsing.
  const ModelSize size = SizeOfModel(bytes, limits.onnx.max_parsed_bytes);
  if (size.nodes > limits.onnx.max_steps || size.parsed.bytes > limits.onnx.max_parsed_bytes) {
    d.kind = Diagnostic::Kind::kLimit;
    d.message = size.nodes > limits.onnx.max_steps
                    ? LimitMessage("", limits.onnx.max_steps, "nodes")
                    : LimitMessage("its memory, without its weights", limits.onnx.max_parsed_bytes, "bytes");
    return DiagnosticToStatus(d);
  }
  if (!size.parsed.well_formed) return no_file();
  ::onnx::ModelProto model;
  if (!model.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return no_file();
  return Importer(request, limits, keep_values).Import(model);
}

}  // namespace

absl::StatusOr<graph::Graph> ReadOnnxModel(absl::string_view bytes, const OnnxRequest& request, const Limits& limits) {
  absl::StatusOr<OnnxModel> model = Read(bytes, request, limits, /*keep_values=*/false);
  if (!model.ok()) return model.status();
  return std::move(model->graph);
}

absl::StatusOr<OnnxModel> ReadOnnxModelWithValues(absl::string_view bytes, const OnnxRequest& request,
                                                  const Limits& limits) {
  return Read(bytes, request, limits, /*keep_values=*/true);
}

std::vector<OnnxOperator> OnnxOperators() {
  std::vector<OnnxOperator> operators;
  for (const absl::string_view domain : {absl::string_view(), kMicrosoftDomain}) {
    for (const auto& [name, entry] : OperatorsOf(domain)->entries())
      operators.push_back({std::string(domain), name, entry.note, entry.handler != nullptr});
  }
  return operators;
}

}  // namespace cobra::onnx
