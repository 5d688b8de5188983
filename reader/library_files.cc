#include "reader/library_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/file/open_below.h"
#include "base/limits.h"
#include "base/text/limit_message.h"
#include "reader/reader.pb.h"

namespace cobra::reader {
namespace {

std::optional<FileAnswer> Ask(Channel* server, FileQuestion::Kind kind, uint32_t root, absl::string_view path) {
  ReaderMessage message;
  FileQuestion* question = message.mutable_question();
  question->set_kind(kind);
  question->set_root(root);
  question->set_path(std::string(path));
  // Whoever opened the other end answers or is gone, and then so is the point of going on.
  if (!server->Send(message).ok()) ::_exit(0);
  const absl::StatusOr<Received> received = server->Receive(Limits().file_bytes + 64);
  FileAnswer answer;
  if (!received.ok() || !answer.ParseFromString(received->bytes)) ::_exit(0);
  if (!answer.found()) return std::nullopt;
  return answer;
}

}  // namespace

LibraryDirectory::LibraryDirectory(std::string root) : root_(std::move(root)) {
  while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  folder_ = Descriptor(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

std::string LibraryDirectory::DisplayName(absl::string_view path) const {
  return path.empty() ? root_ : absl::StrCat(root_, "/", path);
}

// O_NONBLOCK: a named pipe does not block.
Descriptor LibraryDirectory::Open(absl::string_view path) const {
  if (path.find('\0') != absl::string_view::npos) return Descriptor();
  return OpenBelow(folder_.get(), path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

absl::StatusOr<std::string> LibraryDirectory::Read(absl::string_view path) const {
  const Descriptor file = Open(path);
  struct stat s = {};
  if (!file.valid() || ::fstat(file.get(), &s) != 0 || !S_ISREG(s.st_mode))
    return absl::NotFoundError(absl::StrCat(DisplayName(path), ": no such file"));
  const int64_t most = Limits().file_bytes;
  if (s.st_size > most) return absl::ResourceExhaustedError(LimitMessage(DisplayName(path), s.st_size, most, "bytes"));
  std::string text(static_cast<size_t>(s.st_size), '\0');
  size_t got = 0;
  while (got < text.size()) {
    const ssize_t n = ::read(file.get(), text.data() + got, text.size() - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  text.resize(got);
  return text;
}

bool LibraryDirectory::IsFile(absl::string_view path) const {
  const Descriptor file = Open(path);
  struct stat s = {};
  return file.valid() && ::fstat(file.get(), &s) == 0 && S_ISREG(s.st_mode);
}

bool LibraryDirectory::IsDirectory(absl::string_view path) const {
  const Descriptor file = Open(path);
  struct stat s = {};
  return file.valid() && ::fstat(file.get(), &s) == 0 && S_ISDIR(s.st_mode);
}

absl::StatusOr<std::vector<std::string>> LibraryDirectory::List(absl::string_view path) const {
  Descriptor folder = Open(path);
  DIR* const entries = folder.valid() ? ::fdopendir(folder.get()) : nullptr;
  if (entries == nullptr) return absl::NotFoundError(absl::StrCat(DisplayName(path), ": no such folder"));
  folder.Release();  // closedir() closes it
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(entry->d_type == DT_DIR ? name + "/" : name);
  }
  ::closedir(entries);
  std::sort(names.begin(), names.end());
  return names;
}

uint64_t LibraryDirectory::Stamp(absl::string_view path) const { return FileStamp(Open(path).get()); }

absl::StatusOr<std::string> LibraryFiles::Read(absl::string_view path) const {
  if (server_ == nullptr) return directory_.Read(path);
  std::optional<FileAnswer> answer = Ask(server_, FileQuestion::KIND_READ, index_, path);
  if (!answer.has_value()) return absl::NotFoundError(absl::StrCat(DisplayName(path), ": no such file"));
  return std::move(*answer->mutable_text());
}

bool LibraryFiles::IsFile(absl::string_view path) const {
  if (server_ == nullptr) return directory_.IsFile(path);
  return Ask(server_, FileQuestion::KIND_IS_FILE, index_, path).has_value();
}

bool LibraryFiles::IsDirectory(absl::string_view path) const {
  if (server_ == nullptr) return directory_.IsDirectory(path);
  return Ask(server_, FileQuestion::KIND_IS_DIRECTORY, index_, path).has_value();
}

absl::StatusOr<std::vector<std::string>> LibraryFiles::List(absl::string_view path) const {
  if (server_ == nullptr) return directory_.List(path);
  const std::optional<FileAnswer> answer = Ask(server_, FileQuestion::KIND_LIST, index_, path);
  if (!answer.has_value()) return absl::NotFoundError(absl::StrCat(DisplayName(path), ": no such folder"));
  return std::vector<std::string>(answer->names().begin(), answer->names().end());
}

uint64_t LibraryFiles::Stamp(absl::string_view path) const {
  if (server_ == nullptr) return directory_.Stamp(path);
  const std::optional<FileAnswer> answer = Ask(server_, FileQuestion::KIND_STAMP, index_, path);
  return answer.has_value() ? answer->stamp() : 0;
}

}  // namespace cobra::reader
