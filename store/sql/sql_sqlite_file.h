// Whether the file of an SQLite database is still the one that this process has open. SQLite does
// not say: after the file was removed, or another one was moved to its name, transactions go on to
// succeed, in a file without a name that is gone when the process ends. So every handle looks
// before it begins a transaction and before it reports success.
//
// Noticed: the file, its -wal or its -shm is removed, moved or replaced, also by a symbolic link
// that leads elsewhere or a file system that is mounted or unmounted above it; the file is emptied,
// or overwritten in place by something that is not a database or by an older copy of it. Not
// noticed: another database in its place whose header has no smaller change counter and size.
#ifndef COBRA_STORE_SQL_SQL_SQLITE_FILE_H_
#define COBRA_STORE_SQL_SQL_SQLITE_FILE_H_

#include <sqlite3.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"

namespace cobra::store {

// One for all handles that this process has on a path, so that no handle opens, or creates, another
// file than those before it. Safe to use from several threads; a handle only from one at a time.
class SqliteFile {
 public:
  // The same object for equal paths, as long as somebody has it. Whoever has it closes the handle
  // first.
  static std::shared_ptr<SqliteFile> Of(const std::string& path);
  // Puts the -wal of a file that was replaced aside: whoever opens the other file next would have
  // it written into that.
  ~SqliteFile();

  // Whether a handle was opened: later ones must not create the file.
  bool is_open() const;
  // Of a handle that has just been opened, with its journal. Unavailable if the file was replaced
  // meanwhile.
  absl::Status Opened(sqlite3* db);
  // Unavailable, and IsStoreLost() (sql.h), if what is on the disk is not what was opened. It ends
  // when the same files are back. `db` may be null: then only names are looked at. A few
  // microseconds.
  absl::Status Check(sqlite3* db);

 private:
  struct Name {
    std::string path;
    dev_t device = 0;
    ino_t inode = 0;  // 0: there was no such file
  };

  explicit SqliteFile(std::string path) : path_(std::move(path)) {}
  static bool Exists(const Name& name);
  absl::Status CheckNames() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status CheckHeader(sqlite3* db) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::string path_;  // as the operator wrote it: it may be a symbolic link
  mutable absl::Mutex mutex_;
  std::vector<Name> names_ ABSL_GUARDED_BY(mutex_);  // the file, its -wal, its -shm; empty: nothing was opened
  // The change counter and the pages in the header on the disk. Each is raised, or stays, with what
  // SQLite writes; only VACUUM makes the pages fewer, and raises the counter.
  std::pair<uint32_t, uint32_t> newest_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace cobra::store

#endif  // COBRA_STORE_SQL_SQL_SQLITE_FILE_H_
