// Files as far as a program may see them: below the folders that it may import from. An untrusted
// program can call all of this. It reads regular files there, and nothing else of the file system
// exists for it.
//
// The user's own files are below kWorkFolder, which is also the working directory: beside a
// script's own file lie its data, wherever the script is run.
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/python/runtime/interpreter/data_files.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/native.h"
#include "frontend/python/runtime/modules/place.h"
#include "frontend/python/runtime/modules/stdlib.h"

namespace cobra::python {
namespace {

// Without "." and "..", which may not lead above the root. nullopt if they do, or if it is not a
// path of a file.
std::optional<std::string> Normal(absl::string_view path) {
  if (absl::StrContains(path, absl::string_view("\0", 1))) return std::nullopt;
  for (size_t i = 0; i + 1 < path.size(); ++i) {  // half of a surrogate pair is in no file's name
    if (path[i] == '\xed' && static_cast<unsigned char>(path[i + 1]) >= 0xa0) return std::nullopt;
  }
  std::vector<absl::string_view> parts;
  for (absl::string_view part : absl::StrSplit(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      parts.push_back(part);
      continue;
    }
    if (parts.empty()) return std::nullopt;
    parts.pop_back();
  }
  return absl::StrJoin(parts, "/");
}

// Where a library's file is on this machine: the folder of its package, which no link may lead out
// of, and the path in it. A file that is in no package is in the root itself.
std::pair<std::string, std::string> PackageAndPath(const FilePlace& place) {
  const std::string root = place.source->DisplayName("");
  const size_t slash = place.path.find('/');
  if (slash == std::string::npos) return {root + "/.", place.path};
  return {absl::StrCat(root, "/", place.path.substr(0, slash)), place.path.substr(slash + 1)};
}

// The system, or another process, is asked; a question takes up to twenty microseconds, and longer
// in a deep tree.
constexpr int64_t kStepsOfQuestion = 400;
constexpr int64_t kStepsOfAFolder = 40;

void SpendOnQuestion(Interpreter& interp, absl::string_view path) {
  interp.Spend(kStepsOfQuestion + kStepsOfAFolder * std::count(path.begin(), path.end(), '/'));
}

// The folder of the user's files on this machine; null if there is none, or if this is an import
// for an image, which other programs share.
DataFolder* UsersFolder(Interpreter& interp, absl::string_view path) {
  if (interp.options().bundle.empty() || CurrentDataFolder() == nullptr) return nullptr;
  SpendOnQuestion(interp, path);
  return CurrentDataFolder();
}

// An image that looked at the file is of no use once it has changed, or has come to be there.
void NoteInImage(Interpreter& interp, const FilePlace& place) {
  if (interp.options().bundle.empty()) interp.importer().NoteFile(*place.source, place.path);
}

FileKind KindInBundle(Interpreter& interp, const std::string& path) {
  const auto& bundle = interp.options().bundle;
  if (path.empty()) return FileKind::kFolder;
  if (bundle.count(path) > 0) return FileKind::kFile;
  const std::string below = path + "/";
  const auto next = bundle.lower_bound(below);
  if (next != bundle.end() && absl::StartsWith(next->first, below)) return FileKind::kFolder;
  const DataFolder* const folder = UsersFolder(interp, path);
  return folder == nullptr ? FileKind::kAbsent : folder->Kind(path);
}

FileKind KindInLibrary(const FilePlace& place) {
  if (place.path.empty()) return FileKind::kFolder;
  const bool may_be_file = place.source->IsFile(place.path);
  if (!may_be_file && !place.source->IsDirectory(place.path)) return FileKind::kAbsent;
  const auto [package, path] = PackageAndPath(place);
  return KindBelow(package, path).value_or(may_be_file ? FileKind::kFile : FileKind::kFolder);
}

FileKind KindAt(Interpreter& interp, const FilePlace& place) {
  if (!place.found) return FileKind::kAbsent;
  FileKind kind;
  if (place.source == nullptr) {
    kind = KindInBundle(interp, place.path);
  } else {
    NoteInImage(interp, place);
    SpendOnQuestion(interp, place.path);
    kind = KindInLibrary(place);
  }
  return kind != FileKind::kAbsent && IsPrivateFile(place.path) ? FileKind::kRefused : kind;
}

absl::StatusOr<std::string> ReadInBundle(Interpreter& interp, const std::string& path, int64_t most) {
  const auto& bundle = interp.options().bundle;
  if (const auto own = bundle.find(path); own != bundle.end()) return own->second;
  DataFolder* const folder = UsersFolder(interp, path);
  if (folder == nullptr) return absl::NotFoundError(path);
  absl::StatusOr<std::string> text = folder->Read(path, most);
  if (text.ok()) folder->NoteRead(path, *text);
  return text;
}

absl::StatusOr<std::string> ReadInLibrary(const FilePlace& place, int64_t most) {
  const auto [package, path] = PackageAndPath(place);
  std::optional<absl::StatusOr<std::string>> here = ReadBelow(package, path, most);
  absl::StatusOr<std::string> text = here.has_value() ? *std::move(here) : place.source->Read(place.path);
  if (text.ok() && place.source->is_users() && CurrentDataFolder() != nullptr)
    CurrentDataFolder()->NoteRead(place.path, *text);
  return text;
}

// The bytes of a file; None if there is none.
Result<Value> ReadData(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const FilePlace place, FilePlaceArgument(interp, args, "read_data"));
  COBRA_TRY(interp.Charge(64));  // another process reads it
  if (KindAt(interp, place) != FileKind::kFile) return Value::None();
  // A file becomes one value, so it may be as large as any that a program makes.
  const int64_t most = interp.limits().sequence_items;
  const absl::StatusOr<std::string> text =
      place.source == nullptr ? ReadInBundle(interp, place.path, most) : ReadInLibrary(place, most);
  if (absl::IsResourceExhausted(text.status()))
    return interp.LimitReached(text.status().message(), "a data file is read whole: make it smaller, or leave it out");
  if (!text.ok()) return Value::None();
  COBRA_TRY(interp.Charge(static_cast<int64_t>(text->size() / 64)));
  COBRA_TRY(interp.CheckSize(static_cast<int64_t>(text->size())));
  return Value(interp.NewBytes(*text));
}

absl::StatusOr<std::vector<std::string>> NamesInBundle(Interpreter& interp, const std::string& path) {
  std::set<std::string> names;
  int64_t seen = 0;
  const std::string below = path.empty() ? "" : path + "/";
  const auto& bundle = interp.options().bundle;
  for (auto it = bundle.lower_bound(below); it != bundle.end() && absl::StartsWith(it->first, below); ++it) {
    const std::string rest = it->first.substr(below.size());
    names.insert(rest.substr(0, std::min(rest.find('/'), rest.size() - 1) + 1));
    ++seen;
  }
  interp.Spend(seen * 4);
  if (DataFolder* const folder = UsersFolder(interp, path)) {
    const absl::StatusOr<std::vector<std::string>> there = folder->List(path);
    if (there.ok()) {
      names.insert(there->begin(), there->end());
      folder->NoteListed(path);
    }
  }
  if (names.empty()) return absl::NotFoundError(path);
  return std::vector<std::string>(names.begin(), names.end());
}

absl::StatusOr<std::vector<std::string>> NamesInLibrary(Interpreter& interp, const FilePlace& place) {
  NoteInImage(interp, place);
  SpendOnQuestion(interp, place.path);
  const auto [package, path] = PackageAndPath(place);
  if (place.source->is_users() && CurrentDataFolder() != nullptr) CurrentDataFolder()->NoteListed(place.path);
  if (place.path.empty()) return place.source->List("");
  if (!place.source->IsDirectory(place.path)) return absl::NotFoundError(place.path);
  std::optional<absl::StatusOr<std::vector<std::string>>> here = ListBelow(package, path);
  return here.has_value() ? *std::move(here) : place.source->List(place.path);
}

// The names in a folder, those of folders with a '/' behind; None if there is none.
Result<Value> ListFolder(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const FilePlace place, FilePlaceArgument(interp, args, "list_folder"));
  if (!place.found || IsPrivateFile(place.path)) return Value::None();
  const absl::StatusOr<std::vector<std::string>> names =
      place.source == nullptr ? NamesInBundle(interp, place.path) : NamesInLibrary(interp, place);
  if (!names.ok()) return Value::None();
  COBRA_TRY(interp.Charge(static_cast<int64_t>(names->size())));
  std::vector<Value> out;
  for (const std::string& name : *names) {
    if (!IsPrivateFile(name)) out.push_back(interp.NewStr(name));
  }
  return Value(interp.NewList(out));
}

