// What is to be measured, and which worker measures it. A task is leased to one worker for a while;
// when the lease runs out without a report, the task goes to another one. A task ends once: done
// (its measurement is in the store), cancelled, or poisoned (too many workers died while measuring
// it).
//
// A report names the task, and its worker must hold the task's lease or have held it last: one that
// arrives after the lease has run out is stored too, unless another worker has the task now. One
// that arrives twice is stored once.
//
// A measurement that nobody should learn from yet is held (review.h). The queue then enqueues the
// same subject again, at most kMaxConfirmations times. A worker does not get its own measurement to
// confirm, unless no other worker has been active for the target within kWorkerIsActive.
//
// Callers request tasks. One caller's request cannot be withdrawn by another one, and a cancelled
// task that is requested again is queued again, with new attempts. So is a poisoned one, if whoever
// requests it may revive it. What has not ended is bounded, for each caller and for all
// (QueueShare). The subject of a task that is done is dropped: its measurement has it. Of cancelled
// tasks, the oldest are dropped.
//
// Where leases are given, renewed and expire: task_lease.h.
//
// Attempts are counted where a worker has reported that it started the task (Renew): the other
// tasks that it had leased when it died were not at fault. It measures one at a time: of those that
// it has reported and lost together, only the one that it started last may have ended it. A worker
// may report so without measuring anything. So that it cannot poison what others could measure, nor
// a whole queue:
// - losses of one task count once within kLossesApart, and so do those of one worker, whatever it
//   loses then;
// - as long as another worker is active for the target (kOtherIsActive), a task is poisoned only if
//   different workers have lost it, and the one that lost it last does not get it for
//   kLossAvoided;
// - a worker that has lost kMostLosses tasks within kLossAvoided holds one task at a time.
// If there is only one worker, a task that ends it is poisoned after max_attempts.
#ifndef COBRA_STORE_QUEUE_TASK_QUEUE_H_
#define COBRA_STORE_QUEUE_TASK_QUEUE_H_

#include <cstdint>
#include <functional>
#include <limits>
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
#include "store/sql/sql.h"
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
  // 32 hexadecimal digits (TaskId); enqueued again under the same id, it is the same task.
  std::string id;
  // Name of the target (device, runtime, precision, threads) that measures it.
  std::string target;
  // Higher ones first; equal ones in the order of arrival.
  int64_t priority = 0;
  // Who requested it: "asked", "active", or a user's name for it.
  std::string origin;
  // What is measured (store/queue/task_subject.h); the queue does not look inside.
  std::string subject_json;
  // Starts without a result before it is given up.
  int64_t max_attempts = 3;
};

struct TaskLease {
  TaskSpec spec;
  // Starts so far without a result.
  int64_t attempts = 0;
  absl::Time expires;
};

struct TaskStatus {
  std::string id;
  // The target that measures it.
  std::string target;
  TaskState state = TaskState::queued;
  int64_t attempts = 0;
  // The worker that holds it, or held it last.
  std::string worker;
  // Why it is poisoned.
  std::string message;
  absl::Time changed;
};

struct FoundTask {
  TaskSpec spec;
  TaskStatus status;
};

struct QueueCount {
  std::string target;
  TaskState state = TaskState::queued;
  int64_t tasks = 0;
};

// What a caller may have in the queue that has not ended: queued, leased or poisoned. Nothing is
// enqueued beyond it.
struct QueueShare {
  static constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();
  // Requested by the caller, and their subjects.
  int64_t max_caller_tasks = kUnlimited, max_caller_bytes = kUnlimited;
  // Of all callers together.
  int64_t max_tasks = kUnlimited, max_bytes = kUnlimited;
  // The caller's request gives poisoned tasks new attempts.
  bool revives_poisoned = false;
};

enum class ReportOutcome { accepted, held, duplicate, unknown, not_leased };

