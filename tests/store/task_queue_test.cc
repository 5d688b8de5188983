#include "store/queue/task_queue.h"

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/store/task_queue_testing.h"

namespace cobra::store {
namespace {

using testing::ElementsAre;

COBRA_ON_EVERY_DATABASE(TaskQueueTest);

TEST_P(TaskQueueTest, LeasesByUrgencyThenInOrderOfComing) {
  ASSERT_THAT(*queue_->Enqueue("c", {Task("a"), Task("b", 5), Task("c"), Task("d", 5)}),
              ElementsAre(true, true, true, true));
  EXPECT_THAT(Ids(Lease("w", 3)), ElementsAre("b", "d", "a"));
  EXPECT_THAT(Ids(Lease("v", 3)), ElementsAre("c"));
  EXPECT_THAT(Ids(Lease("v", 3)), ElementsAre());
}

TEST_P(TaskQueueTest, ALeaseSaysWhatWasEnqueued) {
  TaskSpec task = Task("a", 7);
  task.max_attempts = 4;
  ASSERT_TRUE(queue_->Enqueue("c", {task}).ok());
  auto leases = Lease("w");
  ASSERT_TRUE(leases.ok() && leases->size() == 1);
  const TaskLease& lease = (*leases)[0];
  EXPECT_EQ(lease.spec.target, "cpu");
  EXPECT_EQ(lease.spec.priority, 7);
  EXPECT_EQ(lease.spec.origin, "test");
  EXPECT_EQ(lease.spec.subject_json, task.subject_json);
  EXPECT_EQ(lease.spec.max_attempts, 4);
  EXPECT_EQ(lease.attempts, 0);
  EXPECT_EQ(lease.expires, now_ + absl::Seconds(60));
}

TEST_P(TaskQueueTest, OnlyTheTargetsOwnTasks) {
  TaskSpec other = Task("o");
  other.target = "gpu";
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), other}).ok());
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a"));
  EXPECT_THAT(Ids(queue_->Lease("gpu", "w", 9, absl::Seconds(1))), ElementsAre("o"));
  EXPECT_EQ(*queue_->Waiting("test"), 2);
  ASSERT_EQ(*Report("w", MeasurementOf("a")), ReportOutcome::accepted);
  EXPECT_EQ(*queue_->Waiting("test"), 1);
  EXPECT_EQ(*queue_->Waiting("other"), 0);
}

TEST_P(TaskQueueTest, EnqueuedTwiceItIsOneTask) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  EXPECT_THAT(*queue_->Enqueue("c", {Task("a"), Task("b"), Task("b")}), ElementsAre(false, true, false));
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a", "b"));
}

TEST_P(TaskQueueTest, ReportedTwiceItIsOneRecord) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  ASSERT_TRUE(Lease("w").ok());
  EXPECT_EQ(*Report("w", MeasurementOf("a", 1)), ReportOutcome::accepted);
  EXPECT_EQ(*Report("w", MeasurementOf("a", 2)), ReportOutcome::duplicate);
  EXPECT_EQ(*Report("w", MeasurementOf("never enqueued")), ReportOutcome::unknown);
  auto store = OpenStore(location_);
  EXPECT_EQ((*store)->Counts()->measurements, 1);
  EXPECT_EQ(StateOf("a"), TaskState::done);
  EXPECT_THAT(Ids(Lease("w")), ElementsAre());
}

TEST_P(TaskQueueTest, ExpiredLeasesGoToAnotherWorker) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  EXPECT_THAT(Ids(Lease("dead")), ElementsAre("a"));
  now_ += absl::Seconds(59);
  EXPECT_THAT(Ids(Lease("w")), ElementsAre());
  now_ += absl::Seconds(1);
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a"));
  EXPECT_THAT(*queue_->Renew("dead", {"a"}, {}, absl::Seconds(60)), ElementsAre(false));
  EXPECT_EQ(*Report("dead", MeasurementOf("a")), ReportOutcome::not_leased);
  EXPECT_EQ(*Report("w", MeasurementOf("a")), ReportOutcome::accepted);
  EXPECT_EQ(*Report("dead", MeasurementOf("a")), ReportOutcome::duplicate);
}

