#include "server/queue/task_watch.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "store/sql/sql.h"
#include "store/store.h"
#include "tests/temporary_directory.h"

namespace cobra::server {
namespace {

class Recorder : public TaskWatch::Watcher {
 public:
  void Changed(const std::vector<store::TaskStatus>& statuses, bool) override {
    absl::MutexLock lock(&mutex_);
    seen_ += static_cast<int>(statuses.size());
  }
  void Ended(const absl::Status& why) override {
    absl::MutexLock lock(&mutex_);
    ended_ = why.code();
  }
  bool WaitForChange() {
    absl::MutexLock lock(&mutex_);
    const auto any = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return seen_ > 0; };
    return mutex_.AwaitWithTimeout(absl::Condition(&any), absl::Seconds(30));
  }
  absl::StatusCode ended() {
    absl::MutexLock lock(&mutex_);
    return ended_;
  }

 private:
  absl::Mutex mutex_;
  int seen_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::StatusCode ended_ ABSL_GUARDED_BY(mutex_) = absl::StatusCode::kOk;
};

class TaskWatchTest : public testing::Test {
 protected:
  TaskWatchTest() {
    auto database = store::OpenDatabase(directory_.File("queue.sqlite")).value();
    EXPECT_TRUE(store::PrepareSchema(database.get()).ok());
    queue_ = std::make_unique<store::TaskQueue>(std::move(database));
    store::TaskSpec task;
    task.id = std::string(32, '0');
    task.target = "cpu";
    EXPECT_TRUE(queue_->Enqueue("caller", {task}).ok());
    watch_ = std::make_unique<TaskWatch>(queue_.get(), absl::Milliseconds(10));
  }

  std::shared_ptr<Recorder> Watch(const std::string& caller) {
    auto recorder = std::make_shared<Recorder>();
    EXPECT_TRUE(watch_->Add(recorder, caller, {std::string(32, '0')}).ok());
    return recorder;
  }

  tests::TemporaryDirectory directory_;
  std::unique_ptr<store::TaskQueue> queue_;
  std::unique_ptr<TaskWatch> watch_;
};

TEST_F(TaskWatchTest, TheOldestOfACallerGivesWay) {
  std::vector<std::shared_ptr<Recorder>> greedy;
  for (size_t i = 0; i < TaskWatch::kMaxWatchersPerCaller; ++i) greedy.push_back(Watch("greedy"));
  const auto honest = Watch("honest");
  EXPECT_EQ(greedy[0]->ended(), absl::StatusCode::kOk);
  const auto one_more = Watch("greedy");
  EXPECT_EQ(greedy[0]->ended(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(greedy[1]->ended(), absl::StatusCode::kOk);
  EXPECT_TRUE(one_more->WaitForChange());
  EXPECT_TRUE(honest->WaitForChange());
}

TEST_F(TaskWatchTest, ManyCallersKeepNobodyOut) {
  std::vector<std::shared_ptr<Recorder>> several;
  for (size_t i = 0; i < TaskWatch::kMaxWatchers; ++i) several.push_back(Watch(absl::StrFormat("caller %d", i / 32)));
  const auto late = Watch("late");
  EXPECT_TRUE(late->WaitForChange());
  EXPECT_EQ(several[0]->ended(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(several[1]->ended(), absl::StatusCode::kOk);
}

TEST_F(TaskWatchTest, CallersComeAndGoWhileTheDatabaseIsLocked) {
  auto other = store::OpenDatabase(directory_.File("queue.sqlite")).value();
  const absl::Time start = absl::Now();
  ASSERT_TRUE(other
                  ->Transaction([&](store::SqlSession&) {
                    for (int i = 0; i < 20; ++i) {
                      const auto recorder = Watch("caller");
                      absl::SleepFor(absl::Milliseconds(20));
                      watch_->Remove(recorder.get());
                    }
                    return absl::OkStatus();
                  })
                  .ok());
  // Each would wait for a time-out of five seconds.
  EXPECT_LT(absl::Now() - start, absl::Seconds(5));
  EXPECT_TRUE(Watch("caller")->WaitForChange());
}

TEST_F(TaskWatchTest, ClosingEndsAll) {
  const auto recorder = Watch("caller");
  watch_->Close();
  EXPECT_EQ(recorder->ended(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(watch_->Add(std::make_shared<Recorder>(), "caller", {}).code(), absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace cobra::server
