#include "base/file/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace cobra {
namespace {

constexpr absl::Duration kPoll = absl::Milliseconds(20);

}  // namespace

absl::StatusOr<Descriptor> WaitForLock(const std::string& path, absl::Duration patience) {
  Descriptor lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock.valid()) return absl::ErrnoToStatus(errno, path);
  const absl::Time deadline = absl::Now() + patience;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EINTR && errno != EWOULDBLOCK) return absl::ErrnoToStatus(errno, path);
    if (absl::Now() > deadline) return absl::DeadlineExceededError(absl::StrCat(path, ": another process holds it"));
    absl::SleepFor(kPoll);
  }
  return lock;
}

bool TryLock(const Descriptor& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

}  // namespace cobra