TEST_P(TaskQueueTest, ARecordNeedsTheLeaseOfItsWorker) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  EXPECT_EQ(*Report("w", MeasurementOf("a")), ReportOutcome::not_leased);
  ASSERT_THAT(Ids(Lease("w", 1)), ElementsAre("a"));
  EXPECT_EQ(*Report("other", MeasurementOf("a")), ReportOutcome::not_leased);
  EXPECT_EQ(StateOf("a"), TaskState::leased);
  // It was only slow, and nobody else has the task.
  now_ += absl::Seconds(120);
  EXPECT_EQ(*Report("w", MeasurementOf("a")), ReportOutcome::accepted);
  // What it has given back, it does not hold.
  ASSERT_THAT(Ids(Lease("w", 1)), ElementsAre("b"));
  ASSERT_TRUE(queue_->Release("w", {"b"}).ok());
  EXPECT_EQ(*Report("w", MeasurementOf("b")), ReportOutcome::not_leased);
}

TEST_P(TaskQueueTest, AMeasurementKeepsItsProvenance) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  ASSERT_TRUE(Lease("w").ok());
  StoredMeasurement measurement = MeasurementOf("a");
  measurement.provenance.caller = "somebody";
  measurement.provenance.model_sha256 = "abc";
  measurement.provenance.predicted_us = 2.5;
  ASSERT_EQ(*queue_->Report("w", &measurement), ReportOutcome::accepted);
  const auto stored = (*OpenStore(location_))->TaskMeasurements("cpu");
  ASSERT_TRUE(stored.ok() && stored->size() == 1) << stored.status();
  const Provenance& provenance = (*stored)[0].provenance;
  EXPECT_EQ(provenance.worker, "w");
  EXPECT_EQ(provenance.caller, "somebody");
  EXPECT_EQ(provenance.model_sha256, "abc");
  EXPECT_EQ(provenance.predicted_us, 2.5);
  EXPECT_EQ((*stored)[0].held, "");
}

// Two measurements of 100 us that the model doubts, by two workers. Between them the first one is
// held, and its worker does not get the task that would confirm it.
TEST_P(TaskQueueTest, ADoubtedMeasurementIsHeldUntilAnotherWorkerAgrees) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("of w")}).ok());
  ASSERT_THAT(Ids(Lease("v", 1)), ElementsAre("a"));
  ASSERT_THAT(Ids(Lease("w", 1)), ElementsAre("of w"));
  StoredMeasurement doubted = MeasurementOf("a", 100);
  doubted.doubt = "100 us is far too much";
  EXPECT_EQ(*queue_->Report("v", &doubted), ReportOutcome::held);
  EXPECT_EQ(StateOf("a"), TaskState::done);
  EXPECT_EQ((*queue_->Get({"a"}))[0].message, "held: 100 us is far too much");
  EXPECT_THAT(Ids(Lease("v")), ElementsAre());
  const std::vector<std::string> again = Ids(Lease("w"));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_THAT(*queue_->Cancel("c", again), ElementsAre(false));  // it is the server's
  StoredMeasurement second = MeasurementOf(again[0], 110);
  second.doubt = doubted.doubt;
  EXPECT_EQ(*queue_->Report("w", &second), ReportOutcome::accepted);
  const auto all = (*OpenStore(location_))->TaskMeasurements("cpu");
  ASSERT_TRUE(all.ok()) << all.status();
  for (const StoredMeasurement& stored : *all) EXPECT_EQ(stored.held, "");
  EXPECT_EQ((*queue_->Get({"a"}))[0].message, "");
}