class TaskQueue {
 public:
  using Clock = std::function<absl::Time()>;
  static constexpr int64_t kMaxTasksPerCall = 1000;
  // Further ones would keep a worker busy with a subject whose times do not repeat.
  static constexpr int64_t kMaxConfirmations = 3;
  // After a day without a task, a worker is not waited for any longer.
  static constexpr absl::Duration kWorkerIsActive = absl::Hours(24);
  // Of the subjects of one Lease. The first task is given in any case: none is larger than
  // kMaxSubjectBytes.
  static constexpr int64_t kMaxLeaseBytes = int64_t{12} << 20;
  // Two machines do not fail at one task within less, unless somebody wants it to look so.
  static constexpr absl::Duration kLossesApart = absl::Minutes(1);
  static constexpr absl::Duration kLossAvoided = absl::Minutes(10);
  static constexpr absl::Duration kOtherIsActive = absl::Hours(1);
  static constexpr int64_t kMostLosses = 8;
  // Of one target by one worker: eight times what a worker keeps in its spool.
  static constexpr int64_t kMaxHeld = 1'000;
  // Cancelled tasks that are kept, so that their records count and who watches them learns of it.
  static constexpr int64_t kMaxCancelled = 50'000;
  static constexpr int64_t kMaxCancelledBytes = int64_t{256} << 20;
  // The caller of what the server itself enqueues.
  static constexpr char kServer[] = "server:";

  // The database's schema must be prepared (store.h).
  explicit TaskQueue(std::unique_ptr<SqlDatabase> database, Clock clock = absl::Now);

  // A call ends at its deadline with DeadlineExceeded.

  // For each task whether it is new, or queued again after it was cancelled or, if the share says
  // so, poisoned. A task that waits already gets the higher priority and number of attempts of the
  // two. ResourceExhausted: there would be more than the share; nothing is enqueued then.
  absl::StatusOr<std::vector<bool>> Enqueue(absl::string_view caller, absl::Span<const TaskSpec> tasks,
                                            absl::Time deadline = absl::InfiniteFuture(), const QueueShare& share = {});
  // At most `max_tasks` and kMaxLeaseBytes for that target, highest priority first. A task that is
  // too large to be sent, which an earlier server may have stored, is poisoned. `worker` names one
  // worker for as long as it may report what it leased.
  absl::StatusOr<std::vector<TaskLease>> Lease(absl::string_view target, absl::string_view worker, int64_t max_tasks,
                                               absl::Duration duration, absl::Time deadline = absl::InfiniteFuture());
  // For each task whether it is still that worker's. `started`: the ones being measured now, a
  // subset of `ids`.
  absl::StatusOr<std::vector<bool>> Renew(absl::string_view worker, absl::Span<const std::string> ids,
                                          absl::Span<const std::string> started, absl::Duration duration,
                                          absl::Time deadline = absl::InfiniteFuture());
  // Releases tasks that were not started.
  absl::Status Release(absl::string_view worker, absl::Span<const std::string> ids,
                       absl::Time deadline = absl::InfiniteFuture());
  // Nobody leases the task any more, because no worker could read it. Its subject is dropped;
  // whoever revives the task brings it.
  absl::Status Poison(absl::string_view id, absl::string_view message, absl::Time deadline = absl::InfiniteFuture());
  // NotFound if the queue never had it.
  absl::StatusOr<FoundTask> Find(absl::string_view id, absl::Time deadline = absl::InfiniteFuture());
  // `measurement->task_id` names the task; target, origin, worker and `held` are filled in. Only
  // `accepted` and `held` measurements are stored.
  absl::StatusOr<ReportOutcome> Report(absl::string_view worker, StoredMeasurement* measurement,
                                       absl::Time deadline = absl::InfiniteFuture());
  // Withdraws the caller's requests. For each task whether this call cancelled it: not if it is
  // done or cancelled, or somebody else has requested it.
  absl::StatusOr<std::vector<bool>> Cancel(absl::string_view caller, absl::Span<const std::string> ids,
                                           absl::Time deadline = absl::InfiniteFuture());

  // In the order of `ids`, without tasks that the queue never had.
  absl::StatusOr<std::vector<TaskStatus>> Get(absl::Span<const std::string> ids,
                                              absl::Time deadline = absl::InfiniteFuture());
  // What has changed at or after `since`, oldest change first.
  absl::StatusOr<std::vector<TaskStatus>> ChangedSince(absl::Time since, absl::Time deadline = absl::InfiniteFuture());
  absl::StatusOr<std::vector<QueueCount>> Counts();
  // Queued or leased.
  absl::StatusOr<int64_t> Waiting(absl::string_view origin, absl::Time deadline = absl::InfiniteFuture());
  // By the queue's clock, never less than before.
  absl::Time Now();

 private:
  const std::unique_ptr<SqlDatabase> database_;
  const Clock clock_;
  absl::Mutex mutex_;
  // A clock that is set back does not revive leases.
  absl::Time latest_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
};

}  // namespace cobra::store

#endif  // COBRA_STORE_QUEUE_TASK_QUEUE_H_
