#include "store/task_queue.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/hash.h"
#include "base/limit_message.h"
#include "base/status_macros.h"
#include "base/utf8.h"
#include "graph/json.h"
#include "store/review.h"
#include "store/task_subject.h"

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

// Whoever enqueues and cancels in turn leaves rows behind. Each call adds at most half of what is
// dropped here.
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

// Whether no other worker than `worker` has been active for the target.
absl::StatusOr<bool> IsOnlyWorker(SqlSession& session, absl::string_view target, absl::string_view worker,
                                  int64_t since_us) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> others,
                         session.Query(R"sql(SELECT seq FROM tasks WHERE target = $1 AND worker <> '' AND worker <> $2
                                             AND changed_us >= $3 LIMIT 1)sql",
                                       {std::string(target), std::string(worker), since_us}));
  return others.empty();
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
      absl::StrCat("started ", attempts, " times without a result; the last worker was ", loss.worker);
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

// Expired leases.
absl::Status TaskQueue::Expire(SqlSession& session, absl::string_view target, absl::Time now) {
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
      COBRA_ASSIGN_OR_RETURN(worker->second,
                             IsOnlyWorker(session, target, loss.worker, absl::ToUnixMicros(now - kOtherIsActive)));
      COBRA_ASSIGN_OR_RETURN(const bool has_just_lost, HasJustLost(session, loss.worker, now_us));
      fault = has_just_lost ? Fault::kTooSoon : Fault::kPossible;
    }
    COBRA_RETURN_IF_ERROR(NoteLoss(session, loss, worker->second, fault, now_us));
  }
  return absl::OkStatus();
}

namespace {

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

absl::StatusOr<std::vector<TaskLease>> TaskQueue::Lease(absl::string_view target, absl::string_view worker,
                                                        int64_t max_tasks, absl::Duration duration,
                                                        absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(max_tasks));
  const absl::Time now = Now(), expires = now + duration;
  std::vector<TaskLease> leases;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    leases.clear();
    COBRA_RETURN_IF_ERROR(Expire(session, target, now));
    COBRA_ASSIGN_OR_RETURN(const int64_t most, TasksFor(session, target, worker, max_tasks, now));
    COBRA_ASSIGN_OR_RETURN(const std::vector<int64_t> chosen, ChooseTasks(session, target, worker, most, now));
    for (const int64_t seq : chosen) {
      COBRA_ASSIGN_OR_RETURN(
          const std::vector<SqlRow> rows,
          session.Query(
              R"sql(UPDATE tasks SET state = 'leased', worker = $1, started = 0, expires_us = $2, changed_us = $3
                    WHERE seq = $4 RETURNING id, priority, origin, subject_json, max_attempts, attempts)sql",
              {std::string(worker), absl::ToUnixMicros(expires), absl::ToUnixMicros(now), seq}));
      for (const SqlRow& r : rows) {
        leases.push_back(
            {{r.Text(0), std::string(target), r.Int(1), r.Text(2), r.Text(3), r.Int(4)}, r.Int(5), expires});
      }
    }
    return absl::OkStatus();
  }));
  return leases;
}

absl::StatusOr<std::vector<bool>> TaskQueue::Renew(absl::string_view worker, absl::Span<const std::string> ids,
                                                   absl::Span<const std::string> started, absl::Duration duration,
                                                   absl::Time deadline) {
  COBRA_RETURN_IF_ERROR(CheckCount(static_cast<int64_t>(ids.size())));
  const absl::Time now = Now();
  const int64_t now_us = absl::ToUnixMicros(now);
  const absl::flat_hash_set<std::string> running(started.begin(), started.end());
  std::vector<bool> held;
  COBRA_RETURN_IF_ERROR(database_->Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    held.clear();
    for (const std::string& id : ids) {
      const bool runs = running.contains(id);
      COBRA_ASSIGN_OR_RETURN(
          const std::vector<SqlRow> rows,
          session.Query(R"sql(UPDATE tasks SET expires_us = $3,
                                     started = CASE WHEN started > 0 AND CAST($4 AS BIGINT) > 0 THEN started
                                                    ELSE CAST($4 AS BIGINT) END
                              WHERE id = $1 AND worker = $2 AND state = 'leased' RETURNING seq)sql",
                        {id, std::string(worker), absl::ToUnixMicros(now + duration), runs ? now_us : int64_t{0}}));
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
