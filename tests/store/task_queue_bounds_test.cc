// What the queue bounds: bytes of a lease, tasks and bytes that have not ended, what one worker can
// poison, what has ended.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "store/queue/task_queue.h"
#include "store/queue/task_subject.h"
#include "tests/store/task_queue_testing.h"

namespace cobra::store {
namespace {

using testing::ElementsAre;

class TaskQueueBoundsTest : public TaskQueueTest {};
COBRA_ON_EVERY_DATABASE(TaskQueueBoundsTest);

TaskSpec TaskOfBytes(const std::string& id, int64_t bytes) {
  TaskSpec task = Task(id);
  task.subject_json = std::string(static_cast<size_t>(bytes), 'x');
  return task;
}

TEST_P(TaskQueueBoundsTest, ALeaseIsBoundedInBytes) {
  constexpr int64_t kBytes = TaskQueue::kMaxLeaseBytes / 3;
  ASSERT_TRUE(queue_
                  ->Enqueue("c", {TaskOfBytes("a", kBytes), TaskOfBytes("b", kBytes), TaskOfBytes("c", kBytes),
                                  Task("d"), TaskOfBytes("e", kBytes)})
                  .ok());
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a", "b", "c"));
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("d", "e"));
}

// What an earlier server has stored, no message could carry.
TEST_P(TaskQueueBoundsTest, ATaskThatIsTooLargeToBeSentIsPoisonedAndItsNeighboursAreNot) {
  ASSERT_TRUE(
      queue_->Enqueue("c", {TaskOfBytes("large", kMaxSubjectBytes + 1), TaskOfBytes("b", kMaxSubjectBytes)}).ok());
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("b"));
  auto status = queue_->Get({"large"});
  ASSERT_TRUE(status.ok() && status->size() == 1);
  EXPECT_EQ((*status)[0].state, TaskState::poisoned);
  EXPECT_THAT((*status)[0].message, testing::HasSubstr("bytes"));
  EXPECT_EQ(queue_->Find("large")->spec.subject_json, "");  // it does not take room of its caller's share
}

TEST_P(TaskQueueBoundsTest, ACallersTasksAreBounded) {
  QueueShare share;
  share.max_caller_tasks = 2;
  const auto enqueue = [&](const std::string& caller, std::vector<TaskSpec> tasks) {
    return queue_->Enqueue(caller, tasks, absl::InfiniteFuture(), share);
  };
  ASSERT_TRUE(enqueue("c", {Task("a"), Task("b")}).ok());
  const absl::Status full = enqueue("c", {Task("a"), Task("c")}).status();
  EXPECT_TRUE(absl::IsResourceExhausted(full)) << full;
  EXPECT_THAT(std::string(full.message()), testing::AllOf(testing::HasSubstr("\"c\""), testing::HasSubstr("Cancel")));
  EXPECT_TRUE(queue_->Get({"c"})->empty());                                       // all or nothing
  EXPECT_THAT(*enqueue("c", {Task("a"), Task("b")}), ElementsAre(false, false));  // repeated, it adds nothing
  EXPECT_TRUE(enqueue("d", {Task("c")}).ok());  // another caller has a share of its own
  EXPECT_TRUE(queue_->Enqueue(TaskQueue::kServer, {Task("d"), Task("e"), Task("f")}).ok());
  // What is measured or withdrawn makes room.
  ASSERT_THAT(Ids(Lease("w", 1)), ElementsAre("a"));
  ASSERT_EQ(*Report("w", MeasurementOf("a")), ReportOutcome::accepted);
  ASSERT_THAT(*queue_->Cancel("c", {"b"}), ElementsAre(true));
  EXPECT_THAT(*enqueue("c", {Task("g"), Task("h")}), ElementsAre(true, true));
}

TEST_P(TaskQueueBoundsTest, BytesAndTheWholeQueueAreBounded) {
  QueueShare share;
  share.max_caller_bytes = 100;
  ASSERT_TRUE(queue_->Enqueue("c", {TaskOfBytes("a", 60)}, absl::InfiniteFuture(), share).ok());
  EXPECT_TRUE(
      absl::IsResourceExhausted(queue_->Enqueue("c", {TaskOfBytes("b", 41)}, absl::InfiniteFuture(), share).status()));
  EXPECT_TRUE(queue_->Enqueue("c", {TaskOfBytes("b", 40)}, absl::InfiniteFuture(), share).ok());
  QueueShare all;
  all.max_tasks = 3;
  ASSERT_TRUE(queue_->Enqueue("d", {Task("d")}, absl::InfiniteFuture(), all).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(queue_->Enqueue("e", {Task("e")}, absl::InfiniteFuture(), all).status()));
  all.max_tasks = 10;
  all.max_bytes = 130;
  EXPECT_TRUE(
      absl::IsResourceExhausted(queue_->Enqueue("e", {TaskOfBytes("e", 31)}, absl::InfiniteFuture(), all).status()));
}

