#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "store/sql/change_listener.h"
#include "store/sql/sql.h"
#include "store/sql/sql_postgres_connection.h"

namespace cobra::store {
namespace {

// Types of result columns by their object identifiers (PostgreSQL's catalog/pg_type.dat, which
// never change).
constexpr Oid kBool = 16, kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701, kNumeric = 1700;

class PostgresDatabase final : public SqlDatabase, private SqlSession {
 public:
  PostgresDatabase(absl::string_view url, const SqlOptions& options)
      : SqlDatabase(options), url_(url), name_(PostgresName(url)) {}

 private:
  absl::Status Run(absl::FunctionRef<absl::Status(SqlSession&)> body, const TimeLimits& limits) override {
    absl::MutexLock lock(&mutex_);
    limits_ = limits;
    absl::Duration wait = absl::Milliseconds(10);
    while (true) {
      absl::Status status = TryTransaction(body);
      if (!absl::IsUnavailable(status) || IsStoreLost(status) || absl::Now() + wait > limits.patient_until)
        return status;
      absl::SleepFor(wait);
      wait = std::min(2 * wait, absl::Milliseconds(500));
    }
  }

  absl::Status TryTransaction(absl::FunctionRef<absl::Status(SqlSession&)> body) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    COBRA_RETURN_IF_ERROR(Connect());
    // The server itself ends a statement that takes too long, so that the connection stays usable.
    const absl::Duration limit = std::min(options().statement_timeout, limits_.deadline - absl::Now());
    const int64_t limit_ms = std::max<int64_t>(1, absl::ToInt64Milliseconds(limit));
    COBRA_RETURN_IF_ERROR(Command(absl::StrCat("BEGIN; SET LOCAL statement_timeout = ", limit_ms)));
    absl::Status status = body(*this);
    if (status.ok()) status = Command("COMMIT");
    if (!status.ok()) Command("ROLLBACK").IgnoreError();
    if (status.ok() && identity_.empty()) return CheckIdentity();  // it may just have made the tables
    return status;
  }

