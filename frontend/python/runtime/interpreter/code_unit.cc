// From source text to the evaluator: where files come from, the process-wide cache of parsed files,
// and the tables that an interpreter keeps for each file.
#include <filesystem>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "frontend/python/runtime/interpreter/data_files.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/syntax/parse/parser.h"
#include "frontend/python/syntax/python_version.h"

namespace cobra::python {
namespace {

// Parsed and resolved files, shared by all interpreters of the process; the key is the content's
// hash. Everybody can find two texts with the same hash, but nobody shares this cache with somebody
// else: a server reads each request in a process that ends with it, and what such a process
// inherits was parsed from library files (reader/image_process.h).
class AstCache {
 public:
  static AstCache& Get() {
    static auto* const cache = new AstCache();
    return *cache;
  }
  // Waits while another thread parses the file. If the result is null, the file is not cached: the
  // caller must parse it and then call Finish().
  std::shared_ptr<const ResolvedAst> FindOrBegin(const Hash128& key) {
    absl::MutexLock lock(&mutex_);
    while (true) {
      auto it = entries_.find(key);
      if (it != entries_.end()) return it->second;
      if (begun_.insert(key).second) return nullptr;
      finished_.Wait(&mutex_);
    }
  }
  // `ast` is null if it has errors.
  void Finish(const Hash128& key, const std::shared_ptr<const ResolvedAst>& ast) {
    constexpr int64_t kMaxBytes = int64_t{512} << 20;  // all of torchvision and timm are about 150 MB
    absl::MutexLock lock(&mutex_);
    begun_.erase(key);
    finished_.SignalAll();
    if (ast == nullptr) return;
    int64_t bytes = ast->memory_bytes();
    if (bytes_ + bytes > kMaxBytes) {
      entries_.clear();
      bytes_ = 0;
    }
    if (entries_.emplace(key, ast).second) bytes_ += bytes;
  }

 private:
  absl::Mutex mutex_;
  absl::flat_hash_map<Hash128, std::shared_ptr<const ResolvedAst>> entries_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<Hash128> begun_ ABSL_GUARDED_BY(mutex_);
  absl::CondVar finished_;
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace

Result<CodeUnit*> MakeUnit(Interpreter& interp, std::shared_ptr<const ResolvedAst> code, absl::string_view display_name,
                           bool internal) {
  auto unit = std::make_unique<CodeUnit>();
  unit->display_name = std::string(display_name);
  unit->internal = internal;
  size_t names = code->symbol_count(), constants = code->constant_count();
  COBRA_TRY(interp.CheckSize(static_cast<int64_t>(names + constants)));
  unit->names = static_cast<StrObject**>(interp.heap().Allocate((names + 1) * sizeof(StrObject*)));
  for (size_t i = 0; i < names; ++i) unit->names[i] = nullptr;
  unit->constants = static_cast<Value*>(interp.heap().Allocate((constants + 1) * sizeof(Value)));
  for (size_t i = 0; i <= constants; ++i) unit->constants[i] = Value::Unbound();  // the last one: code_object.cc
  unit->table = code->table();
  unit->guesses = code->guesses();
  unit->code = std::move(code);
  interp.state().units.push_back(std::move(unit));
  return interp.state().units.back().get();
}

absl::StatusOr<std::shared_ptr<const ResolvedAst>> ParseShared(absl::string_view source,
                                                               absl::string_view display_name) {
  Hash128 key = HashCombine(HashBytes(source), HashBytes(absl::StrCat(GetPythonVersion(), " ", display_name)));
  std::shared_ptr<const ResolvedAst> code = AstCache::Get().FindOrBegin(key);
  if (code != nullptr) return code;
  auto ast = ast::ParseModule(source, display_name);
  const absl::Status status = ast.status();
  if (status.ok()) code = std::make_shared<const ResolvedAst>(*std::move(ast));
  AstCache::Get().Finish(key, code);
  if (!status.ok()) return status;
  return code;
}

Result<CodeUnit*> ParseUnit(Interpreter& interp, absl::string_view source, absl::string_view display_name,
                            bool internal) {
  if (static_cast<int64_t>(source.size()) > interp.limits().source_bytes) {
    return interp.LimitReached(
        LimitMessage(display_name, static_cast<int64_t>(source.size()), interp.limits().source_bytes, "bytes"));
  }
  auto code = ParseShared(source, display_name);
  if (!code.ok()) return interp.FromStatus(code.status());
  return MakeUnit(interp, *std::move(code), display_name, internal);
}

namespace {

class DirectoryFiles : public FileSource {
 public:
  explicit DirectoryFiles(std::string root) : root_(std::move(root)) {
    while (root_.size() > 1 && root_.back() == '/') root_.pop_back();
  }
  absl::StatusOr<std::string> Read(absl::string_view path) const override {
    return ReadFile(DisplayName(path), int64_t{64} << 20);
  }
  bool IsFile(absl::string_view path) const override {
    std::error_code error;  // a pipe is not a module: it would be waited for
    return std::filesystem::is_regular_file(DisplayName(path), error);
  }
  bool IsDirectory(absl::string_view path) const override { return cobra::IsDirectory(DisplayName(path)); }
  absl::StatusOr<std::vector<std::string>> List(absl::string_view path) const override {
    std::error_code error;
    std::vector<std::string> names;
    for (std::filesystem::directory_iterator at(DisplayName(path), error), end; !error && at != end;
         at.increment(error))
      names.push_back(absl::StrCat(at->path().filename().string(), at->is_directory(error) ? "/" : ""));
    if (error) return absl::NotFoundError(absl::StrCat(DisplayName(path), ": no such folder"));
    std::sort(names.begin(), names.end());
    return names;
  }
  uint64_t Stamp(absl::string_view path) const override { return FileStamp(DisplayName(path)); }
  std::string DisplayName(absl::string_view path) const override {
    return path.empty() ? root_ : absl::StrCat(root_, "/", path);
  }

