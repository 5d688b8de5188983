#include "server/source_request.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "base/user_error.h"

namespace cobra::server {
namespace {

// "net/blocks.py": no empty part, no "." or "..", nothing absolute, no NUL that would end the name early for the
// system.
bool IsInnerPath(absl::string_view path) {
  if (path.size() > 4096 || path.find('\0') != absl::string_view::npos) return false;
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == "." || part == "..") return false;
  }
  return true;
}

absl::StatusOr<std::string> ResolveFile(const v1::SourceModel& proto, const python::SourceRequest& request) {
  if (request.bundle.count(proto.file()) > 0) return proto.file();
  if (!IsInnerPath(proto.file())) {
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat("\"", proto.file(), "\": `file` must be a path of the bundle or of a library"));
  }
  for (const std::string& root : request.library_roots) {
    const std::string path = absl::StrCat(root, "/", proto.file());
    if (FileExists(path) && !IsDirectory(path)) return path;
  }
  return UserError(Diagnostic::Kind::kUsage,
                   absl::StrCat(proto.file(), ": neither in the request's files nor in a library of the server"),
                   "send the graph (cobra-client --send graph), or start the server with --library DIR");
}

}  // namespace

absl::StatusOr<python::SourceRequest> SourceRequestFromProto(const v1::SourceModel& proto,
                                                             const std::vector<std::string>& library_roots,
                                                             const ServerLimits& limits) {
  python::SourceRequest request;
  if (proto.files_size() > limits.read.bundle_files) {
    return UserError(Diagnostic::Kind::kLimit,
                     absl::StrCat(proto.files_size(), " files are more than the limit of ", limits.read.bundle_files));
  }
  for (const v1::SourceFile& file : proto.files()) {
    if (!IsInnerPath(file.path())) {
      return UserError(Diagnostic::Kind::kUsage, absl::StrCat("\"", file.path(), "\": not a path inside the bundle"),
                       "paths are relative to the bundle's root, without \"..\"");
    }
    if (!request.bundle.emplace(file.path(), file.text()).second) {
      return UserError(Diagnostic::Kind::kUsage, absl::StrCat(file.path(), ": is in the request twice"));
    }
  }
  if (proto.entry().empty())
    return UserError(Diagnostic::Kind::kUsage, "entry: is empty", "an expression such as resnet50()");
  request.library_roots = library_roots;
  request.entry = proto.entry();
  if (!proto.method().empty()) request.method = proto.method();
  if (!proto.torch_version().empty()) request.torch_version = proto.torch_version();
  request.inputs.assign(proto.inputs().begin(), proto.inputs().end());
  for (const v1::SourceArgument& argument : proto.arguments()) {
    request.arguments.emplace_back(argument.name(), argument.expression());
  }
  COBRA_ASSIGN_OR_RETURN(request.file, ResolveFile(proto, request));
  return request;
}

onnx::OnnxRequest OnnxRequestFromProto(const v1::OnnxModel& proto) {
  onnx::OnnxRequest request;
  if (!proto.name().empty()) request.name = proto.name();
  request.inputs.assign(proto.inputs().begin(), proto.inputs().end());
  for (const v1::SourceArgument& argument : proto.arguments()) {
    request.arguments.emplace_back(argument.name(), argument.expression());
  }
  return request;
}

}  // namespace cobra::server
