#include "worker/machine/device_lock.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::worker {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class DeviceLockTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/cobra-lock-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::vector<DeviceLock>> Lock(const std::vector<std::string>& devices, bool share = false) {
    return LockDevices(devices, share, folder_);
  }
  bool IsFree(const std::string& device) { return Lock({device}).ok(); }

  // A process that runs `body`, says so, and lives until it is killed.
  template <typename Body>
  pid_t Start(Body body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      const auto held = body();
      const char ok = held.ok() ? 1 : 0;
      if (write(ends[1], &ok, 1) != 1) _exit(1);
      while (true) pause();
    }
    char ok = 0;
    EXPECT_EQ(read(ends[0], &ok, 1), 1);
    EXPECT_EQ(ok, 1);
    close(ends[0]);
    close(ends[1]);
    return pid;
  }
  static void Kill(pid_t pid) {
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
  }

  std::string folder_;
};

TEST_F(DeviceLockTest, NamesAreThoseOfProcessors) {
  EXPECT_THAT(CoreDevices(2, 2), ElementsAre("cpu2", "cpu3"));
  EXPECT_THAT(CoreDevices(0, 1), ElementsAre("cpu0"));
}

TEST_F(DeviceLockTest, AnExecutionUsesItsProcessorsAndItsGpu) {
  Execution execution;
  execution.threads = 2;
  EXPECT_THAT(DevicesOf(execution, 3), ElementsAre("cpu3", "cpu4"));
  execution.threads = 1;
  execution.cuda_device = 0;
  EXPECT_THAT(DevicesOf(execution, 3), ElementsAre("cpu3", StartsWith("gpu-")));
}

TEST_F(DeviceLockTest, SecondWorkerGetsTheHoldersName) {
  const auto first = Lock({"gpu-1f"});
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = Lock({"gpu-1f"});
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()),
              AllOf(HasSubstr("gpu-1f"), HasSubstr(absl::StrCat("process ", getpid())), HasSubstr("--share-device")));
  EXPECT_TRUE(IsFree("cpu0"));
}

TEST_F(DeviceLockTest, WhatOverlapsCollidesAndTheRestIsLetGo) {
  {
    const auto one = Lock(CoreDevices(1, 1));
    ASSERT_TRUE(one.ok());
    EXPECT_FALSE(Lock(CoreDevices(0, 2)).ok());
    EXPECT_FALSE(Lock(CoreDevices(1, 2)).ok());
    EXPECT_TRUE(IsFree("cpu0"));
    EXPECT_TRUE(IsFree("cpu2"));
  }
  EXPECT_TRUE(Lock(CoreDevices(0, 2)).ok());
}

TEST_F(DeviceLockTest, SharedNothingIsLocked) {
  const auto first = Lock({"cpu0"});
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(Lock({"cpu0"}, /*share=*/true).ok());
}

TEST_F(DeviceLockTest, WhatAKilledWorkerHadIsFree) {
  const pid_t worker = Start([&] { return Lock({"cpu0"}); });
  EXPECT_FALSE(IsFree("cpu0"));
  Kill(worker);
  EXPECT_TRUE(IsFree("cpu0"));
}

// The measuring child of a worker has its locks too, and dies a moment later.
TEST_F(DeviceLockTest, TheChildrenOfAKilledWorkerAreWaitedFor) {
  const pid_t worker = Start([&] {
    auto lock = Lock({"cpu0"});
    if (fork() == 0) {
      usleep(300000);
      _exit(0);
    }
    return lock;
  });
  Kill(worker);
  EXPECT_TRUE(IsFree("cpu0"));
}

TEST_F(DeviceLockTest, ASpoolHasOneWorker) {
  const auto first = LockSpool(folder_);
  ASSERT_TRUE(first.ok()) << first.status();
  const auto second = LockSpool(folder_);
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(second.status().message()), AllOf(HasSubstr(folder_), HasSubstr("--spool")));
}

}  // namespace
}  // namespace cobra::worker
