// Finding and loading modules: the bundle, native modules, library roots, in this order.
//
// Importing one file of a big library would load all of it. So an import statement at module level of a library file
// binds a LazyObject, which is replaced by the real object when the name is first read. Star imports, imports under
// `try`, imports in functions and all imports of the user's own files happen at once, as in Python.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_IMPORT_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_IMPORT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "frontend/python/runtime/interpreter.h"
#include "frontend/python/runtime/object.h"

namespace cobra::python {

struct Frame;  // internal.h

// CPython's messages for `from .x import y` in a file without a package, and for more dots than it has parent packages.
inline constexpr char kBeyondTopLevel[] = "attempted relative import beyond top-level package";
inline constexpr char kNoParentPackage[] = "attempted relative import with no known parent package";

inline constexpr char kEntryName[] = "<entry>";

// A source with only the package at `package`, an absolute path without symbolic links. Symbolic links out of the
// package are not followed. Unless the package is installed, it is the user's own, so its imports of itself must exist.
std::shared_ptr<const FileSource> PackageSource(std::string package);

// The failure when a program uses something of a module that was not found, with a hint, and with
// Diagnostic::missing_module if it is a package that the user could provide. The message is before + name + after:
// "calling " "timm.layers.DropPath" "()".
Failure OpaqueUsed(Interpreter& interp, absl::string_view name, absl::string_view before, absl::string_view after = "");

// Whether the first part of a dotted name is a module of CPython's standard library.
bool IsStandardLibraryName(absl::string_view name);

// The frame in which a module's code runs, or an expression with the module's names.
Frame ModuleFrame(Interpreter& interp, CodeUnit* unit, ModuleObject* module);

// Modules of library roots that are not read as Python: the standard library's and those that are compiled.
bool IsNeverRead(absl::string_view name);

class Importer {
 public:
  explicit Importer(Interpreter& interp);

  // The module and its parents, loaded.
  Result<ModuleObject*> Import(absl::string_view name);
  // The same through sys.modules, which a program may have modified.
  Result<Value> ImportValue(absl::string_view name);
  Result<ModuleObject*> LoadFile(absl::string_view path);
  // The absolute name of "a.b" in a module, with `level` leading dots.
  Result<std::string> Resolve(ModuleObject* from, absl::string_view name, int level);
  // Anything but kAbsent can be imported without ModuleNotFoundError.
  enum class Where { kAbsent, kNative, kOpaque, kFile, kNamespace, kLoaded };
  Where Find(absl::string_view name);
  Value Opaque(absl::string_view dotted_name);
  // from module import attribute: the attribute, or a submodule of that name. `from_library`: absent ones become
  // opaque.
  Result<Value> FromImport(absl::string_view module, StrObject* attribute);
  // Whether `from module import attribute` certainly fails: the module is in the user's package, and its file does not
  // contain that word.
  bool CannotProvide(absl::string_view module, StrObject* attribute);
  // Records an import of a module that was not found, and that did not fail.
  void NoteAbsent(absl::string_view module);
  // The position of the first such import, "net.py:4"; "" if there was none.
  std::string ImportedAt(absl::string_view module) const;
  // Records `import a.b` in a library file: reading a.b will load it.
  void NotePending(absl::string_view name);
  bool IsPending(absl::string_view name) const { return pending_.contains(name) || frozen_pending_.contains(name); }
  DictObject* modules();  // sys.modules

  // ---- images (image.cc) ---- An import of a library file, by library code, that was deferred or made by a function,
  // and was needed while no library file was running: `from module import attribute`, or the module itself.
  struct Needed {
    std::string module, attribute;
    bool whole_module = false;
  };
  const std::vector<Needed>& needed() const { return needed_; }
  Result<void> Load(const Needed& needed);
  void Freeze();
  void Rollback();
  void SetBundle(const std::map<std::string, std::string>& bundle);
  // Whether a file of that bundle could change the result of an import in the image.
  bool BundleShadowsImports(const std::map<std::string, std::string>& bundle) const;
  // Records that a library file was looked for that is no module.
  void NoteFile(const FileSource& source, const std::string& path);
  // Whether the loaded library files are unchanged.
  bool FilesUnchanged() const;

 private:
  struct Location {
    Where where = Where::kAbsent;
    const FileSource* source = nullptr;
    std::string path;
    bool is_package = false;
    bool is_library = false;
  };
  const Location& Locate(absl::string_view name);
  // Whether an import under `try` must not find the module, because this version of the package lacks it.
  bool IsOfLaterVersion(absl::string_view name, Where where) const;
  // Whether library code imports, and no program has run that could have changed what the import sees.
  bool LibraryAsks() const;
  Result<ModuleObject*> LoadNative(absl::string_view name);
  Result<ModuleObject*> LoadSource(absl::string_view name, const Location& location);
  Result<void> ReplaceSlowParts(ModuleObject* module);
  Result<ModuleObject*> NewModule(absl::string_view name, bool is_package);
  Result<void> Execute(ModuleObject* module, absl::string_view source, absl::string_view display_name, bool internal);
  void BindToParent(absl::string_view name, Value module);
  void NoteNeeded(const LazyObject* lazy, int loaded_before);
  friend Result<Value> ForceLazy(Interpreter& interp, Value v);

  Interpreter& interp_;
  std::shared_ptr<const FileSource> bundle_;
  std::vector<std::string> bundle_prefixes_ = {""};  // folders of the bundle that are on the import path
  absl::flat_hash_map<std::string, std::unique_ptr<Location>> locations_;
  absl::flat_hash_set<std::string> pending_;
  // The corresponding state of the image, to which lookups fall back.
  absl::flat_hash_map<std::string, std::unique_ptr<Location>> frozen_locations_;
  absl::flat_hash_set<std::string> frozen_pending_;
  absl::flat_hash_map<std::string, std::string> absent_, frozen_absent_;  // by module, and by its first part
  absl::flat_hash_set<std::string> frozen_tops_;  // first parts of the names in frozen_locations_
  struct LoadedFile {
    const FileSource* source;
    std::string path;
    uint64_t stamp;
  };
  std::vector<LoadedFile> library_files_;
  absl::flat_hash_set<std::pair<const FileSource*, std::string>> run_library_files_;  // the same, to look one up
  size_t frozen_files_ = 0;
  std::vector<Needed> needed_;
  int running_library_files_ = 0;
  int frozen_loaded_ = 0;
  DictObject* modules_ = nullptr;
  int loaded_ = 0;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_IMPORT_H_
