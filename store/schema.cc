#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "store/store.h"

namespace cobra::store {
namespace {

// The statements of versions 1 to n make version n of the schema. Existing versions never change: a
// change adds a version.
struct Statement {
  int version;
  const char* sql;
};
// DOUBLE PRECISION and BIGINT are PostgreSQL's names; SQLite accepts any name (REAL and INTEGER
// affinity).
constexpr Statement kStatements[] = {
    {1, R"sql(CREATE TABLE IF NOT EXISTS predictions (
                id {serial},
                time_us BIGINT NOT NULL,
                fingerprint TEXT NOT NULL,
                target TEXT NOT NULL,
                model_version TEXT NOT NULL,
                latency_us DOUBLE PRECISION NOT NULL,
                low_us DOUBLE PRECISION NOT NULL,
                high_us DOUBLE PRECISION NOT NULL,
                confidence DOUBLE PRECISION NOT NULL,
                extrapolating BIGINT NOT NULL,
                node_count BIGINT NOT NULL))sql"},
    {1, "CREATE INDEX IF NOT EXISTS predictions_by_fingerprint ON predictions (fingerprint, target)"},
    {1, R"sql(CREATE TABLE IF NOT EXISTS measurements (
                id {serial},
                time_us BIGINT NOT NULL,
                target TEXT NOT NULL,
                origin TEXT NOT NULL,
                fingerprint TEXT NOT NULL,
                is_network BIGINT NOT NULL,
                latency_us DOUBLE PRECISION NOT NULL,
                graph_json TEXT NOT NULL))sql"},
    {1, "CREATE INDEX IF NOT EXISTS measurements_by_fingerprint ON measurements (fingerprint, target)"},
    {1, R"sql(CREATE TABLE IF NOT EXISTS calibrations (
                id {serial},
                time_us BIGINT NOT NULL,
                target TEXT NOT NULL,
                model_sha256 TEXT NOT NULL,
                calibration_json TEXT NOT NULL,
                probe_json TEXT NOT NULL))sql"},
    {2, "ALTER TABLE measurements ADD COLUMN outcome TEXT NOT NULL DEFAULT 'ok'"},
    {2, "ALTER TABLE measurements ADD COLUMN task_id TEXT"},
    {2, "ALTER TABLE measurements ADD COLUMN record_json TEXT NOT NULL DEFAULT ''"},
    // NULLs count as different values: a probe has no task.
    {2, "CREATE UNIQUE INDEX measurements_by_task ON measurements (task_id)"},
    {2, R"sql(CREATE TABLE tasks (
                seq {serial},
                id TEXT NOT NULL UNIQUE,
                target TEXT NOT NULL,
                priority BIGINT NOT NULL,
                origin TEXT NOT NULL,
                subject_json TEXT NOT NULL,
                max_attempts BIGINT NOT NULL,
                state TEXT NOT NULL,
                attempts BIGINT NOT NULL DEFAULT 0,
                worker TEXT NOT NULL DEFAULT '',
                started BIGINT NOT NULL DEFAULT 0,
                expires_us BIGINT NOT NULL DEFAULT 0,
                enqueued_us BIGINT NOT NULL,
                changed_us BIGINT NOT NULL,
                message TEXT NOT NULL DEFAULT ''))sql"},
    {2, R"sql(CREATE TABLE sessions (
                id {serial},
                session TEXT NOT NULL UNIQUE,
                target TEXT NOT NULL,
                session_json TEXT NOT NULL))sql"},
    {2, "CREATE INDEX tasks_to_lease ON tasks (target, state, priority DESC, seq)"},
    {2, "CREATE INDEX tasks_by_change ON tasks (changed_us)"},
    // Who reported a measurement, and what the model that was serving then predicted.
    {3, "ALTER TABLE measurements ADD COLUMN worker TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE measurements ADD COLUMN caller TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE measurements ADD COLUMN model_sha256 TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE measurements ADD COLUMN predicted_us DOUBLE PRECISION NOT NULL DEFAULT 0"},
    {3, "ALTER TABLE measurements ADD COLUMN doubt TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE measurements ADD COLUMN held TEXT NOT NULL DEFAULT ''"},
    {3, R"sql(UPDATE measurements SET worker = COALESCE((SELECT worker FROM tasks
                                                         WHERE tasks.id = measurements.task_id), ''))sql"},
    {3, "ALTER TABLE tasks ADD COLUMN confirms TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE tasks ADD COLUMN avoid_worker TEXT NOT NULL DEFAULT ''"},
    {3, "CREATE INDEX tasks_by_confirmed ON tasks (confirms)"},
    {3, "CREATE TABLE task_requests (task_id TEXT NOT NULL, caller TEXT NOT NULL, PRIMARY KEY (task_id, caller))"},
    {3, "ALTER TABLE calibrations ADD COLUMN caller TEXT NOT NULL DEFAULT ''"},
    {3, "ALTER TABLE calibrations ADD COLUMN withdrawn BIGINT NOT NULL DEFAULT 0"},
    {4, "ALTER TABLE predictions ADD COLUMN labels_json TEXT NOT NULL DEFAULT ''"},
    // A version that further timings made has the probe of the one that it is based on; 0: its own.
    {5, "ALTER TABLE calibrations ADD COLUMN based_on BIGINT NOT NULL DEFAULT 0"},
    {5, "CREATE TABLE timed_networks (network TEXT NOT NULL UNIQUE, graph_json TEXT NOT NULL)"},
    {5, R"sql(CREATE TABLE timings (
                id {serial},
                calibration BIGINT NOT NULL,
                network TEXT NOT NULL,
                latency_us DOUBLE PRECISION NOT NULL,
                timings BIGINT NOT NULL))sql"},
    {5, "CREATE INDEX timings_by_calibration ON timings (calibration)"},
    // Most predictions have no labels, and nobody asks for those.
    {6, "CREATE INDEX predictions_labelled ON predictions (id) WHERE labels_json <> ''"},
    // Of the subject: what waits is bounded by bytes, and so is what a worker is given at a time.
    {7, "ALTER TABLE tasks ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0"},
    {7, "UPDATE tasks SET bytes = LENGTH(subject_json) WHERE state <> 'done'"},
    {7, "CREATE INDEX tasks_by_state ON tasks (state, changed_us, bytes)"},
    // Who lost it last, when an attempt was counted last, and whether different workers lost it.
    {7, "ALTER TABLE tasks ADD COLUMN lost_by TEXT NOT NULL DEFAULT ''"},
    {7, "ALTER TABLE tasks ADD COLUMN lost_us BIGINT NOT NULL DEFAULT 0"},
    {7, "ALTER TABLE tasks ADD COLUMN lost_by_several BIGINT NOT NULL DEFAULT 0"},
    {7, "CREATE INDEX tasks_by_loss ON tasks (lost_by, lost_us)"},
    // Nobody can withdraw what has been measured.
    {7, "DELETE FROM task_requests WHERE task_id IN (SELECT id FROM tasks WHERE state = 'done')"},
    {7, "CREATE INDEX task_requests_by_caller ON task_requests (caller)"},
    // What was asked for under an id of its caller's, so that it is done once.
    {8, R"sql(CREATE TABLE done_requests (
                target TEXT NOT NULL,
                id TEXT NOT NULL,
                digest TEXT NOT NULL,
                answer TEXT NOT NULL,
                time_us BIGINT NOT NULL,
                PRIMARY KEY (target, id)))sql"},
};
constexpr int kVersion = 8;

absl::Status Migrate(SqlDatabase* database) {
  return database->Transaction([](SqlSession& session) -> absl::Status {
    COBRA_RETURN_IF_ERROR(session.Execute("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)"));
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows, session.Query("SELECT MAX(version) FROM schema_version"));
    const int64_t version = rows[0].Int(0);
    if (version > kVersion) {
      return absl::FailedPreconditionError(
          absl::StrCat("schema version ", version, " is of a newer cobra-server (this one knows ", kVersion, ")"));
    }
    for (const Statement& statement : kStatements) {
      if (statement.version > version) COBRA_RETURN_IF_ERROR(session.Execute(statement.sql));
    }
    if (version == kVersion) return absl::OkStatus();
    return session.Execute("INSERT INTO schema_version (version) VALUES ($1)", {int64_t{kVersion}});
  });
}

}  // namespace

absl::Status PrepareSchema(SqlDatabase* database) {
  const absl::Status status = Migrate(database);
  // If two servers start at once on a new PostgreSQL database, one creates the tables and the other
  // finds them now.
  return absl::IsAlreadyExists(status) ? Migrate(database) : status;
}

}  // namespace cobra::store