TEST_P(TaskQueueTest, TheOnlyWorkerConfirmsItself) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  ASSERT_THAT(Ids(Lease("w")), ElementsAre("a"));
  StoredMeasurement doubted = MeasurementOf("a", 100);
  doubted.doubt = "too much";
  EXPECT_EQ(*queue_->Report("w", &doubted), ReportOutcome::held);
  const std::vector<std::string> again = Ids(Lease("w"));
  ASSERT_EQ(again.size(), 1u);
  StoredMeasurement second = MeasurementOf(again[0], 110);
  second.doubt = "too much";
  EXPECT_EQ(*queue_->Report("w", &second), ReportOutcome::accepted);
}

TEST_P(TaskQueueTest, MeasurementsThatNeverAgreeAreNotAskedForWithoutEnd) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  double latency_us = 1;
  int measured = 0;
  for (std::vector<std::string> ids = Ids(Lease("w")); !ids.empty(); ids = Ids(Lease("w"))) {
    StoredMeasurement doubted = MeasurementOf(ids[0], latency_us *= 10);
    doubted.doubt = "too much";
    EXPECT_EQ(*queue_->Report("w", &doubted), ReportOutcome::held);
    ASSERT_LT(++measured, 10);
  }
  EXPECT_EQ(measured, 1 + TaskQueue::kMaxConfirmations);
}

// A report under another graph does not count as a repetition, even if the fingerprints are made to
// collide.
TEST_P(TaskQueueTest, OnlyTheSameGraphIsARepetition) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  ASSERT_THAT(Ids(Lease("w")), ElementsAre("a", "b"));
  StoredMeasurement other = MeasurementOf("a", 1000);
  const std::string fingerprint = other.measurement.subject.fingerprint;
  SetGraph(AGraph(9), &other.measurement.subject);
  other.measurement.subject.fingerprint = fingerprint;
  EXPECT_EQ(*queue_->Report("w", &other), ReportOutcome::accepted);
  EXPECT_EQ(*Report("w", MeasurementOf("b")), ReportOutcome::accepted);
}

TEST_P(TaskQueueTest, ATaskThatCannotBeReadIsPoisoned) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  ASSERT_THAT(Ids(Lease("w", 1)), ElementsAre("a"));
  ASSERT_TRUE(queue_->Poison("a", "no JSON").ok());
  EXPECT_EQ(StateOf("a"), TaskState::poisoned);
  now_ += absl::Seconds(120);
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("b"));
  EXPECT_EQ(queue_->Find("a")->status.message, "no JSON");
  EXPECT_TRUE(absl::IsNotFound(queue_->Find("nothing").status()));
}

TEST_P(TaskQueueTest, RenewedItStays) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  ASSERT_THAT(Ids(Lease("w")), ElementsAre("a", "b"));
  now_ += absl::Seconds(50);
  EXPECT_THAT(*queue_->Renew("w", {"a", "nothing"}, {"a"}, absl::Seconds(60)), ElementsAre(true, false));
  now_ += absl::Seconds(50);
  EXPECT_THAT(Ids(Lease("v")), ElementsAre("b"));
}

TEST_P(TaskQueueTest, ATaskThatKillsItsWorkersIsPoisonedAndItsNeighboursAreNot) {
  TaskSpec bad = Task("bad", 1);
  bad.max_attempts = 3;
  ASSERT_TRUE(queue_->Enqueue("c", {bad, Task("good")}).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_THAT(Ids(Lease("w")), ElementsAre("bad", "good")) << i;
    ASSERT_TRUE(queue_->Renew("w", {"bad", "good"}, {"bad"}, absl::Seconds(60)).ok());
    now_ += absl::Seconds(61);
  }
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("good"));
  auto status = queue_->Get({"bad"});
  ASSERT_TRUE(status.ok());
  EXPECT_EQ((*status)[0].state, TaskState::poisoned);
  EXPECT_THAT((*status)[0].message, testing::HasSubstr("started 3 times"));
  EXPECT_EQ(*Report("w", MeasurementOf("bad")), ReportOutcome::accepted);  // a measurement after all
}

