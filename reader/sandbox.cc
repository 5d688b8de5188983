#include "reader/sandbox.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "absl/strings/str_cat.h"
#include "base/process/address_space.h"
#include "base/status_macros.h"

namespace cobra::reader {
namespace {

absl::Status Limit(int resource, int64_t value, const char* name) {
  rlimit limit = {};
  if (::getrlimit(resource, &limit) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("getrlimit ", name));
  // One more for the hard limit: processor time is distinguished from other ends by the signal of
  // the soft one. A limit that the process was started with may be lower (ulimit -c 0), and nobody
  // may raise it.
  limit.rlim_max = std::min(limit.rlim_max, static_cast<rlim_t>(value) + 1);
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(value));
  if (::setrlimit(resource, &limit) != 0) return absl::ErrnoToStatus(errno, absl::StrCat("setrlimit ", name));
  return absl::OkStatus();
}

// Allowed whatever the arguments. What is not listed fails with EPERM, so that a library that looks
// for a file goes on without it. poll is ppoll on aarch64.
constexpr int kAllowed[] = {SCMP_SYS(read),         SCMP_SYS(write),          SCMP_SYS(recvmsg),
                            SCMP_SYS(sendmsg),      SCMP_SYS(poll),           SCMP_SYS(ppoll),
                            SCMP_SYS(munmap),       SCMP_SYS(mremap),         SCMP_SYS(madvise),
                            SCMP_SYS(brk),          SCMP_SYS(futex),          SCMP_SYS(clock_gettime),
                            SCMP_SYS(gettimeofday), SCMP_SYS(getrandom),      SCMP_SYS(getrusage),
                            SCMP_SYS(getpid),       SCMP_SYS(gettid),         SCMP_SYS(sigaltstack),
                            SCMP_SYS(close),        SCMP_SYS(rt_sigreturn),   SCMP_SYS(rt_sigprocmask),
                            SCMP_SYS(rt_sigaction), SCMP_SYS(exit),           SCMP_SYS(exit_group),
                            SCMP_SYS(pread64),      SCMP_SYS(restart_syscall)};

// Nothing here calls these: a program that does has taken the process over, and is killed.
constexpr int kDeadly[] = {SCMP_SYS(execve), SCMP_SYS(execveat),          SCMP_SYS(ptrace),
                           SCMP_SYS(socket), SCMP_SYS(connect),           SCMP_SYS(fork),
                           SCMP_SYS(vfork),  SCMP_SYS(process_vm_writev), SCMP_SYS(process_vm_readv),
                           SCMP_SYS(bpf),    SCMP_SYS(init_module),       SCMP_SYS(mount)};

struct Release {
  void operator()(void* filter) const { ::seccomp_release(filter); }
};

absl::Status Filter() {
  const std::unique_ptr<void, Release> filter(::seccomp_init(SCMP_ACT_ERRNO(EPERM)));
  if (filter == nullptr) return absl::InternalError("seccomp_init failed");
  int error = 0;
  const auto add = [&](uint32_t action, int call, auto... comparisons) {
    if (call < 0) return;  // this architecture has none: aarch64 no poll, fork and vfork
    if (error == 0) error = ::seccomp_rule_add(filter.get(), action, call, sizeof...(comparisons), comparisons...);
  };
  for (int call : kAllowed) add(SCMP_ACT_ALLOW, call);
  for (int call : kDeadly) add(SCMP_ACT_KILL_PROCESS, call);
  // Memory, but none that could be executed.
  for (int call : {SCMP_SYS(mmap), SCMP_SYS(mprotect)})
    add(SCMP_ACT_ALLOW, call, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
  // abort() signals its own thread.
  add(SCMP_ACT_ALLOW, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, static_cast<scmp_datum_t>(::getpid())));
  if (error == 0) error = ::seccomp_load(filter.get());
  if (error != 0) return absl::ErrnoToStatus(-error, "the kernel refuses a filter of system calls (seccomp)");
  return absl::OkStatus();
}

}  // namespace

absl::Status Confine(const SandboxLimits& limits) {
  // Nobody may trace this process or read its memory; it dies with the process that forked it.
  if (::prctl(PR_SET_DUMPABLE, 0) != 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return absl::ErrnoToStatus(errno, "prctl");
  if (limits.more_address_space_bytes > 0)
    COBRA_RETURN_IF_ERROR(Limit(RLIMIT_AS, AddressSpaceBytes() + limits.more_address_space_bytes, "RLIMIT_AS"));
  COBRA_RETURN_IF_ERROR(Limit(RLIMIT_CPU, limits.processor_seconds, "RLIMIT_CPU"));
  COBRA_RETURN_IF_ERROR(Limit(RLIMIT_CORE, 0, "RLIMIT_CORE"));
  COBRA_RETURN_IF_ERROR(Limit(RLIMIT_FSIZE, 0, "RLIMIT_FSIZE"));
  return limits.filter_system_calls ? Filter() : absl::OkStatus();
}

bool CanConfine() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(Confine({}).ok() ? 0 : 1);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace cobra::reader
