#include "base/file/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file/descriptor.h"

namespace cobra {

absl::StatusOr<MappedFile> MappedFile::Open(absl::string_view path) {
  const std::string name(path);
  const Descriptor file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.valid()) return absl::ErrnoToStatus(errno, name);
  struct stat info;
  if (::fstat(file.get(), &info) != 0) return absl::ErrnoToStatus(errno, name);
  if (!S_ISREG(info.st_mode)) return absl::InvalidArgumentError(absl::StrCat(name, ": is not a regular file"));
  if (info.st_size == 0) return MappedFile(nullptr, 0);
  const auto size = static_cast<size_t>(info.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return absl::ErrnoToStatus(errno, name);
  return MappedFile(data, size);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace cobra
