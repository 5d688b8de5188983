#include <sqlite3.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "store/sql/sql.h"
#include "store/sql/sql_sqlite_file.h"

namespace cobra::store {
namespace {

class SqliteDatabase final : public SqlDatabase, private SqlSession {
 public:
  SqliteDatabase(std::string path, const SqlOptions& options, std::shared_ptr<SqliteFile> file, sqlite3* db)
      : SqlDatabase(options), path_(std::move(path)), file_(std::move(file)), db_(db) {}
  ~SqliteDatabase() override {
    for (auto& [sql, statement] : statements_) sqlite3_finalize(statement);
    sqlite3_close(db_);
  }

  absl::Status Init() {
    absl::MutexLock lock(&mutex_);
    // The last statement opens the journal, so that it is known which one it is.
    COBRA_RETURN_IF_ERROR(Script(absl::StrCat(
        "PRAGMA busy_timeout=", absl::ToInt64Milliseconds(options().patience),
        "; PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=1000; PRAGMA synchronous=FULL; PRAGMA user_version")));
    return file_->Opened(db_);
  }

 private:
  // SQLite itself waits while another process writes (busy_timeout); the caller has to report a
  // full disk.
  absl::Status Run(absl::FunctionRef<absl::Status(SqlSession&)> body, const TimeLimits& limits) override {
    absl::MutexLock lock(&mutex_);
    deadline_ = limits.deadline;
    COBRA_RETURN_IF_ERROR(file_->Check(db_));
    const int64_t wait_ms = absl::ToInt64Milliseconds(limits.patient_until - absl::Now());
    sqlite3_busy_timeout(db_, static_cast<int>(std::max<int64_t>(1, wait_ms)));
    COBRA_RETURN_IF_ERROR(Script("BEGIN IMMEDIATE"));
    absl::Status status = body(*this);
    if (status.ok()) status = Script("COMMIT");
    if (!status.ok()) Script("ROLLBACK").IgnoreError();
    // What was committed to a file that nobody can find again is not stored.
    return status.ok() ? file_->Check(db_) : status;
  }

  absl::StatusOr<std::vector<SqlRow>> Query(absl::string_view sql, absl::Span<const SqlValue> parameters) override {
    mutex_.AssertHeld();
    COBRA_RETURN_IF_ERROR(CheckDeadline(deadline_));
    COBRA_ASSIGN_OR_RETURN(sqlite3_stmt* const statement, Prepared(sql));
    for (size_t i = 0; i < parameters.size(); ++i) Bind(statement, static_cast<int>(i) + 1, parameters[i]);
    std::vector<SqlRow> rows;
    int code = SQLITE_OK;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) rows.push_back(RowOf(statement));
    const absl::Status status = code == SQLITE_DONE ? absl::OkStatus() : ErrorOf(code);
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
    if (!status.ok()) return status;
    return rows;
  }

  // Listeners look at this number (sql_listener_sqlite.cc). Nothing else uses it. It is written
  // with the rest of the transaction.
  absl::Status NotifyListeners() override {
    mutex_.AssertHeld();
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows, SqlSession::Query("PRAGMA user_version"));
    const int64_t next = (rows[0].Int(0) + 1) & std::numeric_limits<int32_t>::max();
    return Script(absl::StrCat("PRAGMA user_version=", next));
  }

  absl::StatusOr<sqlite3_stmt*> Prepared(absl::string_view sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = statements_.find(sql);
    if (found != statements_.end()) return found->second;
    // ?1 instead of $1: SQLite numbers the latter by their first appearance.
    const std::string text = absl::StrReplaceAll(
        sql, {{"{serial}", "INTEGER PRIMARY KEY AUTOINCREMENT"}, {"{skip_locked}", ""}, {"$", "?"}});
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(db_, text.c_str(), -1, &statement, nullptr);
    if (code != SQLITE_OK) return ErrorOf(code);
    return statements_[std::string(sql)] = statement;
  }

  static void Bind(sqlite3_stmt* statement, int index, const SqlValue& value) {
    if (const int64_t* number = absl::get_if<int64_t>(&value)) {
      sqlite3_bind_int64(statement, index, *number);
    } else if (const double* real = absl::get_if<double>(&value)) {
      sqlite3_bind_double(statement, index, *real);
    } else if (const std::string* text = absl::get_if<std::string>(&value)) {
      sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
    } else {
      sqlite3_bind_null(statement, index);
    }
  }

  static SqlRow RowOf(sqlite3_stmt* statement) {
    SqlRow row;
    for (int i = 0; i < sqlite3_column_count(statement); ++i) {
      switch (sqlite3_column_type(statement, i)) {
        case SQLITE_INTEGER: row.values.emplace_back(int64_t{sqlite3_column_int64(statement, i)}); break;
        case SQLITE_FLOAT: row.values.emplace_back(sqlite3_column_double(statement, i)); break;
        case SQLITE_NULL: row.values.emplace_back(); break;
        default:
          row.values.emplace_back(std::string(reinterpret_cast<const char*>(sqlite3_column_text(statement, i)),
                                              static_cast<size_t>(sqlite3_column_bytes(statement, i))));
      }
    }
    return row;
  }

  absl::Status Script(const std::string& sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const int code = sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr);
    return code == SQLITE_OK ? absl::OkStatus() : ErrorOf(code);
  }

  absl::Status ErrorOf(int code) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const std::string message = absl::StrCat(path_, ": ", sqlite3_errmsg(db_));
    switch (code & 0xff) {
      case SQLITE_FULL:  // not a programming error, and may pass
      case SQLITE_BUSY:
      case SQLITE_LOCKED:
      case SQLITE_IOERR:
      case SQLITE_CANTOPEN:
      case SQLITE_PERM:
      case SQLITE_READONLY:  // the file system was mounted again, without the right to write
        return absl::UnavailableError(message);
      case SQLITE_CORRUPT:
      case SQLITE_NOTADB: return MarkStoreLost(absl::UnavailableError(message));
      case SQLITE_CONSTRAINT: return absl::AlreadyExistsError(message);
      default: return absl::InternalError(message);
    }
  }

  const std::string path_;
  const std::shared_ptr<SqliteFile> file_;
  absl::Mutex mutex_;
  absl::Time deadline_ ABSL_GUARDED_BY(mutex_);  // of the transaction that runs
  sqlite3* const db_ ABSL_PT_GUARDED_BY(mutex_);
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenSqlite(absl::string_view path, const SqlOptions& options) {
  const std::shared_ptr<SqliteFile> file = SqliteFile::Of(std::string(path));
  COBRA_RETURN_IF_ERROR(file->Check(nullptr));
  sqlite3* db = nullptr;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;  // guarded by our mutex
  if (!file->is_open()) flags |= SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(std::string(path).c_str(), &db, flags, nullptr);
  auto database = std::make_unique<SqliteDatabase>(std::string(path), options, file, db);
  if (code != SQLITE_OK)
    return absl::UnavailableError(absl::StrCat(path, ": ", db == nullptr ? "out of memory" : sqlite3_errmsg(db)));
  COBRA_RETURN_IF_ERROR(database->Init());
  return database;
}

}  // namespace cobra::store
