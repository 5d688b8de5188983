#include <sqlite3.h>

#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/status_macros.h"
#include "server/store.h"

namespace cobra {
namespace {

constexpr int kSchemaVersion = 1;
// STRICT is left out: Debian 12's sqlite3 reads it, older tools that people point at the file do not.
constexpr char kSchema[] = R"sql(
CREATE TABLE IF NOT EXISTS predictions (
  id INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, fingerprint TEXT NOT NULL, target TEXT NOT NULL,
  model_version TEXT NOT NULL, latency_us REAL NOT NULL, low_us REAL NOT NULL, high_us REAL NOT NULL,
  confidence REAL NOT NULL, extrapolating INTEGER NOT NULL, node_count INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS predictions_by_fingerprint ON predictions (fingerprint, target);
CREATE TABLE IF NOT EXISTS measurements (
  id INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, target TEXT NOT NULL, origin TEXT NOT NULL, fingerprint TEXT NOT NULL,
  is_network INTEGER NOT NULL, latency_us REAL NOT NULL, graph_json TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS measurements_by_fingerprint ON measurements (fingerprint, target);
CREATE TABLE IF NOT EXISTS calibrations (
  id INTEGER PRIMARY KEY, time_us INTEGER NOT NULL, target TEXT NOT NULL, model_sha256 TEXT NOT NULL,
  calibration_json TEXT NOT NULL, probe_json TEXT NOT NULL);
)sql";

struct StatementDeleter {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};

// One prepared statement; Bind() fills the next parameter.
class Statement {
 public:
  Statement(sqlite3* db, const char* sql) : db_(db) {
    sqlite3_stmt* raw = nullptr;
    if (sqlite3_prepare_v2(db, sql, -1, &raw, nullptr) != SQLITE_OK) error_ = sqlite3_errmsg(db);
    statement_.reset(raw);
  }
  Statement& Bind(absl::string_view text) {
    sqlite3_bind_text64(statement_.get(), ++bound_, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    return *this;
  }
  Statement& Bind(double value) {
    sqlite3_bind_double(statement_.get(), ++bound_, value);
    return *this;
  }
  Statement& Bind(int64_t value) {
    sqlite3_bind_int64(statement_.get(), ++bound_, value);
    return *this;
  }
  // True while there are rows.
  absl::StatusOr<bool> Step() {
    if (statement_ == nullptr) return absl::InternalError(absl::StrCat("store: ", error_));
    const int code = sqlite3_step(statement_.get());
    if (code == SQLITE_ROW) return true;
    if (code == SQLITE_DONE) return false;
    // A full disk is not a mistake in here, and may pass.
    const std::string message = absl::StrCat("store: ", sqlite3_errmsg(db_));
    if (code == SQLITE_FULL || code == SQLITE_BUSY || code == SQLITE_IOERR) return absl::UnavailableError(message);
    return absl::InternalError(message);
  }
  absl::Status Run() {
    COBRA_RETURN_IF_ERROR(Step().status());
    sqlite3_reset(statement_.get());
    bound_ = 0;
    return absl::OkStatus();
  }
  std::string Text(int column) const {
    const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
    return text == nullptr ? "" : std::string(text, sqlite3_column_bytes(statement_.get(), column));
  }
  int64_t Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }

 private:
  sqlite3* db_;
  std::unique_ptr<sqlite3_stmt, StatementDeleter> statement_;
  std::string error_;
  int bound_ = 0;
};

class SqliteStore : public Store {
 public:
  explicit SqliteStore(sqlite3* db) : db_(db) {}
  ~SqliteStore() override { sqlite3_close(db_); }

  absl::Status Init() {
    absl::MutexLock lock(&mutex_);
    // NORMAL: a record survives the death of the server; the last ones may not survive the death of the machine.
    COBRA_RETURN_IF_ERROR(
        Execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=5000; PRAGMA "
                "wal_autocheckpoint=1000;"));
    Statement version(db_, "PRAGMA user_version");
    COBRA_RETURN_IF_ERROR(version.Step().status());
    if (version.Int(0) > kSchemaVersion) {
      return absl::FailedPreconditionError(absl::StrCat("store: schema version ", version.Int(0),
                                                        " is of a newer cobra-server (this one knows ", kSchemaVersion,
                                                        ")"));
    }
    return Execute(absl::StrCat(kSchema, "PRAGMA user_version=", kSchemaVersion, ";"));
  }

  absl::Status AppendPredictions(absl::Span<const PredictionRecord> records) override {
    absl::MutexLock lock(&mutex_);
    return Transaction([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      Statement insert(
          db_,
          "INSERT INTO predictions (time_us, fingerprint, target, model_version, latency_us, low_us, high_us, "
          "confidence, extrapolating, node_count) VALUES (?,?,?,?,?,?,?,?,?,?)");
      for (const PredictionRecord& r : records) {
        insert.Bind(absl::ToUnixMicros(r.time))
            .Bind(r.fingerprint)
            .Bind(r.target)
            .Bind(r.model_version)
            .Bind(r.latency_us);
        insert.Bind(r.low_us).Bind(r.high_us).Bind(r.confidence).Bind(int64_t{r.extrapolating}).Bind(r.node_count);
        COBRA_RETURN_IF_ERROR(insert.Run());
      }
      return absl::OkStatus();
    });
  }

  absl::Status AppendMeasurements(absl::Span<const MeasurementRecord> records) override {
    absl::MutexLock lock(&mutex_);
    return Transaction([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
      Statement insert(
          db_,
          "INSERT INTO measurements (time_us, target, origin, fingerprint, is_network, latency_us, graph_json) "
          "VALUES (?,?,?,?,?,?,?)");
      for (const MeasurementRecord& r : records) {
        insert.Bind(absl::ToUnixMicros(r.time)).Bind(r.target).Bind(r.origin).Bind(r.fingerprint);
        insert.Bind(int64_t{r.is_network}).Bind(r.latency_us).Bind(r.graph_json);
        COBRA_RETURN_IF_ERROR(insert.Run());
      }
      return absl::OkStatus();
    });
  }

  absl::Status AppendCalibration(const CalibrationRecord& r) override {
    absl::MutexLock lock(&mutex_);
    Statement insert(db_,
                     "INSERT INTO calibrations (time_us, target, model_sha256, calibration_json, probe_json) "
                     "VALUES (?,?,?,?,?)");
    insert.Bind(absl::ToUnixMicros(r.time))
        .Bind(r.target)
        .Bind(r.model_sha256)
        .Bind(r.calibration_json)
        .Bind(r.probe_json);
    return insert.Run();
  }

  absl::StatusOr<std::vector<CalibrationRecord>> LatestCalibrations() override {
    absl::MutexLock lock(&mutex_);
    Statement select(db_,
                     "SELECT time_us, target, model_sha256, calibration_json, probe_json FROM calibrations "
                     "WHERE id IN (SELECT MAX(id) FROM calibrations GROUP BY target) ORDER BY target");
    std::vector<CalibrationRecord> records;
    while (true) {
      COBRA_ASSIGN_OR_RETURN(bool row, select.Step());
      if (!row) return records;
      records.push_back(
          {absl::FromUnixMicros(select.Int(0)), select.Text(1), select.Text(2), select.Text(3), select.Text(4)});
    }
  }

  absl::StatusOr<StoreCounts> Counts() override {
    absl::MutexLock lock(&mutex_);
    Statement select(db_,
                     "SELECT (SELECT COUNT(*) FROM predictions), (SELECT COUNT(*) FROM measurements), "
                     "(SELECT COUNT(*) FROM calibrations)");
    COBRA_RETURN_IF_ERROR(select.Step().status());
    return StoreCounts{select.Int(0), select.Int(1), select.Int(2)};
  }

 private:
  absl::Status Execute(const std::string& sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK) return absl::OkStatus();
    return absl::InternalError(absl::StrCat("store: ", sqlite3_errmsg(db_)));
  }

  template <typename Body>
  absl::Status Transaction(Body body) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    COBRA_RETURN_IF_ERROR(Execute("BEGIN IMMEDIATE"));
    absl::Status status = body();
    if (status.ok()) status = Execute("COMMIT");
    if (!status.ok()) Execute("ROLLBACK").IgnoreError();
    return status;
  }

  absl::Mutex mutex_;
  sqlite3* const db_ ABSL_PT_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(absl::string_view path) {
  sqlite3* db = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;  // our mutex guards it
  const int code = sqlite3_open_v2(std::string(path).c_str(), &db, flags, nullptr);
  auto store = std::make_unique<SqliteStore>(db);
  if (code != SQLITE_OK) {
    return absl::UnavailableError(absl::StrCat(path, ": ", db == nullptr ? "out of memory" : sqlite3_errmsg(db)));
  }
  absl::Status status = store->Init();
  if (!status.ok()) return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
  return store;
}

}  // namespace cobra
