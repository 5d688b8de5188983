#include "store/queue/task_lease.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/limit_message.h"
#include "store/queue/task_subject.h"

namespace cobra::store {
namespace {

// A lease of a started task that has run out.
struct Loss {
  int64_t seq = 0;
  std::string worker;
  int64_t attempts = 0, max_attempts = 0;
  // Of the losses before.
  std::string lost_by;
  int64_t lost_us = 0;
  bool lost_by_several = false;
};

// What a loss may say about its task.
enum class Fault {
  kPossible,  // it may have ended its worker
  kTooSoon,   // the same, but that worker has lost one just before: it cannot have died again
  kOther,     // another task that the worker has lost with it was started later
};

// The task returns to the queue, or is poisoned. `alone`: no other worker than this one is active.
absl::Status NoteLoss(SqlSession& session, const Loss& loss, bool alone, Fault fault, int64_t now_us) {
  const bool is_apart = now_us - loss.lost_us >= absl::ToInt64Microseconds(TaskQueue::kLossesApart);
  const bool counts = is_apart && fault == Fault::kPossible;
  const int64_t attempts = loss.attempts + (counts ? 1 : 0);
  const bool several = loss.lost_by_several || (counts && loss.attempts > 0 && loss.lost_by != loss.worker);
  const bool poisoned = counts && attempts >= loss.max_attempts && (several || alone);
  const std::string message =
      absl::StrCat("started ", Counted(attempts, "time"), " without a result; the last worker was ", loss.worker);
  return session.Execute(
      R"sql(UPDATE tasks SET state = $2, message = $3, attempts = $4, lost_by = $5, lost_us = $6,
                             lost_by_several = $7, started = 0, changed_us = $8
            WHERE seq = $1)sql",
      {loss.seq, std::string(TaskStateName(poisoned ? TaskState::poisoned : TaskState::queued)),
       poisoned ? message : "", attempts, loss.worker, is_apart && fault != Fault::kTooSoon ? now_us : loss.lost_us,
       int64_t{several}, now_us});
}

// Whether the worker has lost a task within kLossesApart.
absl::StatusOr<bool> HasJustLost(SqlSession& session, const std::string& worker, int64_t now_us) {
  const int64_t since_us = now_us - absl::ToInt64Microseconds(TaskQueue::kLossesApart);
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      session.Query("SELECT seq FROM tasks WHERE lost_by = $1 AND lost_us > $2 LIMIT 1", {worker, since_us}));
  return !rows.empty();
}

}  // namespace

absl::StatusOr<bool> IsOnlyWorker(SqlSession& session, absl::string_view target, absl::string_view worker,
                                  int64_t since_us) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> others,
                         session.Query(R"sql(SELECT seq FROM tasks WHERE target = $1 AND worker <> '' AND worker <> $2
                                             AND changed_us >= $3 LIMIT 1)sql",
                                       {std::string(target), std::string(worker), since_us}));
  return others.empty();
}

namespace {

// Ends the leases of the target that have expired at `now`. Their tasks are queued again; one that
// its worker had started counts as lost, and is poisoned if it was lost too often.
absl::Status ExpireLeases(SqlSession& session, absl::string_view target, absl::Time now) {
  constexpr int64_t kLossesAtOnce = 1000;  // the next Lease finds the others
  const int64_t now_us = absl::ToUnixMicros(now);
  COBRA_RETURN_IF_ERROR(session.Execute(
      R"sql(UPDATE tasks SET state = 'queued', changed_us = $2
            WHERE target = $1 AND state = 'leased' AND expires_us <= $2 AND started = 0)sql",
      {std::string(target), now_us}));
  // Of each worker the task first that it has started last: it measures one at a time.
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      session.Query(R"sql(SELECT seq, worker, attempts, max_attempts, lost_by, lost_us, lost_by_several FROM tasks
                          WHERE target = $1 AND state = 'leased' AND expires_us <= $2 AND started > 0
                          ORDER BY started DESC, seq LIMIT $3 {skip_locked})sql",
                    {std::string(target), now_us, kLossesAtOnce}));
  std::map<std::string, bool> alone;
  for (const SqlRow& row : rows) {
    const Loss loss = {row.Int(0), row.Text(1), row.Int(2), row.Int(3), row.Text(4), row.Int(5), row.Int(6) != 0};
    const auto [worker, is_first] = alone.try_emplace(loss.worker, false);
    Fault fault = Fault::kOther;
    if (is_first) {
      COBRA_ASSIGN_OR_RETURN(worker->second, IsOnlyWorker(session, target, loss.worker,
                                                          absl::ToUnixMicros(now - TaskQueue::kOtherIsActive)));
      COBRA_ASSIGN_OR_RETURN(const bool has_just_lost, HasJustLost(session, loss.worker, now_us));
      fault = has_just_lost ? Fault::kTooSoon : Fault::kPossible;
    }
    COBRA_RETURN_IF_ERROR(NoteLoss(session, loss, worker->second, fault, now_us));
  }
  return absl::OkStatus();
}