// A worker that shares the target leases all, says that it has started, and lets its lease of a
// second end.
TEST_P(TaskQueueBoundsTest, OneWorkerDoesNotPoisonWhatAnotherOneMeasures) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("of v"), Task("a"), Task("b")}).ok());
  ASSERT_THAT(Ids(queue_->Lease("cpu", "v", 1, absl::Hours(1))), ElementsAre("of v"));
  for (int i = 0; i < 20; ++i) {
    const std::vector<std::string> ids = Ids(queue_->Lease("cpu", "mallory", 10, absl::Seconds(1)));
    ASSERT_TRUE(queue_->Renew("mallory", ids, ids, absl::Seconds(1)).ok());
    now_ += absl::Seconds(70);
  }
  EXPECT_THAT(Ids(Lease("v")), ElementsAre("a", "b"));
}

TEST_P(TaskQueueBoundsTest, QuickLossesCountOnce) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  for (int i = 0; i < 10; ++i) {
    ASSERT_THAT(Ids(queue_->Lease("cpu", "w", 1, absl::Seconds(1))), ElementsAre("a")) << i;
    ASSERT_TRUE(queue_->Renew("w", {"a"}, {"a"}, absl::Seconds(1)).ok());
    now_ += absl::Seconds(2);
  }
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a"));
  EXPECT_EQ((*queue_->Get({"a"}))[0].attempts, 1);
}

TEST_P(TaskQueueBoundsTest, ATaskThatKillsDifferentWorkersIsPoisoned) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("of v"), Task("of w"), Task("bad")}).ok());
  ASSERT_THAT(Ids(queue_->Lease("cpu", "v", 1, absl::Hours(1))), ElementsAre("of v"));
  ASSERT_THAT(Ids(queue_->Lease("cpu", "w", 1, absl::Hours(1))), ElementsAre("of w"));
  const auto lose = [&](const char* worker) {
    ASSERT_THAT(Ids(Lease(worker)), ElementsAre("bad")) << worker;
    ASSERT_TRUE(queue_->Renew(worker, {"bad"}, {"bad"}, absl::Seconds(60)).ok());
    now_ += absl::Seconds(61);
    // Who has lost it leaves it to the other one.
    ASSERT_THAT(Ids(Lease(worker)), ElementsAre()) << worker;
  };
  lose("v");
  lose("w");
  EXPECT_EQ(StateOf("bad"), TaskState::queued);
  lose("v");
  EXPECT_EQ(StateOf("bad"), TaskState::poisoned);
}

TEST_P(TaskQueueBoundsTest, AWorkerThatLosesManyTasksHoldsOneAtATime) {
  std::vector<TaskSpec> tasks;
  for (int64_t i = 0; i < TaskQueue::kMostLosses + 5; ++i) tasks.push_back(Task(absl::StrCat("t", i)));
  ASSERT_TRUE(queue_->Enqueue("c", tasks).ok());
  const std::vector<std::string> ids = Ids(Lease("w", TaskQueue::kMostLosses));
  ASSERT_TRUE(queue_->Renew("w", ids, ids, absl::Seconds(60)).ok());
  now_ += absl::Seconds(61);
  const std::vector<std::string> one = Ids(Lease("w"));
  ASSERT_EQ(one.size(), 1u);
  EXPECT_THAT(Ids(Lease("w")), ElementsAre());
  ASSERT_EQ(*Report("w", MeasurementOf(one[0])), ReportOutcome::accepted);
  EXPECT_EQ(Ids(Lease("w")).size(), 1u);
  now_ += TaskQueue::kLossAvoided;
  EXPECT_EQ(Ids(Lease("w")).size(), 10u);
}

