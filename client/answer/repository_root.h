// Where the repository of a file begins.
#ifndef COBRA_CLIENT_ANSWER_REPOSITORY_ROOT_H_
#define COBRA_CLIENT_ANSWER_REPOSITORY_ROOT_H_

#include <optional>
#include <string>

namespace cobra::client {

// The folder with a .git that `path` is in, without symbolic links; `path` need not exist. Empty:
// none.
std::string RepositoryRoot(const std::string& path);

// The path of `file` below `folder`, "" for the folder itself; nullopt if it is not below. Links
// are resolved.
std::optional<std::string> PathInFolder(const std::string& file, const std::string& folder);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ANSWER_REPOSITORY_ROOT_H_
