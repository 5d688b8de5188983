#include "frontend/python/runtime/interpreter/standard_names.h"

#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

struct Names {
  absl::string_view place;
  absl::string_view names;  // "12:" and "13:" before those of a later version
};
constexpr Names kNames[] = {
#include "frontend/python/runtime/interpreter/library_names.inc"
#include "frontend/python/tables/standard_names.inc"
};

using Table = absl::flat_hash_map<absl::string_view, absl::flat_hash_map<absl::string_view, int>>;

const Table& Known() {
  static const auto* const kTable = [] {
    auto* table = new Table();
    for (const Names& entry : kNames) {
      auto& names = (*table)[entry.place];
      for (absl::string_view name : absl::StrSplit(entry.names, ' ', absl::SkipEmpty())) {
        const int since = absl::ConsumePrefix(&name, "12:") ? 12 : absl::ConsumePrefix(&name, "13:") ? 13 : 11;
        names.emplace(name, since);
      }
    }
    return table;
  }();
  return *kTable;
}

Value Missing(Interpreter& interp, absl::string_view place, absl::string_view name) {
  if (StandardNameSince(place, name) != 11) return Value::Unbound();
  return interp.importer().Opaque(absl::StrCat(place, ".", name));
}

}  // namespace

int StandardNameSince(absl::string_view place, absl::string_view name) {
  const auto names = Known().find(place);
  if (names == Known().end()) return 0;
  const auto found = names->second.find(name);
  return found == names->second.end() ? 0 : found->second;
}

bool LacksName(absl::string_view module, absl::string_view name) {
  if (absl::StartsWith(name, "_")) return false;
  if (module == "numpy") return true;  // its own hook knows all of them
  const bool listed = absl::StartsWith(module, "numpy.") || module == "scipy" || absl::StartsWith(module, "scipy.");
  return listed && Known().contains(module) && StandardNameSince(module, name) == 0;
}

Value MissingStandardAttribute(Interpreter& interp, const ClassObject* cls, const StrObject* name) {
  if (absl::StartsWith(name->view(), "_")) return Value::Unbound();
  for (const ClassObject* base : cls->mro) {
    if (!base->module.IsStr() || !IsStandardLibraryName(base->module.str())) continue;
    const Value missing = Missing(interp, absl::StrCat(base->module.str(), ".", base->name->view()), name->view());
    if (!missing.IsUnbound()) return missing;
  }
  return Value::Unbound();
}

Value MissingStandardName(Interpreter& interp, const ModuleObject* module, const StrObject* name) {
  if (!module->is_native || absl::StartsWith(name->view(), "_")) return Value::Unbound();
  // Of these packages a part is here. For some of their modules there is no list of what they have
  // beside it.
  for (const absl::string_view package : {"numpy.", "scipy."}) {
    if (absl::StartsWith(module->name->view(), package) && module->getattr_hook.IsUnbound() &&
        !Known().contains(module->name->view()))
      return interp.state().importer->Opaque(absl::StrCat(module->name->view(), ".", name->view()));
  }
  return Missing(interp, module->name->view(), name->view());
}

}  // namespace cobra::python
