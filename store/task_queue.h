// What is to be measured, and who is at it. A task is leased to one worker for a while; what is not handed in by then
// goes to another one. A task ends once: done (its measurement is in the store), cancelled, or poisoned (it took its
// worker along too often).
//
// Handing in is by the task's id: a record that arrives twice, or from two workers that both thought the lease theirs,
// is stored once, the first one; one that arrives after its lease has run out is stored too, because a measurement is a
// measurement.
//
// Attempts are counted where a worker has said that it started the task (Renew): the others that it had leased when it
// died were not at fault.
#ifndef COBRA_STORE_TASK_QUEUE_H_
#define COBRA_STORE_TASK_QUEUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "store/sql.h"
#include "store/store.h"

namespace cobra::store {

#define COBRA_TASK_STATES(X) X(queued) X(leased) X(done) X(cancelled) X(poisoned)
enum class TaskState {
#define COBRA_TASK_STATE(name) name,
  COBRA_TASK_STATES(COBRA_TASK_STATE)
#undef COBRA_TASK_STATE
};
absl::string_view TaskStateName(TaskState state);

struct TaskSpec {
  std::string id;            // 32 hexadecimal digits; enqueued again under the same id, it is the same task
  std::string target;        // name of the target (device, runtime, precision, threads) that measures it
  int64_t priority = 0;      // higher ones first; equal ones in the order of their coming
  std::string origin;        // who wants it: "asked", "active", a user's word
  std::string subject_json;  // what is measured (store/task_subject.h); the queue does not look inside
  int64_t max_attempts = 3;  // starts that no result came of
};

struct TaskLease {
  TaskSpec spec;
  int64_t attempts = 0;  // starts so far that no result came of
  absl::Time expires;
};

struct TaskStatus {
  std::string id;
  TaskState state = TaskState::queued;
  int64_t attempts = 0;
  std::string worker;   // that has it, or had it last
  std::string message;  // why it is poisoned
  absl::Time changed;
};

struct QueueCount {
  std::string target;
  TaskState state = TaskState::queued;
  int64_t tasks = 0;
};

enum class ReportOutcome { accepted, duplicate, unknown };

class TaskQueue {
 public:
  using Clock = std::function<absl::Time()>;
  static constexpr int64_t kMaxTasksPerCall = 1000;

  // The database's schema must be prepared (store.h).
  explicit TaskQueue(std::unique_ptr<SqlDatabase> database, Clock clock = absl::Now);

  // For each task whether it is new.
  absl::StatusOr<std::vector<bool>> Enqueue(absl::Span<const TaskSpec> tasks);
  // At most `max_tasks` for that target, most urgent first. `worker` names one worker for as long as it may come back
  // with what it leased.
  absl::StatusOr<std::vector<TaskLease>> Lease(absl::string_view target, absl::string_view worker, int64_t max_tasks,
                                               absl::Duration duration);
  // For each task whether it is still that worker's. `started`: the ones being measured now, a subset of `ids`.
  absl::StatusOr<std::vector<bool>> Renew(absl::string_view worker, absl::Span<const std::string> ids,
                                          absl::Span<const std::string> started, absl::Duration duration);
  // Gives back what was not started.
  absl::Status Release(absl::string_view worker, absl::Span<const std::string> ids);
  // `record->task_id` names the task; target and origin are filled in from it. `unknown`: the queue never had it,
  // nothing is stored.
  absl::StatusOr<ReportOutcome> Report(absl::string_view worker, MeasurementRecord* record);
  // For each task whether it is cancelled now; what has been measured, or is cancelled already, is not.
  absl::StatusOr<std::vector<bool>> Cancel(absl::Span<const std::string> ids);

  // In the order asked; without those that the queue never had.
  absl::StatusOr<std::vector<TaskStatus>> Get(absl::Span<const std::string> ids);
  // What has changed at or after `since`, oldest change first.
  absl::StatusOr<std::vector<TaskStatus>> ChangedSince(absl::Time since);
  absl::StatusOr<std::vector<QueueCount>> Counts();
  absl::StatusOr<int64_t> Waiting(absl::string_view origin);  // queued or leased
  absl::Time Now();                                           // by the queue's clock, never less than before

 private:
  absl::Status Expire(SqlSession& session, absl::string_view target, int64_t now_us);

  const std::unique_ptr<SqlDatabase> database_;
  const Clock clock_;
  absl::Mutex mutex_;
  absl::Time latest_ ABSL_GUARDED_BY(mutex_) =
      absl::InfinitePast();  // a clock that is set back does not bring leases to life again
};

}  // namespace cobra::store

#endif  // COBRA_STORE_TASK_QUEUE_H_
