#include "frontend/python/runtime/interpreter/import.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/strip.h"
#include "absl/synchronization/mutex.h"
#include "base/file/file.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "frontend/python/runtime/interpreter/import_names.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/missing_module.h"
#include "frontend/python/runtime/interpreter/standard_names.h"
#include "frontend/python/syntax/parse/parser.h"

namespace cobra::python {

namespace {

absl::string_view Parent(absl::string_view name) {
  size_t dot = name.rfind('.');
  return dot == absl::string_view::npos ? absl::string_view() : name.substr(0, dot);
}

}  // namespace

Importer::Importer(Interpreter& interp, ExchangeFailure exchange_failure)
    : interp_(interp), exchange_failure_(std::move(exchange_failure)), bundle_(MemorySource(interp.options().bundle)) {}

DictObject* Importer::modules() {
  if (modules_ == nullptr) modules_ = interp_.NewDict();
  return modules_;
}

void Importer::NotePending(absl::string_view name) {
  for (; !name.empty(); name = Parent(name)) pending_.insert(std::string(name));
}

Value Importer::Opaque(absl::string_view dotted_name) {
  auto* o = interp_.heap().New<OpaqueObject>();
  o->cls = interp_.types().opaque;
  o->dotted_name = interp_.NewStr(dotted_name);
  return o;
}

namespace {

// Whether the module is an extension in C (PIL._imaging), which exists but cannot run here.
bool HasExtensionModule(const FileSource& source, const std::string& base) {
  if (source.IsFile(base + ".abi3.so") || source.IsFile(base + ".so")) return true;
  for (const char* machine : {"x86_64", "aarch64"}) {
    for (int minor = 8; minor <= 14; ++minor) {
      if (source.IsFile(absl::StrCat(base, ".cpython-3", minor, "-", machine, "-linux-gnu.so"))) return true;
    }
  }
  return false;
}

// CPython's modules that are missing here although a part of their package is provided.
bool IsLeftOut(absl::string_view name) { return StandardNameSince("", name) != 0; }

}  // namespace

// What frontend/python/library/_replacements has for a module of a library that is compiled; null
// if nothing.
static const NativeModule* InsteadOf(Interpreter& interp, absl::string_view name) {
  const NativeRegistry* const natives = interp.options().natives;
  return natives == nullptr ? nullptr : natives->Find(absl::StrCat("_replacements.", name));
}

const Importer::Location& Importer::Locate(absl::string_view name) {
  auto it = locations_.find(name);
  if (it != locations_.end()) return *it->second;
  if (auto frozen = frozen_locations_.find(name); frozen != frozen_locations_.end()) return *frozen->second;
  auto location = std::make_unique<Location>();
  std::string relative = absl::StrReplaceAll(name, {{".", "/"}});
  auto look_in = [&](const FileSource& source, const std::string& prefix, bool is_library) {
    std::string base = prefix + relative;
    if (source.IsFile(base + "/__init__.py")) {
      *location = {Where::kFile, &source, base + "/__init__.py", true, is_library};
    } else if (source.IsFile(base + ".py")) {
      *location = {Where::kFile, &source, base + ".py", false, is_library};
    } else if (is_library && !HasPythonInstead(name) && HasExtensionModule(source, base)) {
      location->where = InsteadOf(interp_, name) != nullptr ? Where::kNative : Where::kOpaque;
      location->is_library = true;
    } else if (source.IsDirectory(base)) {
      *location = {Where::kNamespace, &source, base, true, is_library};
    }
    return location->where != Where::kAbsent && location->where != Where::kNamespace;
  };
  const NativeRegistry* natives = interp_.options().natives;
  bool found = false;
  for (size_t i = 0; i < bundle_prefixes_.size() && !found; ++i) found = look_in(*bundle_, bundle_prefixes_[i], false);
  Location namespace_location = *location;
  if (!found && natives != nullptr && natives->Covers(name)) {
    const NativeModule* native = natives->Find(name);
    absl::string_view top = name.substr(0, name.find('.'));
    const NativeModule* top_module = natives->Find(top);
    *location = Location();
    bool open = (top_module != nullptr && top_module->open) || IsLeftOut(name);
    location->where = native != nullptr ? Where::kNative : open ? Where::kOpaque : Where::kAbsent;
    found = true;
  }
  if (!found && IsNeverRead(name)) {
    *location = Location();
    location->where = Where::kOpaque;
    found = true;
  }
  for (size_t i = 0; i < interp_.options().library_roots.size() && !found; ++i)
    found = look_in(*interp_.options().library_roots[i], "", true);
  if (!found && namespace_location.where == Where::kNamespace) *location = namespace_location;
  return *locations_.emplace(std::string(name), std::move(location)).first->second;
}

Importer::Where Importer::Find(absl::string_view name) {
  if (modules()->table.GetStr(interp_.Intern(name)) != nullptr) return Where::kLoaded;
  // A submodule is absent if its parent module is absent or is not a package.
  absl::string_view parent = Parent(name);
  if (!parent.empty()) {
    Where where = Find(parent);
    if (where == Where::kAbsent || where == Where::kOpaque) return where;
  }
  return Locate(name).where;
}

Result<ModuleObject*> Importer::NewModule(absl::string_view name, bool is_package) {
  if (++loaded_ > interp_.limits().modules)
    return interp_.LimitReached(LimitMessage("the program", interp_.limits().modules, "modules"));
  auto* m = interp_.heap().New<ModuleObject>();
  m->cls = interp_.types().module;
  m->name = interp_.Intern(name);
  m->attrs = interp_.NewDict();
  m->is_package = is_package;
  const CommonNames& n = interp_.names();
  auto set = [&](StrObject* key, Value v) { m->attrs->table.SetStr(interp_.heap(), key, v); };
  set(n.__name__, m->name);
  set(n.__doc__, Value::None());
  set(n.__package__, is_package ? Value(m->name) : Value(interp_.Intern(Parent(name))));
  set(n.__loader__, Value::None());
  set(n.__spec__, Value::None());
  modules()->table.SetStr(interp_.heap(), m->name, m);
  return m;
}

void Importer::BindToParent(absl::string_view name, Value module) {
  absl::string_view parent = Parent(name);
  if (parent.empty()) return;
  Value* p = modules()->table.GetStr(interp_.Intern(parent));
  if (p == nullptr || !p->IsModule()) return;
  StrObject* key = interp_.Intern(name.substr(parent.size() + 1));
  DictTable& attributes = p->as<ModuleObject>()->attrs->table;
  // from .name import name: the statement that was put off would have loaded the module, and then
  // hidden it.
  if (const Value* own = attributes.GetStr(key); own != nullptr && own->IsLazy()) {
    const auto* lazy = own->as<LazyObject>();
    if (lazy->attribute != nullptr && lazy->module->view() == name) return;
  }
  attributes.SetStr(interp_.heap(), key, module);
}

Frame ModuleFrame(Interpreter& interp, CodeUnit* unit, ModuleObject* module) {
  const ScopeInfo& scope = unit->code->root();
  Frame frame;
  frame.unit = unit;
  frame.scope = &scope;
  frame.module = module;
  frame.globals = module->attrs;
  frame.locals = static_cast<Value*>(interp.heap().Allocate(static_cast<size_t>(scope.slot_count + 1) * sizeof(Value)));
  for (int i = 0; i < scope.slot_count; ++i) frame.locals[i] = Value::Unbound();
  return frame;
}

Result<void> Importer::Execute(ModuleObject* module, absl::string_view source, absl::string_view display_name,
                               bool internal) {
  COBRA_TRY_ASSIGN(CodeUnit * unit, ParseUnit(interp_, source, display_name, internal));
  module->unit = unit;
  const ScopeInfo& scope = unit->code->root();
  Frame frame = ModuleFrame(interp_, unit, module);
  if (!scope.body.empty()) {
    frame.position = &scope.body[0]->pos;
    const auto* doc =
        scope.body[0]->Is<ast::Expr>() ? scope.body[0]->As<ast::Expr>()->value->AsOrNull<ast::Constant>() : nullptr;
    if (doc != nullptr && doc->constant_kind == ast::ConstantKind::kStr) {
      COBRA_TRY_ASSIGN(Value text, EvalConstant(interp_, unit, doc));
      module->attrs->table.SetStr(interp_.heap(), interp_.names().__doc__, text);
    }
  }
  RuntimeState& state = interp_.state();
  COBRA_TRY(interp_.CheckStack());
  if (state.call_depth >= interp_.limits().call_depth)
    return interp_.Raise(interp_.types().RecursionError, "maximum recursion depth exceeded");
  ++state.call_depth;
  Value handled = state.handled_exception;
  state.handled_exception = Value::None();
  module->initializing = true;
  Result<Value> done = RunFrame(interp_, frame);
  module->initializing = false;
  state.handled_exception = handled;
  --state.call_depth;
  COBRA_TRY(done);
  return {};
}

Result<ModuleObject*> Importer::LoadNative(absl::string_view name) {
  const NativeModule* native = interp_.options().natives->Find(name);
  if (native == nullptr) native = InsteadOf(interp_, name);
  COBRA_TRY_ASSIGN(ModuleObject * m, NewModule(name, /*is_package=*/true));
  m->is_native = true;
  BindToParent(name, m);  // before its code runs: torch.nn may be looked up from within
  NativeModuleBuilder builder(interp_, m);
  auto run = [&]() -> Result<void> {
    COBRA_TRY(native->define(interp_, builder));
    for (absl::string_view source : builder.sources())
      COBRA_TRY(Execute(m, source, absl::StrCat("<", name, ">"), /*internal=*/true));
    return {};
  };
  Result<void> done = run();
  if (!done.ok()) {
    modules()->table.EraseStr(m->name);
    const size_t dot = name.rfind('.');  // its parent must not keep what could not be defined
    const Value* parent =
        dot == absl::string_view::npos ? nullptr : modules()->table.GetStr(interp_.Intern(name.substr(0, dot)));
    if (parent != nullptr && parent->IsModule())
      parent->as<ModuleObject>()->attrs->table.EraseStr(interp_.Intern(name.substr(dot + 1)));
    return Failure();
  }
  // PEP 562 for modules written in Python.
  return m;
}

// frontend/python/library/_replacements has functions that take the place of a library's own, under
// its module's name.
Result<void> Importer::ReplaceSlowParts(ModuleObject* module) {
  const std::string name = absl::StrCat("_replacements.", module->name->view());
  if (interp_.options().natives->Find(name) == nullptr) return {};
  COBRA_TRY_ASSIGN(ModuleObject * replacements, LoadNative(name));
  const Value* all = replacements->attrs->table.GetStr(interp_.Intern("__all__"));
  for (Value key : all->as<ListObject>()->items) {
    if (module->attrs->table.GetStr(key.as<StrObject>()) == nullptr) continue;  // not in this version of the library
    module->attrs->table.SetStr(interp_.heap(), key.as<StrObject>(),
                                *replacements->attrs->table.GetStr(key.as<StrObject>()));
  }
  return {};
}

bool Importer::LibraryAsks() const {
  if (!interp_.options().bundle.empty()) return false;
  const Frame* frame = interp_.state().frame;
  while (frame != nullptr && frame->unit->internal) frame = frame->back;
  return frame != nullptr && frame->module->is_library;
}

// module.__spec__
Value Importer::NewSpec(const ModuleObject* module, absl::string_view origin) {
  if (spec_class_ == nullptr) {
    spec_class_ = NewBuiltinClass(interp_, "ModuleSpec", interp_.types().object, ObjectKind::kInstance);
    spec_class_->is_native = false;
    UpdateClassFlags(interp_, spec_class_);
  }
  InstanceObject* spec = interp_.NewInstance(spec_class_);
  const Value* path = module->attrs->table.GetStr(interp_.names().__path__);
  interp_.DictSetStr(interp_.AttrsOf(spec), "name", module->name);
  interp_.DictSetStr(spec->attrs, "parent", *module->attrs->table.GetStr(interp_.names().__package__));
  interp_.DictSetStr(spec->attrs, "origin", interp_.NewStr(origin));
  interp_.DictSetStr(spec->attrs, "submodule_search_locations", path == nullptr ? Value::None() : *path);
  for (const char* name : {"loader", "loader_state", "cached"}) interp_.DictSetStr(spec->attrs, name, Value::None());
  interp_.DictSetStr(spec->attrs, "has_location", Value::Bool(true));
  return spec;
}

Result<ModuleObject*> Importer::LoadSource(absl::string_view name, const Location& location) {
  COBRA_TRY_ASSIGN(ModuleObject * m, NewModule(name, location.is_package));
  m->is_library = location.is_library;
  m->is_users = location.source->is_users();
  // The program's file is what Python would run.
  if (const auto main = locations_.find("__main__");
      main != locations_.end() && main->second->source == location.source && main->second->path == location.path) {
    interp_.DictSetStr(modules(), "__main__", m);
  }
  std::string folder = location.is_package ? location.path : std::string();
  if (location.where == Where::kFile && location.is_package)
    folder = std::string(location.path.substr(0, location.path.size() - std::string("/__init__.py").size()));
  if (location.is_package) {
    m->attrs->table.SetStr(interp_.heap(), interp_.names().__path__,
                           interp_.NewList({Value(interp_.NewStr(location.source->DisplayName(folder)))}));
  }
  if (location.where == Where::kNamespace) {
    BindToParent(name, m);
    return m;
  }
  std::string display = location.source->DisplayName(location.path);
  m->attrs->table.SetStr(interp_.heap(), interp_.names().__file__, interp_.NewStr(display));
  m->attrs->table.SetStr(interp_.heap(), interp_.names().__spec__, NewSpec(m, display));
  absl::StatusOr<std::string> text = location.source->Read(location.path);
  if (!text.ok()) {
    modules()->table.EraseStr(m->name);
    return interp_.FromStatus(text.status());
  }
  interp_.state().source_bytes += static_cast<int64_t>(text->size());
  // What runs a second time (after `del sys.modules[name]`) is the program's doing.
  const bool first_run = location.is_library && run_library_files_.insert({location.source, location.path}).second;
  if (first_run) library_files_.push_back({location.source, location.path, location.source->Stamp(location.path)});
  // A package that imports its modules when they are asked for (transformers).
  const bool is_needed = first_run && running_library_files_ == 0 && LibraryAsks();
  running_library_files_ += location.is_library;
  const StepAccount before = interp_.CountStepsOn(first_run ? StepAccount::kLibrary : StepAccount::kProgram);
  Result<void> done = Execute(m, *text, display, /*internal=*/false);
  running_library_files_ -= location.is_library;
  if (done.ok() && location.is_library) done = ReplaceSlowParts(m);
  interp_.CountStepsOn(before);
  if (!done.ok()) {
    modules()->table.EraseStr(m->name);
    return Failure();
  }
  if (is_needed) needed_.push_back({std::string(name), "", /*whole_module=*/true});
  Value* now = modules()->table.GetStr(m->name);  // the module may have replaced itself
  BindToParent(name, now == nullptr ? Value(m) : *now);
  return m;
}

void Importer::NoteFile(const FileSource& source, const std::string& path) {
  if (run_library_files_.insert({&source, path}).second) library_files_.push_back({&source, path, source.Stamp(path)});
}

// A module object that replaces a package in sys.modules (a _LazyModule) has a __path__.
static bool IsPackage(Interpreter& interp, Value module) {
  auto* m = module.as<ModuleObject>();
  return m->is_package || m->attrs->table.GetStr(interp.names().__path__) != nullptr;
}

Result<Value> Importer::ImportValue(absl::string_view name) {
  StrObject* key = interp_.Intern(name);
  if (Value* loaded = modules()->table.GetStr(key)) {
    if (loaded->IsNone()) {
      return interp_.Raise(interp_.types().ModuleNotFoundError, "import of ", name, " halted; None in sys.modules");
    }
    return *loaded;
  }
  COBRA_TRY(interp_.Charge(1 + static_cast<int64_t>(name.size()) / 8));  // builds the name of each parent package
  COBRA_TRY(interp_.CheckStack());
  absl::string_view parent = Parent(name);
  if (!parent.empty()) {
    COBRA_TRY_ASSIGN(Value p, ImportValue(parent));
    if (p.IsOpaque()) return Opaque(name);
    if (Value* loaded = modules()->table.GetStr(key)) return *loaded;
    if (p.IsModule() && !IsPackage(interp_, p)) {
      return interp_.Raise(interp_.types().ModuleNotFoundError, "No module named '", name, "'; '", parent,
                           "' is not a package");
    }
  }
  if (put_aside_.contains(name) || frozen_put_aside_.contains(name)) return Opaque(name);
  const Location& location = Locate(name);
  Result<ModuleObject*> m = Failure();
  // "__main__" is there from the start, or the program has deleted it.
  const bool gone = name == "__main__" || IsOfLaterVersion(name, location.where);
  switch (gone ? Where::kAbsent : location.where) {
    case Where::kNative: m = LoadNative(name); break;
    case Where::kOpaque: return Opaque(name);
    case Where::kFile:
    case Where::kNamespace: m = LoadSource(name, location); break;
    case Where::kAbsent:
    case Where::kLoaded: {
      Value e = interp_.NewException(interp_.types().ModuleNotFoundError, absl::StrCat("No module named '", name, "'"));
      interp_.AttrsOf(e.object())->table.SetStr(interp_.heap(), interp_.names().name, interp_.NewStr(name));
      return interp_.RaiseValue(e);
    }
  }
  if (!m.ok()) {
    if (!PutModuleAside(name, location)) return Failure();
    const Value unknown = Opaque(name);
    BindToParent(name, unknown);
    return unknown;
  }
  Value* now = modules()->table.GetStr(key);
  return now == nullptr ? Value(*m) : *now;
}

bool Importer::IsOfLaterVersion(absl::string_view name, Where where) const {
  if (where != Where::kNative && where != Where::kOpaque) return false;
  const NativeModule* top =
      interp_.options().natives == nullptr ? nullptr : interp_.options().natives->Find(name.substr(0, name.find('.')));
  if (top == nullptr || !top->has_module) return false;
  for (const Frame* frame = interp_.state().frame; frame != nullptr; frame = frame->back) {
    if (frame->try_depth > 0) return !top->has_module(interp_, name);
  }
  return false;
}

Result<ModuleObject*> Importer::Import(absl::string_view name) {
  COBRA_TRY_ASSIGN(Value v, ImportValue(name));
  if (v.IsModule()) return v.as<ModuleObject>();
  return interp_.Unsupported(absl::StrCat("the module ", name));
}

Result<std::string> Importer::Resolve(ModuleObject* from, absl::string_view name, int level) {
  if (level == 0) return std::string(name);
  std::string package(from->name->view());
  Value* declared = from->attrs->table.GetStr(interp_.names().__package__);
  if (declared != nullptr && declared->IsStr()) {
    package = std::string(declared->str());
  } else if (!from->is_package) {
    package = std::string(Parent(package));
  }
  if (package.empty()) return interp_.Raise(interp_.types().ImportError, kNoParentPackage);
  for (int i = 1; i < level; ++i) {
    if (package.find('.') == std::string::npos) {
      return interp_.Raise(interp_.types().ImportError, kBeyondTopLevel);
    }
    package = std::string(Parent(package));
  }
  return name.empty() ? package : absl::StrCat(package, ".", name);
}

Result<Value> Importer::FromImport(absl::string_view module, StrObject* attribute) {
  COBRA_TRY_ASSIGN(Value m, ImportValue(module));
  const bool is_lacking = LacksName(module, attribute->view());
  if (m.IsOpaque() && !is_lacking) return Opaque(absl::StrCat(module, ".", attribute->view()));
  if (m.IsModule()) {
    // `from . import x` in a package's own __init__ left a lazy name x, which can only mean the
    // submodule.
    const Value* own = m.as<ModuleObject>()->attrs->table.GetStr(attribute);
    const LazyObject* lazy = own != nullptr && own->IsLazy() ? own->as<LazyObject>() : nullptr;
    if (lazy != nullptr && lazy->attribute == attribute && lazy->module->view() == module) {
      return ImportValue(absl::StrCat(module, ".", attribute->view()));
    }
  }
  if (!m.IsOpaque()) {
    COBRA_TRY_ASSIGN(Value v, interp_.GetAttrOrUnbound(m, attribute));
    if (!v.IsUnbound()) return v;
  }
  std::string submodule = absl::StrCat(module, ".", attribute->view());
  const bool rejected = is_lacking && m.IsModule() && m.as<ModuleObject>()->is_native;
  if (m.IsModule() && !rejected && IsPackage(interp_, m) && Find(submodule) != Where::kAbsent)
    return ImportValue(submodule);
  std::string file = "unknown location";
  if (m.IsModule()) {
    Value* path = m.as<ModuleObject>()->attrs->table.GetStr(interp_.names().__file__);
    if (path != nullptr && path->IsStr()) file = std::string(path->str());
    // The hook of a module has already rejected the name.
    const NativeModule* const top = interp_.options().natives->Find(module.substr(0, module.find('.')));
    if (m.as<ModuleObject>()->is_native && m.as<ModuleObject>()->getattr_hook.IsUnbound() && !rejected &&
        top != nullptr && top->open) {
      return Opaque(submodule);
    }
  }
  if (LacksStandardName(m)) return Opaque(submodule);
  bool partial = m.IsModule() && m.as<ModuleObject>()->initializing;
  Value e =
      interp_.NewException(interp_.types().ImportError,
                           absl::StrCat("cannot import name '", attribute->view(), "' from ",
                                        partial ? "partially initialized module '" : "'", module, "' ",
                                        partial ? "(most likely due to a circular import) " : "", "(", file, ")"));
  interp_.AttrsOf(e.object())->table.SetStr(interp_.heap(), interp_.names().name, interp_.NewStr(module));
  return interp_.RaiseValue(e);
}

Result<ModuleObject*> Importer::LoadFile(absl::string_view path) {
  auto dotted = [](absl::string_view p) {
    std::string name(absl::StripSuffix(p, ".py"));
    name = std::string(absl::StripSuffix(name, "/__init__"));
    return absl::StrReplaceAll(name, {{"/", "."}});
  };
  if (bundle_->IsFile(path)) {
    // The folder that holds the outermost package of the file is on the import path, as for `python
    // file.py`.
    absl::string_view folder = path;
    size_t slash = folder.rfind('/');
    folder = slash == absl::string_view::npos ? "" : folder.substr(0, slash);
    while (!folder.empty() && bundle_->IsFile(absl::StrCat(folder, "/__init__.py"))) {
      slash = folder.rfind('/');
      folder = slash == absl::string_view::npos ? "" : folder.substr(0, slash);
    }
    std::string prefix = folder.empty() ? "" : absl::StrCat(folder, "/");
    if (!prefix.empty()) {
      bundle_prefixes_.insert(bundle_prefixes_.begin(), prefix);
      locations_.clear();
    }
    locations_["__main__"] =
        std::make_unique<Location>(Location{Where::kFile, bundle_.get(), std::string(path), false, false});
    return Import(dotted(path.substr(prefix.size())));
  }
  for (const auto& root : interp_.options().library_roots) {
    absl::string_view relative = path;
    std::string display_root = root->DisplayName("") + "/";
    if (absl::StartsWith(relative, display_root)) relative.remove_prefix(display_root.size());
    const std::string name = dotted(relative);
    const Location& location = Locate(name);  // an image may know it: then no file is looked for
    const bool found = location.source == root.get() && location.path == relative;
    if (found || root->IsFile(relative)) return Import(name);
  }
  return interp_.FromStatus(UserError(Diagnostic::Kind::kUsage,
                                      absl::StrCat(path, ": is neither in the bundle nor in a library"),
                                      "give the file itself, or the folder that it is in with --library"));
}

namespace {

// Whether no change that a function could make to the value affects the graph.
bool IsInert(Value v, int depth) {
  if (!v.IsObject()) return true;
  switch (v.object()->kind) {
    case ObjectKind::kStr:
    case ObjectKind::kBytes:
    case ObjectKind::kBigInt:
    case ObjectKind::kComplex:
    case ObjectKind::kOpaque: return true;
    case ObjectKind::kTuple:
    case ObjectKind::kList: {
      if (depth > 4) return false;
      absl::Span<const Value> items =
          v.IsTuple() ? v.as<TupleObject>()->span()
                      : absl::MakeConstSpan(v.as<ListObject>()->items.data(), v.as<ListObject>()->items.size());
      for (Value item : items) {
        if (!IsInert(item, depth + 1)) return false;
      }
      return true;
    }
    default: return false;
  }
}

}  // namespace

Failure OpaqueUsed(Interpreter& interp, absl::string_view name, absl::string_view before, absl::string_view after) {
  const std::string what = absl::StrCat(before, name, after);
  name = name.substr(0, name.find('('));  // if an unknown function returned the object: the name of the function
  std::string aside;
  if (const Importer::PutAside* const why = interp.state().importer->FindPutAside(name, &aside)) {
    return interp.NotFound(
        absl::StrCat(aside, " could not be imported (", why->reason,
                     why->where.empty() ? "" : absl::StrCat(" at ", why->where), "), and ", what, " needs it"),
        why->hint, "");
  }
  const absl::string_view top = name.substr(0, name.find('.'));
  std::string hint;
  if (interp.options().natives->Find(top) != nullptr) {
    hint = absl::StrCat("COBRA knows a part of ", top, " and this is not in it",
                        top == "torch" ? " (docs/torch_support.md)" : "");
  } else if (IsStandardLibraryName(top) || IsNetworkPackage(top)) {
    hint = "a model definition runs here without files, processes, network and clock";
  } else if (IsCompiledPackage(top)) {
    hint = absl::StrCat(top, " is not written in Python: what the network needs of it must be written with torch");
  } else {
    Importer& importer = *interp.state().importer;
    const absl::string_view module = name.substr(0, name.rfind('.'));
    const absl::string_view missing = importer.Find(top) == Importer::Where::kAbsent ? top : module;
    const std::string where = importer.ImportedAt(missing);
    return interp.NotFound(
        absl::StrCat(missing, " was not found", where.empty() ? "" : absl::StrCat(" (imported at ", where, ")"),
                     ", and ", what, " needs it"),
        MissingModuleHint(interp.options().bundle, missing), module);
  }
  return interp.Unsupported(what, hint);
}

// At module level, an unknown function whose arguments it cannot change may be called; its result
// is as unknown as the function itself: `wandb.init(project="x")`, `log =
// loguru.logger.bind(name=__name__)`. Code that needs the result is refused later.
Result<Value> CallOpaque(Interpreter& interp, OpaqueObject* opaque, const CallArgs& args) {
  const Frame* frame = interp.state().frame;
  // The entry expression does not count as module level: the function that it calls returns the
  // model.
  bool inert = frame != nullptr && frame->scope->kind == ScopeKind::kModule && !frame->unit->internal &&
               frame->unit->display_name != kEntryName;
  for (Value v : args.positional) inert = inert && IsInert(v, 0);
  for (const KeywordArg& k : args.keywords) inert = inert && IsInert(k.value, 0);
  std::string name(opaque->dotted_name->view());
  if (inert) return interp.state().importer->Opaque(absl::StrCat(name, "()"));
  // A program that asks for its latest version is prepared for this.
  if ((IsNetworkPackage(name) || absl::StartsWith(name, "socket.") || absl::StartsWith(name, "urllib.request.")) &&
      IsUnderTry(interp))
    return interp.Raise(interp.types().ConnectionError, "there is no network here");
  return OpaqueUsed(interp, name, "calling ", "()");
}

Result<ModuleObject*> Interpreter::ImportModule(absl::string_view name) { return state_->importer->Import(name); }
Result<ModuleObject*> Interpreter::LoadFile(absl::string_view path) { return state_->importer->LoadFile(path); }

}  // namespace cobra::python
