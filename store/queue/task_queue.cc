#include "store/queue/task_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/bytes/hash.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/text/utf8.h"
#include "graph/form/json.h"
#include "store/queue/review.h"
#include "store/queue/task_lease.h"
#include "store/queue/task_subject.h"

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

// Which measurement a task is to confirm: the task of that measurement, and the worker that should
// not do it.
struct Confirmation {
  std::string of, avoid_worker;
};

// False if the task already exists.
absl::StatusOr<bool> InsertTask(SqlSession& session, const TaskSpec& t, const Confirmation& confirmation,
                                int64_t now_us) {
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      session.Query(
          R"sql(INSERT INTO tasks (id, target, priority, origin, subject_json, max_attempts, state, enqueued_us,
                                   changed_us, confirms, avoid_worker, bytes)
                VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING
                RETURNING seq)sql",
          {t.id, t.target, t.priority, t.origin, t.subject_json, std::max<int64_t>(1, t.max_attempts), now_us,
           confirmation.of, confirmation.avoid_worker, static_cast<int64_t>(t.subject_json.size())}));
  return !rows.empty();
}

// A task that exists and is requested again. True if it was cancelled, or is revived. Its subject
// may have been dropped (Cancel).
absl::StatusOr<bool> RequestAgain(SqlSession& session, const TaskSpec& t, bool revives_poisoned, int64_t now_us) {
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> revived,
      session.Query(
          R"sql(UPDATE tasks SET state = 'queued', started = 0, attempts = 0, message = '', lost_by = '', lost_us = 0,
                                 lost_by_several = 0, subject_json = $3, bytes = $4, changed_us = $2
                WHERE id = $1 AND (state = 'cancelled' OR (state = 'poisoned' AND $5 = 1)) RETURNING seq)sql",
          {t.id, now_us, t.subject_json, static_cast<int64_t>(t.subject_json.size()), int64_t{revives_poisoned}}));
  // Otherwise whoever requests it first, with the lowest priority, decides for everybody.
  COBRA_RETURN_IF_ERROR(
      session.Execute("UPDATE tasks SET priority = $2 WHERE id = $1 AND priority < $2", {t.id, t.priority}));
  COBRA_RETURN_IF_ERROR(session.Execute("UPDATE tasks SET max_attempts = $2 WHERE id = $1 AND max_attempts < $2",
                                        {t.id, t.max_attempts}));
  return !revived.empty();
}

absl::Status AddRequest(SqlSession& session, absl::string_view id, absl::string_view caller) {
  return session.Execute(R"sql(INSERT INTO task_requests (task_id, caller)
                               SELECT id, CAST($2 AS TEXT) FROM tasks WHERE id = $1 AND state <> 'done'
                               ON CONFLICT DO NOTHING)sql",
                         {std::string(id), std::string(caller)});
}

// ResourceExhausted if more than that has not ended.
absl::Status CheckShare(SqlSession& session, absl::string_view caller, const QueueShare& share) {
  const auto check = [](const std::string& whose, const SqlRow& row, int64_t most, int64_t most_bytes) {
    const int64_t tasks = row.Int(0), bytes = row.Int(1);
    if (tasks <= most && bytes <= most_bytes) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        absl::StrCat(tasks > most ? LimitMessage(whose, most, "tasks") : LimitMessage(whose, most_bytes, "bytes"),
                     " that have not ended: wait until some are measured, or withdraw some (Cancel)"));
  };
  if (share.max_caller_tasks != QueueShare::kUnlimited || share.max_caller_bytes != QueueShare::kUnlimited) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> own,
                           session.Query(R"sql(SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT)
                                               FROM task_requests JOIN tasks ON id = task_id
                                               WHERE caller = $1 AND state IN ('queued', 'leased', 'poisoned'))sql",
                                         {std::string(caller)}));
    COBRA_RETURN_IF_ERROR(check(caller.empty() ? "the callers" : absl::StrCat("caller \"", caller, "\""), own[0],
                                share.max_caller_tasks, share.max_caller_bytes));
  }
  if (share.max_tasks == QueueShare::kUnlimited && share.max_bytes == QueueShare::kUnlimited) return absl::OkStatus();
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> all,
                         session.Query(R"sql(SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM tasks
                                             WHERE state IN ('queued', 'leased', 'poisoned'))sql"));
  return check("the queue", all[0], share.max_tasks, share.max_bytes);
}

// A caller that enqueues and cancels in turn leaves rows behind. Each call adds at most half of
// what is dropped here.
absl::Status DropOldCancelled(SqlSession& session) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                         session.Query(R"sql(SELECT COUNT(*), CAST(COALESCE(SUM(bytes), 0) AS BIGINT) FROM tasks
                                             WHERE state = 'cancelled')sql"));
  if (rows[0].Int(0) <= TaskQueue::kMaxCancelled && rows[0].Int(1) <= TaskQueue::kMaxCancelledBytes)
    return absl::OkStatus();
  return session.Execute(R"sql(DELETE FROM tasks WHERE seq IN (SELECT seq FROM tasks WHERE state = 'cancelled'
                                                               ORDER BY changed_us, seq LIMIT $1))sql",
                         {2 * TaskQueue::kMaxTasksPerCall});
}

