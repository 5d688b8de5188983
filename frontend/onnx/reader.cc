#include "frontend/onnx/reader.h"

#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "frontend/onnx/importer.h"
#include "frontend/onnx/registry.h"
#include "onnx/onnx_pb.h"

namespace cobra {
namespace {

// The next field of a protocol buffer: its number, and what it holds if that has a length. False at the end or at what is none.
bool NextField(absl::string_view* bytes, uint64_t* number, absl::string_view* content) {
  auto varint = [&](uint64_t* value) {
    *value = 0;
    for (int shift = 0; shift < 64 && !bytes->empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes->front());
      bytes->remove_prefix(1);
      *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) return true;
    }
    return false;
  };
  uint64_t tag = 0, length = 0;
  if (!varint(&tag)) return false;
  *number = tag >> 3;
  *content = {};
  switch (tag & 7) {
    case 0: return varint(&length);
    case 1: length = 8; break;
    case 5: length = 4; break;
    case 2:
      if (!varint(&length)) return false;
      break;
    default: return false;
  }
  if (length > bytes->size()) return false;
  *content = bytes->substr(0, length);
  bytes->remove_prefix(length);
  return true;
}

// NodeProtos of the main graph (ModelProto.graph is field 7, GraphProto.node field 1).
int64_t CountNodes(absl::string_view model) {
  constexpr uint64_t kGraph = 7, kNode = 1;
  int64_t nodes = 0;
  uint64_t number = 0;
  absl::string_view content, ignored;
  while (NextField(&model, &number, &content)) {
    if (number != kGraph) continue;
    uint64_t inner = 0;
    while (NextField(&content, &inner, &ignored)) nodes += inner == kNode;
  }
  return nodes;
}

absl::StatusOr<OnnxModel> Read(absl::string_view bytes, const OnnxRequest& request, const Limits& limits,
                               bool keep_values) {
  Diagnostic d;
  d.kind = Diagnostic::Kind::kModelError;
  d.position.file = request.name;
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int>::max())) {
    d.kind = Diagnostic::Kind::kLimit;
    d.message = absl::StrCat("has ", bytes.size(), " bytes; ONNX files end at 2 GiB");
    return DiagnosticToStatus(d);
  }
  // Parsed, a node takes ten times its bytes: count them before.
  if (const int64_t nodes = CountNodes(bytes); nodes > limits.onnx.max_steps) {
    d.kind = Diagnostic::Kind::kLimit;
    d.message = absl::StrCat("has ", nodes, " nodes; the limit is ", limits.onnx.max_steps);
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

absl::StatusOr<Graph> ReadOnnxModel(absl::string_view bytes, const OnnxRequest& request, const Limits& limits) {
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
  for (const auto& [name, entry] : onnx_import::Operators().entries()) operators.push_back({name, entry.note});
  return operators;
}

}  // namespace cobra