// How many tasks the worker may be given: it does not hold all there are, and fewer after it has
// lost many.
absl::StatusOr<int64_t> TasksFor(SqlSession& session, absl::string_view target, absl::string_view worker,
                                 int64_t max_tasks, absl::Time now) {
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> held,
      session.Query("SELECT COUNT(*) FROM tasks WHERE target = $1 AND state = 'leased' AND worker = $2",
                    {std::string(target), std::string(worker)}));
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> losses,
      session.Query("SELECT COUNT(*) FROM tasks WHERE lost_by = $1 AND lost_us > $2 AND target = $3",
                    {std::string(worker), absl::ToUnixMicros(now - TaskQueue::kLossAvoided), std::string(target)}));
  const int64_t most = losses[0].Int(0) < TaskQueue::kMostLosses ? TaskQueue::kMaxHeld : 1;
  return std::min(max_tasks, std::max<int64_t>(0, most - held[0].Int(0)));
}

// The tasks to give to the worker, by `seq`, in their order. Those too large for any worker are
// poisoned.
absl::StatusOr<std::vector<int64_t>> ChooseTasks(SqlSession& session, absl::string_view target,
                                                 absl::string_view worker, int64_t max_tasks, absl::Time now) {
  const auto is_only = [&](absl::Duration within) {
    return IsOnlyWorker(session, target, worker, absl::ToUnixMicros(now - within));
  };
  COBRA_ASSIGN_OR_RETURN(const bool only_confirmer, is_only(TaskQueue::kWorkerIsActive));
  COBRA_ASSIGN_OR_RETURN(const bool alone, is_only(TaskQueue::kOtherIsActive));
  // The subjects stay where they are: some may be of any size.
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                         session.Query(R"sql(SELECT seq, bytes FROM tasks
                                             WHERE target = $1 AND state = 'queued' AND (avoid_worker <> $2 OR $3 = 1)
                                                   AND (lost_by <> $2 OR lost_us <= $4 OR $5 = 1)
                                             ORDER BY priority DESC, seq LIMIT $6 {skip_locked})sql",
                                       {std::string(target), std::string(worker), int64_t{only_confirmer},
                                        absl::ToUnixMicros(now - TaskQueue::kLossAvoided), int64_t{alone}, max_tasks}));
  std::vector<int64_t> chosen;
  int64_t total_bytes = 0;
  for (const SqlRow& row : rows) {
    const int64_t bytes = row.Int(1);
    if (bytes > kMaxSubjectBytes) {
      const std::string message = absl::StrCat(LimitMessage("the task", bytes, kMaxSubjectBytes, "bytes"),
                                               ", so that no worker is given it: enqueue it again");
      COBRA_RETURN_IF_ERROR(session.Execute(R"sql(UPDATE tasks SET state = 'poisoned', message = $2, changed_us = $3,
                                                                   subject_json = '', bytes = 0
                                                  WHERE seq = $1)sql",
                                            {row.Int(0), message, absl::ToUnixMicros(now)}));
      continue;
    }
    if (!chosen.empty() && total_bytes + bytes > TaskQueue::kMaxLeaseBytes) break;
    total_bytes += bytes;
    chosen.push_back(row.Int(0));
  }
  return chosen;
}

}  // namespace

absl::StatusOr<std::vector<TaskLease>> LeaseTasks(SqlSession& session, absl::string_view target,
                                                  absl::string_view worker, int64_t max_tasks, absl::Time now,
                                                  absl::Time expires) {
  COBRA_RETURN_IF_ERROR(ExpireLeases(session, target, now));
  COBRA_ASSIGN_OR_RETURN(const int64_t most, TasksFor(session, target, worker, max_tasks, now));
  COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> chosen, ChooseTasks(session, target, worker, most, now));
  std::vector<TaskLease> leases;
  for (const int64_t seq : chosen) {
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        session.Query(
            R"sql(UPDATE tasks SET state = 'leased', worker = $1, started = 0, expires_us = $2, changed_us = $3
                  WHERE seq = $4 RETURNING id, priority, origin, subject_json, max_attempts, attempts)sql",
            {std::string(worker), absl::ToUnixMicros(expires), absl::ToUnixMicros(now), seq}));
    for (const SqlRow& r : rows) {
      leases.push_back({{r.Text(0), std::string(target), r.Int(1), r.Text(2), r.Text(3), r.Int(4)}, r.Int(5), expires});
    }
  }
  return leases;
}

absl::StatusOr<std::vector<bool>> RenewLeases(SqlSession& session, absl::string_view worker,
                                              absl::Span<const std::string> ids, absl::Span<const std::string> started,
                                              absl::Time now, absl::Time expires) {
  const absl::flat_hash_set<std::string> running(started.begin(), started.end());
  std::vector<bool> held;
  for (const std::string& id : ids) {
    const int64_t started_us = running.contains(id) ? absl::ToUnixMicros(now) : 0;
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           session.Query(R"sql(UPDATE tasks SET expires_us = $3,
                                   started = CASE WHEN started > 0 AND CAST($4 AS BIGINT) > 0 THEN started
                                                  ELSE CAST($4 AS BIGINT) END
                            WHERE id = $1 AND worker = $2 AND state = 'leased' RETURNING seq)sql",
                                         {id, std::string(worker), absl::ToUnixMicros(expires), started_us}));
    held.push_back(!rows.empty());
  }
  return held;
}

}  // namespace cobra::store
