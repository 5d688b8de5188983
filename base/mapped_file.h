#ifndef COBRA_BASE_MAPPED_FILE_H_
#define COBRA_BASE_MAPPED_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra {

// A file whose pages are read as they are looked at: of gigabytes, only what somebody wants is in
// memory. For the user's own files; a file that becomes shorter meanwhile ends the process.
class MappedFile {
 public:
  // NotFound or PermissionDenied as ReadFile (base/file.h); InvalidArgument for what is no regular
  // file.
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

#endif  // COBRA_BASE_MAPPED_FILE_H_
