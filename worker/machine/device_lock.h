// Allows one worker at a time on a device, because two would disturb each other. Locks are named by
// device ("cpu0", "cpu1", "gpu-UUID"), not by target. They are flock locks on files that all users
// of the machine share, so that they are released when the process ends, however it ends.
#ifndef COBRA_WORKER_MACHINE_DEVICE_LOCK_H_
#define COBRA_WORKER_MACHINE_DEVICE_LOCK_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "base/file/descriptor.h"
#include "worker/machine/execution.h"

namespace cobra::worker {

// Holds a lock for its lifetime.
class DeviceLock {
 public:
 private:
  friend absl::StatusOr<DeviceLock> LockFile(const std::string& path, absl::string_view what, absl::string_view advice);
  explicit DeviceLock(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

// Locks all of `devices`, or none and returns FailedPrecondition, naming the process that holds a
// lock. With `share` (--share-device) nothing is locked. A name may have letters, digits and '-'
// only. `folder`: of the lock files; default: /run/lock, or /tmp if that is not writable.
absl::StatusOr<std::vector<DeviceLock>> LockDevices(absl::Span<const std::string> devices, bool share,
                                                    absl::string_view folder = "");
// "cpu2", "cpu3" for the two processors from 2 on.
std::vector<std::string> CoreDevices(int first, int count);
// The devices of an execution: its processors from `core` on, and its GPU by UUID, which does not
// depend on CUDA_VISIBLE_DEVICES.
std::vector<std::string> DevicesOf(const Execution& execution, int core);

// Locks the folder of spool.h: it allows only one worker, even with a shared device.
absl::StatusOr<DeviceLock> LockSpool(absl::string_view folder);
// The same for its queue client, which may live a little longer than its worker: it reports what is
// there.
absl::StatusOr<DeviceLock> LockQueueClient(absl::string_view folder);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_DEVICE_LOCK_H_
