// A hint which folder contains an import that was not found, for users who did not pass --library.
#ifndef COBRA_CLIENT_INPUT_LIBRARY_HINT_H_
#define COBRA_CLIENT_INPUT_LIBRARY_HINT_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::client {

// Where Python packages are installed on this machine: the active virtual environment, the user's
// own, the system's.
std::vector<std::string> InstalledPackageFolders();

// "timm is in /usr/lib/python3/dist-packages: add --library /usr/lib/python3/dist-packages".
// Searches the model file's package, its folder and the folders above, then `installed`, then
// modules beside the file with a similar name. "" if nothing is found. `missing` is
// Diagnostic::missing_module.
std::string LibraryHint(absl::string_view missing, const std::string& model_path,
                        const std::vector<std::string>& installed);

// "site/timm is the package itself: give the folder that contains it, --library site", if the
// package of the missing module is what --library names. A package's folder is not refused before:
// its modules may import each other as if it were not a package. "" otherwise.
std::string PackageAsLibraryHint(absl::string_view missing, const std::vector<std::string>& libraries);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_INPUT_LIBRARY_HINT_H_