TEST_P(TaskQueueTest, GivenBackItIsFreeAtOnce) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  ASSERT_TRUE(Lease("w").ok());
  ASSERT_TRUE(queue_->Release("other", {"a"}).ok());  // not that one's to give
  EXPECT_THAT(Ids(Lease("v")), ElementsAre());
  ASSERT_TRUE(queue_->Release("w", {"a"}).ok());
  EXPECT_THAT(Ids(Lease("v")), ElementsAre("a"));
}

TEST_P(TaskQueueTest, CancelledItIsNotLeasedButItsRecordCounts) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b"), Task("c")}).ok());
  ASSERT_THAT(Ids(Lease("w", 2)), ElementsAre("a", "b"));
  ASSERT_EQ(*Report("w", MeasurementOf("a")), ReportOutcome::accepted);
  EXPECT_THAT(*queue_->Cancel("c", {"a", "b", "c", "nothing"}), ElementsAre(false, true, true, false));
  now_ += absl::Seconds(120);
  EXPECT_THAT(Ids(Lease("w")), ElementsAre());
  EXPECT_THAT(*queue_->Renew("w", {"b"}, {}, absl::Seconds(60)), ElementsAre(false));
  EXPECT_EQ(*Report("w", MeasurementOf("b")), ReportOutcome::accepted);
  EXPECT_EQ(StateOf("a"), TaskState::done);
  EXPECT_EQ(StateOf("c"), TaskState::cancelled);
}

TEST_P(TaskQueueTest, CancelledItCanBeRequestedAgain) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  ASSERT_THAT(*queue_->Cancel("c", {"a"}), ElementsAre(true));
  EXPECT_THAT(Ids(Lease("w")), ElementsAre());
  EXPECT_THAT(*queue_->Enqueue("c", {Task("a")}), ElementsAre(true));
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a"));
}

TEST_P(TaskQueueTest, WhatAnotherCallerRequestedIsNotCancelled) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  ASSERT_TRUE(queue_->Enqueue("d", {Task("a")}).ok());
  EXPECT_THAT(*queue_->Cancel("stranger", {"a", "b"}), ElementsAre(false, false));
  EXPECT_THAT(*queue_->Cancel("c", {"a", "b"}), ElementsAre(false, true));
  EXPECT_EQ(StateOf("a"), TaskState::queued);
  EXPECT_THAT(*queue_->Cancel("d", {"a"}), ElementsAre(true));
}

TEST_P(TaskQueueTest, TheHigherPriorityCounts) {
  ASSERT_TRUE(queue_->Enqueue("stranger", {Task("a", -100), Task("b", 1)}).ok());
  EXPECT_THAT(*queue_->Enqueue("c", {Task("a", 5)}), ElementsAre(false));
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("a", "b"));
}

TEST_P(TaskQueueTest, AClockThatIsSetBackBringsNoLeaseToLife) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a")}).ok());
  ASSERT_TRUE(Lease("w").ok());
  now_ += absl::Seconds(61);
  ASSERT_THAT(Ids(Lease("v")), ElementsAre("a"));
  now_ -= absl::Hours(5);
  EXPECT_THAT(Ids(Lease("u")), ElementsAre());
  EXPECT_THAT(*queue_->Renew("v", {"a"}, {}, absl::Seconds(60)), ElementsAre(true));
  now_ += absl::Hours(5) + absl::Seconds(61);
  EXPECT_THAT(Ids(Lease("u")), ElementsAre("a"));
}

TEST_P(TaskQueueTest, ChangesCanBeFollowed) {
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  now_ += absl::Seconds(1);
  const absl::Time later = now_;
  ASSERT_TRUE(Lease("w", 1).ok());
  auto changes = queue_->ChangedSince(later);
  ASSERT_TRUE(changes.ok()) << changes.status();
  ASSERT_EQ(changes->size(), 1u);
  EXPECT_EQ((*changes)[0].id, "a");
  EXPECT_EQ((*changes)[0].state, TaskState::leased);
  EXPECT_EQ((*changes)[0].worker, "w");
  EXPECT_EQ(queue_->ChangedSince(absl::UnixEpoch())->size(), 2u);
  auto counts = queue_->Counts();
  ASSERT_TRUE(counts.ok());
  ASSERT_EQ(counts->size(), 2u);
  EXPECT_EQ((*counts)[0].state, TaskState::leased);
  EXPECT_EQ((*counts)[1].tasks, 1);
}

