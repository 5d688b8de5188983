#include "lab/tables/run/work_folder.h"

#include <stdlib.h>

#include <filesystem>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"

namespace cobra::lab {

absl::StatusOr<WorkFolder> WorkFolder::Make(const TableOptions& options) {
  if (!options.quick) {
    COBRA_RETURN_IF_ERROR(MakeDirectories("build/tables"));
    return WorkFolder("build/tables", false);
  }
  std::string path = absl::StrCat(std::filesystem::temp_directory_path().string(), "/cobra-table-XXXXXX");
  if (::mkdtemp(&path[0]) == nullptr) return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be made"));
  return WorkFolder(path, true);
}

WorkFolder::~WorkFolder() {
  std::error_code ignored;
  if (temporary_) std::filesystem::remove_all(path_, ignored);
}

std::string ConfigFolder(const TableOptions& options) {
  return !options.configs.empty() ? options.configs
                                  : absl::StrCat("lab/published/configs/", options.quick ? "quick" : "cpu");
}

}  // namespace cobra::lab
