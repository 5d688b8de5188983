#include "base/process/subprocess.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "base/file/data_path.h"
#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(RunProgramTest, ReturnsWhatTheProgramPrints) {
  absl::StatusOr<std::string> out = RunProgram({"/bin/sh", "-c", "printf 'a\\nb'; echo noise >&2"});
  ASSERT_TRUE(out.ok()) << out.status();
  EXPECT_EQ(*out, "a\nb");
}

TEST(RunProgramTest, NamesTheExitStatus) {
  absl::Status status = RunProgram({"/bin/sh", "-c", "echo partial; exit 3"}).status();
  EXPECT_TRUE(absl::IsInternal(status));
  EXPECT_NE(status.message().find("exit status 3"), absl::string_view::npos);
}

TEST(RunProgramTest, NamesTheSignal) {
  EXPECT_NE(RunProgram({"/bin/sh", "-c", "kill -9 $$"}).status().message().find("signal 9"), absl::string_view::npos);
}

TEST(RunProgramTest, MissingProgramIsNotFound) {
  EXPECT_TRUE(absl::IsNotFound(RunProgram({"/no/such/program"}).status()));
}

TEST(RunProgramTest, KillsWhatTakesTooLong) {
  SubprocessOptions options;
  options.timeout = absl::Milliseconds(150);
  EXPECT_TRUE(absl::IsDeadlineExceeded(RunProgram({"/bin/sleep", "100"}, options).status()));
}

TEST(RunProgramTest, KillsWhenCancelled) {
  std::atomic<bool> cancelled{true};
  SubprocessOptions options;
  options.cancelled = &cancelled;
  EXPECT_TRUE(absl::IsCancelled(RunProgram({"/bin/sleep", "100"}, options).status()));
}

TEST(RunProgramTest, BoundsTheOutput) {
  SubprocessOptions options;
  options.max_output_bytes = 1000;
  EXPECT_TRUE(
      absl::IsResourceExhausted(RunProgram({"/bin/sh", "-c", "while :; do echo 0123456789; done"}, options).status()));
}

TEST(StartDependentTest, ItsStatusIsThatOfTheProgram) {
  const absl::StatusOr<pid_t> pid = StartDependent({"/bin/sh", "-c", "exit 3"}, SIGTERM);
  ASSERT_TRUE(pid.ok()) << pid.status();
  const int status = WaitForChild(*pid);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(StartDependentTest, EndsWithTheProcessThatHasStartedIt) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);  // open as long as one of the two processes below is there
  const pid_t starter = ::fork();
  if (starter == 0) {
    const bool started = StartDependent({"/bin/sleep", "1000"}, SIGTERM).ok();
    ::_exit(started ? 0 : 1);
  }
  ::close(ends[1]);
  ASSERT_EQ(WaitForChild(starter), 0);
  pollfd end = {ends[0], POLLIN, 0};
  EXPECT_EQ(::poll(&end, 1, /*timeout_ms=*/60'000), 1);
  EXPECT_NE(end.revents & POLLHUP, 0);
  ::close(ends[0]);
}

// Whatever folder the program is started in: what lies there may be of others.
TEST(DataPathTest, IsNeverOfTheWorkingDirectory) {
  EXPECT_EQ(DataPath("model/pretrained").front(), '/');
  EXPECT_EQ(DataPath("no/such/data").front(), '/');
  ::setenv("COBRA_DATA", "/elsewhere", 1);
  EXPECT_EQ(DataPath("model"), "/elsewhere/model");
  ::setenv("COBRA_DATA", "here", 1);
  EXPECT_EQ(DataPath("model").front(), '/');
  ::unsetenv("COBRA_DATA");
}

TEST(SiblingProgramTest, FindsAProgramBesideThisOneOnly) {
  EXPECT_EQ(SiblingProgram("no-such-sibling"), "no-such-sibling");
  EXPECT_EQ(SiblingProgram("base_test").front(), '/');
}

// One file that is several programs: it starts itself by the other's name.
TEST(HoldProgramsTest, AProgramThatThisFileHoldsIsThisFile) {
  HoldPrograms({"held-program"});
  const std::string held = SiblingProgram("held-program");
  EXPECT_EQ(held, ProgramFolder() + "/held-program");
  EXPECT_EQ(FileOfProgram(held), ProgramFile());
  EXPECT_EQ(FileOfProgram("/bin/sh"), "/bin/sh");
  const absl::StatusOr<std::string> listed =
      RunProgram({held, "--gtest_list_tests", "--gtest_filter=HoldProgramsTest.*"});
  ASSERT_TRUE(listed.ok()) << listed.status();
  EXPECT_NE(listed->find("AProgramThatThisFileHoldsIsThisFile"), std::string::npos);
  const absl::StatusOr<pid_t> part = StartDependent({held, "--gtest_filter=Nothing.*"}, SIGTERM);
  ASSERT_TRUE(part.ok()) << part.status();
  EXPECT_EQ(WaitForChild(*part), 0);
  HoldPrograms({});
  EXPECT_EQ(SiblingProgram("held-program"), "held-program");
}

}  // namespace
}  // namespace cobra
