#include "base/process/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/file/data_path.h"
#include "base/file/descriptor.h"
#include "base/text/limit_message.h"

namespace cobra {
namespace {

// Reads until the end of file. Wakes up often enough to notice the timeout and a cancellation.
absl::Status ReadAll(int fd, absl::string_view name, const SubprocessOptions& options, std::string* out) {
  const absl::Time deadline = absl::Now() + options.timeout;
  char buffer[1 << 16];
  while (true) {
    if (options.cancelled != nullptr && options.cancelled->load()) {
      return absl::CancelledError(absl::StrCat(name, ": stopped"));
    }
    if (absl::Now() > deadline) {
      return absl::DeadlineExceededError(
          absl::StrCat(name, ": not done after ", absl::FormatDuration(options.timeout)));
    }
    pollfd wait = {fd, POLLIN, 0};
    if (::poll(&wait, 1, /*timeout_ms=*/100) <= 0) continue;
    const ssize_t n = ::read(fd, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return absl::OkStatus();
    out->append(buffer, n);
    if (static_cast<int64_t>(out->size()) > options.max_output_bytes) {
      return absl::ResourceExhaustedError(
          LimitMessage(absl::StrCat(name, ": its output"), options.max_output_bytes, "bytes"));
    }
  }
}

std::vector<std::string>& HeldPrograms() {
  static auto* const names = new std::vector<std::string>;
  return *names;
}

// Whether `path` is this program, or one that its file holds.
bool IsHere(const std::string& path) {
  if (path == ProgramFile()) return true;
  const std::vector<std::string>& held = HeldPrograms();
  return std::any_of(held.begin(), held.end(),
                     [&](const std::string& name) { return path == absl::StrCat(ProgramFolder(), "/", name); });
}

// What the kernel runs for `path`. Of this program that is the file that runs, even if another one
// has its name now.
std::string Executable(const std::string& path) {
  if (!IsHere(path)) return path;
  return ::access("/proc/self/exe", X_OK) == 0 ? "/proc/self/exe" : ProgramFile();
}

// Is at its end at once, also in a container without /dev.
Descriptor NoInput() {
  Descriptor null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  int ends[2];
  if (null.valid() || ::pipe2(ends, O_CLOEXEC) != 0) return null;
  ::close(ends[1]);
  return Descriptor(ends[0]);
}

std::vector<char*> Arguments(const std::vector<std::string>& argv) {
  std::vector<char*> args;
  for (const std::string& arg : argv) args.push_back(const_cast<char*>(arg.c_str()));
  args.push_back(nullptr);
  return args;
}

}  // namespace

absl::StatusOr<pid_t> StartProgram(const std::vector<std::string>& argv, const StartOptions& options) {
  const std::vector<char*> args = Arguments(argv);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, options.descriptor, options.as_descriptor);
  const Descriptor no_input = NoInput();
  posix_spawn_file_actions_adddup2(&actions, options.standard_input >= 0 ? options.standard_input : no_input.get(),
                                   STDIN_FILENO);
  for (int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    if (options.output >= 0) posix_spawn_file_actions_adddup2(&actions, options.output, stream);
  }
  if (options.own_session) posix_spawn_file_actions_addchdir_np(&actions, "/");
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // The server blocks and ignores some signals; a new program expects none of that.
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, static_cast<short>(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                                           (options.own_group ? POSIX_SPAWN_SETPGROUP : 0) |
                                                           (options.own_session ? POSIX_SPAWN_SETSID : 0)));
  pid_t pid = 0;
  const int error = ::posix_spawnp(&pid, Executable(argv[0]).c_str(), &actions, &attributes, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) return absl::ErrnoToStatus(error, absl::StrCat(argv[0], ": cannot be started"));
  return pid;
}

absl::StatusOr<pid_t> StartDependent(const std::vector<std::string>& argv, int signal) {
  const std::vector<char*> args = Arguments(argv);
  const std::string executable = Executable(argv[0]);
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) return absl::ErrnoToStatus(errno, absl::StrCat(argv[0], ": cannot be started"));
  if (pid > 0) return pid;
  ::prctl(PR_SET_PDEATHSIG, signal);
  if (::getppid() != parent) ::_exit(0);  // it has ended already
  ::execv(executable.c_str(), args.data());
  ::_exit(127);
}

int WaitForChild(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

absl::Status RestartThisProgram(char** argv) {
  const std::string executable = Executable(ProgramFile());
  ::execv(executable.c_str(), argv);
  return absl::ErrnoToStatus(errno, absl::StrCat("exec ", executable));
}

absl::StatusOr<ProgramResult> RunToEnd(const std::vector<std::string>& argv, const SubprocessOptions& options) {
  int pipe_fds[2];
  if (::pipe2(pipe_fds, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe");
  StartOptions start{.standard_input = options.standard_input};
  if (options.with_errors) {
    start.output = pipe_fds[1];
  } else {
    start.descriptor = pipe_fds[1];
    start.as_descriptor = STDOUT_FILENO;
  }
  const absl::StatusOr<pid_t> pid = StartProgram(argv, start);
  ::close(pipe_fds[1]);
  ProgramResult result;
  absl::Status status = pid.ok() ? ReadAll(pipe_fds[0], argv[0], options, &result.output) : pid.status();
  ::close(pipe_fds[0]);
  if (!pid.ok()) return status;
  if (!status.ok()) ::kill(*pid, SIGKILL);
  const int ended = WaitForChild(*pid);
  if (!status.ok()) return status;
  result.exit_status = WIFSIGNALED(ended) ? -WTERMSIG(ended) : WEXITSTATUS(ended);
  return result;
}

absl::StatusOr<std::string> OutputIfOk(absl::string_view program, ProgramResult result) {
  if (result.exit_status == 0) return std::move(result.output);
  if (result.exit_status < 0)
    return absl::InternalError(absl::StrCat(program, ": ended by signal ", -result.exit_status));
  if (result.exit_status == 127 && result.output.empty())
    return absl::NotFoundError(absl::StrCat(program, ": not found"));
  return absl::InternalError(absl::StrCat(program, ": exit status ", result.exit_status));
}

absl::StatusOr<std::string> RunProgram(const std::vector<std::string>& argv, const SubprocessOptions& options) {
  absl::StatusOr<ProgramResult> result = RunToEnd(argv, options);
  if (!result.ok()) return result.status();
  return OutputIfOk(argv[0], *std::move(result));
}

std::string SiblingProgram(absl::string_view name) {
  const std::string folder = ProgramFolder();
  std::string sibling = absl::StrCat(folder, "/", name);
  return !folder.empty() && ::access(FileOfProgram(sibling).c_str(), X_OK) == 0 ? sibling : std::string(name);
}

void HoldPrograms(std::vector<std::string> names) { HeldPrograms() = std::move(names); }

std::string FileOfProgram(const std::string& path) { return IsHere(path) ? ProgramFile() : path; }

}  // namespace cobra
