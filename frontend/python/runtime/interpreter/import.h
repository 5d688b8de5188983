// Finding and loading modules: the bundle, native modules, library roots, in this order.
//
// Modules run when they are imported, in Python's order: what they register, patch or count is part
// of the model.
//
// Except in a few big libraries (MayDefer), one file of which would load all the others. There an
// import statement at module level binds a LazyObject, which is replaced by the real object when
// the name is first read. Nothing depends on when their modules run, and tests read their models
// both ways. Before a program changes a module, what is still deferred is loaded (LoadDeferred),
// because Python had bound those names before the change.
//
// A library's module that cannot be imported here is put aside (put_aside.cc): its names are
// unknown values, and whoever needs one gets an error that says why.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_IMPORT_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_IMPORT_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "frontend/python/runtime/heap/object.h"
#include "frontend/python/runtime/interpreter/interpreter.h"

namespace cobra::python {

struct Frame;  // internal.h

// CPython's messages for `from .x import y` in a file without a package, and for more dots than it
// has parent packages.
inline constexpr char kBeyondTopLevel[] = "attempted relative import beyond top-level package";
inline constexpr char kNoParentPackage[] = "attempted relative import with no known parent package";

inline constexpr char kEntryName[] = "<entry>";

// A source with only the package at `package`, an absolute path without symbolic links. Symbolic
// links out of the package are not followed. Unless the package is installed, it is the user's own,
// so its imports of itself must exist.
std::shared_ptr<const FileSource> PackageSource(std::string package);

// The failure when a program uses something of a module that was not found, with a hint, and with
// Diagnostic::missing_module if it is a package that the user could provide. The message is before
// + name + after: "calling " "timm.layers.DropPath" "()".
Failure OpaqueUsed(Interpreter& interp, absl::string_view name, absl::string_view before, absl::string_view after = "");

// Whether the first part of a dotted name is a module of CPython's standard library.
bool IsStandardLibraryName(absl::string_view name);

// The frame in which a module's code runs, or an expression with the module's names.
Frame ModuleFrame(Interpreter& interp, CodeUnit* unit, ModuleObject* module);

// Whether a `try` with handlers is running, in any function that has not returned.
bool IsUnderTry(const Interpreter& interp);

// Modules of library roots that are not read as Python: those of the standard library, and compiled
// ones.
bool IsNeverRead(absl::string_view name);

// Extensions that only make a package faster. The package has the same functions in Python, which
// are used here.
bool HasPythonInstead(absl::string_view name);

class Importer {
 public:
  // Makes `failure` the pending failure that no program can catch, and returns the one that was;
  // null: there is none.
  using ExchangeFailure = std::function<std::unique_ptr<Diagnostic>(std::unique_ptr<Diagnostic> failure)>;
  Importer(Interpreter& interp, ExchangeFailure exchange_failure);

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
  // from module import attribute: the attribute, or a submodule of that name. `from_library`:
  // absent ones become opaque.
  Result<Value> FromImport(absl::string_view module, StrObject* attribute);
  // Whether `from module import attribute` certainly fails: the module is in the user's package,
  // and its file does not contain that word.
  bool CannotProvide(absl::string_view module, StrObject* attribute);
  // Records an import of a module that was not found, and that did not fail.
  void NoteAbsent(absl::string_view module);
  // The position of the first such import, "net.py:4"; "" if there was none.
  std::string ImportedAt(absl::string_view module) const;
  // Records `import a.b` in a library file: reading a.b will load it.
  void NotePending(absl::string_view name);
  bool IsPending(absl::string_view name) const { return pending_.contains(name) || frozen_pending_.contains(name); }
  DictObject* modules();  // sys.modules

  // ---- deferred imports ----
  // Whether imports at module level of this module wait until their names are read.
  bool MayDefer(const ModuleObject* module) const;
  void NoteDeferred() { has_deferred_ = true; }
  // Loads what is deferred, if the running code is about to change `module` from outside.
  Result<void> BeforeChange(const ModuleObject* module, StrObject* attribute);
  // For tests: false, and no import is deferred.
  static void set_may_defer(bool may_defer);

  // ---- modules that were found and cannot be imported (put_aside.cc) ----
  struct PutAside {
    std::string reason;  // "TypeError: ..."
    std::string where;   // "lib/a.py:12"; may be empty
    std::string hint;
  };
  // Of the module or the package that a dotted name begins with; null if none was put aside.
  const PutAside* FindPutAside(absl::string_view dotted_name, std::string* module) const;
  // Drops the pending failure if it is of this kind; false if there is none (eval_stmt.cc).
  bool DropFailure(Diagnostic::Kind kind);
  // The modules that were put aside, in order.
  std::vector<std::string> NamesPutAside() const;

  // ---- images (image.cc) ----
  // An import of a library file, by library code, that was deferred or made by a function, and was
  // needed while no library file was running: `from module import attribute`, or the module itself.
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
  // Records a library file that was looked for and is not a module.
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
  // Whether an import under `try` must not find the module, because this version of the package
  // lacks it.
  bool IsOfLaterVersion(absl::string_view name, Where where) const;
  // Whether library code imports, and no program has run that could have changed what the import
  // sees.
  bool LibraryAsks() const;
  Result<ModuleObject*> LoadNative(absl::string_view name);
  Result<ModuleObject*> LoadSource(absl::string_view name, const Location& location);
  Result<void> ReplaceSlowParts(ModuleObject* module);
  Result<ModuleObject*> NewModule(absl::string_view name, bool is_package);
  Value NewSpec(const ModuleObject* module, absl::string_view origin);
  Result<void> Execute(ModuleObject* module, absl::string_view source, absl::string_view display_name, bool internal);
  void BindToParent(absl::string_view name, Value module);
  // After a module's code has failed: whether the program goes on without it. Otherwise the failure
  // stays pending.
  bool PutModuleAside(absl::string_view name, const Location& location);
  Result<void> LoadDeferred();
  // Whether a library imports a name that this standard module lacks, though Python's surely has
  // it.
  bool LacksStandardName(Value module) const;
  void NoteNeeded(const LazyObject* lazy, int loaded_before);
  friend Result<Value> ForceLazy(Interpreter& interp, Value v);

  Interpreter& interp_;
  const ExchangeFailure exchange_failure_;
  std::shared_ptr<const FileSource> bundle_;
  std::vector<std::string> bundle_prefixes_ = {""};  // folders of the bundle that are on the import path
  absl::flat_hash_map<std::string, std::unique_ptr<Location>> locations_;
  absl::flat_hash_set<std::string> pending_;
  // The corresponding state of the image, to which lookups fall back.
  absl::flat_hash_map<std::string, std::unique_ptr<Location>> frozen_locations_;
  absl::flat_hash_set<std::string> frozen_pending_;
  absl::flat_hash_map<std::string, std::string> absent_, frozen_absent_;  // by module, and by its first part
  absl::flat_hash_map<std::string, PutAside> put_aside_, frozen_put_aside_;
  bool has_deferred_ = false;  // some import was; it may have happened since
  bool is_loading_deferred_ = false;
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
  ClassObject *spec_class_ = nullptr, *frozen_spec_class_ = nullptr;  // of __spec__
  int loaded_ = 0;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_INTERPRETER_IMPORT_H_
