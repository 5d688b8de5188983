// One worker at a time on a device: two would measure each other. Locks are by what is used ("cpu0", "cpu1",
// "gpu-UUID"), not by target or name, and on files that all users of the machine share (flock), so that they go with
// the process, however it ends.
#ifndef COBRA_WORKER_DEVICE_LOCK_H_
#define COBRA_WORKER_DEVICE_LOCK_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "worker/execution.h"

namespace cobra::worker {

// Holds something for as long as it lives.
class DeviceLock {
 public:
  DeviceLock(DeviceLock&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  DeviceLock& operator=(DeviceLock&&) = delete;
  ~DeviceLock();

 private:
  friend absl::StatusOr<DeviceLock> LockFile(const std::string& path, absl::string_view what, absl::string_view advice);
  explicit DeviceLock(int fd) : fd_(fd) {}
  int fd_;
};

// All of `devices`, or none and FailedPrecondition with the process that has one of them. Nothing is locked where
// `share` is set (--share-device). A name may have letters, digits and '-' only. `folder`: of the lock files; default:
// /run/lock, /tmp where that cannot be written.
absl::StatusOr<std::vector<DeviceLock>> LockDevices(absl::Span<const std::string> devices, bool share,
                                                    absl::string_view folder = "");
// "cpu2", "cpu3" for the two processors from 2 on.
std::vector<std::string> CoreDevices(int first, int count);
// What an execution uses: its processors from `core` on, and its GPU by its UUID, so that it is the same one whatever
// CUDA_VISIBLE_DEVICES calls it.
std::vector<std::string> DevicesOf(const Execution& execution, int core);

// The folder of spool.h: one worker works on it, shared device or not.
absl::StatusOr<DeviceLock> LockSpool(absl::string_view folder);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_DEVICE_LOCK_H_