// It holds all, says that it has started all, and lets its lease end, three times and more.
TEST_P(TaskQueueBoundsTest, TheOnlyWorkerDoesNotPoisonAWholeQueueByDeliberateLosses) {
  std::vector<TaskSpec> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(Task(absl::StrCat("t", i)));
  ASSERT_TRUE(queue_->Enqueue("c", tasks).ok());
  for (int i = 0; i < 6; ++i) {
    const std::vector<std::string> ids = Ids(Lease("mallory", 20));
    ASSERT_TRUE(queue_->Renew("mallory", ids, ids, absl::Seconds(60)).ok());
    now_ += TaskQueue::kLossAvoided + absl::Seconds(61);
  }
  EXPECT_GE(Ids(Lease("v", 20)).size(), 18u);  // of three losses one is poisoned
}

// Whatever it loses within a minute, it has died once.
TEST_P(TaskQueueBoundsTest, AWorkersQuickLossesOfDifferentTasksCountOnce) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b"), Task("c"), Task("d")}).ok());
  for (const char* id : {"a", "b", "c", "d"}) {
    const std::vector<std::string> ids = Ids(queue_->Lease("cpu", "w", 10, absl::Seconds(1)));
    ASSERT_TRUE(queue_->Renew("w", ids, {id}, absl::Seconds(1)).ok());
    now_ += absl::Seconds(2);
  }
  EXPECT_EQ(Ids(Lease("w")).size(), 4u);
  int64_t attempts = 0;
  for (const char* id : {"a", "b", "c", "d"}) attempts += (*queue_->Get({id}))[0].attempts;
  EXPECT_EQ(attempts, 1);
}

// Two tasks that kill in turn, faster than losses count: both end all the same.
TEST_P(TaskQueueBoundsTest, TasksThatKillInTurnArePoisoned) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  for (int i = 0; i < 20; ++i) {
    const std::vector<std::string> ids = Ids(queue_->Lease("cpu", "w", 10, absl::Seconds(1)));
    if (!ids.empty()) {
      const std::string& killer = ids[static_cast<size_t>(i) % ids.size()];
      ASSERT_TRUE(queue_->Renew("w", ids, {killer}, absl::Seconds(1)).ok());
    }
    now_ += absl::Seconds(31);
  }
  EXPECT_EQ(StateOf("a"), TaskState::poisoned);
  EXPECT_EQ(StateOf("b"), TaskState::poisoned);
}

// A machine that is taken away late in a group has measured what it started before. Reports of
// older starts may be all that the server has.
TEST_P(TaskQueueBoundsTest, OfTheTasksOfOneLossTheOneStartedLastCounts) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b"), Task("c")}).ok());
  for (int i = 0; i < 3; ++i) {
    const std::string machine = absl::StrCat("spot-", i);
    ASSERT_EQ(Ids(Lease(machine)).size(), 3u);
    for (const char* id : {"a", "b", "c"}) {
      ASSERT_TRUE(queue_->Renew(machine, {id}, {id}, absl::Seconds(60)).ok());  // says nothing of those before
      now_ += absl::Seconds(1);
    }
    now_ += absl::Seconds(61);
  }
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a", "b"));
  EXPECT_EQ((*queue_->Get({"a"}))[0].attempts, 0);
  EXPECT_EQ((*queue_->Get({"b"}))[0].attempts, 0);
  EXPECT_EQ(StateOf("c"), TaskState::poisoned);
}

TEST_P(TaskQueueBoundsTest, OneWorkerDoesNotHoldAllTasks) {
  std::vector<TaskSpec> tasks;
  for (int64_t i = 0; i < TaskQueue::kMaxTasksPerCall; ++i) tasks.push_back(Task(absl::StrCat("t", i)));
  ASSERT_TRUE(queue_->Enqueue("c", tasks).ok());
  ASSERT_TRUE(queue_->Enqueue("c", {Task("last")}).ok());
  EXPECT_EQ(Ids(Lease("w", 990)).size(), 990u);
  EXPECT_EQ(Ids(Lease("w", 990)).size(), 10u);
  EXPECT_THAT(Ids(Lease("w", 990)), ElementsAre());
  EXPECT_THAT(Ids(Lease("v", 990)), ElementsAre("last"));
}

