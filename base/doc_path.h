#ifndef COBRA_BASE_DOC_PATH_H_
#define COBRA_BASE_DOC_PATH_H_

#include <string>

#include "absl/strings/string_view.h"

namespace cobra {

// Where the user of this program finds a page of the documentation, "docs/ci.md": the installed
// file; that of the source tree, as it is named in its root; "docs/ci.md of COBRA" where neither
// is.
std::string DocPath(absl::string_view page);

// Whether this program is one of a source tree, which has scripts/.
bool IsInSourceTree();

}  // namespace cobra

#endif  // COBRA_BASE_DOC_PATH_H_