// "file", "folder", "unread" (weights, compiled code), "refused" (a link that leads out, a pipe, a
// private file), "" for what is absent, None for what is outside.
Result<Value> FileKindOf(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const FilePlace place, FilePlaceArgument(interp, args, "file_kind"));
  if (!place.found) return Value::None();
  COBRA_TRY(interp.Charge(16));
  const FileKind kind = KindAt(interp, place);
  switch (kind) {
    case FileKind::kFile: return Value(interp.NewStr(IsUnreadKind(place.path) ? "unread" : "file"));
    case FileKind::kFolder: return Value(interp.NewStr("folder"));
    case FileKind::kRefused: return Value(interp.NewStr("refused"));
    case FileKind::kAbsent: break;
  }
  return Value(interp.NewStr(""));
}

Result<Value> LibraryFolders(Interpreter& interp, const CallArgs&) {
  std::vector<Value> out;
  for (const auto& root : interp.options().library_roots) out.push_back(interp.NewStr(root->DisplayName("")));
  return Value(interp.NewList(out));
}

}  // namespace

namespace {

std::string FromWorkFolder(absl::string_view path) {
  return absl::StartsWith(path, "/") ? std::string(path) : absl::StrCat(kWorkFolder, "/", path);
}

// Below a library whose folder was named relatively, as `path` may be too.
std::optional<std::string> BelowRoot(absl::string_view path, const std::string& absolute, const std::string& root) {
  absl::string_view rest = path;
  if (absl::ConsumePrefix(&rest, root + "/")) {
    if (std::optional<std::string> below = Normal(rest)) return below;
  }
  const std::optional<std::string> folder = Normal(FromWorkFolder(root));
  if (!folder.has_value()) return std::nullopt;
  if (absolute == *folder) return "";
  rest = absolute;
  if (!absl::ConsumePrefix(&rest, *folder + "/")) return std::nullopt;
  return std::string(rest);
}

// The files of a package are all below its name: what is beside that is not the bundle's, and
// nobody knows what it is.
bool IsInBundle(Interpreter& interp, absl::string_view path) {
  const auto& bundle = interp.options().bundle;
  std::string top;
  if (const DataFolder* const folder = CurrentDataFolder()) {
    top = folder->prefix();
  } else {
    const std::string& first = bundle.begin()->first;
    top = first.substr(0, first.find('/') == std::string::npos ? 0 : first.find('/'));
    if (!absl::StartsWith(bundle.rbegin()->first, top + "/")) return true;
  }
  return top.empty() || path == top || absl::StartsWith(path, top + "/");
}

}  // namespace

