#include "server/library_file.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "base/user_error.h"

namespace cobra::server {

absl::Status AddLibraries(const std::vector<std::string>& library_roots, python::SourceRequest* source) {
  source->library_roots = library_roots;
  if (source->bundle.count(source->file) > 0) return absl::OkStatus();
  if (!IsPathInside(source->file)) {
    return UserError(Diagnostic::Kind::kUsage,
                     absl::StrCat("\"", source->file, "\": `file` must be a path of the bundle or of a library"));
  }
  for (const std::string& root : library_roots) {
    std::string path = absl::StrCat(root, "/", source->file);
    if (!FileExists(path) || IsDirectory(path)) continue;
    source->file = std::move(path);
    return absl::OkStatus();
  }
  return UserError(Diagnostic::Kind::kUsage,
                   absl::StrCat(source->file, ": neither in the request's files nor in a library of the server"),
                   "send the graph (cobra-client --send graph), or start the server with --library DIR");
}

}  // namespace cobra::server
