#include "worker/machine/device_lock.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/file_lock.h"
#include "base/status_macros.h"
#include "worker/machine/gpu.h"

namespace cobra::worker {
namespace {

// The children of a killed worker hold its locks until they have exited too: immediately, or after
// a large allocation is freed.
constexpr int kTriesForTheDead = 100;
constexpr absl::Duration kBetweenTries = absl::Milliseconds(50);

// Tries without O_CREAT first: in a folder with the sticky bit, the kernel refuses O_CREAT for a
// file of another user (fs.protected_regular).
Descriptor OpenLockFile(const std::string& path) {
  const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW;
  Descriptor file(::open(path.c_str(), flags));
  if (file.valid() || errno != ENOENT) return file;
  file = Descriptor(::open(path.c_str(), flags | O_CREAT, 0666));
  if (file.valid()) ::fchmod(file.get(), 0666);  // whatever the umask is: other users lock the file too
  return file;
}

int HolderOf(const Descriptor& file) {
  char text[32] = {};
  int pid = 0;
  if (::pread(file.get(), text, sizeof(text) - 1, 0) <= 0 || !absl::SimpleAtoi(text, &pid)) return 0;
  return pid;
}

bool HasExited(int pid) { return pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH; }

bool LockUnlessHeld(const Descriptor& file) {
  for (int i = 0; i < kTriesForTheDead; ++i) {
    if (TryLock(file)) return true;
    if (!HasExited(HolderOf(file))) return false;
    absl::SleepFor(kBetweenTries);
  }
  return false;
}

}  // namespace

absl::StatusOr<DeviceLock> LockFile(const std::string& path, absl::string_view what, absl::string_view advice) {
  Descriptor file = OpenLockFile(path);
  if (!file.valid())
    return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be opened: ", std::strerror(errno)));
  if (!LockUnlessHeld(file)) {
    const int holder = HolderOf(file);
    return absl::FailedPreconditionError(absl::StrCat(
        what, ": a worker", holder > 0 ? absl::StrCat(" (process ", holder, ")") : "", " already uses it", advice));
  }
  const std::string pid = absl::StrCat(::getpid(), "\n");
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), pid.data(), pid.size(), 0) < 0) {
    // Ignored: the process id is only for the error message.
  }
  return DeviceLock(std::move(file));
}

absl::StatusOr<std::vector<DeviceLock>> LockDevices(absl::Span<const std::string> devices, bool share,
                                                    absl::string_view folder) {
  std::vector<DeviceLock> locks;
  if (share) return locks;
  // /run/lock is the standard folder for lock files (FHS 5.9). If it is not writable, use the
  // folder for temporary files, which all users share.
  const std::string in = !folder.empty()                    ? std::string(folder)
                         : ::access("/run/lock", W_OK) == 0 ? "/run/lock"
                                                            : "/tmp";
  for (const std::string& device : devices) {
    COBRA_ASSIGN_OR_RETURN(DeviceLock lock,
                           LockFile(absl::StrCat(in, "/cobra-worker-", device, ".lock"), device,
                                    ", and the two would disturb each other; --share-device overrides this"));
    locks.push_back(std::move(lock));
  }
  return locks;
}

std::vector<std::string> CoreDevices(int first, int count) {
  std::vector<std::string> names;
  for (int core = first; core < first + count; ++core) names.push_back(absl::StrCat("cpu", core));
  return names;
}

std::vector<std::string> DevicesOf(const Execution& execution, int core) {
  std::vector<std::string> names = CoreDevices(core, execution.threads);
  if (!execution.is_cuda()) return names;
  const absl::StatusOr<std::unique_ptr<Nvml>> nvml = Nvml::Open(execution.cuda_device);
  std::string gpu = nvml.ok() ? (*nvml)->uuid() : "";
  if (gpu.empty()) gpu = VisibleGpu(execution.cuda_device, std::getenv("CUDA_VISIBLE_DEVICES"));
  names.push_back(absl::StrCat("gpu-", gpu));
  return names;
}

absl::StatusOr<DeviceLock> LockSpool(absl::string_view folder) {
  return LockFile(absl::StrCat(folder, "/cobra-worker-spool.lock"), absl::StrCat("spool ", folder),
                  "; give this one a different folder (--spool)");
}

absl::StatusOr<DeviceLock> LockQueueClient(absl::string_view folder) {
  return LockFile(absl::StrCat(folder, "/cobra-worker-queue-client.lock"), absl::StrCat("the queue of spool ", folder),
                  "; try again when it has reported what is there");
}

}  // namespace cobra::worker
