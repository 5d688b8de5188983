#include "store/sql/sql.h"

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"

namespace cobra::store {
namespace {

constexpr char kLostUrl[] = "cobra.store/lost";  // of the payload

}  // namespace

bool IsStoreLost(const absl::Status& status) { return status.GetPayload(kLostUrl).has_value(); }

absl::Status MarkStoreLost(absl::Status status) {
  status.SetPayload(kLostUrl, absl::Cord());
  return status;
}

int64_t SqlRow::Int(int column) const {
  const int64_t* value = absl::get_if<int64_t>(&values[static_cast<size_t>(column)]);
  return value == nullptr ? 0 : *value;
}

double SqlRow::Real(int column) const {
  const SqlValue& value = values[static_cast<size_t>(column)];
  if (const double* real = absl::get_if<double>(&value)) return *real;
  return static_cast<double>(Int(column));
}

std::string SqlRow::Text(int column) const {
  const std::string* value = absl::get_if<std::string>(&values[static_cast<size_t>(column)]);
  return value == nullptr ? "" : *value;
}

absl::Status SqlDatabase::CheckDeadline(absl::Time deadline) {
  if (absl::Now() < deadline) return absl::OkStatus();
  return absl::DeadlineExceededError("the deadline of the request passed while it waited for the database");
}

absl::Status SqlDatabase::Transaction(absl::Time deadline, absl::FunctionRef<absl::Status(SqlSession&)> body) {
  const TimeLimits limits = {std::min(deadline, absl::Now() + options_.patience), deadline};
  {
    absl::MutexLock lock(&turn_);
    const auto free = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(turn_) { return !taken_; };
    if (!turn_.AwaitWithDeadline(absl::Condition(&free), limits.patient_until)) {
      COBRA_RETURN_IF_ERROR(CheckDeadline(deadline));
      return absl::UnavailableError("the database is busy; try again later");
    }
    taken_ = true;
  }
  const absl::Cleanup give_turn = [this] {
    absl::MutexLock lock(&turn_);
    taken_ = false;
  };
  absl::Status status = Run(body, limits);
  if (absl::IsUnavailable(status)) COBRA_RETURN_IF_ERROR(CheckDeadline(deadline));
  return status;
}

absl::StatusOr<std::vector<SqlRow>> SqlDatabase::Query(absl::string_view sql, absl::Span<const SqlValue> parameters,
                                                       absl::Time deadline) {
  std::vector<SqlRow> rows;
  COBRA_RETURN_IF_ERROR(Transaction(deadline, [&](SqlSession& session) -> absl::Status {
    COBRA_ASSIGN_OR_RETURN(rows, session.Query(sql, parameters));
    return absl::OkStatus();
  }));
  return rows;
}

bool IsPostgres(absl::string_view location) {
  return absl::StartsWith(location, "postgresql://") || absl::StartsWith(location, "postgres://");
}

absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenDatabase(absl::string_view location, const SqlOptions& options) {
  return IsPostgres(location) ? OpenPostgres(location, options) : OpenSqlite(location, options);
}

}  // namespace cobra::store
