#ifndef COBRA_BASE_FILE_MAPPED_FILE_H_
#define COBRA_BASE_FILE_MAPPED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

// A file whose pages are read on access, so that only the used part of a large file is in memory.
// For the user's own files: if the file is truncated in the meantime, the process is killed.
class MappedFile {
 public:
  // NotFound or PermissionDenied as ReadFile (base/file/file.h); InvalidArgument if it is not a
  // regular file.
  static absl::StatusOr<MappedFile> Open(absl::string_view path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;

  absl::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  MappedFile(void* data, size_t size) : data_(data), size_(size) {}

  void* data_;  // null: an empty file
  size_t size_;
};

}  // namespace cobra

#endif  // COBRA_BASE_FILE_MAPPED_FILE_H_