TEST_P(TaskQueueTest, TooManyAtOnceIsRefused) {
  EXPECT_TRUE(absl::IsInvalidArgument(
      queue_->Enqueue("c", std::vector<TaskSpec>(TaskQueue::kMaxTasksPerCall + 1, Task("a"))).status()));
}

// Two servers, four workers each, on one database: nobody gets what another one has.
TEST_P(TaskQueueTest, WorkersBesideEachOtherNeverShareATask) {
  constexpr int kTasks = 200;
  std::vector<TaskSpec> tasks;
  for (int i = 0; i < kTasks; ++i) tasks.push_back(Task(absl::StrCat("t", i)));
  ASSERT_TRUE(queue_->Enqueue("c", tasks).ok());
  std::vector<std::unique_ptr<TaskQueue>> servers;
  for (int i = 0; i < 2; ++i) servers.push_back(Open());
  absl::Mutex mutex;
  std::map<std::string, int> given;
  std::atomic<int> accepted{0};
  std::vector<std::thread> workers;
  for (int w = 0; w < 8; ++w) {
    workers.emplace_back([&, w] {
      TaskQueue& server = *servers[static_cast<size_t>(w) % servers.size()];
      const std::string name = absl::StrCat("w", w);
      while (true) {
        const std::vector<std::string> ids = Ids(server.Lease("cpu", name, 7, absl::Seconds(60)));
        if (ids.empty()) return;
        for (const std::string& id : ids) {
          absl::MutexLock lock(&mutex);
          ++given[id];
        }
        for (const std::string& id : ids) {
          StoredMeasurement measurement = MeasurementOf(id);
          accepted += *server.Report(name, &measurement) == ReportOutcome::accepted;
        }
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  EXPECT_EQ(given.size(), static_cast<size_t>(kTasks));
  for (const auto& [id, times] : given) EXPECT_EQ(times, 1) << id;
  EXPECT_EQ(accepted, kTasks);
  EXPECT_EQ((*OpenStore(location_))->Counts()->measurements, kTasks);
}

TEST_P(TaskQueueTest, ARestartOfTheDatabaseIsWaitedOut) {
  if (!IsPostgresTest()) GTEST_SKIP() << "SQLite has no server";
  ASSERT_TRUE(queue_->Enqueue("c", {Task("a"), Task("b")}).ok());
  ASSERT_THAT(Ids(Lease("w", 1)), ElementsAre("a"));
  ASSERT_TRUE(Server().Stop("immediate").ok());
  std::thread starter([] {
    absl::SleepFor(absl::Milliseconds(500));
    EXPECT_TRUE(Server().Start().ok());
  });
  EXPECT_EQ(*Report("w", MeasurementOf("a")), ReportOutcome::accepted);
  starter.join();
  EXPECT_THAT(Ids(Lease("w")), ElementsAre("b"));
  EXPECT_EQ(StateOf("a"), TaskState::done);
}

TEST_P(TaskQueueTest, ADatabaseThatStaysAwayIsUnavailable) {
  if (!IsPostgresTest()) GTEST_SKIP() << "SQLite has no server";
  SqlOptions impatient;
  impatient.patience = absl::Milliseconds(100);
  auto database = OpenDatabase(location_, impatient);
  ASSERT_TRUE(database.ok());
  TaskQueue queue(*std::move(database));
  ASSERT_TRUE(Server().Stop("fast").ok());
  EXPECT_TRUE(absl::IsUnavailable(queue.Enqueue("c", {Task("a")}).status()));
  ASSERT_TRUE(Server().Start().ok());
  EXPECT_THAT(*queue.Enqueue("c", {Task("a")}), ElementsAre(true));
}

}  // namespace
}  // namespace cobra::store
