// Opens files of a folder that whoever names them may not leave, neither by ".." nor by a link.
#ifndef COBRA_BASE_FILE_OPEN_BELOW_H_
#define COBRA_BASE_FILE_OPEN_BELOW_H_

#include "absl/strings/string_view.h"
#include "base/file/descriptor.h"

namespace cobra {

// `path` below the open folder, the folder itself if empty; `flags` are those of open(2). Links
// that stay in the folder are followed. Invalid if it cannot be opened, with errno.
Descriptor OpenBelow(int folder, absl::string_view path, int flags);

// The same for kernels before 5.6 and filters of system calls that do not know openat2, where
// OpenBelow does this: it follows each link itself. What is replaced by a link meanwhile is not
// opened.
Descriptor OpenBelowStepwise(int folder, absl::string_view path, int flags);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_OPEN_BELOW_H_
