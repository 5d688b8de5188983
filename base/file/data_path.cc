#include "base/file/data_path.h"

#include <unistd.h>

#include <climits>

#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

std::string Parent(const std::string& folder) { return folder.substr(0, folder.rfind('/')); }

}  // namespace

std::string ProgramFolder() {
  char self[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", self, sizeof(self));
  if (n <= 0 || n >= static_cast<ssize_t>(sizeof(self))) return "";
  const std::string path(self, static_cast<size_t>(n));
  return path.substr(0, path.rfind('/'));
}

std::string DataPath(absl::string_view relative) {
  const std::string bin = ProgramFolder();
  if (!bin.empty()) {
    const std::string prefix = Parent(bin), tree = Parent(Parent(prefix));
    for (const std::string& root : {absl::StrCat(prefix, "/share/cobra"), tree}) {
      std::string path = absl::StrCat(root, "/", relative);
      if (::access(path.c_str(), F_OK) == 0) return path;
    }
  }
  return std::string(relative);
}

}  // namespace cobra
