#include "store/task_queue.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/time/clock.h"
#include "base/limit_message.h"
#include "base/status_macros.h"

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

absl::Status CheckCount(int64_t count) {
  if (count <= TaskQueue::kMaxTasksPerCall) return absl::OkStatus();
  return absl::InvalidArgumentError(LimitMessage("one call", count, TaskQueue::kMaxTasksPerCall, "tasks"));
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

absl::StatusOr<std::vector<bool>> TaskQueue::Enqueue(absl::Span<const TaskSpec> tasks, absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(tasks.size())));
  const int64_t now_us = absl::ToUnixMicros(Now());
  std::vector<bool> created;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    created.clear();
    for (const TaskSpec& t : tasks) {
      COBRA_ASSIGN_OR_RETURN(
          const std::vector<SqlRow> rows,
          session.Query(
              R"sql(INSERT INTO tasks (id, target, priority, origin, subject_json, max_attempts, state, enqueued_us,
                                       changed_us)
                    VALUES ($1, $2, $3, $4, $5, $6, 'queued', $7, $7) ON CONFLICT (id) DO NOTHING RETURNING seq)sql",
              {t.id, t.target, t.priority, t.origin, t.subject_json, std::max<int64_t>(1, t.max_attempts), now_us}));
      created.push_back(!rows.empty());
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
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        session.Query(
            R"sql(UPDATE tasks SET state = 'leased', worker = $1, started = 0, expires_us = $2, changed_us = $3
                  WHERE seq IN (SELECT seq FROM tasks WHERE target = $4 AND state = 'queued'
                                ORDER BY priority DESC, seq LIMIT $5 {skip_locked})
                  RETURNING seq, id, priority, origin, subject_json, max_attempts, attempts)sql",
            {std::string(worker), absl::ToUnixMicros(expires), now_us, std::string(target), max_tasks}));
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
      COBRA_RETURN_IF_ERROR(session.Execute(R"sql(UPDATE tasks SET state = 'queued', started = 0, changed_us = $3
                                WHERE id = $1 AND worker = $2 AND state = 'leased')sql",
                                            {id, std::string(worker), now_us}));
    }
    return absl::OkStatus();
  });
}

absl::StatusOr<ReportOutcome> TaskQueue::Report(absl::string_view worker, StoredMeasurement* measurement,
                                                absl::Time deadline) {
  const int64_t now_us = absl::ToUnixMicros(Now());
  ReportOutcome outcome = ReportOutcome::unknown;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    // The update locks the row: of two simultaneous reports, the second one finds the task done.
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           session.Query(
                               R"sql(UPDATE tasks SET state = 'done', worker = $2, message = '', changed_us = $3
                                     WHERE id = $1 AND state <> 'done' RETURNING target, origin)sql",
                               {measurement->task_id, std::string(worker), now_us}));
    if (rows.empty()) {
      COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> there,
                             session.Query("SELECT seq FROM tasks WHERE id = $1", {measurement->task_id}));
      outcome = there.empty() ? ReportOutcome::unknown : ReportOutcome::duplicate;
      return absl::OkStatus();
    }
    measurement->target = rows[0].Text(0);
    measurement->origin = rows[0].Text(1);
    outcome = ReportOutcome::accepted;
    return InsertMeasurement(session, *measurement);
  }));
  return outcome;
}

absl::StatusOr<std::vector<bool>> TaskQueue::Cancel(absl::Span<const std::string> ids, absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  const int64_t now_us = absl::ToUnixMicros(Now());
  std::vector<bool> cancelled;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    cancelled.clear();
    for (const std::string& id : ids) {
      COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                             session.Query(R"sql(UPDATE tasks SET state = 'cancelled', changed_us = $2
                              WHERE id = $1 AND state IN ('queued', 'leased') RETURNING seq)sql",
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
