#ifndef COBRA_BASE_FILE_FILE_H_
#define COBRA_BASE_FILE_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

// The contents of a file. NotFound, PermissionDenied, or ResourceExhausted if it is larger than
// `max_bytes`. Errors start with the path.
absl::StatusOr<std::string> ReadFile(absl::string_view path, int64_t max_bytes = int64_t{1} << 33);
// The same, and unpacks a file that begins with the magic bytes of gzip or xz; max_bytes bounds the
// unpacked size, too.
absl::StatusOr<std::string> ReadMaybeCompressed(absl::string_view path, int64_t max_bytes = int64_t{1} << 33);
// Writes a temporary file and renames it, so that a reader sees the old file or the new one, never
// a partial one.
absl::Status WriteFileAtomic(absl::string_view path, absl::string_view contents);
// gzip with no time stamp: the same contents give the same bytes.
std::string Gzip(absl::string_view contents);
// WriteFileAtomic, gzipped if `path` ends in .gz.
absl::Status WriteMaybeGzip(absl::string_view path, absl::string_view contents);

bool IsDirectory(absl::string_view path);
bool FileExists(absl::string_view path);
// Whether an untrusted `path` stays below the folder that it is looked up in: "net/a.py". No empty
// part, no "." or "..", nothing absolute, no NUL that would end the name early for the system.
bool IsPathInside(absl::string_view path);
// Changes when the file is written or replaced (time of change, size, inode); 0 if it does not
// exist.
uint64_t FileStamp(absl::string_view path);
uint64_t FileStamp(int descriptor);  // for an open file
absl::Status MakeDirectories(absl::string_view path);
// Every regular file under `root` whose name ends in `suffix`, relative to root, sorted. Symbolic
// links are not followed.
absl::StatusOr<std::vector<std::string>> ListFiles(absl::string_view root, absl::string_view suffix);

}  // namespace cobra

#endif  // COBRA_BASE_FILE_FILE_H_
