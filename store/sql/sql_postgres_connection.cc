#include "store/sql/sql_postgres_connection.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"

namespace cobra::store {

const char* const PostgresParameters::kKeys[kCount] = {
    "application_name",    "connect_timeout",  "tcp_user_timeout", "keepalives_idle",
    "keepalives_interval", "keepalives_count", "dbname",           nullptr};

PostgresParameters::PostgresParameters(const std::string& url, const char* application, absl::Duration connect_timeout)
    : connect_seconds_(absl::StrCat(std::max<int64_t>(2, absl::ToInt64Seconds(connect_timeout)))),
      values_{application, connect_seconds_.c_str(), "10000", "10", "5", "3", url.c_str(), nullptr} {}

void PreparePostgresConnection(PGconn* connection) {
  PQsetnonblocking(connection, 1);
  PQsetNoticeProcessor(
      connection, [](void*, const char*) {}, nullptr);
}

std::string PostgresName(absl::string_view url) {
  const size_t scheme = url.find("://");
  const size_t at = url.find('@');
  if (scheme == absl::string_view::npos || at == absl::string_view::npos)
    return std::string(url.substr(0, url.find('?')));
  return absl::StrCat(url.substr(0, scheme + 3), url.substr(at + 1, url.find('?') - at - 1));
}

}  // namespace cobra::store
