#ifndef COBRA_BASE_FILE_LOCK_H_
#define COBRA_BASE_FILE_LOCK_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/descriptor.h"

namespace cobra {

// Waits until no other process holds the lock (flock) on this file, which is made where it is
// missing. It is held until the descriptor is closed; a process that dies gives it back.
absl::StatusOr<Descriptor> WaitForLock(const std::string& path);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_LOCK_H_
