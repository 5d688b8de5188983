// The import statements, and lazy names: a library's own imports are resolved when the names are
// first used.
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"
#include "frontend/python/runtime/interpreter/standard_names.h"

namespace cobra::python {
namespace {

// Whether an import statement in this frame may be deferred.
bool MayBeLazy(const Frame& frame, const Importer& importer) {
  return frame.module->is_library && frame.scope->kind == ScopeKind::kModule && frame.try_depth == 0 &&
         importer.MayDefer(frame.module);
}

// A module that exists nowhere gives an opaque value, unless the program handles the failure. The
// module existed when the model was written, and most models do not need it (plotting, logging,
// data). In the user's own files, a missing part of an existing package is an error.
bool ToleratesMissingModule(const Frame& frame, Importer& importer, absl::string_view name) {
  if (frame.try_depth > 0 || HasPythonInstead(name)) return false;
  return (frame.module->is_library && !frame.module->is_users) ||
         importer.Find(name.substr(0, name.find('.'))) == Importer::Where::kAbsent;
}

Value MakeLazy(Interpreter& interp, absl::string_view module, StrObject* attribute) {
  auto* l = interp.heap().New<LazyObject>();
  l->cls = interp.types().opaque;
  l->module = interp.Intern(module);
  l->attribute = attribute;
  interp.state().importer->NoteDeferred();
  return l;
}

// import a.b as c: what `a` calls b, which need not be the module.
Result<Value> ImportAs(Interpreter& interp, absl::string_view name) {
  Importer& importer = *interp.state().importer;
  COBRA_TRY_ASSIGN(const Value module, importer.ImportValue(name));
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || !module.IsModule()) return module;
  return importer.FromImport(name.substr(0, dot), interp.Intern(name.substr(dot + 1)));
}

Result<void> ImportOne(Interpreter& interp, Frame& frame, const ast::Alias* alias) {
  COBRA_TRY(interp.Charge(60));  // every root is searched
  Importer& importer = *interp.state().importer;
  std::string name(alias->name->text);
  std::string top = name.substr(0, name.find('.'));
  bool dotted = top.size() != name.size();
  Importer::Where where = importer.Find(name);
  Value v;
  if (where == Importer::Where::kAbsent && ToleratesMissingModule(frame, importer, name)) {
    importer.NoteAbsent(name);
    v = importer.Opaque(alias->asname != nullptr ? name : top);
  } else if (MayBeLazy(frame, importer) && where != Importer::Where::kAbsent) {
    importer.NotePending(name);
    v = MakeLazy(interp, alias->asname != nullptr ? name : top, nullptr);
  } else {
    COBRA_TRY_ASSIGN(v, alias->asname != nullptr ? ImportAs(interp, name) : importer.ImportValue(name));
    if (alias->asname == nullptr && dotted) COBRA_TRY_SET(v, importer.ImportValue(top));
  }
  if (alias->asname != nullptr) return StoreName(interp, frame, alias->asname, v);
  // The statement binds the first part of the name, which is a symbol of its own.
  StrObject* key = interp.Intern(top);
  const ast::Identifier symbol = dotted ? frame.unit->code->FindSymbol(top) : alias->name;
  const Ref ref = symbol == nullptr ? Ref{RefKind::kGlobal, 0} : frame.scope->Resolve(symbol);
  if (v.IsLazy() && ref.kind != RefKind::kGlobal) COBRA_TRY_SET(v, ForceLazy(interp, v));
  return StoreRef(interp, frame, ref, key, v);
}

// Takes all names of a module that is nowhere (compiled code, often): the importing module may have
// any name now.
void ImportStarOfAbsent(Interpreter& interp, Frame& frame, absl::string_view absent) {
  ModuleObject* module = frame.module;
  if (frame.globals != module->attrs || !module->getattr_hook.IsUnbound()) return;
  StrObject* from = interp.Intern(absent);
  module->getattr_hook =
      NewBuiltin(interp, "__getattr__", [from, module](Interpreter& interp, const CallArgs& args) -> Result<Value> {
        if (!args.positional[0].IsStr() || args.positional[0].str() == "__dict__") return Value::None();
        Importer& importer = *interp.state().importer;
        const std::string submodule = absl::StrCat(module->name->view(), ".", args.positional[0].str());
        if (importer.Find(submodule) != Importer::Where::kAbsent) return importer.ImportValue(submodule);
        return importer.Opaque(absl::StrCat(from->view(), ".", args.positional[0].str()));
      });
}

Result<void> ImportStar(Interpreter& interp, Frame& frame, absl::string_view module) {
  Importer& importer = *interp.state().importer;
  COBRA_TRY_ASSIGN(Value m, importer.ImportValue(module));
  if (!m.IsModule()) {
    ImportStarOfAbsent(interp, frame, module);
    return {};
  }
  DictObject* target = frame.names != nullptr ? frame.names : frame.globals;
  DictObject* source = m.as<ModuleObject>()->attrs;
  Value* all = source->table.GetStr(interp.names().__all__);
  if (all != nullptr) {
    return interp.Iterate(*all, [&](Value name) -> Result<bool> {
      if (!name.IsStr()) return interp.Raise(interp.types().TypeError, "Item in __all__ must be str");
      StrObject* key = interp.InternStr(name.as<StrObject>());
      // A lazy value stays lazy.
      Value* own = source->table.GetStr(key);
      Value v;
      if (own != nullptr && own->IsLazy() && target == frame.globals) {
        v = *own;
      } else {
        Result<Value> found = importer.FromImport(module, key);
        if (!found.ok()) {
          if (interp.CatchException(interp.types().ImportError)) {
            return interp.Raise(interp.types().AttributeError, "module '", module, "' has no attribute '", key->view(),
                                "'");
          }
          return Failure();
        }
        v = *found;
      }
      target->table.SetStr(interp.heap(), key, v);
      return true;
    });
  }
  for (size_t i = 0; i < source->table.entry_count(); ++i) {
    DictTable::Entry e = source->table.entry(i);
    if (!e.key.IsStr() || absl::StartsWith(e.key.str(), "_")) continue;
    target->table.SetStr(interp.heap(), interp.InternStr(e.key.as<StrObject>()), e.value);
  }
  return {};
}

Result<void> ImportFromStatement(Interpreter& interp, Frame& frame, const ast::ImportFrom* s) {
  Importer& importer = *interp.state().importer;
  COBRA_TRY_ASSIGN(std::string module,
                   importer.Resolve(frame.module, s->module == nullptr ? "" : s->module->text, s->level));
  if (module == "__future__") {
    for (const ast::Alias* a : s->names)
      COBRA_TRY(StoreName(interp, frame, a->asname != nullptr ? a->asname : a->name, Value::Bool(true)));
    return {};
  }
  Importer::Where where = importer.Find(module);
  bool opaque = where == Importer::Where::kAbsent && ToleratesMissingModule(frame, importer, module);
  if (opaque) importer.NoteAbsent(module);
  for (const ast::Alias* a : s->names) {
    if (a->name->text == "*") {
      if (opaque) {
        ImportStarOfAbsent(interp, frame, module);
      } else {
        COBRA_TRY(ImportStar(interp, frame, module));
      }
      continue;
    }
    StrObject* attribute = NameOf(interp, frame.unit, a->name);
    Value v;
    if (opaque) {
      v = importer.Opaque(absl::StrCat(module, ".", attribute->view()));
    } else if (MayBeLazy(frame, importer) && where != Importer::Where::kAbsent &&
               !(frame.module->is_users && importer.CannotProvide(module, attribute))) {
      v = MakeLazy(interp, module, attribute);
    } else {
      COBRA_TRY_ASSIGN(v, importer.FromImport(module, attribute));
    }
    COBRA_TRY(StoreName(interp, frame, a->asname != nullptr ? a->asname : a->name, v));
  }
  return {};
}

}  // namespace

