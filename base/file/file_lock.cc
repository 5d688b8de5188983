#include "base/file/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "absl/status/status.h"

namespace cobra {

absl::StatusOr<Descriptor> WaitForLock(const std::string& path) {
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return absl::ErrnoToStatus(errno, path);
  while (::flock(lock.get(), LOCK_EX) != 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, path);
  }
  return lock;
}

bool TryLock(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace cobra
