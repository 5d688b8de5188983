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

// What a link says; nothing if it is not one.
std::string TargetOf(int folder, const std::string& name) {
  char target[PATH_MAX];
  const ssize_t size = ::readlinkat(folder, name.c_str(), target, sizeof(target));
  return size > 0 ? std::string(target, static_cast<size_t>(size)) : "";
}

Descriptor Failed(int error) {
  errno = error;
  return Descriptor();
}

// The parts of a path that are still to be walked, the next one at the end.
void Push(absl::string_view path, std::vector<std::string>* left) {
  const std::vector<std::string> parts = absl::StrSplit(path, '/', absl::SkipEmpty());
  left->insert(left->end(), parts.rbegin(), parts.rend());
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
      if (entered.empty()) return Failed(EXDEV);
      entered.pop_back();
      continue;
    }
    if (const std::string target = TargetOf(at, part); !target.empty()) {
      if (++links > kMostLinks) return Failed(ELOOP);
      if (target.front() == '/') return Failed(EXDEV);
      Push(target, &left);
      continue;
    }
    const int how = left.empty() ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC;
    Descriptor next(::openat(at, part.c_str(), how | O_NOFOLLOW));
    const int error = errno;
    if (next.valid() && left.empty()) return next;
    if (next.valid())
      entered.push_back(std::move(next));
    else if (IsLink(at, part) && ++links <= kMostLinks)
      left.push_back(part);  // it has just become one
    else
      return Failed(error);
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
