// A model file that is given by itself imports what lies beside it, as Python would find it there:
//   - a script finds the modules of its own folder (Python's sys.path[0]);
//   - a file that imports relatively, or by the name of the package that it is in, is a module of that package. The
//   package is the
//     outermost folder in a row with an __init__.py; without one, the file's own folder, or the folder above whose name
//     it imports.
// Nothing outside the script's folder or the package is read, also not through a symbolic link.
#ifndef COBRA_CLIENT_NEIGHBOURS_H_
#define COBRA_CLIENT_NEIGHBOURS_H_

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::client {

struct Limits;

struct Place {
  std::string folder;     // absolute, without symbolic links: the script's folder, or the package's
  std::string file;       // the model file below it
  std::string package;    // what the program calls the package; empty: a script
  bool has_init = false;  // the package has an __init__.py: Python would know it as one, too
};

// Whether Python packages are installed there: what is beside a file of it is everything that is installed.
bool IsInstallationFolder(absl::string_view folder);

// Where the regular file `path`, whose contents are `text`, stands. Empty folder: nowhere that could have neighbours.
Place PlaceOf(const std::string& path, absl::string_view text);

// The model file and all that it imports there, directly or through others: path -> text. The paths are below the
// script's folder, or begin with the package's name; folders between the package and the file get an empty __init__.py
// where they have none, as they are packages. kLimit Diagnostic if that is more than `limits` allow.
absl::StatusOr<std::map<std::string, std::string>> FilesOf(const Place& place, absl::string_view text,
                                                           const Limits& limits);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_NEIGHBOURS_H_