Completion ExecImport(Interpreter& interp, Frame& frame, const ast::Import* s) {
  for (const ast::Alias* alias : s->names) {
    if (!ImportOne(interp, frame, alias).ok()) return Completion::kError;
  }
  return Completion::kNormal;
}

Completion ExecImportFrom(Interpreter& interp, Frame& frame, const ast::ImportFrom* s) {
  return ImportFromStatement(interp, frame, s).ok() ? Completion::kNormal : Completion::kError;
}

Result<Value> ForceLazy(Interpreter& interp, Value v) {
  COBRA_TRY(interp.CheckStack());
  for (int i = 0; i < 64 && v.IsLazy(); ++i) {  // a lazy name may refer to a lazy name of another module
    auto* l = v.as<LazyObject>();
    if (!l->resolved.IsUnbound()) {
      v = l->resolved;
      continue;
    }
    Importer& importer = *interp.state().importer;
    const int loaded_before = importer.loaded_;
    if (l->attribute == nullptr) {
      COBRA_TRY_ASSIGN(v, ImportAs(interp, l->module->view()));
    } else {
      COBRA_TRY_ASSIGN(v, importer.FromImport(l->module->view(), l->attribute));
    }
    importer.NoteNeeded(l, loaded_before);
    l->resolved = v;
  }
  return v;
}

