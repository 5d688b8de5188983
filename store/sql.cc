#include "store/sql.h"

#include "absl/strings/match.h"

namespace cobra::store {

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

bool IsPostgres(absl::string_view location) {
  return absl::StartsWith(location, "postgresql://") || absl::StartsWith(location, "postgres://");
}

absl::StatusOr<std::unique_ptr<SqlDatabase>> OpenDatabase(absl::string_view location, const SqlOptions& options) {
  return IsPostgres(location) ? OpenPostgres(location, options) : OpenSqlite(location, options);
}

}  // namespace cobra::store
