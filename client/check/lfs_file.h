// Files of Git LFS, without its program: a commit has a pointer to each, and the contents are below
// .git/lfs.
#ifndef COBRA_CLIENT_CHECK_LFS_FILE_H_
#define COBRA_CLIENT_CHECK_LFS_FILE_H_

#include <cstdint>
#include <optional>
#include <string>

namespace cobra::client {

struct LfsPointer {
  std::string sha256;  // 64 hexadecimal digits
  int64_t bytes = 0;
};

// nullopt for a file that is not a pointer.
std::optional<LfsPointer> ReadLfsPointer(const std::string& file);

// Replaces the pointer by the contents, if they are in `objects`, the folder .git/lfs/objects.
bool FillLfsFile(const LfsPointer& pointer, const std::string& objects, const std::string& file);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHECK_LFS_FILE_H_
