#include "frontend/python/runtime/missing_module.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace cobra::python {
namespace {

using Bundle = std::map<std::string, std::string>;

// The folder of the package "net" in the bundle, which may lie below other folders: "src/net". "" if there is none.
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

}  // namespace cobra::python
