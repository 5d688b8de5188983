#include "worker/meter/child.h"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/process/address_space.h"
#include "base/process/subprocess.h"
#include "base/sanitizer.h"
#include "base/status_macros.h"
#include "worker/meter/meter.h"

namespace cobra::worker {
namespace {

constexpr int kNotHealthy = 75;  // exit status of a child that has sent its result and cannot continue

// A result on the pipe: its length, then its bytes. It belongs to the task after that of the
// previous result.
using Length = uint64_t;

bool WriteAll(int fd, const char* data, size_t size) {
  while (size > 0) {
    const ssize_t n = write(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= n;
  }
  return true;
}

[[noreturn]] void ChildMain(int fd, pid_t parent, int first, int num_tasks, const ChildLimits& limits,
                            const std::function<std::string(int)>& run) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);   // if the parent is killed, the child is killed too
  if (getppid() != parent) _exit(1);  // the parent was killed before that call
#ifndef COBRA_SANITIZED
  if (limits.memory_bytes > 0) {
    const auto most = static_cast<rlim_t>(AddressSpaceBytes() + limits.memory_bytes);
    const rlimit limit = {most, most};
    setrlimit(RLIMIT_AS, &limit);
  }
#endif
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  for (int i = first; i < num_tasks; ++i) {
    const std::string text = run(i);
    const Length length = text.size();
    if (!WriteAll(fd, reinterpret_cast<const char*>(&length), sizeof(length)) ||
        !WriteAll(fd, text.data(), text.size())) {
      _exit(1);
    }
    if (limits.healthy && !limits.healthy()) _exit(kNotHealthy);
  }
  _exit(0);  // no destructors and no atexit handlers: they belong to the parent
}

// Reads exactly `size` bytes before the deadline. 1: done, 0: end of file, -1: too late.
int ReadUntilDeadline(int fd, char* data, size_t size, double deadline_ns) {
  while (size > 0) {
    const double left_ms = (deadline_ns - SteadyNowNs()) / 1e6;
    if (left_ms <= 0) return -1;
    pollfd poller = {fd, POLLIN, 0};
    const int ready = poll(&poller, 1, static_cast<int>(left_ms) + 1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return -1;
    const ssize_t n = read(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return 0;
    data += n;
    size -= n;
  }
  return 1;
}

int ReadResult(int fd, double timeout_s, std::string* text) {
  const double deadline_ns = SteadyNowNs() + timeout_s * 1e9;
  Length length = 0;
  const int got = ReadUntilDeadline(fd, reinterpret_cast<char*>(&length), sizeof(length), deadline_ns);
  if (got != 1) return got;
  text->resize(length);
  return ReadUntilDeadline(fd, text->data(), length, deadline_ns);
}

ChildResult ResultOfWaitStatus(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    const int signal = WTERMSIG(wait_status);
    // Only the kernel's out-of-memory killer sends SIGKILL to such a child.
    if (signal == SIGKILL) return {store::Outcome::out_of_memory, "the kernel killed the child (out of memory)"};
    return {store::Outcome::crashed, absl::StrCat("the child died of signal ", signal, " (", strsignal(signal), ")")};
  }
  return {store::Outcome::crashed, absl::StrCat("the child exited with status ", WEXITSTATUS(wait_status))};
}

}  // namespace

absl::Status RunInChildren(int num_tasks, const ChildLimits& limits, const std::function<std::string(int)>& run,
                           const std::function<void(int, const ChildResult&)>& done) {
  int next = 0;
  while (next < num_tasks) {
    int ends[2];
    if (pipe(ends) != 0) return absl::InternalError(absl::StrCat("pipe: ", std::strerror(errno)));
    std::fflush(nullptr);  // otherwise the child would print buffered output again
    const pid_t parent = getpid(), pid = fork();
    if (pid < 0) {
      close(ends[0]);
      close(ends[1]);
      return absl::ResourceExhaustedError(absl::StrCat("fork: ", std::strerror(errno)));
    }
    if (pid == 0) {
      close(ends[0]);
      ChildMain(ends[1], parent, next, num_tasks, limits, run);
    }
    close(ends[1]);
    int got = 1;
    const int first = next;
    bool stopped = false;
    while (next < num_tasks) {
      stopped = limits.stopped && limits.stopped();
      if (stopped) break;
      ChildResult result;
      got = ReadResult(ends[0], limits.task_timeout_s, &result.text);
      if (got != 1) break;
      done(next++, result);
    }
    close(ends[0]);
    if (got == -1 || stopped) kill(pid, SIGKILL);
    const int wait_status = WaitForChild(pid);
    if (stopped) return absl::OkStatus();
    const bool gave_up = next > first && WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == kNotHealthy;
    if (next < num_tasks && !gave_up) {
      done(next++, got == -1 ? ChildResult{store::Outcome::timeout,
                                           absl::StrCat("no result after ", limits.task_timeout_s, " s")}
                             : ResultOfWaitStatus(wait_status));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> RunInChild(const std::function<std::string()>& run) {
  absl::StatusOr<std::string> text = absl::InternalError("the child process sent nothing");
  COBRA_RETURN_IF_ERROR(RunInChildren(
      1, {}, [&](int) { return run(); },
      [&](int, const ChildResult& result) {
        if (result.outcome == store::Outcome::ok) {
          text = result.text;
        } else {
          text = absl::UnavailableError(result.text);
        }
      }));
  return text;
}

}  // namespace cobra::worker
