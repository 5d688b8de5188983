#include "store/sql/sql_sqlite_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "store/sql/sql.h"

namespace cobra::store {
namespace {

constexpr absl::string_view kMagic("SQLite format 3\0", 16);
constexpr int kHeaderBytes = 100;

absl::Status Lost(absl::string_view path, absl::string_view what) {
  return MarkStoreLost(absl::UnavailableError(
      absl::StrCat(path, ": ", what,
                   ", so that nothing can be stored; put the same file back, or stop the server, put another file "
                   "there without its -wal and -shm, and start it again")));
}

uint32_t BigEndian(const unsigned char* bytes) {
  return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

std::shared_ptr<SqliteFile> SqliteFile::Of(const std::string& path) {
  static absl::Mutex mutex(absl::kConstInit);
  static auto* const files = new std::map<std::string, std::weak_ptr<SqliteFile>>();
  absl::MutexLock lock(&mutex);
  std::weak_ptr<SqliteFile>& known = (*files)[path];
  std::shared_ptr<SqliteFile> file = known.lock();
  if (file == nullptr) known = file = std::shared_ptr<SqliteFile>(new SqliteFile(path));
  return file;
}

SqliteFile::~SqliteFile() {
  if (names_.empty() || Exists(names_[0])) return;
  struct stat other = {};
  if (::stat(path_.c_str(), &other) != 0 || !Exists(names_[1])) return;
  const std::string aside = absl::StrCat(names_[1].path, ".replaced");
  if (std::rename(names_[1].path.c_str(), aside.c_str()) != 0) return;
  ::unlink(names_[2].path.c_str());  // an index of the other one
  LogWarning(absl::StrCat(names_[1].path, ": belongs to the file that was replaced; it is now ", aside));
}

bool SqliteFile::Exists(const Name& name) {
  struct stat found = {};
  return name.inode != 0 && ::stat(name.path.c_str(), &found) == 0 && found.st_dev == name.device &&
         found.st_ino == name.inode;
}

bool SqliteFile::is_open() const {
  absl::MutexLock lock(&mutex_);
  return !names_.empty();
}

absl::Status SqliteFile::Opened(sqlite3* db) {
  absl::MutexLock lock(&mutex_);
  const char* const resolved = sqlite3_db_filename(db, "main");
  if (resolved == nullptr || resolved[0] == '\0') return absl::OkStatus();  // a database in memory
  if (names_.empty()) {
    for (const std::string& path : {path_, absl::StrCat(resolved, "-wal"), absl::StrCat(resolved, "-shm")}) {
      struct stat found = {};
      const bool is_there = ::stat(path.c_str(), &found) == 0;
      names_.push_back({path, is_there ? found.st_dev : 0, is_there ? found.st_ino : 0});
    }
  }
  // Whether the name leads to what SQLite has opened, which it knows by its descriptor.
  int has_moved = 0;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  if (has_moved != 0 || names_[0].inode == 0) return Lost(path_, "was removed or replaced while it was opened");
  COBRA_RETURN_IF_ERROR(CheckNames());
  return CheckHeader(db);
}

absl::Status SqliteFile::Check(sqlite3* db) {
  absl::MutexLock lock(&mutex_);
  if (names_.empty()) return absl::OkStatus();
  COBRA_RETURN_IF_ERROR(CheckNames());
  return db == nullptr ? absl::OkStatus() : CheckHeader(db);
}

absl::Status SqliteFile::CheckNames() const {
  for (const Name& name : names_) {
    if (name.inode == 0) continue;
    struct stat found = {};
    if (::stat(name.path.c_str(), &found) != 0) {
      const bool is_gone = errno == ENOENT || errno == ENOTDIR;
      return Lost(name.path, is_gone ? std::string("was removed while it was in use")
                                     : absl::StrCat("cannot be found any more: ", std::strerror(errno)));
    }
    if (found.st_dev != name.device || found.st_ino != name.inode)
      return Lost(name.path, "was replaced by another file while it was in use");
  }
  return absl::OkStatus();
}

// Of the disk, not of SQLite's cache, which would not see that another program has written to the
// file.
absl::Status SqliteFile::CheckHeader(sqlite3* db) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (file == nullptr || file->pMethods == nullptr) return absl::OkStatus();
  unsigned char header[kHeaderBytes] = {};
  const int code = file->pMethods->xRead(file, header, kHeaderBytes, 0);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ)
    return absl::UnavailableError(absl::StrCat(path_, ": cannot be read: ", sqlite3_errstr(code)));
  if (std::memcmp(header, kMagic.data(), kMagic.size()) != 0)
    return Lost(path_, "was emptied or overwritten while it was in use");
  const std::pair<uint32_t, uint32_t> now = {BigEndian(header + 24), BigEndian(header + 28)};
  if (now < newest_) return Lost(path_, "was overwritten with an older copy while it was in use");
  newest_ = now;
  return absl::OkStatus();
}

}  // namespace cobra::store
