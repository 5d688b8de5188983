// A request's Python source that imports from a library on this server, or is a file of one.
#ifndef COBRA_SERVER_LIBRARY_FILE_H_
#define COBRA_SERVER_LIBRARY_FILE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontend/python/reader.h"

namespace cobra::server {

// Lets `source` import from `library_roots` (directories of this machine). If `file` is not in the bundle, it is looked
// up below the roots in order, and replaced by its full path. A Diagnostic if it is found nowhere.
absl::Status AddLibraries(const std::vector<std::string>& library_roots, python::SourceRequest* source);

}  // namespace cobra::server

#endif  // COBRA_SERVER_LIBRARY_FILE_H_
