#include <sqlite3.h>

#include <algorithm>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "store/sql/change_listener.h"
#include "store/sql/sql_sqlite_file.h"

namespace cobra::store {
namespace {

struct SqliteDeleter {
  void operator()(sqlite3* db) const { sqlite3_close(db); }
};

// A transaction that notifies raises the file's user_version (sql_sqlite.cc). data_version would do
// without that, but it changes with every prediction that is stored.
class SqliteListener final : public ChangeListener {
 public:
  SqliteListener(absl::string_view path, const ListenerOptions& options) : path_(path), options_(options) {}

  absl::Status Connect(absl::Time) override {
    if (IsCancelled()) return absl::CancelledError("cancelled");
    db_.reset();
    file_.reset();
    file_ = SqliteFile::Of(path_);
    COBRA_RETURN_IF_ERROR(file_->Check(nullptr));
    sqlite3* db = nullptr;
    const int code = sqlite3_open_v2(path_.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr);
    db_.reset(db);
    if (code != SQLITE_OK) return Lost();
    // A reader waits only while another process recovers the log of a crash.
    sqlite3_busy_timeout(db, 1000);
    COBRA_ASSIGN_OR_RETURN(version_, Version());
    return file_->Opened(db);
  }

  absl::StatusOr<bool> Wait(absl::Time deadline) override {
    while (true) {
      if (SleepUntil(std::min(deadline, absl::Now() + options_.look_period))) return absl::CancelledError("cancelled");
      COBRA_ASSIGN_OR_RETURN(const int version, Version());
      if (version != version_) {
        version_ = version;
        return true;
      }
      if (absl::Now() >= deadline) return false;
    }
  }

  void Cancel() override {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
  }

 private:
  bool IsCancelled() { return SleepUntil(absl::InfinitePast()); }

  // Whether it was cancelled.
  bool SleepUntil(absl::Time time) {
    absl::MutexLock lock(&mutex_);
    return mutex_.AwaitWithDeadline(absl::Condition(&cancelled_), time);
  }

  absl::StatusOr<int> Version() {
    COBRA_RETURN_IF_ERROR(file_->Check(db_.get()));
    int version = 0;
    const auto read = [](void* to, int, char** values, char**) {
      return absl::SimpleAtoi(values[0] == nullptr ? "" : values[0], static_cast<int*>(to)) ? 0 : 1;
    };
    const int code = sqlite3_exec(db_.get(), "PRAGMA user_version", read, &version, nullptr);
    if (code != SQLITE_OK) return Lost();
    return version;
  }

  absl::Status Lost() const {
    return absl::UnavailableError(absl::StrCat(path_, ": ", db_ == nullptr ? "no memory" : sqlite3_errmsg(db_.get())));
  }

  const std::string path_;
  const ListenerOptions options_;
  std::shared_ptr<SqliteFile> file_;  // outlives the handle
  std::unique_ptr<sqlite3, SqliteDeleter> db_;
  int version_ = 0;
  absl::Mutex mutex_;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace

std::unique_ptr<ChangeListener> MakeSqliteListener(absl::string_view path, const ListenerOptions& options) {
  return std::make_unique<SqliteListener>(path, options);
}

}  // namespace cobra::store