FilePlace FilePlaceOf(Interpreter& interp, absl::string_view path) {
  const std::string absolute = Normal(FromWorkFolder(path)).value_or("");
  for (const auto& root : interp.options().library_roots) {
    if (std::optional<std::string> below = BelowRoot(path, absolute, root->DisplayName("")))
      return {true, root.get(), *std::move(below)};
  }
  const std::string work = std::string(kWorkFolder.substr(1));
  if (interp.options().bundle.empty()) return {};
  if (absolute == work && IsInBundle(interp, "")) return {true, nullptr, ""};
  absl::string_view below = absolute;
  if (!absl::ConsumePrefix(&below, work + "/") || !IsInBundle(interp, below)) return {};
  return {true, nullptr, std::string(below)};
}

Result<FilePlace> FilePlaceArgument(Interpreter& interp, const CallArgs& args, absl::string_view function) {
  COBRA_TRY_ASSIGN(std::string path, OnlyArgument<std::string>(interp, function, "path", args));
  COBRA_TRY(interp.Charge(StepsToScan(path.size())));
  return FilePlaceOf(interp, path);
}

namespace {

// Whether a file may be absent only because it was not sent: a server has no folder to look into.
Result<Value> IsUnsent(Interpreter& interp, const CallArgs& args) {
  COBRA_TRY_ASSIGN(const FilePlace place, FilePlaceArgument(interp, args, "is_unsent"));
  return Value::Bool(place.found && place.source == nullptr && CurrentDataFolder() == nullptr);
}

}  // namespace

void AddFileFunctions(Interpreter& interp, NativeModuleBuilder& m) {
  m.Function("library_folders", LibraryFolders)
      .Function("list_folder", ListFolder)
      .Function("file_kind", FileKindOf)
      .Function("is_unsent", IsUnsent)
      .Function("read_data", ReadData);
  m.Value("work_folder", interp.NewStr(kWorkFolder));
}

}  // namespace cobra::python
