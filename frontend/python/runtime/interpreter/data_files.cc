#include "frontend/python/runtime/interpreter/data_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "base/file/open_below.h"
#include "base/text/limit_message.h"

namespace cobra::python {
namespace {

thread_local DataFolder* current_folder = nullptr;

// Not a symbolic link: where the link is, is no matter of the folder that it leads to.
Descriptor OpenRoot(const std::string& root) {
  return Descriptor(::open(root.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// After a root could not be opened: whether it is in no file system of this process.
bool IsElsewhere() { return errno == ENOENT || errno == EPERM; }

// With O_PATH nothing is opened yet: opening a device may already have an effect.
FileKind KindOf(const Descriptor& file) {
  struct stat s = {};
  if (!file.valid())
    return errno == EXDEV || errno == ELOOP || errno == EACCES ? FileKind::kRefused : FileKind::kAbsent;
  if (::fstat(file.get(), &s) != 0) return FileKind::kRefused;
  return S_ISREG(s.st_mode) ? FileKind::kFile : S_ISDIR(s.st_mode) ? FileKind::kFolder : FileKind::kRefused;
}

FileKind KindIn(const Descriptor& root, absl::string_view path) {
  if (!path.empty() && !IsPathInside(path)) return FileKind::kAbsent;
  return KindOf(OpenBelow(root.get(), path, O_PATH | O_CLOEXEC));
}

absl::Status NoSuch(absl::string_view path, absl::string_view what) {
  return absl::NotFoundError(absl::StrCat(path, ": no such ", what));
}

// The first 100 names of a Python package are found in a folder of thousands; nobody lists a
// million.
constexpr size_t kMostNames = 100'000;

absl::StatusOr<std::string> ReadAll(int file, absl::string_view path, int64_t most) {
  struct stat s = {};
  if (::fstat(file, &s) != 0) return NoSuch(path, "file");
  if (s.st_size > most) return absl::ResourceExhaustedError(LimitMessage(path, s.st_size, most, "bytes"));
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t n = ::read(file, buffer, sizeof(buffer));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::ErrnoToStatus(errno, absl::StrCat(path, ": cannot be read"));
    if (n == 0) return text;
    text.append(buffer, static_cast<size_t>(n));
    if (static_cast<int64_t>(text.size()) > most)
      return absl::ResourceExhaustedError(LimitMessage(path, most, "bytes"));  // it grows
  }
}

}  // namespace

std::optional<FileKind> KindBelow(const std::string& root, absl::string_view path) {
  const Descriptor folder = OpenRoot(root);
  if (!folder.valid()) return IsElsewhere() ? std::nullopt : std::make_optional(FileKind::kAbsent);
  return KindIn(folder, path);
}

std::optional<absl::StatusOr<std::string>> ReadBelow(const std::string& root, absl::string_view path, int64_t most) {
  const Descriptor folder = OpenRoot(root);
  if (!folder.valid() && IsElsewhere()) return std::nullopt;
  if (KindIn(folder, path) != FileKind::kFile) return NoSuch(path, "file");
  const Descriptor file = OpenBelow(folder.get(), path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (KindOf(file) != FileKind::kFile) return NoSuch(path, "file");  // it may have been replaced
  return ReadAll(file.get(), path, most);
}

std::optional<absl::StatusOr<std::vector<std::string>>> ListBelow(const std::string& root, absl::string_view path) {
  const Descriptor folder = OpenRoot(root);
  if (!folder.valid() && IsElsewhere()) return std::nullopt;
  if (!path.empty() && !IsPathInside(path)) return NoSuch(path, "folder");
  Descriptor listed = OpenBelow(folder.get(), path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = listed.valid() ? ::fdopendir(listed.get()) : nullptr;
  if (entries == nullptr) return NoSuch(path, "folder");
  listed.Release();  // closedir() closes it
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries)) {
    const std::string name = entry->d_name;
    if (name == "." || name == ".." || names.size() >= kMostNames) continue;
    const FileKind kind = KindIn(folder, path.empty() ? name : absl::StrCat(path, "/", name));
    if (kind == FileKind::kFile || kind == FileKind::kFolder)
      names.push_back(kind == FileKind::kFolder ? name + "/" : name);
  }
  ::closedir(entries);
  std::sort(names.begin(), names.end());
  return names;
}

namespace {

bool EndsWithAny(absl::string_view path, const absl::string_view* begin, const absl::string_view* end) {
  const std::string name = absl::AsciiStrToLower(path.substr(path.rfind('/') + 1));
  return std::any_of(begin, end, [&](absl::string_view suffix) { return absl::EndsWith(name, suffix); });
}

}  // namespace

bool IsPrivateFile(absl::string_view path) {
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (absl::StartsWith(part, ".")) return true;
  }
  constexpr absl::string_view kKeys[] = {".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".gpg", ".asc"};
  return EndsWithAny(path, std::begin(kKeys), std::end(kKeys));
}

bool IsUnreadKind(absl::string_view path) {
  constexpr absl::string_view kKinds[] = {".so",  ".pyd",      ".dylib",   ".dll",         ".a",   ".o",  ".pyc",
                                          ".pt",  ".pth",      ".ckpt",    ".safetensors", ".bin", ".h5", ".onnx",
                                          ".pkl", ".pdparams", ".msgpack", ".gguf",        ".tar", ".zip"};
  return EndsWithAny(path, std::begin(kKinds), std::end(kKinds)) || absl::StrContains(path, ".so.");
}

std::optional<std::string> DataFolder::Below(absl::string_view path) const {
  if (prefix_.empty()) return std::string(path);
  if (path == prefix_) return "";
  if (!absl::ConsumePrefix(&path, absl::StrCat(prefix_, "/"))) return std::nullopt;
  return std::string(path);
}

FileKind DataFolder::Kind(absl::string_view bundle_path) const {
  const std::optional<std::string> path = Below(bundle_path);
  return path.has_value() ? KindBelow(folder_, *path).value_or(FileKind::kAbsent) : FileKind::kAbsent;
}

absl::StatusOr<std::string> DataFolder::Read(absl::string_view bundle_path, int64_t most) const {
  const std::optional<std::string> path = Below(bundle_path);
  if (!path.has_value()) return NoSuch(bundle_path, "file");
  std::optional<absl::StatusOr<std::string>> text = ReadBelow(folder_, *path, most);
  return text.has_value() ? *std::move(text) : NoSuch(bundle_path, "file");
}

absl::StatusOr<std::vector<std::string>> DataFolder::List(absl::string_view bundle_path) const {
  const std::optional<std::string> path = Below(bundle_path);
  if (!path.has_value()) return NoSuch(bundle_path, "folder");
  std::optional<absl::StatusOr<std::vector<std::string>>> names = ListBelow(folder_, *path);
  return names.has_value() ? *std::move(names) : NoSuch(bundle_path, "folder");
}

DataFolderScope::DataFolderScope(DataFolder* folder) : before_(std::exchange(current_folder, folder)) {}
DataFolderScope::~DataFolderScope() { current_folder = before_; }
DataFolder* CurrentDataFolder() { return current_folder; }

}  // namespace cobra::python