Result<Value> GetModuleAttr(Interpreter& interp, ModuleObject* module, StrObject* name) {
  DictTable& table = module->attrs->table;
  if (Value* own = table.GetStr(name)) {
    if (!own->IsLazy()) return *own;
    COBRA_TRY_ASSIGN(Value v, ForceLazy(interp, *own));
    table.SetStr(interp.heap(), name, v);
    return v;
  }
  if (name == interp.names().__dict__) {
    COBRA_TRY(ForceAll(interp, module));
    return Value(module->attrs);
  }
  COBRA_TRY_ASSIGN(Value found, interp.ObjectGetAttr(Value(module), name));
  if (!found.IsUnbound()) return found;
  if (module->cls->has_getattr) {  // an instance of a subclass of types.ModuleType
    return interp.Call(interp.LookupClass(module->cls, interp.names().__getattr__), {Value(module), Value(name)});
  }
  std::string submodule = absl::StrCat(module->name->view(), ".", name->view());
  Importer& importer = *interp.state().importer;
  bool native_child = module->is_native && interp.options().natives->Find(submodule) != nullptr;
  if (native_child) {
    Result<Value> child = importer.ImportValue(submodule);
    // The target version of the library does not have it: hasattr() is false.
    if (!child.ok() && interp.CatchException(interp.types().ModuleNotFoundError)) return Value::Unbound();
    return child;
  }
  if (module->is_package && importer.IsPending(submodule)) return importer.ImportValue(submodule);
  if (const Value missing = MissingStandardName(interp, module, name); !missing.IsUnbound()) return missing;
  Value hook = module->getattr_hook;
  if (hook.IsUnbound()) {
    Value* own = table.GetStr(interp.names().__getattr__);  // PEP 562
    if (own != nullptr) hook = *own;
  }
  if (hook.IsUnbound() || name->view().substr(0, 2) == "__") return Value::Unbound();
  return interp.Call(hook, {Value(name)});
}

Result<void> DefineAll(Interpreter& interp, ModuleObject* module) {
  if (module->getattr_hook.IsUnbound()) return {};
  return interp.Call(module->getattr_hook, {Value(interp.names().__dict__)}).ok() ? Result<void>() : Failure();
}

Result<void> ForceAll(Interpreter& interp, ModuleObject* module) {
  COBRA_TRY(DefineAll(interp, module));
  interp.Spend(static_cast<int64_t>(module->attrs->table.entry_count()) / 16);
  for (size_t i = 0; i < module->attrs->table.entry_count(); ++i) {
    DictTable::Entry e = module->attrs->table.entry(i);
    if (!e.value.IsLazy() || !e.key.IsStr()) continue;
    COBRA_TRY_ASSIGN(Value v, ForceLazy(interp, e.value));
    module->attrs->table.SetStr(interp.heap(), e.key.as<StrObject>(), v);
  }
  return {};
}

}  // namespace cobra::python
