// Local imports of a model file, found as Python would find them:
//   - a script finds the modules of its own folder (Python's sys.path[0]);
//   - a file that imports relatively, or by the name of its own package, is a module of that
//     package. The package is the outermost of the consecutive folders with an __init__.py; without
//     one, the file's own folder, or the folder above whose name it imports.
// Nothing outside the script's folder or the package is read, not even through a symbolic link.
#ifndef COBRA_CLIENT_INPUT_LOCAL_IMPORTS_H_
#define COBRA_CLIENT_INPUT_LOCAL_IMPORTS_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"

namespace cobra::client {

struct ModelLocation {
  std::string folder;     // absolute, without symbolic links: the script's folder, or the package's
  std::string file;       // the model file below it
  std::string package;    // the name of the package in the program; empty: a script
  bool has_init = false;  // the package has an __init__.py, so Python treats it as one too
};

// A model file is seldom deeper in its package or repository.
inline constexpr int kFoldersAbove = 4;

// Whether Python would find a module or a package of that name in the folder.
bool HasModule(const std::string& folder, const std::string& name);

// Whether a part of the relative path begins with a dot.
bool IsHidden(absl::string_view path);

// Whether Python packages are installed in this folder. Files beside a module there are unrelated
// packages.
bool IsInstallationFolder(absl::string_view folder);

// The script folder or package of the regular file `path` with the contents `text`. Empty folder:
// it has no local imports.
ModelLocation LocateModel(const std::string& path, absl::string_view text);

// The model file and all of its local imports, direct and indirect: path -> text. The paths are
// below the script's folder, or begin with the package's name. Folders between the package and the
// file get an empty __init__.py if they have none, because they are packages. kLimit Diagnostic if
// `limits` are exceeded.
absl::StatusOr<std::map<std::string, std::string>> CollectImports(const ModelLocation& place, absl::string_view text,
                                                                  const Limits& limits);

// A Diagnostic of kind kLimit if a bundle has too many files or too many bytes in all.
absl::Status CheckBundle(absl::string_view what, int64_t files, int64_t bytes, const Limits& limits, std::string hint);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_LOCAL_IMPORTS_H_
