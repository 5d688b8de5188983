#include "client/input/onnx_file.h"

#include <filesystem>
#include <map>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/file/mapped_file.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/onnx/without_weights.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

// Tensors in other files of one folder.
class ExternalFiles {
 public:
  explicit ExternalFiles(fs::path folder) : folder_(std::move(folder)) {}

  absl::StatusOr<std::optional<std::string>> Read(const onnx::ExternalTensor& tensor) {
    const MappedFile* file = Find(tensor.location);
    if (file == nullptr) return std::nullopt;
    const auto size = static_cast<int64_t>(file->bytes().size());
    if (tensor.offset > size || tensor.bytes > size - tensor.offset) {
      return UserError(Diagnostic::Kind::kModelError,
                       absl::StrCat(tensor.location, ": has ", size, " bytes, the tensor \"", tensor.name, "\" is at ",
                                    tensor.offset, " and has ", tensor.bytes),
                       "was it saved with another model, or downloaded in part?");
    }
    return std::string(file->bytes().substr(static_cast<size_t>(tensor.offset), static_cast<size_t>(tensor.bytes)));
  }

 private:
  // Null if there is no such file in the folder.
  const MappedFile* Find(const std::string& location) {
    if (const auto it = files_.find(location); it != files_.end()) return it->second ? &*it->second : nullptr;
    if (files_.size() >= kMostFiles) return nullptr;
    std::optional<MappedFile>& file = files_[location];
    absl::string_view below = location;
    absl::ConsumePrefix(&below, "./");
    if (!IsPathInside(below)) return nullptr;
    std::error_code error;
    const fs::path root = fs::canonical(folder_, error);
    const fs::path real = fs::canonical(folder_ / std::string(below), error);
    if (error) return nullptr;
    const fs::path relative = real.lexically_relative(root);
    if (relative.empty() || *relative.begin() == "..") return nullptr;  // a symbolic link leads out of it
    absl::StatusOr<MappedFile> mapped = MappedFile::Open(real.string());
    if (!mapped.ok()) return nullptr;
    file.emplace(*std::move(mapped));
    return &*file;
  }

  static constexpr size_t kMostFiles = 4096;  // some exporters write a file for each tensor
  const fs::path folder_;
  std::map<std::string, std::optional<MappedFile>> files_;
};

}  // namespace

absl::StatusOr<std::string> ReadOnnxFile(const std::string& path, const Limits& limits) {
  const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  if (!file.ok()) return UsageError(std::string(file.status().message()));
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  ExternalFiles others(folder);
  const absl::StatusOr<std::optional<std::string>> model =
      onnx::WithoutWeights(file->bytes(), limits.onnx, limits.model_file_bytes,
                           [&](const onnx::ExternalTensor& tensor) { return others.Read(tensor); });
  if (absl::IsResourceExhausted(model.status()))
    return UserError(Diagnostic::Kind::kLimit, absl::StrCat(path, ": ", std::string(model.status().message())));
  if (!model.ok()) {
    if (DiagnosticFromStatus(model.status()).has_value()) return model.status();
    return UserError(Diagnostic::Kind::kModelError, absl::StrCat(path, ": ", std::string(model.status().message())));
  }
  if (model->has_value()) return **model;
  const auto size = static_cast<int64_t>(file->bytes().size());
  if (size > limits.model_file_bytes)
    return UserError(Diagnostic::Kind::kLimit, LimitMessage(path, size, limits.model_file_bytes, "bytes"));
  return std::string(file->bytes());  // no ONNX file: the reader says so
}

}  // namespace cobra::client
