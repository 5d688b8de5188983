// Notices when this or another process has changed the calibrations of a database: PostgreSQL sends
// a notification at the commit (LISTEN and NOTIFY, on a separate connection), an SQLite file is
// checked twice a second.
#ifndef COBRA_STORE_SQL_CHANGE_LISTENER_H_
#define COBRA_STORE_SQL_CHANGE_LISTENER_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace cobra::store {

struct ListenerOptions {
  // Between two checks of an SQLite file.
  absl::Duration look_period = absl::Milliseconds(500);
  // A PostgreSQL server that was silent for so long is asked whether it is still there, and given
  // up if it stays silent as long again: nothing else tells that its machine was lost.
  absl::Duration silence = absl::Seconds(10);
};

// Used by one thread, except Cancel().
class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  // Connects, or connects again. Wait() notices what is committed after this has returned; what was
  // committed before must be read. Unavailable otherwise.
  virtual absl::Status Connect(absl::Time deadline) = 0;
  // Whether there was a change, until the deadline. Unavailable: the connection is lost, perhaps
  // with changes. REQUIRES: Connect() has succeeded, and since then no Wait() has failed.
  virtual absl::StatusOr<bool> Wait(absl::Time deadline) = 0;
  // From any thread: Connect() and Wait() return Cancelled, at once and from now on.
  virtual void Cancel() = 0;
};

// `location` as for OpenDatabase(), which has created the database. Does not connect yet.
std::unique_ptr<ChangeListener> MakeChangeListener(absl::string_view location, const ListenerOptions& options = {});

// For MakeChangeListener.
std::unique_ptr<ChangeListener> MakeSqliteListener(absl::string_view path, const ListenerOptions& options);
std::unique_ptr<ChangeListener> MakePostgresListener(absl::string_view url, const ListenerOptions& options);
inline constexpr char kPostgresChannel[] = "cobra_calibrations";

}  // namespace cobra::store

#endif  // COBRA_STORE_SQL_CHANGE_LISTENER_H_
