// One database, SQLite or PostgreSQL, with the few operations that the store and the task queue
// need. The same SQL runs on both: parameters are $1, $2, ...; {serial} stands for the type of an
// auto-increment key, {skip_locked} for the clause that keeps two servers from waiting for each
// other's rows.
#ifndef COBRA_STORE_SQL_SQL_H_
#define COBRA_STORE_SQL_SQL_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "absl/types/variant.h"

namespace cobra::store {

// monostate: NULL.
using SqlValue = absl::variant<absl::monostate, int64_t, double, std::string>;

// NULL reads as 0 and "".
struct SqlRow {
  std::vector<SqlValue> values;
  int64_t Int(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;
};

// An open transaction.
class SqlSession {
 public:
  virtual ~SqlSession() = default;
  // One statement. Unavailable: the connection is lost, the disk is full, or another transaction is
  // in the way; AlreadyExists: a key is taken; Internal: the statement is wrong.
  virtual absl::StatusOr<std::vector<SqlRow>> Query(absl::string_view sql, absl::Span<const SqlValue> parameters) = 0;
  absl::StatusOr<std::vector<SqlRow>> Query(absl::string_view sql, std::initializer_list<SqlValue> parameters = {}) {
    return Query(sql, absl::MakeConstSpan(parameters.begin(), parameters.size()));
  }
  absl::Status Execute(absl::string_view sql, std::initializer_list<SqlValue> parameters = {}) {
    return Query(sql, parameters).status();
  }
  // When the transaction commits, the listeners of this database are notified (change_listener.h).
  virtual absl::Status NotifyListeners() = 0;
};

struct SqlOptions {
  // How long a transaction waits for its turn, for the lock of another process, or for a server
  // that restarts.
  absl::Duration patience = absl::Seconds(5);
  // PostgreSQL ends a statement that takes longer, and a server that stays silent for longer is
  // given up.
  absl::Duration statement_timeout = absl::Seconds(60);
};

// Safe to use from several threads; transactions of one SqlDatabase run one after the other.
// Committed data survives a crash of the process, of the database's server and of the machine. A
// commit waits for the disk, so frequent writes are batched into one transaction.
class SqlDatabase {
 public:
  explicit SqlDatabase(const SqlOptions& options) : options_(options) {}
  virtual ~SqlDatabase() = default;

  // Commits if `body` returns OK. If the database is temporarily unable (its server restarts, a
  // deadlock), `body` runs again until the patience or the deadline has passed. So it must have no
  // effect but its statements, and these must be idempotent (the reply of a commit may be lost).
  // Unavailable: the patience has passed; DeadlineExceeded.
  absl::Status Transaction(absl::Time deadline, absl::FunctionRef<absl::Status(SqlSession&)> body);
  absl::Status Transaction(absl::FunctionRef<absl::Status(SqlSession&)> body) {
    return Transaction(absl::InfiniteFuture(), body);
  }
  // A transaction of one statement.
  absl::StatusOr<std::vector<SqlRow>> Query(absl::string_view sql, absl::Span<const SqlValue> parameters,
                                            absl::Time deadline = absl::InfiniteFuture());
  absl::StatusOr<std::vector<SqlRow>> Query(absl::string_view sql, std::initializer_list<SqlValue> parameters = {},
                                            absl::Time deadline = absl::InfiniteFuture()) {
    return Query(sql, absl::MakeConstSpan(parameters.begin(), parameters.size()), deadline);
  }

 protected:
  struct TimeLimits {
    absl::Time patient_until;  // waits and repetitions end here; not after `deadline`
    absl::Time deadline;       // no statement begins after it
  };
  const SqlOptions& options() const { return options_; }
  static absl::Status CheckDeadline(absl::Time deadline);

 private:
  // Called by one thread at a time.
  virtual absl::Status Run(absl::FunctionRef<absl::Status(SqlSession&)> body, const TimeLimits& limits) = 0;

  const SqlOptions options_;
  absl::Mutex turn_;
  bool taken_ ABSL_GUARDED_BY(turn_) = false;
};

// "postgresql://user@host/database" (libpq's forms), or the path of an SQLite file, which is
// created if it is missing. Errors name the location, without its password.
absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenDatabase(absl::string_view location, const SqlOptions& options = {});
bool IsPostgres(absl::string_view location);

// Whether an error says that the database is not the one that was opened: its file was removed or
// replaced, or another database has its name. Nothing is stored then, and nothing that was stored
// is found. It may end by itself, when the same database is back.
bool IsStoreLost(const absl::Status& status);
absl::Status MarkStoreLost(absl::Status status);

// For OpenDatabase.
absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenSqlite(absl::string_view path, const SqlOptions& options);
absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenPostgres(absl::string_view url, const SqlOptions& options);

}  // namespace cobra::store

#endif  // COBRA_STORE_SQL_SQL_H_
