#include "client/input/local_imports.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/limits.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/python/interpreter_pool.h"
#include "frontend/python/runtime/interpreter/scope.h"
#include "frontend/python/syntax/ast.h"

namespace cobra::client {
namespace {

namespace ast = python::ast;
namespace fs = std::filesystem;
using ast::Alias;
using ast::StmtKind;
using ast::StmtNode;

// One import: level 2 and "layers.conv" for `from ..layers import conv`.
struct ImportedName {
  int level = 0;
  std::string name;
};

class ImportScan {
 public:
  // Finds all imports of the file, wherever they are; none if it is not Python.
  explicit ImportScan(absl::string_view text, const std::string& name) {
    const auto code = python::ParseShared(text, name);
    if (!code.ok()) return;
    Block((*code)->ast().module()->body);
    while (!waiting_.empty()) {
      const StmtNode* s = waiting_.back();
      waiting_.pop_back();
      Statement(s);
    }
  }
  const std::vector<ImportedName>& names() const { return names_; }

 private:
  // Each name costs a few file system lookups. No model's file has a tenth of so many, and no
  // module's name is so long.
  static constexpr size_t kMostNames = 5000, kMostCharacters = 1000;
  void Note(int level, std::string name) {
    if (names_.size() < kMostNames && name.size() <= kMostCharacters) names_.push_back({level, std::move(name)});
  }

  template <typename Statements>
  void Block(const Statements& statements) {
    for (const StmtNode* s : statements) waiting_.push_back(s);
  }
  template <typename TryStatement>
  void Try(const TryStatement* s) {
    Block(s->body);
    for (const auto* handler : s->handlers) Block(handler->body);
    Block(s->orelse);
    Block(s->finalbody);
  }
  void From(const ast::ImportFrom* s) {
    const std::string module = s->module == nullptr ? "" : std::string(s->module->text);
    if (!module.empty()) Note(s->level, module);
    for (const Alias* a : s->names) {
      if (a->name->text != "*") Note(s->level, absl::StrCat(module, module.empty() ? "" : ".", a->name->text));
    }
    if (module.empty()) Note(s->level, "");
  }

  void Statement(const StmtNode* s) {
    switch (s->node_kind) {
      case StmtKind::Import:
        for (const Alias* a : s->As<ast::Import>()->names) Note(0, std::string(a->name->text));
        break;
      case StmtKind::ImportFrom: From(s->As<ast::ImportFrom>()); break;
      case StmtKind::FunctionDef: Block(s->As<ast::FunctionDef>()->body); break;
      case StmtKind::AsyncFunctionDef: Block(s->As<ast::AsyncFunctionDef>()->body); break;
      case StmtKind::ClassDef: Block(s->As<ast::ClassDef>()->body); break;
      case StmtKind::With: Block(s->As<ast::With>()->body); break;
      case StmtKind::AsyncWith: Block(s->As<ast::AsyncWith>()->body); break;
      case StmtKind::If:
        Block(s->As<ast::If>()->body);
        Block(s->As<ast::If>()->orelse);
        break;
      case StmtKind::For:
        Block(s->As<ast::For>()->body);
        Block(s->As<ast::For>()->orelse);
        break;
      case StmtKind::AsyncFor:
        Block(s->As<ast::AsyncFor>()->body);
        Block(s->As<ast::AsyncFor>()->orelse);
        break;
      case StmtKind::While:
        Block(s->As<ast::While>()->body);
        Block(s->As<ast::While>()->orelse);
        break;
      case StmtKind::Match:
        for (const auto* c : s->As<ast::Match>()->cases) Block(c->body);
        break;
      case StmtKind::Try: Try(s->As<ast::Try>()); break;
      case StmtKind::TryStar: Try(s->As<ast::TryStar>()); break;
      default: break;
    }
  }

  std::vector<const StmtNode*> waiting_;
  std::vector<ImportedName> names_;
};

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

std::string FirstPart(const std::string& dotted) { return dotted.substr(0, dotted.find('.')); }

// Makes any folder's name a valid name of a package.
std::string PackageName(const fs::path& folder) {
  std::string name = folder.filename().string();
  for (char& c : name) {
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c)) && static_cast<unsigned char>(c) < 128) c = '_';
  }
  return name.empty() ? "package" : name;
}

