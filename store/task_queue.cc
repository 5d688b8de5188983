#include "store/task_queue.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/hash.h"
#include "base/limit_message.h"
#include "base/status_macros.h"
#include "store/review.h"

namespace cobra::store {
namespace {

TaskState StateFromName(absl::string_view name) {
#define COBRA_TASK_STATE(value) \
  if (name == #value) return TaskState::value;
  COBRA_TASK_STATES(COBRA_TASK_STATE)
#undef COBRA_TASK_STATE
  return TaskState::queued;
}

// Columns id, target, state, attempts, worker, message, changed_us.
TaskStatus StatusOf(const SqlRow& row) {
  return {row.Text(0), row.Text(1), StateFromName(row.Text(2)),      row.Int(3),
          row.Text(4), row.Text(5), absl::FromUnixMicros(row.Int(6))};
}

std::string HeldMessage(absl::string_view held) { return held.empty() ? "" : absl::StrCat("held: ", held); }

absl::Status CheckCount(int64_t count) {
  if (count <= TaskQueue::kMaxTasksPerCall) return absl::OkStatus();
  return absl::InvalidArgumentError(LimitMessage("one call", count, TaskQueue::kMaxTasksPerCall, "tasks"));
}

// Which measurement a task is to confirm: the task of that measurement, and the worker that should not do it.
struct Confirmation {
  std::string of, avoid_worker;
};

// False if the task exists already.
absl::StatusOr<bool> InsertTask(SqlSession& session, const TaskSpec& t, const Confirmation& confirmation,
                                int64_t now_us) {
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      session.Query(
          R"sql(INSERT INTO tasks (id, target, priority, origin, subject_json, max_attempts, state, enqueued_us,
                                   changed_us, confirms, avoid_worker)
                VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7, $7, $8, $9) ON CONFLICT (id) DO NOTHING
                RETURNING seq)sql",
          {t.id, t.target, t.priority, t.origin, t.subject_json, std::max<int64_t>(1, t.max_attempts), now_us,
           confirmation.of, confirmation.avoid_worker}));
  return !rows.empty();
}

// A task that exists and is requested again. True if it was cancelled.
absl::StatusOr<bool> RequestAgain(SqlSession& session, const TaskSpec& t, int64_t now_us) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> revived,
                         session.Query(R"sql(UPDATE tasks SET state = 'queued', started = 0, changed_us = $2
                                             WHERE id = $1 AND state = 'cancelled' RETURNING seq)sql",
                                       {t.id, now_us}));
  // Otherwise whoever requests it first, with the lowest priority, decides for everybody.
  COBRA_RETURN_IF_ERROR(
      session.Execute("UPDATE tasks SET priority = $2 WHERE id = $1 AND priority < $2", {t.id, t.priority}));
  COBRA_RETURN_IF_ERROR(session.Execute("UPDATE tasks SET max_attempts = $2 WHERE id = $1 AND max_attempts < $2",
                                        {t.id, t.max_attempts}));
  return !revived.empty();
}

absl::Status AddRequest(SqlSession& session, absl::string_view id, absl::string_view caller) {
  return session.Execute("INSERT INTO task_requests (task_id, caller) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                         {std::string(id), std::string(caller)});
}

// Whether no other worker than `worker` has been active for the target.
absl::StatusOr<bool> IsOnlyWorker(SqlSession& session, absl::string_view target, absl::string_view worker,
                                  int64_t since_us) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> others,
                         session.Query(R"sql(SELECT seq FROM tasks WHERE target = $1 AND worker <> '' AND worker <> $2
                                             AND changed_us >= $3 LIMIT 1)sql",
                                       {std::string(target), std::string(worker), since_us}));
  return others.empty();
}

// Reviews the stored measurements of the subject together with `stored`, and sets `held` of all of them.
absl::Status ReviewSubject(SqlSession& session, bool one_worker, StoredMeasurement* stored) {
  constexpr int64_t kMostRows = 64;  // repetitions of one subject that count
  const Subject& subject = stored->measurement.subject;
  // The text of the graph, and not only its fingerprint, which different graphs may be made to share.
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                         session.Query(R"sql(SELECT id, task_id, latency_us, worker, doubt, held FROM measurements
                          WHERE fingerprint = $1 AND target = $2 AND graph_json = $3 AND outcome = 'ok'
                                AND task_id IS NOT NULL ORDER BY id LIMIT $4)sql",
                                       {subject.fingerprint, stored->target, subject.graph_json, kMostRows}));
  std::vector<ReviewedMeasurement> reviewed;
  for (const SqlRow& row : rows) reviewed.push_back({row.Real(2), row.Text(3), row.Text(4), row.Text(5)});
  reviewed.push_back({stored->measurement.latency.median_us, stored->provenance.worker, stored->doubt, ""});
  Review(one_worker, &reviewed);
  stored->held = reviewed.back().held;
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string& held = reviewed[i].held;
    if (held == rows[i].Text(5)) continue;
    COBRA_RETURN_IF_ERROR(session.Execute("UPDATE measurements SET held = $2 WHERE id = $1", {rows[i].Int(0), held}));
    COBRA_RETURN_IF_ERROR(
        session.Execute("UPDATE tasks SET message = $2 WHERE id = $1", {rows[i].Text(1), HeldMessage(held)}));
  }
  return absl::OkStatus();
}

