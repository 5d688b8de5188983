#include <libpq-fe.h>

#include <cstring>
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
#include "store/sql.h"

namespace cobra::store {
namespace {

// Types of result columns by their object identifiers (PostgreSQL's catalog/pg_type.dat, which never change).
constexpr Oid kBool = 16, kInt8 = 20, kInt2 = 21, kInt4 = 23, kFloat4 = 700, kFloat8 = 701, kNumeric = 1700;

struct ConnectionDeleter {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct ResultDeleter {
  void operator()(PGresult* result) const { PQclear(result); }
};
using ConnectionPtr = std::unique_ptr<PGconn, ConnectionDeleter>;
using ResultPtr = std::unique_ptr<PGresult, ResultDeleter>;

// "postgresql://host/db" of "postgresql://user:secret@host/db".
std::string WithoutUser(absl::string_view url) {
  const size_t scheme = url.find("://");
  const size_t at = url.find('@');
  if (scheme == absl::string_view::npos || at == absl::string_view::npos)
    return std::string(url.substr(0, url.find('?')));
  return absl::StrCat(url.substr(0, scheme + 3), url.substr(at + 1, url.find('?') - at - 1));
}

class PostgresDatabase final : public SqlDatabase, private SqlSession {
 public:
  PostgresDatabase(absl::string_view url, const SqlOptions& options)
      : url_(url), name_(WithoutUser(url)), options_(options) {}

  absl::Status Transaction(absl::FunctionRef<absl::Status(SqlSession&)> body) override {
    absl::MutexLock lock(&mutex_);
    const absl::Time until = absl::Now() + options_.patience;
    absl::Duration wait = absl::Milliseconds(10);
    while (true) {
      absl::Status status = TryTransaction(body);
      if (!absl::IsUnavailable(status) || absl::Now() + wait > until) return status;
      absl::SleepFor(wait);
      wait = std::min(2 * wait, absl::Milliseconds(500));
    }
  }

 private:
  absl::Status TryTransaction(absl::FunctionRef<absl::Status(SqlSession&)> body) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    COBRA_RETURN_IF_ERROR(Connect());
    COBRA_RETURN_IF_ERROR(Command("BEGIN"));
    absl::Status status = body(*this);
    if (status.ok()) status = Command("COMMIT");
    if (!status.ok()) Command("ROLLBACK").IgnoreError();
    return status;
  }

  absl::Status Connect() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (connection_ != nullptr && PQstatus(connection_.get()) == CONNECTION_OK) return absl::OkStatus();
    prepared_.clear();
    // libpq's own time limit: without it, a host that does not answer blocks this thread for minutes.
    const std::string seconds = absl::StrCat(std::max<int64_t>(2, absl::ToInt64Seconds(options_.patience)));
    const char* keys[] = {"dbname", "connect_timeout", "application_name", nullptr};
    const char* values[] = {url_.c_str(), seconds.c_str(), "cobra", nullptr};
    connection_.reset(PQconnectdbParams(keys, values, /*expand_dbname=*/1));
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      return absl::UnavailableError(Message(PQerrorMessage(connection_.get())));
    PQsetNoticeProcessor(
        connection_.get(), [](void*, const char*) {}, nullptr);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<SqlRow>> Query(absl::string_view sql, absl::Span<const SqlValue> parameters) override {
    mutex_.AssertHeld();
    COBRA_ASSIGN_OR_RETURN(const std::string name, Prepared(sql));
    std::vector<std::string> texts(parameters.size());
    std::vector<const char*> values(parameters.size(), nullptr);
    for (size_t i = 0; i < parameters.size(); ++i) {
      if (absl::holds_alternative<absl::monostate>(parameters[i])) continue;
      texts[i] = TextOf(parameters[i]);
      values[i] = texts[i].c_str();
    }
    const ResultPtr result(PQexecPrepared(connection_.get(), name.c_str(), static_cast<int>(values.size()),
                                          values.data(), nullptr, nullptr, 0));
    COBRA_RETURN_IF_ERROR(Check(result.get()));
    return RowsOf(result.get());
  }

  absl::StatusOr<std::string> Prepared(absl::string_view sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const auto found = prepared_.find(sql);
    if (found != prepared_.end()) return found->second;
    const std::string text =
        absl::StrReplaceAll(sql, {{"{serial}", "BIGSERIAL PRIMARY KEY"}, {"{skip_locked}", "FOR UPDATE SKIP LOCKED"}});
    const std::string name = absl::StrCat("s", prepared_.size());
    const ResultPtr result(PQprepare(connection_.get(), name.c_str(), text.c_str(), 0, nullptr));
    COBRA_RETURN_IF_ERROR(Check(result.get()));
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

  absl::Status Command(const char* sql) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    const ResultPtr result(PQexec(connection_.get(), sql));
    return Check(result.get());
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
    // 08 connection, 40 transaction rolled back (deadlock, serialisation), 53 resources (disk full), 57 the operator
    // intervened (shutdown), 58 I/O.
    for (absl::string_view passing : {"08", "40", "53", "57", "58"}) {
      if (absl::StartsWith(code, passing)) return absl::UnavailableError(message);
    }
    if (absl::StartsWith(code, "23")) return absl::AlreadyExistsError(message);
    return absl::InternalError(message);
  }

  std::string Message(absl::string_view text) const { return absl::StrCat(name_, ": ", absl::StripSuffix(text, "\n")); }

  const std::string url_;   // with the password: never in a message
  const std::string name_;  // for messages
  const SqlOptions options_;
  absl::Mutex mutex_;
  ConnectionPtr connection_ ABSL_GUARDED_BY(mutex_);
  std::map<std::string, std::string, std::less<>> prepared_ ABSL_GUARDED_BY(mutex_);  // of this connection: SQL -> name
};

}  // namespace

absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenPostgres(absl::string_view url, const SqlOptions& options) {
  auto database = std::make_unique<PostgresDatabase>(url, options);
  COBRA_RETURN_IF_ERROR(database->Transaction([](SqlSession& session) { return session.Execute("SELECT 1"); }));
  return database;
}

}  // namespace cobra::store
