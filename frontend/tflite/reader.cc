#include "frontend/tflite/reader.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/user_error.h"
#include "frontend/tflite/importer.h"

namespace cobra::tflite {
namespace {

absl::Status FileError(const TfliteRequest& request, absl::string_view message) {
  return UserError(Diagnostic::Kind::kModelError, std::string(message), "", {request.name});
}

}  // namespace

absl::StatusOr<TfliteModel> ReadTfliteModelWithWeights(absl::string_view bytes, const TfliteRequest& request,
                                                       const Limits& limits) {
  // Numbers are read in place, so the file must be aligned in memory; strings from the network may
  // be unaligned.
  constexpr size_t kAlignment = 16;
  std::unique_ptr<std::max_align_t[]> aligned;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    aligned = std::make_unique<std::max_align_t[]>(bytes.size() / sizeof(std::max_align_t) + 1);
    std::memcpy(aligned.get(), bytes.data(), bytes.size());
    bytes = absl::string_view(reinterpret_cast<const char*>(aligned.get()), bytes.size());
  }
  if (bytes.size() < 8 || bytes.substr(4, 4) != tflite_schema::ModelIdentifier()) {
    return FileError(request, "this is not a TensorFlow Lite file: 'TFL3' is missing at its beginning");
  }
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return FileError(request, "files beyond 2 GB are not supported");
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), limits.tflite.max_depth,
                                 limits.tflite.max_tables);
  if (!tflite_schema::VerifyModelBuffer(verifier)) {
    return FileError(request, "the file is damaged: an offset in it points outside, or is not a table of the format");
  }
  return Importer(*tflite_schema::GetModel(bytes.data()), request, limits).Import();
}

absl::StatusOr<graph::Graph> ReadTfliteModel(absl::string_view bytes, const TfliteRequest& request,
                                             const Limits& limits) {
  absl::StatusOr<TfliteModel> model = ReadTfliteModelWithWeights(bytes, request, limits);
  if (!model.ok()) return model.status();
  return std::move(model->graph);
}

std::vector<TfliteOperator> TfliteOperators() {
  return {
#define COBRA_TFLITE(name, handler, calls, note) {#name, calls, note},
#include "frontend/tflite/operators.def"
#undef COBRA_TFLITE
  };
}

}  // namespace cobra::tflite