class PoisonedTaskTest : public TaskQueueTest {
 protected:
  void SetUp() override {
    TaskQueueTest::SetUp();
    if (IsSkipped()) return;
    TaskSpec task = Task("a");
    task.max_attempts = 1;
    ASSERT_TRUE(queue_->Enqueue("c", {task}).ok());
    ASSERT_TRUE(Lease("w").ok());
    ASSERT_TRUE(queue_->Renew("w", {"a"}, {"a"}, absl::Seconds(60)).ok());
    now_ += absl::Seconds(61);
    ASSERT_THAT(Ids(Lease("w")), ElementsAre());
    ASSERT_EQ(StateOf("a"), TaskState::poisoned);
  }
  void ExpectNewAttempts() {
    EXPECT_EQ((*queue_->Get({"a"}))[0].attempts, 0);
    EXPECT_EQ((*queue_->Get({"a"}))[0].message, "");
    const auto leases = Lease("w");
    ASSERT_THAT(Ids(leases), ElementsAre("a"));
    EXPECT_EQ((*leases)[0].spec.subject_json, Task("a").subject_json);
  }
};
COBRA_ON_EVERY_DATABASE(PoisonedTaskTest);

TEST_P(PoisonedTaskTest, WhoeverMayDoesReviveIt) {
  EXPECT_THAT(*queue_->Enqueue("c", {Task("a")}), ElementsAre(false));
  EXPECT_EQ(StateOf("a"), TaskState::poisoned);
  QueueShare share;
  share.revives_poisoned = true;
  now_ += absl::Seconds(1);
  const absl::Time before = now_;
  EXPECT_THAT(*queue_->Enqueue("admin", {Task("a")}, absl::InfiniteFuture(), share), ElementsAre(true));
  EXPECT_EQ(queue_->ChangedSince(before)->size(), 1u);  // so that who watches learns of it
  ExpectNewAttempts();
}

TEST_P(PoisonedTaskTest, WhoeverRequestedItWithdrawsItAndRequestsItAgain) {
  EXPECT_THAT(*queue_->Cancel("stranger", {"a"}), ElementsAre(false));
  EXPECT_THAT(*queue_->Cancel("c", {"a"}), ElementsAre(true));
  EXPECT_THAT(*queue_->Enqueue("c", {Task("a")}), ElementsAre(true));
  ExpectNewAttempts();
}

TEST_P(TaskQueueBoundsTest, WhatHasEndedTakesNoRoomForItsSubject) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("done"), Task("cancelled")}).ok());
  ASSERT_THAT(Ids(Lease("w", 1)), ElementsAre("done"));
  ASSERT_EQ(*Report("w", MeasurementOf("done")), ReportOutcome::accepted);
  ASSERT_THAT(*queue_->Cancel("c", {"cancelled"}), ElementsAre(true));
  EXPECT_EQ(queue_->Find("done")->spec.subject_json, "");
  EXPECT_EQ(queue_->Find("cancelled")->spec.subject_json, "");
  EXPECT_THAT(*queue_->Enqueue("c", {Task("done"), Task("cancelled")}), ElementsAre(false, true));
  const auto leases = Lease("w");
  ASSERT_THAT(Ids(leases), ElementsAre("cancelled"));
  EXPECT_EQ((*leases)[0].spec.subject_json, Task("cancelled").subject_json);
}

TEST_P(TaskQueueBoundsTest, OfCancelledTasksTheOldestAreDropped) {
  if (IsPostgresTest()) GTEST_SKIP() << "50,000 tasks take too long there";
  const int64_t rounds = TaskQueue::kMaxCancelled / TaskQueue::kMaxTasksPerCall + 3;
  int64_t number = 0;
  for (int64_t i = 0; i < rounds; ++i) {
    std::vector<TaskSpec> tasks;
    std::vector<std::string> ids;
    for (int64_t k = 0; k < TaskQueue::kMaxTasksPerCall; ++k) {
      tasks.push_back(Task(absl::StrCat("t", number++)));
      ids.push_back(tasks.back().id);
    }
    ASSERT_TRUE(queue_->Enqueue("c", tasks).ok());
    ASSERT_TRUE(queue_->Cancel("c", ids).ok());
    now_ += absl::Seconds(1);
  }
  const auto counts = queue_->Counts();
  ASSERT_TRUE(counts.ok() && counts->size() == 1);
  EXPECT_LE((*counts)[0].tasks, TaskQueue::kMaxCancelled);
  EXPECT_TRUE(queue_->Get({"t0"})->empty());
  EXPECT_EQ(StateOf(absl::StrCat("t", number - 1)), TaskState::cancelled);
}

}  // namespace
}  // namespace cobra::store
