// What all users of libpq share: owners of its objects, and how to connect.
#ifndef COBRA_STORE_SQL_SQL_POSTGRES_CONNECTION_H_
#define COBRA_STORE_SQL_SQL_POSTGRES_CONNECTION_H_

#include <libpq-fe.h>

#include <cstddef>
#include <memory>
#include <string>

#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cobra::store {

struct PostgresDeleter {
  void operator()(PGconn* connection) const { PQfinish(connection); }
  void operator()(PGresult* result) const { PQclear(result); }
  void operator()(PGnotify* notification) const { PQfreemem(notification); }
};
using PostgresConnection = std::unique_ptr<PGconn, PostgresDeleter>;
using PostgresResult = std::unique_ptr<PGresult, PostgresDeleter>;

// The arguments of PQconnectdbParams and PQconnectStartParams (expand_dbname: 1). A host that does
// not answer, now or later, must not block a thread for minutes; `url` may say otherwise. It must
// live longer than this object.
class PostgresParameters {
 public:
  PostgresParameters(const std::string& url, const char* application, absl::Duration connect_timeout);
  PostgresParameters(const PostgresParameters&) = delete;
  PostgresParameters& operator=(const PostgresParameters&) = delete;
  const char* const* keys() const { return kKeys; }
  const char* const* values() const { return values_; }

 private:
  static constexpr size_t kCount = 8;
  static const char* const kKeys[kCount];
  const std::string connect_seconds_;
  const char* const values_[kCount];
};

// Of a connection that is made: its calls do not block, and notices are not printed.
void PreparePostgresConnection(PGconn* connection);

// "postgresql://host/db" of "postgresql://user:secret@host/db".
std::string PostgresName(absl::string_view url);

}  // namespace cobra::store

#endif  // COBRA_STORE_SQL_SQL_POSTGRES_CONNECTION_H_
