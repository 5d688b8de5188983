#include "worker/meter/child.h"

#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/sanitizer.h"
#include "gtest/gtest.h"

namespace cobra::worker {
namespace {

std::map<int, ChildResult> RunAll(int tasks, const std::function<std::string(int)>& run,
                                  const ChildLimits& limits = {}) {
  std::map<int, ChildResult> results;
  const absl::Status status =
      RunInChildren(tasks, limits, run, [&](int i, const ChildResult& result) { results[i] = result; });
  EXPECT_TRUE(status.ok()) << status;
  return results;
}

TEST(ChildTest, TasksRunInAnotherProcess) {
  const std::string parent = absl::StrCat(getpid());
  const auto results = RunAll(3, [](int i) { return absl::StrCat(i, " ", getpid()); });
  ASSERT_EQ(results.size(), 3u);
  EXPECT_NE(results.at(0).text, absl::StrCat("0 ", parent));
  // One child for all of them.
  EXPECT_EQ(results.at(1).text.substr(2), results.at(2).text.substr(2));
}

TEST(ChildTest, ACrashCostsOnlyItsTask) {
  const auto results = RunAll(4, [](int i) {
    if (i == 1) std::abort();
    return absl::StrCat("task ", i);
  });
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(results.at(0).text, "task 0");
  EXPECT_EQ(results.at(1).outcome, store::Outcome::crashed);
  EXPECT_NE(results.at(1).text.find("signal 6"), std::string::npos) << results.at(1).text;
  EXPECT_EQ(results.at(2).text, "task 2");
  EXPECT_EQ(results.at(3).outcome, store::Outcome::ok);
}

TEST(ChildTest, AChildHasNoMoreMemoryThanItsLimit) {
#ifdef COBRA_SANITIZED
  GTEST_SKIP() << "no limit under sanitizers";
#endif
  ChildLimits limits;
  limits.memory_bytes = 64 << 20;
  const auto allocates = [](int i) {
    void* memory = std::malloc(i == 0 ? size_t{3} << 40 : i == 1 ? size_t{256} << 20 : size_t{16} << 20);
    return std::string(memory == nullptr ? "refused" : "there");
  };
  const auto results = RunAll(3, allocates, limits);
  EXPECT_EQ(results.at(0).text, "refused");
  EXPECT_EQ(results.at(1).text, "refused");
  EXPECT_EQ(results.at(2).text, "there");
}

TEST(ChildTest, AChildThatHangsIsKilled) {
  ChildLimits limits;
  limits.task_timeout_s = 0.3;
  const auto results = RunAll(
      3,
      [](int i) {
        if (i == 0) {
          while (true) pause();
        }
        return std::string("done");
      },
      limits);
  EXPECT_EQ(results.at(0).outcome, store::Outcome::timeout);
  EXPECT_EQ(results.at(1).text, "done");
  EXPECT_EQ(results.at(2).text, "done");
}

TEST(ChildTest, TheKernelsKillerMeansOutOfMemory) {
  const auto results = RunAll(2, [](int i) {
    if (i == 0) kill(getpid(), SIGKILL);
    return std::string("fine");
  });
  EXPECT_EQ(results.at(0).outcome, store::Outcome::out_of_memory);
  EXPECT_EQ(results.at(1).text, "fine");
}

TEST(ChildTest, WhatCanDoNoMoreIsReplaced) {
  ChildLimits limits;
  static bool broken = false;  // each child has its own
  limits.healthy = [] { return !broken; };
  const auto results = RunAll(
      4,
      [](int i) {
        broken = i == 1 || i == 3;
        return absl::StrCat(getpid());
      },
      limits);
  ASSERT_EQ(results.size(), 4u);
  for (const auto& [i, result] : results) EXPECT_EQ(result.outcome, store::Outcome::ok) << i << ": " << result.text;
  EXPECT_EQ(results.at(0).text, results.at(1).text);
  EXPECT_NE(results.at(1).text, results.at(2).text);
  EXPECT_EQ(results.at(2).text, results.at(3).text);
}

TEST(ChildTest, WhatIsStoppedEndsWithTheTaskThatRuns) {
  ChildLimits limits;
  std::map<int, ChildResult> results;
  limits.stopped = [&results] { return results.size() == 2; };
  const absl::Status status = RunInChildren(
      4, limits,
      [](int i) {
        while (i >= 2) pause();  // begun, and not waited for
        return absl::StrCat("task ", i);
      },
      [&](int i, const ChildResult& result) { results[i] = result; });
  EXPECT_TRUE(status.ok()) << status;
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(results.at(1).text, "task 1");
}

TEST(ChildTest, AnExitIsACrash) {
  const auto results = RunAll(1, [](int) -> std::string { _exit(3); });
  EXPECT_EQ(results.at(0).outcome, store::Outcome::crashed);
  EXPECT_NE(results.at(0).text.find('3'), std::string::npos);
}

TEST(ChildTest, LongAndEmptyResultsArrive) {
  const std::string large(5'000'000, 'x');
  const auto results = RunAll(2, [&](int i) { return i == 0 ? large : std::string(); });
  EXPECT_EQ(results.at(0).text, large);
  EXPECT_EQ(results.at(1).text, "");
  EXPECT_EQ(results.at(1).outcome, store::Outcome::ok);
}

}  // namespace
}  // namespace cobra::worker
