#include "base/file/doc_path.h"

#include <filesystem>
#include <regex>

#include "absl/strings/str_cat.h"
#include "base/file/data_path.h"
#include "base/file/file.h"

namespace cobra {

bool IsInSourceTree() { return FileExists(DataPath("scripts/setup.sh")); }

std::string DocPath(absl::string_view page) {
  if (IsInSourceTree()) return FileExists(std::string(page)) ? std::string(page) : DataPath(page);
  const std::string prefix = std::filesystem::path(ProgramFolder()).parent_path().string();
  std::string installed = absl::StrCat(prefix, "/share/doc/cobra/", page);
  return FileExists(installed) ? installed : absl::StrCat(page, " of COBRA");
}

std::string WithDocPaths(absl::string_view text) {
  static const std::regex* const kPage = new std::regex("(^|[^/A-Za-z])(docs/[a-z_-]+\\.md)");
  std::string named;
  const char* from = text.begin();
  for (std::cregex_iterator it(text.begin(), text.end(), *kPage), end; it != end; ++it) {
    absl::StrAppend(&named, absl::string_view(from, (*it)[2].first - from), DocPath((*it)[2].str()));
    from = (*it)[2].second;
  }
  return absl::StrCat(named, absl::string_view(from, text.end() - from));
}

}  // namespace cobra
