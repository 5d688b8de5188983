#include "base/file/new_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace cobra {

std::FILE* CreateBeside(const std::string& target, std::string* name) {
  constexpr int kMostAttempts = 100;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    uint64_t random = 0;
    if (::getentropy(&random, sizeof(random)) != 0) return nullptr;
    *name = absl::StrCat(target, ".tmp.", absl::Hex(random, absl::kZeroPad16));
    const int descriptor = ::open(name->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (descriptor >= 0) return ::fdopen(descriptor, "wb");
    if (errno != EEXIST) return nullptr;
  }
  return nullptr;
}

}  // namespace cobra