// Enqueues the subject of a held measurement again, for another worker.
absl::Status RequestConfirmation(SqlSession& session, const TaskSpec& held_task, const std::string& root,
                                 absl::string_view worker, int64_t now_us) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                         session.Query("SELECT COUNT(*) FROM tasks WHERE confirms = $1", {root}));
  if (rows[0].Int(0) >= TaskQueue::kMaxConfirmations) return absl::OkStatus();
  TaskSpec task = held_task;
  task.id = Sha256Hex(absl::StrCat("confirmation ", rows[0].Int(0), " of ", root)).substr(0, 32);
  COBRA_RETURN_IF_ERROR(InsertTask(session, task, {root, std::string(worker)}, now_us).status());
  return AddRequest(session, task.id, TaskQueue::kServer);
}

}  // namespace

absl::string_view TaskStateName(TaskState state) {
  switch (state) {
#define COBRA_TASK_STATE(value) \
  case TaskState::value: return #value;
    COBRA_TASK_STATES(COBRA_TASK_STATE)
#undef COBRA_TASK_STATE
  }
  return "queued";
}

TaskQueue::TaskQueue(std::unique_ptr<SqlDatabase> database, Clock clock)
    : database_(std::move(database)), clock_(std::move(clock)) {}

absl::Time TaskQueue::Now() {
  absl::MutexLock lock(&mutex_);
  latest_ = std::max(latest_, clock_());
  return latest_;
}

absl::StatusOr<std::vector<bool>> TaskQueue::Enqueue(absl::string_view caller, absl::Span<const TaskSpec> tasks,
                                                     absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(tasks.size())));
  const int64_t now_us = absl::ToUnixMicros(Now());
  std::vector<bool> created;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    created.clear();
    for (const TaskSpec& task : tasks) {
      COBRA_ASSIGN_OR_RETURN(const bool is_new, InsertTask(session, task, {}, now_us));
      COBRA_ASSIGN_OR_RETURN(const bool again, is_new ? false : RequestAgain(session, task, now_us));
      created.push_back(is_new || again);
      COBRA_RETURN_IF_ERROR(AddRequest(session, task.id, caller));
    }
    return absl::OkStatus();
  }));
  return created;
}

// Expired leases: the task returns to the queue, or is poisoned if too many workers died at it.
absl::Status TaskQueue::Expire(SqlSession& session, absl::string_view target, int64_t now_us) {
  COBRA_RETURN_IF_ERROR(session.Execute(
      R"sql(UPDATE tasks
            SET state = 'poisoned', attempts = attempts + 1, changed_us = $2,
                message = 'started ' || (attempts + 1) || ' times without a result; the last worker was ' || worker
            WHERE target = $1 AND state = 'leased' AND expires_us <= $2 AND started = 1
                  AND attempts + 1 >= max_attempts)sql",
      {std::string(target), now_us}));
  return session.Execute(
      R"sql(UPDATE tasks SET state = 'queued', attempts = attempts + started, started = 0, changed_us = $2
            WHERE target = $1 AND state = 'leased' AND expires_us <= $2)sql",
      {std::string(target), now_us});
}

absl::StatusOr<std::vector<TaskLease>> TaskQueue::Lease(absl::string_view target, absl::string_view worker,
                                                        int64_t max_tasks, absl::Duration duration,
                                                        absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(max_tasks));
  const absl::Time now = Now(), expires = now + duration;
  const int64_t now_us = absl::ToUnixMicros(now);
  std::vector<std::pair<int64_t, TaskLease>> leased;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    leased.clear();
    COBRA_RETURN_IF_ERROR(Expire(session, target, now_us));
    COBRA_ASSIGN_OR_RETURN(const bool alone,
                           IsOnlyWorker(session, target, worker, absl::ToUnixMicros(now - kWorkerIsActive)));
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        session.Query(
            R"sql(UPDATE tasks SET state = 'leased', worker = $1, started = 0, expires_us = $2, changed_us = $3
                  WHERE seq IN (SELECT seq FROM tasks
                                WHERE target = $4 AND state = 'queued' AND (avoid_worker <> $1 OR $6 = 1)
                                ORDER BY priority DESC, seq LIMIT $5 {skip_locked})
                  RETURNING seq, id, priority, origin, subject_json, max_attempts, attempts)sql",
            {std::string(worker), absl::ToUnixMicros(expires), now_us, std::string(target), max_tasks,
             int64_t{alone}}));
    for (const SqlRow& r : rows) {
      leased.push_back(
          {r.Int(0), {{r.Text(1), std::string(target), r.Int(2), r.Text(3), r.Text(4), r.Int(5)}, r.Int(6), expires}});
    }
    return absl::OkStatus();
  }));
  std::sort(leased.begin(), leased.end(), [](const auto& a, const auto& b) {  // RETURNING guarantees no order
    return a.second.spec.priority != b.second.spec.priority ? a.second.spec.priority > b.second.spec.priority
                                                            : a.first < b.first;
  });
  std::vector<TaskLease> leases;
  for (auto& [seq, lease] : leased) leases.push_back(std::move(lease));
  return leases;
}

