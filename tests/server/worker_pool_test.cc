#include "server/lanes/worker_pool.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/synchronization/notification.h"
#include "absl/time/clock.h"
#include "base/retry_delay.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::server {
namespace {

using testing::ElementsAre;

PoolOptions Options(int threads, int max_queued, int spare_threads = 0) {
  PoolOptions options;
  options.threads = threads;
  options.spare_threads = spare_threads;
  options.max_queued = max_queued;
  return options;
}

class WorkerPoolTest : public testing::Test {
 protected:
  void Start(const PoolOptions& options) { pool_ = std::make_unique<WorkerPool>(options, nullptr); }

  // A call whose name is in ran_ when it has run, or whose status is in refused_.
  void Submit(const std::string& caller, const std::string& name, std::function<void()> work = nullptr,
              absl::Time deadline = absl::InfiniteFuture(), Urgency urgency = Urgency::kCold) {
    pool_->Submit({Rpc::kPredict, caller, deadline,
                   [this, name, work](const absl::Status& admitted) {
                     if (admitted.ok() && work) work();
                     absl::MutexLock lock(&mutex_);
                     if (admitted.ok()) {
                       ran_.push_back(name);
                     } else {
                       refused_.push_back({name, admitted.code()});
                     }
                   },
                   urgency});
  }

  // A call that runs until go_; returns when it has begun.
  void Block(const std::string& caller, absl::Time deadline = absl::InfiniteFuture()) {
    auto started = std::make_shared<absl::Notification>();
    Submit(
        caller, "block",
        [this, started] {
          started->Notify();
          go_.WaitForNotification();
        },
        deadline);
    started->WaitForNotification();
  }
  bool WaitIdle() { return pool_->WaitIdle(absl::Now() + absl::Seconds(30)); }

  std::vector<std::string> Ran() {
    absl::MutexLock lock(&mutex_);
    return ran_;
  }
  std::vector<std::pair<std::string, absl::StatusCode>> Refused() {
    absl::MutexLock lock(&mutex_);
    return refused_;
  }

