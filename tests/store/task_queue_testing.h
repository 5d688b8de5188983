// A task queue on each database, with a clock that the test sets.
#ifndef COBRA_TESTS_STORE_TASK_QUEUE_TESTING_H_
#define COBRA_TESTS_STORE_TASK_QUEUE_TESTING_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "store/queue/task_queue.h"
#include "tests/store/a_graph.h"
#include "tests/store/databases.h"

namespace cobra::store {

inline TaskSpec Task(const std::string& id, int64_t priority = 0) {
  TaskSpec task;
  task.id = id;
  task.target = "cpu";
  task.priority = priority;
  task.origin = "test";
  task.subject_json = absl::StrCat("{\"of\":\"", id, "\"}");
  return task;
}

inline StoredMeasurement MeasurementOf(const std::string& id, double latency_us = 1) {
  StoredMeasurement stored;
  stored.time = absl::FromUnixSeconds(1);
  stored.task_id = id;
  SetGraph(AGraph(), &stored.measurement.subject);
  stored.measurement.latency.median_us = latency_us;
  return stored;
}

inline std::vector<std::string> Ids(const absl::StatusOr<std::vector<TaskLease>>& leases) {
  std::vector<std::string> ids;
  EXPECT_TRUE(leases.ok()) << leases.status();
  if (leases.ok()) {
    for (const TaskLease& lease : *leases) ids.push_back(lease.spec.id);
  }
  return ids;
}

class TaskQueueTest : public DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    if (IsSkipped()) return;
    queue_ = Open();
  }

  std::unique_ptr<TaskQueue> Open() {
    SqlOptions options;
    options.patience = absl::Seconds(60);  // a PostgreSQL that recovers on a busy machine takes its time
    auto database = OpenDatabase(location_, options);
    EXPECT_TRUE(database.ok()) << database.status();
    const absl::Status prepared = PrepareSchema(database->get());
    EXPECT_TRUE(prepared.ok()) << prepared;
    return std::make_unique<TaskQueue>(*std::move(database), [this] { return now_; });
  }

  TaskState StateOf(const std::string& id) {
    auto status = queue_->Get({id});
    EXPECT_TRUE(status.ok() && status->size() == 1) << status.status();
    return (*status)[0].state;
  }
  absl::StatusOr<ReportOutcome> Report(const std::string& worker, StoredMeasurement measurement) {
    return queue_->Report(worker, &measurement);
  }
  absl::StatusOr<std::vector<TaskLease>> Lease(const std::string& worker, int64_t count = 10) {
    return queue_->Lease("cpu", worker, count, absl::Seconds(60));
  }

  absl::Time now_ = absl::FromUnixSeconds(1000000);
  std::unique_ptr<TaskQueue> queue_;
};

}  // namespace cobra::store

#endif  // COBRA_TESTS_STORE_TASK_QUEUE_TESTING_H_
