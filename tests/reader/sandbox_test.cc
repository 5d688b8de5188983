// What a confined process may still do, and what ends it: on every architecture, as the kernel's
// system calls differ between them.
#include "reader/sandbox.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <vector>

#include "gtest/gtest.h"

namespace cobra::reader {
namespace {

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!CanConfine()) GTEST_SKIP() << "this kernel refuses a filter of system calls (seccomp)";
  }

  // The wait status of a confined process that does this and exits with what it returns.
  template <typename Act>
  static int StatusOf(Act act) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(Confine({}).ok() ? act() : 99);
    int status = -1;
    ::waitpid(child, &status, 0);
    return status;
  }
  template <typename Act>
  static int ExitCodeOf(Act act) {
    const int status = StatusOf(act);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

TEST_F(SandboxTest, ComputesAndTalksOnItsSockets) {
  int sockets[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets), 0);
  const int code = ExitCodeOf([&] {
    std::vector<char> much(size_t{8} << 20, 'x');  // by mmap
    pollfd wanted = {sockets[0], POLLOUT, 0};
    if (::poll(&wanted, 1, 1000) != 1) return 1;
    rusage usage = {};
    if (::getrusage(RUSAGE_SELF, &usage) != 0) return 2;
    if (::write(sockets[0], much.data(), 1) != 1) return 3;
    void* const more = ::mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more == MAP_FAILED || ::madvise(more, 1 << 16, MADV_DONTNEED) != 0 || ::munmap(more, 1 << 16) != 0) return 4;
    return 0;
  });
  EXPECT_EQ(code, 0);
  char byte = 0;
  EXPECT_EQ(::read(sockets[1], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  ::close(sockets[0]);
  ::close(sockets[1]);
}

TEST_F(SandboxTest, HasNoFilesNoProcessesAndNoExecutableMemory) {
  const auto refused = [](bool failed) { return failed && errno == EPERM ? 0 : 1; };
  EXPECT_EQ(ExitCodeOf([&] { return refused(::open("/etc/passwd", O_RDONLY) < 0); }), 0);
  EXPECT_EQ(ExitCodeOf([&] { return refused(::unlink("/nowhere") < 0); }), 0);
  EXPECT_EQ(ExitCodeOf([&] { return refused(::kill(::getppid(), 0) < 0); }), 0);
  EXPECT_EQ(ExitCodeOf([&] {
              void* const code = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return refused(code == MAP_FAILED);
            }),
            0);
}

TEST_F(SandboxTest, DiesOfWhatNothingHereCalls) {
  EXPECT_EQ(ExitCodeOf([] { return ::socket(AF_INET, SOCK_STREAM, 0); }), -SIGSYS);
  EXPECT_EQ(ExitCodeOf([] { return ::execl("/bin/true", "true", nullptr); }), -SIGSYS);
}

TEST_F(SandboxTest, EndsWithASignalWhenItAborts) {
  EXPECT_EQ(ExitCodeOf([]() -> int { std::abort(); }), -SIGABRT);
}

}  // namespace
}  // namespace cobra::reader