 private:
  std::string root_;
};

class PackageFiles : public DirectoryFiles {
 public:
  explicit PackageFiles(std::string package)
      : DirectoryFiles(package.substr(0, package.rfind('/'))),
        package_(std::move(package)),
        name_(package_.substr(package_.rfind('/') + 1)) {}
  absl::StatusOr<std::string> Read(absl::string_view path) const override {
    return IsInside(path) ? DirectoryFiles::Read(path) : absl::NotFoundError(absl::StrCat(path, ": no such file"));
  }
  bool IsFile(absl::string_view path) const override { return IsInside(path) && DirectoryFiles::IsFile(path); }
  bool IsDirectory(absl::string_view path) const override {
    return IsInside(path) && DirectoryFiles::IsDirectory(path);
  }
  absl::StatusOr<std::vector<std::string>> List(absl::string_view path) const override {
    return IsInside(path) ? DirectoryFiles::List(path) : absl::NotFoundError(absl::StrCat(path, ": no such folder"));
  }
  bool is_users() const override {
    const std::string folder = DisplayName("");
    return !absl::EndsWith(folder, "/site-packages") && !absl::EndsWith(folder, "/dist-packages");
  }

 private:
  bool IsInside(absl::string_view path) const {
    if (path == name_) return true;
    absl::string_view below = path;
    if (!absl::ConsumePrefix(&below, absl::StrCat(name_, "/"))) return false;
    const FileKind kind = KindBelow(package_, below).value_or(FileKind::kAbsent);
    if (kind != FileKind::kRefused) return kind != FileKind::kAbsent;
    // An absolute link may lead back. This takes the square of the depth, so only links are looked
    // at in this way.
    std::error_code error;
    const std::string real = std::filesystem::canonical(DisplayName(path), error).string();
    return !error && absl::StartsWith(real, absl::StrCat(package_, "/"));
  }
  std::string package_, name_;
};

class MemoryFiles : public FileSource {
 public:
  MemoryFiles(std::map<std::string, std::string> files, std::string root)
      : files_(std::move(files)), root_(std::move(root)) {}
  absl::StatusOr<std::string> Read(absl::string_view path) const override {
    auto it = files_.find(std::string(path));
    if (it == files_.end()) return absl::NotFoundError(absl::StrCat(path, ": no such file"));
    return it->second;
  }
  bool IsFile(absl::string_view path) const override { return files_.count(std::string(path)) > 0; }
  bool IsDirectory(absl::string_view path) const override {
    std::string prefix = absl::StrCat(path, "/");
    auto it = files_.lower_bound(prefix);
    return it != files_.end() && absl::StartsWith(it->first, prefix);
  }
  absl::StatusOr<std::vector<std::string>> List(absl::string_view path) const override {
    const std::string prefix = path.empty() ? "" : absl::StrCat(path, "/");
    std::vector<std::string> names;
    for (auto it = files_.lower_bound(prefix); it != files_.end() && absl::StartsWith(it->first, prefix); ++it) {
      const absl::string_view rest = absl::string_view(it->first).substr(prefix.size());
      const std::string name(rest.substr(0, std::min(rest.find('/'), rest.size() - 1) + 1));
      if (names.empty() || names.back() != name) names.push_back(name);
    }
    if (names.empty()) return absl::NotFoundError(absl::StrCat(path, ": no such folder"));
    return names;
  }
  std::string DisplayName(absl::string_view path) const override {
    return root_.empty() ? std::string(path) : path.empty() ? root_ : absl::StrCat(root_, "/", path);
  }

 private:
  std::map<std::string, std::string> files_;
  std::string root_;
};

}  // namespace

std::shared_ptr<const FileSource> DirectorySource(std::string root) {
  return std::make_shared<DirectoryFiles>(std::move(root));
}
std::shared_ptr<const FileSource> PackageSource(std::string package) {
  return std::make_shared<PackageFiles>(std::move(package));
}
std::shared_ptr<const FileSource> MemorySource(std::map<std::string, std::string> files, std::string display_root) {
  return std::make_shared<MemoryFiles>(std::move(files), std::move(display_root));
}

}  // namespace cobra::python
