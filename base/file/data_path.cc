#include "base/file/data_path.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <climits>

#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

std::string Parent(const std::string& folder) { return folder.substr(0, folder.rfind('/')); }

// As the kernel was asked to run it.
std::string StartedFile() {
  const auto* const name = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  char path[PATH_MAX];
  return name != nullptr && ::realpath(name, path) != nullptr ? path : "";
}

std::string FindProgramFile() {
  char self[PATH_MAX];
  const ssize_t n = ::readlink("/proc/self/exe", self, sizeof(self));
  if (n <= 0 || n >= static_cast<ssize_t>(sizeof(self))) return StartedFile();
  return std::string(self, static_cast<size_t>(n));
}

}  // namespace

std::string ProgramFile() {
  static const auto* const file = new std::string(FindProgramFile());
  return *file;
}

std::string ProgramFolder() {
  const std::string file = ProgramFile();
  return file.empty() ? "" : Parent(file);
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
