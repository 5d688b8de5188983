#ifndef COBRA_BASE_FILE_FILE_LOCK_H_
#define COBRA_BASE_FILE_FILE_LOCK_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file/descriptor.h"

namespace cobra {

// Waits until no other process holds the lock (flock) on this file, which is created if missing. It
// is held until the descriptor is closed; it is released if the process dies. DeadlineExceeded
// after `patience`.
absl::StatusOr<Descriptor> WaitForLock(const std::string& path, absl::Duration patience = absl::InfiniteDuration());
// Takes the lock on an open file unless another process holds it; does not wait. Held until the
// descriptor is closed.
bool TryLock(const Descriptor& file);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_FILE_LOCK_H_
