#include "client/answer/written_file.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "client/answer/repository_root.h"
#include "client/terminal/output.h"
#include "export/ncnn/writer.h"
#include "export/onnx/writer.h"

namespace cobra::client {
namespace {

namespace fs = std::filesystem;

// Of programs, models, weights and configurations: nothing that CheckReplaces() is asked about ends
// like that.
constexpr absl::string_view kValuableEndings[] = {".py",    ".pyi", ".ipynb",       ".toml", ".onnx", ".tflite",
                                                  ".param", ".bin", ".safetensors", ".pt",   ".pth",  ".ckpt",
                                                  ".cc",    ".h"};

absl::Status CheckName(const WrittenFile& file) {
  const absl::string_view ending = file.format == "onnx"   ? ".onnx"
                                   : file.format == "ncnn" ? ".param"
                                   : file.format == "svg"  ? ".svg"
                                                           : ".py";
  if (file.path.empty()) {
    return UsageError("--out: is missing", absl::StrCat("--format ", file.format, " writes a file: --out net", ending));
  }
  if (absl::EndsWith(file.path, ending)) return absl::OkStatus();
  return UsageError(absl::StrCat("--out ", file.path, ": does not end in ", ending),
                    absl::StrCat("--format ", file.format, " writes such a file: --out net", ending));
}

// Whether a file that exists is the model, or one of those of a folder that is the model.
bool IsOfModel(const std::string& file, const std::string& model) {
  std::error_code error;  // of a file that is not there
  if (model.empty() || !fs::exists(file, error)) return false;
  if (!fs::is_directory(model, error)) return fs::equivalent(file, model, error);
  const fs::path below = fs::canonical(file, error).lexically_relative(fs::canonical(model, error));
  return !error && !below.empty() && *below.begin() != "..";
}

absl::Status CheckNothingIsLost(const std::string& written, const WrittenFile& file, const std::string& model) {
  const std::string out =
      absl::StrCat("--out ", file.path, ": ", written == file.path ? "" : absl::StrCat(written, " beside it "));
  std::error_code error;
  if (IsOfModel(written, model)) return UsageError(absl::StrCat(out, "is the model being read"), "give another name");
  if (!file.overwrite && fs::exists(written, error))
    return UsageError(absl::StrCat(out, "already exists"), "give another name, or add --overwrite to replace it");
  return absl::OkStatus();
}

// Whether a link of the repository of this folder, which somebody may have sent, leads out of it or
// to git's own files.
bool LeadsOutside(const std::string& written) {
  std::error_code error;
  const fs::path file = fs::absolute(written, error).lexically_normal(), root = RepositoryRoot(".");
  if (root.empty() || *file.lexically_relative(root).begin() == ".." || !fs::is_symlink(file, error)) return false;
  const fs::path real = fs::canonical(file, error).lexically_relative(root);
  return *real.begin() == ".." || std::find(real.begin(), real.end(), ".git") != real.end();
}

}  // namespace

absl::Status CheckIsNone(absl::string_view flag, const std::string& written, const std::vector<std::string>& read) {
  std::error_code error;  // of a file that is not there
  for (const std::string& path : read) {
    if (!path.empty() && fs::equivalent(written, path, error))
      return UsageError(absl::StrCat(flag, written, ": is a file that this command reads"), "give another name");
  }
  return absl::OkStatus();
}

absl::Status CheckReplaces(absl::string_view flag, const std::string& written, const std::vector<std::string>& read) {
  std::error_code error;  // of a file that is not there
  if (written == "-" || !fs::exists(written, error)) return absl::OkStatus();
  if (LeadsOutside(written))
    return UsageError(
        absl::StrCat(flag, written, ": is a link of this repository to ", fs::canonical(written, error).string()),
        "remove it, or name that file");
  COBRA_RETURN_IF_ERROR(CheckIsNone(flag, written, read));
  const std::string ending = fs::canonical(written, error).extension().string();  // behind a link
  for (const absl::string_view valuable : kValuableEndings) {
    if (ending == valuable)
      return UsageError(absl::StrCat(flag, written, ": already exists, and files with such a name are not replaced"),
                        absl::StrCat("give another name, or remove it: files that end in ", ending, " are kept"));
  }
  return absl::OkStatus();
}

absl::Status CheckReplaces(absl::string_view flag, const std::string& written, std::vector<std::string> read,
                           const ConnectionFiles& connection) {
  read.insert(read.end(), {connection.tls_ca, connection.tls_cert, connection.tls_key, connection.token_file});
  return CheckReplaces(flag, written, read);
}

absl::Status CheckWrittenFile(const WrittenFile& file, const std::string& model) {
  if (file.format.empty()) {
    if (file.path.empty() && !file.overwrite) return absl::OkStatus();
    return UsageError(
        file.path.empty() ? "--overwrite: no file is written" : absl::StrCat("--out ", file.path, ": is unused"),
        "add --format onnx, --format ncnn, --format python or --format svg, which write a file");
  }
  if (file.format == "svg" && file.path.empty() && !file.overwrite) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(CheckName(file));
  for (const std::string& path : WrittenPaths(file)) COBRA_RETURN_IF_ERROR(CheckNothingIsLost(path, file, model));
  return absl::OkStatus();
}

std::vector<std::string> WrittenPaths(const WrittenFile& file) {
  std::vector<std::string> written;
  if (!file.path.empty()) written.push_back(file.path);
  if (file.format == "onnx") written.push_back(exporting::WeightsPath(file.path));
  if (file.format == "ncnn") written.push_back(exporting::NcnnWeightsPath(file.path));
  return written;
}

namespace {

absl::Status WriteNamed(const std::string& out, const std::string& text) {
  if (absl::Status status = WriteFileAtomic(out, text); !status.ok())
    return UsageError(absl::StrCat("--out ", status.message()));
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteOutput(const std::string& out, const std::string& data) {
  if (out != "-") return WriteNamed(out, data);
  PrintData(data);
  return absl::OkStatus();
}

absl::Status WriteText(const std::string& out, const std::string& text, bool color) {
  if (out != "-") return WriteNamed(out, text);
  PrintText(text, color);
  return absl::OkStatus();
}

}  // namespace cobra::client
