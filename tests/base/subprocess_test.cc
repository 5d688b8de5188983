#include "base/subprocess.h"

#include <atomic>
#include <thread>

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

TEST(SiblingProgramTest, FindsAProgramBesideThisOneOnly) {
  EXPECT_EQ(SiblingProgram("no-such-sibling"), "no-such-sibling");
  EXPECT_EQ(SiblingProgram("base_test").front(), '/');
}

}  // namespace
}  // namespace cobra