// The package of which the file must be a module so that its imports work; nullopt: the file is a
// script.
std::optional<fs::path> PackageOf(const fs::path& folder, const std::vector<ImportedName>& imports) {
  std::optional<fs::path> found;
  const auto take = [&](const fs::path& candidate) {
    if (!found.has_value() || candidate.string().size() < found->string().size()) found = candidate;
  };
  for (const ImportedName& import : imports) {
    if (import.level > 0) {
      fs::path outermost = folder;
      while (IsFile(outermost / "__init__.py") && IsFile(outermost.parent_path() / "__init__.py"))
        outermost = outermost.parent_path();
      take(outermost);
      continue;
    }
    const std::string top = FirstPart(import.name);
    // The module is beside the script, or it is built into COBRA.
    if (HasModule(folder.string(), top) || python::IsBuiltInModule(top)) continue;
    const std::string rest = import.name.substr(std::min(import.name.size(), top.size() + 1));
    fs::path above = folder;
    for (int i = 0; i < kFoldersAbove && above.has_relative_path(); ++i, above = above.parent_path()) {
      if (above.filename() != top) continue;
      if (IsFile(above / "__init__.py") || (!rest.empty() && HasModule(above.string(), FirstPart(rest)))) take(above);
    }
  }
  return found;
}

// Follows the imports of one file after the other.
class Collector {
 public:
  Collector(const ModelLocation& place, const Limits& limits) : place_(place), limits_(limits) {}

  absl::StatusOr<std::map<std::string, std::string>> Collect(absl::string_view text) {
    COBRA_RETURN_IF_ERROR(Take(place_.file, std::string(text)));
    if (!place_.package.empty()) {
      for (std::string above = FolderOf(place_.file);; above = FolderOf(above)) {
        COBRA_RETURN_IF_ERROR(AddPackage(above, /*make=*/true));
        if (above.empty()) break;
      }
    }
    while (!waiting_.empty()) {
      const std::string file = waiting_.back();
      waiting_.pop_back();
      const std::string source = files_.at(file);
      const ImportScan scan(source, BundlePath(file));
      for (const ImportedName& import : scan.names()) COBRA_RETURN_IF_ERROR(Add(file, import));
      // Modules that the file imports by computed names are in its folder.
      if (absl::StrContains(source, "import_module(") || absl::StrContains(source, "__import__("))
        COBRA_RETURN_IF_ERROR(AddAll(FolderOf(file)));
    }
    std::map<std::string, std::string> bundle;
    for (auto& [path, source] : files_) bundle.emplace(BundlePath(path), std::move(source));
    return bundle;
  }

 private:
  static std::string FolderOf(const std::string& path) {
    const size_t slash = path.rfind('/');
    return slash == std::string::npos ? "" : path.substr(0, slash);
  }
  static std::string Below(const std::string& folder, const std::string& name) {
    return folder.empty() ? name : absl::StrCat(folder, "/", name);
  }
  std::string BundlePath(const std::string& file) const { return Below(place_.package, file); }

  absl::Status Add(const std::string& from, const ImportedName& import) {
    std::string folder;
    std::string name = import.name;
    if (import.level > 0) {
      folder = FolderOf(from);
      for (int i = 1; i < import.level; ++i) {
        if (folder.empty()) return absl::OkStatus();  // outside the package: reading the program reports it
        folder = FolderOf(folder);
      }
    } else if (!place_.package.empty()) {
      if (FirstPart(name) != place_.package) return absl::OkStatus();
      name = name.size() > place_.package.size() ? name.substr(place_.package.size() + 1) : "";
    } else if (python::IsBuiltInModule(FirstPart(name))) {
      return absl::OkStatus();
    }
    COBRA_RETURN_IF_ERROR(AddPackage(folder, /*make=*/false));
    while (!name.empty()) {
      const std::string path = Below(folder, FirstPart(name));
      if (!IsInside(path + "/__init__.py") && IsInside(path + ".py")) return Read(path + ".py");
      COBRA_RETURN_IF_ERROR(AddPackage(path, /*make=*/false));
      name = name.find('.') == std::string::npos ? "" : name.substr(name.find('.') + 1);
      folder = path;
    }
    return absl::OkStatus();
  }

