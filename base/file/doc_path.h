#ifndef COBRA_BASE_FILE_DOC_PATH_H_
#define COBRA_BASE_FILE_DOC_PATH_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// Where the user of this program finds a page of the documentation, "docs/ci.md": the installed
// file; otherwise the file of the source tree, relative to its root; otherwise "docs/ci.md of
// COBRA".
std::string DocPath(absl::string_view page);

// `text` with DocPath() for each page that it names as the repository has it, which users of the
// package do not have: "see docs/ci.md".
std::string WithDocPaths(absl::string_view text);

// Whether this program runs in a source tree, which has scripts/.
bool IsInSourceTree();

}  // namespace cobra

#endif  // COBRA_BASE_FILE_DOC_PATH_H_