  absl::Mutex mutex_;
  std::vector<std::string> ran_;
  std::vector<std::pair<std::string, absl::StatusCode>> refused_;
  absl::Notification go_;
  std::unique_ptr<WorkerPool> pool_;  // last: its threads use the others
};

TEST_F(WorkerPoolTest, RunsWhatItAccepts) {
  Start(Options(2, 100, /*spare_threads=*/2));
  for (int i = 0; i < 100; ++i) Submit("a", "call");
  pool_.reset();
  EXPECT_EQ(Ran().size(), 100u);
}

TEST_F(WorkerPoolTest, FullQueueRefuses) {
  Start(Options(1, 2));
  Block("a");
  for (const char* name : {"1", "2", "3"}) Submit("a", name);
  EXPECT_THAT(Refused(), ElementsAre(std::make_pair("3", absl::StatusCode::kResourceExhausted)));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
  EXPECT_THAT(Ran(), ElementsAre("block", "1", "2"));
}

TEST_F(WorkerPoolTest, CallersTakeTurns) {
  Start(Options(1, 100));
  Block("a");
  for (const char* name : {"a1", "a2", "a3"}) Submit("a", name);
  Submit("b", "b1");
  Submit("c", "c1");
  Submit("b", "b2");
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
  EXPECT_THAT(Ran(), ElementsAre("block", "a1", "b1", "c1", "a2", "b2", "a3"));
}

TEST_F(WorkerPoolTest, WhatIsUrgentGoesFirstAndNothingStarves) {
  Start(Options(1, 100));
  Block("a");
  for (int i = 0; i < 16; ++i) {
    Submit("a", "bulk", nullptr, absl::InfiniteFuture(), Urgency::kBulk);
    Submit("b", "cold", nullptr, absl::InfiniteFuture(), Urgency::kCold);
    Submit("c", "warm", nullptr, absl::InfiniteFuture(), Urgency::kWarm);
  }
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
  const std::vector<std::string> ran = Ran();
  ASSERT_EQ(ran.size(), 49u);
  const auto among_next = [&](size_t count, const char* name) {
    return std::count(ran.begin() + 1, ran.begin() + 1 + static_cast<std::ptrdiff_t>(count), name);
  };
  EXPECT_EQ(among_next(16, "warm"), 10);
  EXPECT_EQ(among_next(16, "cold"), 4);
  EXPECT_EQ(among_next(16, "bulk"), 2);
}

TEST_F(WorkerPoolTest, ABusyPoolSaysWhenToComeBack) {
  Start(Options(1, 1));
  Block("a");
  Submit("a", "1");
  std::optional<absl::Duration> delay;
  pool_->Submit({Rpc::kPredict, "a", absl::InfiniteFuture(),
                 [&](const absl::Status& admitted) { delay = RetryDelayOf(admitted); }});
  ASSERT_TRUE(delay.has_value());
  EXPECT_GE(*delay, absl::Milliseconds(50));
  EXPECT_LE(*delay, absl::Seconds(10));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
}

TEST_F(WorkerPoolTest, OneCallersCallsDoNotHoldAllThreads) {
  Start(Options(2, 100, /*spare_threads=*/1));
  Block("a");
  Block("a");
  absl::Notification honest;
  Submit("a", "a waits for its own");
  Submit("b", "b", [&] { honest.Notify(); });
  EXPECT_TRUE(honest.WaitForNotificationWithTimeout(absl::Seconds(30)));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
  EXPECT_EQ(Ran().size(), 4u);
}

TEST_F(WorkerPoolTest, AThreadRestsWhileOthersAreAnsweredAtOnce) {
  PoolOptions options = Options(/*threads=*/2, /*max_queued=*/10, /*spare_threads=*/2);
  options.computes = true;
  options.rest = absl::Seconds(1);
  Start(options);
  std::atomic<bool> goes_on{true};
  std::thread answers([&] {
    while (goes_on) {
      pool_->NoteFastReply();
      absl::SleepFor(absl::Milliseconds(1));
    }
  });
  absl::SleepFor(absl::Milliseconds(5));
  Block("a");
  Submit("a", "a's second");
  Submit("b", "b's first");
  while (Ran().empty()) absl::SleepFor(absl::Milliseconds(1));
  absl::SleepFor(absl::Milliseconds(100));
  EXPECT_THAT(Ran(), ElementsAre("b's first")) << "who has nothing running does not pay for others";
  goes_on = false;
  answers.join();
  while (Ran().size() < 2) absl::SleepFor(absl::Milliseconds(1));  // the rest ends by itself
  EXPECT_THAT(Ran(), ElementsAre("b's first", "a's second"));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
}

TEST_F(WorkerPoolTest, TheOnlyThreadNeverRests) {
  PoolOptions options = Options(/*threads=*/1, /*max_queued=*/10);
  options.computes = true;
  Start(options);
  pool_->NoteFastReply();
  Submit("a", "first");
  EXPECT_TRUE(WaitIdle());
  EXPECT_THAT(Ran(), ElementsAre("first"));
}

TEST_F(WorkerPoolTest, ACallerHasAShareOfTheQueue) {
  PoolOptions options = Options(1, 100);
  options.max_queued_per_caller = 2;
  Start(options);
  Block("a");
  for (const char* name : {"a1", "a2", "a3"}) Submit("a", name);
  Submit("b", "b1");
  EXPECT_THAT(Refused(), ElementsAre(std::make_pair("a3", absl::StatusCode::kResourceExhausted)));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
}

TEST_F(WorkerPoolTest, WhenItIsFullTheGreediestGivesWay) {
  Start(Options(1, 4));
  Block("a");
  for (const char* name : {"a1", "a2", "a3", "a4"}) Submit("a", name);
  Submit("b", "b1");
  Submit("b", "b2");
  Submit("b", "b3");  // each has two by now: nobody gives way
  EXPECT_THAT(Refused(), ElementsAre(std::make_pair("a4", absl::StatusCode::kResourceExhausted),
                                     std::make_pair("a3", absl::StatusCode::kResourceExhausted),
                                     std::make_pair("b3", absl::StatusCode::kResourceExhausted)));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
  EXPECT_THAT(Ran(), ElementsAre("block", "a1", "b1", "a2", "b2"));
}

TEST_F(WorkerPoolTest, ClosedPoolFinishesButTakesNothingNew) {
  Start(Options(1, 10));
  Block("a");
  Submit("a", "waits");
  pool_->Close();
  Submit("a", "late");
  EXPECT_THAT(Refused(), ElementsAre(std::make_pair("late", absl::StatusCode::kUnavailable)));
  EXPECT_FALSE(pool_->WaitIdle(absl::Now() + absl::Milliseconds(1)));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
  EXPECT_THAT(Ran(), ElementsAre("block", "waits"));
}

TEST_F(WorkerPoolTest, WhatWaitsCanBeRefused) {
  Start(Options(1, 10));
  Block("a");
  Submit("a", "a1");
  Submit("b", "b1");
  pool_->RefuseQueued();
  EXPECT_THAT(Refused(), ElementsAre(std::make_pair("a1", absl::StatusCode::kUnavailable),
                                     std::make_pair("b1", absl::StatusCode::kUnavailable)));
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
}

TEST_F(WorkerPoolTest, AnOverdueCallIsReportedOnce) {
  Start(Options(1, 10, /*spare_threads=*/1));
  Block("a", absl::Now() - absl::Seconds(5));
  Block("b");
  const std::vector<OverdueCall> overdue = pool_->NewlyOverdue(absl::Seconds(1));
  ASSERT_EQ(overdue.size(), 1u);
  EXPECT_EQ(overdue[0].caller, "a");
  EXPECT_GE(overdue[0].by, absl::Seconds(5));
  EXPECT_TRUE(pool_->NewlyOverdue(absl::Seconds(1)).empty());
  EXPECT_EQ(pool_->num_stuck(absl::Seconds(1)), 1);
  EXPECT_EQ(pool_->num_stuck(absl::Hours(1)), 0);
  go_.Notify();
  EXPECT_TRUE(WaitIdle());
  EXPECT_EQ(pool_->num_stuck(absl::Seconds(1)), 0);
}

}  // namespace
}  // namespace cobra::server