// Reviews the stored measurements of the subject together with `stored`, and sets `held` of all of
// them.
absl::Status ReviewSubject(SqlSession& session, bool one_worker, StoredMeasurement* stored) {
  constexpr int64_t kMostRows = 64;  // repetitions of one subject that count
  const Subject& subject = stored->measurement.subject;
  // The text of the graph, and not only its fingerprint, which different graphs may be made to
  // share.
  const std::string graph_json =
      subject.has_graph() ? graph::GraphToJson(subject.graph, {/*origins=*/false}) : std::string();
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                         session.Query(R"sql(SELECT id, task_id, latency_us, worker, doubt, held FROM measurements
                          WHERE fingerprint = $1 AND target = $2 AND graph_json = $3 AND outcome = 'ok'
                                AND task_id IS NOT NULL ORDER BY id LIMIT $4)sql",
                                       {subject.fingerprint, stored->target, graph_json, kMostRows}));
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
                                                     absl::Time deadline, const QueueShare& share) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(tasks.size())));
  const int64_t now_us = absl::ToUnixMicros(Now());
  std::vector<bool> created;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    created.clear();
    for (const TaskSpec& task : tasks) {
      COBRA_ASSIGN_OR_RETURN(const bool is_new, InsertTask(session, task, {}, now_us));
      COBRA_ASSIGN_OR_RETURN(const bool again,
                             is_new ? false : RequestAgain(session, task, share.revives_poisoned, now_us));
      created.push_back(is_new || again);
      COBRA_RETURN_IF_ERROR(AddRequest(session, task.id, caller));
    }
    // What is enqueued a second time, after a lost reply, adds nothing.
    const bool any = std::find(created.begin(), created.end(), true) != created.end();
    return any ? CheckShare(session, caller, share) : absl::OkStatus();
  }));
  return created;
}

absl::StatusOr<std::vector<TaskLease>> TaskQueue::Lease(absl::string_view target, absl::string_view worker,
                                                        int64_t max_tasks, absl::Duration duration,
                                                        absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(max_tasks));
  const absl::Time now = Now();
  std::vector<TaskLease> leases;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(leases, LeaseTasks(session, target, worker, max_tasks, now, now + duration));
    return absl::OkStatus();
  }));
  return leases;
}

absl::StatusOr<std::vector<bool>> TaskQueue::Renew(absl::string_view worker, absl::Span<const std::string> ids,
                                                   absl::Span<const std::string> started, absl::Duration duration,
                                                   absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  const absl::Time now = Now();
  std::vector<bool> held;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(held, RenewLeases(session, worker, ids, started, now, now + duration));
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
  constexpr size_t kMaxPoisonMessageBytes = 1024;  // it may repeat what the task says, and Watch sends many of them
  const int64_t now_us = absl::ToUnixMicros(Now());
  return database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    return session.Execute(R"sql(UPDATE tasks SET state = 'poisoned', started = 0, message = $2, changed_us = $3,
                                                  subject_json = '', bytes = 0
                                 WHERE id = $1 AND state IN ('queued', 'leased'))sql",
                           {std::string(id), std::string(Utf8Prefix(message, kMaxPoisonMessageBytes)), now_us});
  });
}

absl::StatusOr<FoundTask> TaskQueue::Find(absl::string_view id, absl::Time deadline) {
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      database_->Query(R"sql(SELECT id, target, state, attempts, worker, message, changed_us, priority, origin,
                                    subject_json, max_attempts FROM tasks WHERE id = $1)sql",
                       {std::string(id)}, deadline));
  if (rows.empty()) return absl::NotFoundError(absl::StrCat("task ", id, ": is not in the queue"));
  const SqlRow& row = rows[0];
  return FoundTask{{row.Text(0), row.Text(1), row.Int(7), row.Text(8), row.Text(9), row.Int(10)}, StatusOf(row)};
}

namespace {

// Ends the task if `worker` holds its lease, or held it last and nobody has it now. Columns target,
// origin, priority, subject_json, max_attempts, confirms; no row if the report does not count.
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
    COBRA_RETURN_IF_ERROR(session.Execute("UPDATE tasks SET subject_json = '', bytes = 0 WHERE id = $1", {id}));
    COBRA_RETURN_IF_ERROR(session.Execute("DELETE FROM task_requests WHERE task_id = $1", {id}));
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
                             session.Query(R"sql(UPDATE tasks SET state = 'cancelled', changed_us = $2, message = '',
                                     subject_json = CASE WHEN worker = '' THEN '' ELSE subject_json END,
                                     bytes = CASE WHEN worker = '' THEN 0 ELSE bytes END
                              WHERE id = $1 AND state IN ('queued', 'leased', 'poisoned')
                                    AND NOT EXISTS (SELECT 1 FROM task_requests WHERE task_id = $1)
                              RETURNING seq)sql",
                                           {id, now_us}));
      cancelled.push_back(!rows.empty());
    }
    return DropOldCancelled(session);
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
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      database_->Query(R"sql(SELECT id, target, state, attempts, worker, message, changed_us FROM tasks
                             WHERE changed_us >= $1 ORDER BY changed_us, seq)sql",
                       {absl::ToUnixMicros(since)}, deadline));
  std::vector<TaskStatus> statuses;
  for (const SqlRow& row : rows) statuses.push_back(StatusOf(row));
  return statuses;
}

absl::StatusOr<int64_t> TaskQueue::Waiting(absl::string_view origin, absl::Time deadline) {
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      database_->Query("SELECT COUNT(*) FROM tasks WHERE origin = $1 AND state IN ('queued', 'leased')",
                       {std::string(origin)}, deadline));
  return rows[0].Int(0);
}

absl::StatusOr<std::vector<QueueCount>> TaskQueue::Counts() {
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      database_->Query("SELECT target, state, COUNT(*) FROM tasks GROUP BY target, state ORDER BY target, state"));
  std::vector<QueueCount> counts;
  for (const SqlRow& row : rows) counts.push_back({row.Text(0), StateFromName(row.Text(1)), row.Int(2)});
  return counts;
}

}  // namespace cobra::store