absl::StatusOr<std::vector<bool>> TaskQueue::Renew(absl::string_view worker, absl::Span<const std::string> ids,
                                                   absl::Span<const std::string> started, absl::Duration duration,
                                                   absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  const absl::Time now = Now();
  const absl::flat_hash_set<std::string> running(started.begin(), started.end());
  std::vector<bool> held;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    held.clear();
    for (const std::string& id : ids) {
      const bool runs = running.contains(id);
      COBRA_ASSIGN_OR_RETURN(
          const std::vector<SqlRow> rows,
          session.Query(R"sql(UPDATE tasks SET expires_us = $3, started = $4
                              WHERE id = $1 AND worker = $2 AND state = 'leased' RETURNING seq)sql",
                        {id, std::string(worker), absl::ToUnixMicros(now + duration), int64_t{runs}}));
      held.push_back(!rows.empty());
    }
    return absl::OkStatus();
  }));
  return held;
}

absl::Status TaskQueue::Release(absl::string_view worker, absl::Span<const std::string> ids, absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  const int64_t now_us = absl::ToUnixMicros(Now());
  return database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    for (const std::string& id : ids) {
      COBRA_RETURN_IF_ERROR(
          session.Execute(R"sql(UPDATE tasks SET state = 'queued', started = 0, worker = '', changed_us = $3
                                WHERE id = $1 AND worker = $2 AND state = 'leased')sql",
                          {id, std::string(worker), now_us}));
    }
    return absl::OkStatus();
  });
}

absl::Status TaskQueue::Poison(absl::string_view id, absl::string_view message, absl::Time deadline) {
  const int64_t now_us = absl::ToUnixMicros(Now());
  return database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    return session.Execute(R"sql(UPDATE tasks SET state = 'poisoned', started = 0, message = $2, changed_us = $3
                                 WHERE id = $1 AND state IN ('queued', 'leased'))sql",
                           {std::string(id), std::string(message), now_us});
  });
}

absl::StatusOr<FoundTask> TaskQueue::Find(absl::string_view id, absl::Time deadline) {
  FoundTask found;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        session.Query(R"sql(SELECT id, target, state, attempts, worker, message, changed_us, priority, origin,
                                   subject_json, max_attempts FROM tasks WHERE id = $1)sql",
                      {std::string(id)}));
    if (rows.empty()) return absl::NotFoundError(absl::StrCat("task ", id, ": is not in the queue"));
    const SqlRow& row = rows[0];
    found.status = StatusOf(row);
    found.spec = {row.Text(0), row.Text(1), row.Int(7), row.Text(8), row.Text(9), row.Int(10)};
    return absl::OkStatus();
  }));
  return found;
}

namespace {

// Ends the task if `worker` holds its lease, or held it last and nobody has it now. Columns target, origin, priority,
// subject_json, max_attempts, confirms; no row if the report does not count.
absl::StatusOr<std::vector<SqlRow>> FinishTask(SqlSession& session, const std::string& id, absl::string_view worker,
                                               int64_t now_us) {
  // The update locks the row: of two simultaneous reports, the second one finds the task done.
  return session.Query(R"sql(UPDATE tasks SET state = 'done', message = '', changed_us = $3
                             WHERE id = $1 AND worker = $2 AND state <> 'done'
                             RETURNING target, origin, priority, subject_json, max_attempts, confirms)sql",
                       {id, std::string(worker), now_us});
}

absl::StatusOr<ReportOutcome> WhyNotFinished(SqlSession& session, const std::string& id) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows, session.Query("SELECT state FROM tasks WHERE id = $1", {id}));
  if (rows.empty()) return ReportOutcome::unknown;
  return StateFromName(rows[0].Text(0)) == TaskState::done ? ReportOutcome::duplicate : ReportOutcome::not_leased;
}

}  // namespace