  absl::Status AddPackage(const std::string& folder, bool make) {
    const std::string init = Below(folder, "__init__.py");
    if (folder.empty() && place_.package.empty()) return absl::OkStatus();
    if (IsInside(init)) return Read(init);
    if (make) files_.try_emplace(init);
    return absl::OkStatus();
  }

  absl::Status AddAll(const std::string& folder) {
    if (!everything_of_.insert(folder).second) return absl::OkStatus();
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFiles(Below(place_.folder, folder), ".py"));
    for (const std::string& name : names) {
      if (!IsHidden(name)) COBRA_RETURN_IF_ERROR(Read(Below(folder, name)));
    }
    return absl::OkStatus();
  }

  // Whether the file exists, and a link does not lead out of the folder.
  bool IsInside(const std::string& path) const {
    std::error_code error;
    const fs::path real = fs::canonical(Below(place_.folder, path), error);
    return !error && absl::StartsWith(real.string(), absl::StrCat(place_.folder, place_.folder == "/" ? "" : "/")) &&
           IsFile(real);
  }

  absl::Status Read(const std::string& path) {
    if (files_.count(path) > 0 || !IsInside(path)) return absl::OkStatus();
    absl::StatusOr<std::string> text = ReadFile(Below(place_.folder, path), limits_.file_bytes);
    if (absl::IsResourceExhausted(text.status()))
      return UserError(Diagnostic::Kind::kLimit, std::string(text.status().message()));
    return text.ok() ? Take(path, *std::move(text)) : absl::OkStatus();
  }

  absl::Status Take(const std::string& path, std::string text) {
    bytes_ += static_cast<int64_t>(text.size());
    COBRA_RETURN_IF_ERROR(
        CheckBundle(absl::StrCat(Below(place_.folder, place_.file), ": what it imports from its folder"),
                    static_cast<int64_t>(files_.size()) + 1, bytes_, limits_,
                    "name the folder that the packages are in with --library DIR"));
    files_.emplace(path, std::move(text));
    waiting_.push_back(path);
    return absl::OkStatus();
  }

  const ModelLocation& place_;
  const Limits& limits_;
  std::map<std::string, std::string> files_;  // by path below the folder
  std::vector<std::string> waiting_;          // files whose imports are not scanned yet
  std::set<std::string> everything_of_;
  int64_t bytes_ = 0;
};

}  // namespace

bool HasModule(const std::string& folder, const std::string& name) {
  return IsFile(fs::path(folder) / (name + ".py")) || IsDirectory((fs::path(folder) / name).string());
}

bool IsHidden(absl::string_view path) { return absl::StartsWith(path, ".") || absl::StrContains(path, "/."); }

absl::Status CheckBundle(absl::string_view what, int64_t files, int64_t bytes, const Limits& limits, std::string hint) {
  if (files > limits.bundle_files) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage(what, limits.bundle_files, "files"), std::move(hint));
  }
  if (bytes > limits.bundle_bytes) {
    return UserError(Diagnostic::Kind::kLimit, LimitMessage(what, limits.bundle_bytes, "bytes"), std::move(hint));
  }
  return absl::OkStatus();
}

bool IsInstallationFolder(absl::string_view folder) {
  return absl::EndsWith(folder, "/site-packages") || absl::EndsWith(folder, "/dist-packages");
}

ModelLocation LocateModel(const std::string& path, absl::string_view text) {
  std::error_code error;
  const fs::path file = fs::canonical(path, error);  // like Python, use the folder of the real script behind a link
  if (error || !IsFile(file)) return {};
  const fs::path folder = file.parent_path();
  const ImportScan scan(text, file.filename().string());
  const std::optional<fs::path> package = PackageOf(folder, scan.names());
  if (package.has_value()) {
    return {package->string(), file.lexically_relative(*package).string(), PackageName(*package),
            IsFile(*package / "__init__.py")};
  }
  if (IsInstallationFolder(folder.string())) return {};
  return {folder.string(), file.filename().string(), "", false};
}

absl::StatusOr<std::map<std::string, std::string>> CollectImports(const ModelLocation& place, absl::string_view text,
                                                                  const Limits& limits) {
  return Collector(place, limits).Collect(text);
}

}  // namespace cobra::client
