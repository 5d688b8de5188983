#include "base/file/data_path.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "absl/strings/match.h"
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
  if (const char* given = std::getenv("COBRA_DATA"); given != nullptr && given[0] == '/')
    return absl::StrCat(given, "/", relative);
  const std::string prefix = Parent(ProgramFolder()), installed = absl::StrCat(prefix, "/share/cobra");
  const std::string build = Parent(prefix);
  const bool is_built = absl::EndsWith(build, "/build") && ::access(installed.c_str(), F_OK) != 0;
  return absl::StrCat(is_built ? Parent(build) : installed, "/", relative);
}

}  // namespace cobra