absl::StatusOr<ReportOutcome> TaskQueue::Report(absl::string_view worker, StoredMeasurement* measurement,
                                                absl::Time deadline) {
  const absl::Time now = Now();
  const int64_t now_us = absl::ToUnixMicros(now);
  const std::string& id = measurement->task_id;
  measurement->provenance.worker = std::string(worker);
  ReportOutcome outcome = ReportOutcome::unknown;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows, FinishTask(session, id, worker, now_us));
    if (rows.empty()) {
      COBRA_ASSIGN_OR_RETURN(outcome, WhyNotFinished(session, id));
      return absl::OkStatus();
    }
    const SqlRow& row = rows[0];
    const TaskSpec task = {id, row.Text(0), row.Int(2), row.Text(1), row.Text(3), row.Int(4)};
    measurement->target = task.target;
    measurement->origin = task.origin;
    measurement->held.clear();
    if (measurement->measurement.outcome == Outcome::ok) {
      COBRA_ASSIGN_OR_RETURN(const bool alone,
                             IsOnlyWorker(session, task.target, worker, absl::ToUnixMicros(now - kWorkerIsActive)));
      COBRA_RETURN_IF_ERROR(ReviewSubject(session, alone, measurement));
    }
    outcome = measurement->held.empty() ? ReportOutcome::accepted : ReportOutcome::held;
    COBRA_RETURN_IF_ERROR(InsertMeasurement(session, *measurement));
    if (outcome == ReportOutcome::accepted) return absl::OkStatus();
    COBRA_RETURN_IF_ERROR(
        session.Execute("UPDATE tasks SET message = $2 WHERE id = $1", {id, HeldMessage(measurement->held)}));
    const std::string root = row.Text(5).empty() ? id : row.Text(5);
    return RequestConfirmation(session, task, root, worker, now_us);
  }));
  return outcome;
}

absl::StatusOr<std::vector<bool>> TaskQueue::Cancel(absl::string_view caller, absl::Span<const std::string> ids,
                                                    absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  const int64_t now_us = absl::ToUnixMicros(Now());
  std::vector<bool> cancelled;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    cancelled.clear();
    for (const std::string& id : ids) {
      COBRA_RETURN_IF_ERROR(
          session.Execute("DELETE FROM task_requests WHERE task_id = $1 AND caller = $2", {id, std::string(caller)}));
      COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                             session.Query(R"sql(UPDATE tasks SET state = 'cancelled', changed_us = $2
                              WHERE id = $1 AND state IN ('queued', 'leased')
                                    AND NOT EXISTS (SELECT 1 FROM task_requests WHERE task_id = $1)
                              RETURNING seq)sql",
                                           {id, now_us}));
      cancelled.push_back(!rows.empty());
    }
    return absl::OkStatus();
  }));
  return cancelled;
}

absl::StatusOr<std::vector<TaskStatus>> TaskQueue::Get(absl::Span<const std::string> ids, absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  std::vector<TaskStatus> statuses;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    statuses.clear();
    for (const std::string& id : ids) {
      COBRA_ASSIGN_OR_RETURN(
          const std::vector<SqlRow> rows,
          session.Query("SELECT id, target, state, attempts, worker, message, changed_us FROM tasks WHERE id = $1",
                        {id}));
      if (!rows.empty()) statuses.push_back(StatusOf(rows[0]));
    }
    return absl::OkStatus();
  }));
  return statuses;
}

absl::StatusOr<std::vector<TaskStatus>> TaskQueue::ChangedSince(absl::Time since, absl::Time deadline) {
  std::vector<TaskStatus> statuses;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    statuses.clear();
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        session.Query(R"sql(SELECT id, target, state, attempts, worker, message, changed_us FROM tasks
                                               WHERE changed_us >= $1 ORDER BY changed_us, seq)sql",
                      {absl::ToUnixMicros(since)}));
    for (const SqlRow& row : rows) statuses.push_back(StatusOf(row));
    return absl::OkStatus();
  }));
  return statuses;
}

absl::StatusOr<int64_t> TaskQueue::Waiting(absl::string_view origin, absl::Time deadline) {
  int64_t waiting = 0;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        session.Query("SELECT COUNT(*) FROM tasks WHERE origin = $1 AND state IN ('queued', 'leased')",
                      {std::string(origin)}));
    waiting = rows[0].Int(0);
    return absl::OkStatus();
  }));
  return waiting;
}

absl::StatusOr<std::vector<QueueCount>> TaskQueue::Counts() {
  std::vector<QueueCount> counts;
  COBRA_RETURN_IF_ERROR(database_->Transaction([&](SqlSession& session) -> absl::Status {
    counts.clear();
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        session.Query("SELECT target, state, COUNT(*) FROM tasks GROUP BY target, state ORDER BY target, state"));
    for (const SqlRow& row : rows) counts.push_back({row.Text(0), StateFromName(row.Text(1)), row.Int(2)});
    return absl::OkStatus();
  }));
  return counts;
}

}  // namespace cobra::store
