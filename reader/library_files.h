// Files of a library, for the server and its readers: only what is below the library's folder,
// wherever symbolic links point.
#ifndef COBRA_READER_LIBRARY_FILES_H_
#define COBRA_READER_LIBRARY_FILES_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "frontend/python/runtime/interpreter/interpreter.h"
#include "reader/channel.h"

namespace cobra::reader {

// Opens files itself. Thread-safe.
class LibraryDirectory final : public python::FileSource {
 public:
  explicit LibraryDirectory(std::string root);
  absl::StatusOr<std::string> Read(absl::string_view path) const override;
  bool IsFile(absl::string_view path) const override;
  bool IsDirectory(absl::string_view path) const override;
  absl::StatusOr<std::vector<std::string>> List(absl::string_view path) const override;
  uint64_t Stamp(absl::string_view path) const override;
  std::string DisplayName(absl::string_view path) const override;

 private:
  Descriptor Open(absl::string_view path) const;

  std::string root_;
  Descriptor folder_;
};

// Opens files itself in an image process. In a reader, which may not open files, it asks the
// server.
class LibraryFiles final : public python::FileSource {
 public:
  // `index`: of the root among the server's --library directories.
  LibraryFiles(std::string root, uint32_t index) : directory_(std::move(root)), index_(index) {}
  // From now on, in this process. `server` is not owned.
  void AskServer(Channel* server) { server_ = server; }

  absl::StatusOr<std::string> Read(absl::string_view path) const override;
  bool IsFile(absl::string_view path) const override;
  bool IsDirectory(absl::string_view path) const override;
  absl::StatusOr<std::vector<std::string>> List(absl::string_view path) const override;
  uint64_t Stamp(absl::string_view path) const override;
  std::string DisplayName(absl::string_view path) const override { return directory_.DisplayName(path); }

 private:
  const LibraryDirectory directory_;
  const uint32_t index_;
  Channel* server_ = nullptr;
};

}  // namespace cobra::reader

#endif  // COBRA_READER_LIBRARY_FILES_H_
