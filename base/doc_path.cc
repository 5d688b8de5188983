#include "base/doc_path.h"

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/data_path.h"
#include "base/file.h"

namespace cobra {

bool IsInSourceTree() { return DataPath("scripts/setup.sh") != "scripts/setup.sh"; }

std::string DocPath(absl::string_view page) {
  if (IsInSourceTree()) return FileExists(std::string(page)) ? std::string(page) : DataPath(page);
  const std::string prefix = std::filesystem::path(ProgramFolder()).parent_path().string();
  std::string installed = absl::StrCat(prefix, "/share/doc/cobra/", page);
  return FileExists(installed) ? installed : absl::StrCat(page, " of COBRA");
}

}  // namespace cobra
