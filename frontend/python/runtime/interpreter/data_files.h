// Data files beside the user's code: a program may read them, and nothing else of the file system.
// Those of libraries are read through their FileSource; those of a script's folder through a
// DataFolder, which the client sets for the duration of a read. A server has none: what the program
// reads is among the files that it was sent.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_DATA_FILES_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_DATA_FILES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::python {

// One look below the folder `root` (absolute) on this machine. Neither "..", nor a symbolic link,
// nor a file that is replaced meanwhile leads out of it, and nothing but regular files and folders
// is opened: a pipe would be waited for, a device may act. The functions give nullopt if there is
// no `root` in this process's file system (a library that is in memory, or that another process
// opens), and find nothing if it is a symbolic link itself.

// kRefused: something is there that is not read: a link that leads out, a pipe, a file that the
// user may not open.
enum class FileKind : uint8_t { kAbsent, kFile, kFolder, kRefused };
std::optional<FileKind> KindBelow(const std::string& root, absl::string_view path);
// NotFound; ResourceExhausted if it has more than `most` bytes, also if it grows while it is read.
std::optional<absl::StatusOr<std::string>> ReadBelow(const std::string& root, absl::string_view path, int64_t most);
// The names in a folder, in order; those of folders end with '/'. NotFound.
std::optional<absl::StatusOr<std::vector<std::string>>> ListBelow(const std::string& root, absl::string_view path);

// Whether a part of the path begins with a dot, or it is named like a private key: no program may
// read these.
bool IsPrivateFile(absl::string_view path);
// Weights and compiled code, whose readers are not supported. They count as absent, because a
// program that finds its weights goes on to load them, and a latency does not need them.
bool IsUnreadKind(absl::string_view path);

// The folder of a script or of a package without an __init__.py, whose Python files are the bundle.
class DataFolder {
 public:
  // `folder`: absolute. Paths of the bundle begin with `prefix`, the package's name, if it is not
  // empty.
  DataFolder(std::string folder, std::string prefix) : folder_(std::move(folder)), prefix_(std::move(prefix)) {}
  const std::string& prefix() const { return prefix_; }
  FileKind Kind(absl::string_view bundle_path) const;
  absl::StatusOr<std::string> Read(absl::string_view bundle_path, int64_t most) const;
  absl::StatusOr<std::vector<std::string>> List(absl::string_view bundle_path) const;

  // What the program has read and which folders it has listed, by the paths that these files have
  // in a bundle.
  void NoteRead(const std::string& bundle_path, const std::string& text) { read_.emplace(bundle_path, text); }
  void NoteListed(const std::string& bundle_path) { listed_.insert(bundle_path); }
  const std::map<std::string, std::string>& read() const { return read_; }
  const std::set<std::string>& listed() const { return listed_; }

 private:
  // The path below the folder; nullopt: it is not below the prefix.
  std::optional<std::string> Below(absl::string_view bundle_path) const;

  const std::string folder_, prefix_;
  std::map<std::string, std::string> read_;
  std::set<std::string> listed_;
};

// While it exists, what this thread reads may use the folder.
class DataFolderScope {
 public:
  explicit DataFolderScope(DataFolder* folder);
  ~DataFolderScope();
  DataFolderScope(const DataFolderScope&) = delete;
  DataFolderScope& operator=(const DataFolderScope&) = delete;

 private:
  DataFolder* const before_;
};
DataFolder* CurrentDataFolder();  // of this thread; null if there is none

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_DATA_FILES_H_
