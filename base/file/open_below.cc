#include "base/file/open_below.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"

namespace cobra {
namespace {

// A link to a folder that may not be followed is "not a directory" to the kernel, as if what lies
// there did not exist.
bool IsLink(int folder, const std::string& name) {
  struct stat status = {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

}  // namespace

Descriptor OpenBelowWithoutLinks(int folder, absl::string_view path, int flags) {
  std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  if (parts.empty()) parts.emplace_back(".");
  Descriptor at;
  int from = folder;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == "..") {
      errno = EXDEV;
      return Descriptor();
    }
    const int how = i + 1 == parts.size() ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    Descriptor next(::openat(from, parts[i].c_str(), how | O_NOFOLLOW));
    if (!next.valid()) {
      if (errno == ENOTDIR) errno = IsLink(from, parts[i]) ? ELOOP : ENOTDIR;
      return next;
    }
    at = std::move(next);
    from = at.get();
  }
  return at;
}

Descriptor OpenBelow(int folder, absl::string_view path, int flags) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const std::string name = path.empty() ? "." : std::string(path);
  const long file = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof(how));
  if (file < 0 && (errno == ENOSYS || errno == EPERM)) return OpenBelowWithoutLinks(folder, path, flags);
  return Descriptor(static_cast<int>(file));
}

}  // namespace cobra