  absl::Status Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK) return absl::OkStatus();
    prepared_.clear();
    const PostgresParameters parameters(url_, "cobra",
                                        std::min(limits_.patient_until - absl::Now(), options().patience));
    connection_.reset(PQconnectdbParams(parameters.keys(), parameters.values(), /*expand_dbname=*/1));
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      return absl::UnavailableError(Message(PQerrorMessage(connection_.get())));
    PreparePostgresConnection(connection_.get());
    absl::Status status = CheckIdentity();
    if (!status.ok()) connection_.reset();  // the next transaction looks again
    return status;
  }

  // Of a new connection: whether it leads to the database that the first one led to. Nobody can
  // drop a database, or put another server in the place of its own, without ending the connections.
  absl::Status CheckIdentity() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    COBRA_ASSIGN_OR_RETURN(const PostgresResult here,
                           Reply(PQsendQuery(connection_.get(),
                                             "SELECT d.oid || '/' || COALESCE(to_regclass('schema_version')::oid, 0) "
                                             "FROM pg_database d WHERE d.datname = current_database()")));
    std::string identity = PQntuples(here.get()) == 1 ? PQgetvalue(here.get(), 0, 0) : "";
    // Which server it is. Some that are run by others do not say so.
    const absl::StatusOr<PostgresResult> system =
        Reply(PQsendQuery(connection_.get(), "SELECT system_identifier FROM pg_control_system()"));
    if (!system.ok() && absl::IsUnavailable(system.status())) return system.status();
    if (system.ok() && PQntuples(system->get()) == 1) absl::StrAppend(&identity, "/", PQgetvalue(system->get(), 0, 0));
    const bool is_empty = absl::StrContains(identity, "/0/") || absl::EndsWith(identity, "/0");
    if (identity_.empty() || identity == identity_) {
      if (!is_empty) identity_ = std::move(identity);  // until the tables are made, nothing can be lost
      return absl::OkStatus();
    }
    return MarkStoreLost(
        absl::UnavailableError(Message("is not the database that was opened, or its tables were recreated, so nothing "
                                       "can be stored; restart the server to use it")));
  }

  absl::StatusOr<std::vector<SqlRow>> Query(absl::string_view sql, absl::Span<const SqlValue> parameters) override {
    mutex_.AssertHeld();
    COBRA_RETURN_IF_ERROR(CheckDeadline(limits_.deadline));
    COBRA_ASSIGN_OR_RETURN(const std::string name, Prepared(sql));
    std::vector<std::string> texts(parameters.size());
    std::vector<const char*> values(parameters.size(), nullptr);
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (absl::holds_alternative<absl::monostate>(parameters[i])) continue;
      texts[i] = TextOf(parameters[i]);
      values[i] = texts[i].c_str();
    }
    COBRA_ASSIGN_OR_RETURN(const PostgresResult result,
                           Reply(PQsendQueryPrepared(connection_.get(), name.c_str(), static_cast<int>(values.size()),
                                                     values.data(), nullptr, nullptr, 0)));
    return RowsOf(result.get());
  }

  absl::Status NotifyListeners() override { return Execute("SELECT pg_notify($1, '')", {kPostgresChannel}); }

  absl::StatusOr<std::string> Prepared(absl::string_view sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = prepared_.find(sql);
    if (found != prepared_.end()) return found->second;
    const std::string text =
        absl::StrReplaceAll(sql, {{"{serial}", "BIGSERIAL PRIMARY KEY"}, {"{skip_locked}", "FOR UPDATE SKIP LOCKED"}});
    const std::string name = absl::StrCat("s", prepared_.size());
    COBRA_RETURN_IF_ERROR(Reply(PQsendPrepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr)).status());
    return prepared_[std::string(sql)] = name;
  }

  // Keeps every bit of a double, and removes NUL, which PostgreSQL's text cannot contain.
  static std::string TextOf(const SqlValue& value) {
    if (const int64_t* number = absl::get_if<int64_t>(&value)) return absl::StrCat(*number);
    if (const double* real = absl::get_if<double>(&value)) {
      char text[32];
      std::snprintf(text, sizeof(text), "%.17g", *real);
      return text;
    }
    return absl::StrReplaceAll(absl::get<std::string>(value), {{absl::string_view("\0", 1), ""}});
  }

  static std::vector<SqlRow> RowsOf(PGresult* result) {
    std::vector<SqlRow> rows(static_cast<size_t>(PQntuples(result)));
    for (size_t r = 0; r < rows.size(); ++r) {
      for (int c = 0; c < PQnfields(result); ++c) rows[r].values.push_back(ValueOf(result, static_cast<int>(r), c));
    }
    return rows;
  }

  static SqlValue ValueOf(PGresult* result, int row, int column) {
    if (PQgetisnull(result, row, column)) return {};
    const absl::string_view text(PQgetvalue(result, row, column),
                                 static_cast<size_t>(PQgetlength(result, row, column)));
    int64_t number = 0;
    double real = 0;
    switch (PQftype(result, column)) {
      case kBool: return int64_t{text == "t"};
      case kInt2:
      case kInt4:
      case kInt8:
        if (absl::SimpleAtoi(text, &number)) return number;
        break;
      case kFloat4:
      case kFloat8:
      case kNumeric:
        if (absl::SimpleAtod(text, &real)) return real;
        break;
      default: break;
    }
    return std::string(text);
  }

  absl::Status Command(const std::string& sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return Reply(PQsendQuery(connection_.get(), sql.c_str())).status();
  }

  // The reply to a command that libpq has taken (`sent` is 1): the first error, or the last result.
  // libpq's own calls that wait for a reply wait for ever.
  absl::StatusOr<PostgresResult> Reply(int sent) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    PGconn* const connection = connection_.get();
    const auto lost = [&] { return absl::UnavailableError(Message(PQerrorMessage(connection))); };
    if (sent != 1) return lost();
    // A little later than the server ends the statement.
    const absl::Time until =
        std::min(limits_.deadline, absl::Now() + options().statement_timeout) + absl::Milliseconds(500);
    PostgresResult last;
    while (true) {
      int unsent = 0;
      while ((unsent = PQflush(connection)) == 1 || (unsent == 0 && PQisBusy(connection) == 1)) {
        if (!WaitFor(unsent == 1 ? POLLIN | POLLOUT : POLLIN, until)) {
          connection_.reset();
          return absl::UnavailableError(Message("does not answer"));
        }
        if (PQconsumeInput(connection) == 0) return lost();
      }
      if (unsent < 0) return lost();
      PostgresResult next(PQgetResult(connection));
      if (next == nullptr) break;
      if (last == nullptr || Check(last.get()).ok()) last = std::move(next);
    }
    COBRA_RETURN_IF_ERROR(Check(last.get()));
    return last;
  }

  // Whether the connection is ready for `events` before `until`.
  bool WaitFor(int events, absl::Time until) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    while (true) {
      const int64_t left_ms = absl::ToInt64Milliseconds(until - absl::Now());
      if (left_ms <= 0) return false;
      pollfd wait = {PQsocket(connection_.get()), static_cast<short>(events), 0};
      const int ready = ::poll(&wait, 1, static_cast<int>(std::min<int64_t>(left_ms, 60'000)));
      if (ready > 0) return true;
      if (ready < 0 && errno != EINTR) return false;
    }
  }

  // Maps the SQLSTATE class to a status (PostgreSQL manual, appendix A).
  absl::Status Check(PGresult* result) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) return absl::OkStatus();
    const char* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const std::string message = Message(PQresultErrorMessage(result)[0] != 0 ? PQresultErrorMessage(result)
                                                                             : PQerrorMessage(connection_.get()));
    if (state == nullptr || PQstatus(connection_.get()) != CONNECTION_OK) return absl::UnavailableError(message);
    const absl::string_view code(state);
    // 08 connection, 40 transaction rolled back (deadlock, serialisation), 53 resources (disk
    // full), 57 the operator intervened (shutdown), 58 I/O.
    for (absl::string_view passing : {"08", "40", "53", "57", "58"}) {
      if (absl::StartsWith(code, passing)) return absl::UnavailableError(message);
    }
    if (absl::StartsWith(code, "23")) return absl::AlreadyExistsError(message);
    return absl::InternalError(message);
  }

  std::string Message(absl::string_view text) const { return absl::StrCat(name_, ": ", absl::StripSuffix(text, "\n")); }

  const std::string url_;   // with the password: never in a message
  const std::string name_;  // for messages
  absl::Mutex mutex_;
  TimeLimits limits_ ABSL_GUARDED_BY(mutex_);  // of the transaction that runs
  PostgresConnection connection_ ABSL_GUARDED_BY(mutex_);
  std::string identity_ ABSL_GUARDED_BY(mutex_);  // of the first connection with tables; empty: none yet
  std::map<std::string, std::string, std::less<>> prepared_ ABSL_GUARDED_BY(mutex_);  // of this connection: SQL -> name
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenPostgres(absl::string_view url, const SqlOptions& options) {
  auto database = std::make_unique<PostgresDatabase>(url, options);
  COBRA_RETURN_IF_ERROR(database->Transaction([](SqlSession& session) { return session.Execute("SELECT 1"); }));
  return database;
}

}  // namespace cobra::store
