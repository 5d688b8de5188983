#include "base/file/open_below.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_split.h"

namespace cobra {
namespace {

constexpr int kMostLinks = 40;  // as Linux has it

bool IsLink(int folder, const std::string& name) {
  struct stat status = {};
  return ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
}

// The parts of a path that are still to be walked, the next one at the end.
void Push(absl::string_view path, std::vector<std::string>* left) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  left->insert(left->end(), parts.rbegin(), parts.rend());
}

// What a link says, unless that leads out of any folder: EXDEV.
bool PushTarget(int folder, const std::string& name, std::vector<std::string>* left) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(folder, name.c_str(), target, sizeof(target));
  if (size <= 0) return false;
  if (target[0] == '/') errno = EXDEV;
  if (target[0] != '/') Push(absl::string_view(target, static_cast<size_t>(size)), left);
  return target[0] != '/';
}

}  // namespace

Descriptor OpenBelowStepwise(int folder, absl::string_view path, int flags) {
  std::vector<std::string> left;
  Push(path, &left);
  std::vector<Descriptor> entered;  // so that ".." leads to where we came from, whatever is renamed meanwhile
  for (int links = 0; !left.empty();) {
    const int at = entered.empty() ? folder : entered.back().get();
    const std::string part = std::move(left.back());
    left.pop_back();
    if (part == ".") continue;
    if (part == "..") {
      if (entered.empty()) errno = EXDEV;
      if (entered.empty()) return Descriptor();
      entered.pop_back();
    } else if (IsLink(at, part)) {
      if (++links > kMostLinks) errno = ELOOP;
      if (links > kMostLinks || !PushTarget(at, part, &left)) return Descriptor();
    } else if (left.empty()) {
      return Descriptor(::openat(at, part.c_str(), flags | O_NOFOLLOW));
    } else {
      Descriptor next(::openat(at, part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next.valid()) return next;
      entered.push_back(std::move(next));
    }
  }
  return Descriptor(::openat(entered.empty() ? folder : entered.back().get(), ".", flags));
}

Descriptor OpenBelow(int folder, absl::string_view path, int flags) {
  open_how how = {};
  how.flags = static_cast<uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const std::string name = path.empty() ? "." : std::string(path);
  const long file = ::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof(how));
  if (file < 0 && (errno == ENOSYS || errno == EPERM)) return OpenBelowStepwise(folder, path, flags);
  return Descriptor(static_cast<int>(file));
}

}  // namespace cobra
