#include "frontend/python/runtime/interpreter/missing_module.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "frontend/python/runtime/interpreter/import.h"
#include "frontend/python/runtime/interpreter/internal.h"

namespace cobra::python {
namespace {

using Bundle = std::map<std::string, std::string>;

// The folder of the package "net" in the bundle, which may lie below other folders: "src/net". ""
// if there is none.
std::string FolderOf(const Bundle& bundle, absl::string_view package) {
  const std::string folder = absl::StrReplaceAll(package, {{".", "/"}});
  for (const auto& [path, text] : bundle) {
    for (size_t at = path.find(folder); at != std::string::npos; at = path.find(folder, at + 1)) {
      const size_t end = at + folder.size();
      if ((at == 0 || path[at - 1] == '/') && end < path.size() && path[end] == '/') return path.substr(0, end);
    }
  }
  return "";
}

}  // namespace

std::string MissingModuleHint(const Bundle& bundle, absl::string_view name) {
  if (const size_t dot = name.rfind('.'); dot != absl::string_view::npos && dot > 0) {
    const std::string folder = FolderOf(bundle, name.substr(0, dot));
    if (!folder.empty()) {
      return absl::StrCat(folder, "/", name.substr(dot + 1),
                          ".py is not among the files of the model: add it, or correct the import");
    }
  }
  return absl::StrCat(name.substr(0, name.find('.')),
                      " is neither among the model's files nor in a library: name the folder that it is in with "
                      "--library DIR; it need not be installed, a copy of its source will do");
}

// ---- what the importer knows of them ----

bool Importer::CannotProvide(absl::string_view module, StrObject* attribute) {
  const Location& location = Locate(module);
  if (location.source == nullptr || !location.source->is_users()) return false;
  const std::string submodule = absl::StrCat(module, ".", attribute->view());
  if (location.is_package && Find(submodule) != Where::kAbsent) return false;
  if (const Value* loaded = modules()->table.GetStr(interp_.Intern(module))) {
    if (!loaded->IsModule() || loaded->as<ModuleObject>()->attrs->table.GetStr(attribute) != nullptr) return false;
  }
  if (location.where == Where::kNamespace) return true;
  if (location.where != Where::kFile || attribute->view().substr(0, 2) == "__") return false;
  const absl::StatusOr<std::string> text = location.source->Read(location.path);
  if (!text.ok() || static_cast<int64_t>(text->size()) > interp_.limits().source_bytes) return false;
  interp_.Spend(static_cast<int64_t>(text->size()) / 16);
  const auto code = ParseShared(*text, location.source->DisplayName(location.path));
  if (!code.ok()) return false;
  // If one of these words is in a file, the file may define names that do not appear in its text.
  for (absl::string_view word :
       {attribute->view(), absl::string_view("*"), absl::string_view("__getattr__"), absl::string_view("globals"),
        absl::string_view("locals"), absl::string_view("vars"), absl::string_view("setattr"), absl::string_view("exec"),
        absl::string_view("modules"), absl::string_view("__dict__")}) {
    if ((*code)->FindSymbol(word) != nullptr) return false;
  }
  return true;
}

void Importer::NoteAbsent(absl::string_view module) {
  const SourcePosition at = interp_.CurrentPosition();
  if (at.line == 0) return;
  const std::string where = absl::StrCat(at.file, ":", at.line);
  absent_.try_emplace(std::string(module), where);
  absent_.try_emplace(std::string(module.substr(0, module.find('.'))), where);
}

std::string Importer::ImportedAt(absl::string_view module) const {
  for (const auto* known : {&absent_, &frozen_absent_}) {
    if (const auto it = known->find(module); it != known->end()) return it->second;
  }
  return "";
}

}  // namespace cobra::python
