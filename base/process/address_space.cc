#include "base/process/address_space.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

// The first numbers of /proc/PID/statm, in bytes.
struct Sizes {
  int64_t total = 0, resident = 0;
};

Sizes ReadSizes(pid_t pid) {
  const std::string path = absl::StrCat("/proc/", pid == 0 ? ::getpid() : pid, "/statm");
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  long long total = 0, resident = 0;  // pages
  const int read = std::fscanf(file, "%lld %lld", &total, &resident);
  std::fclose(file);
  const auto page = static_cast<int64_t>(PageBytes());
  return read == 2 ? Sizes{total * page, resident * page} : Sizes();
}

}  // namespace

int64_t AddressSpaceBytes() { return ReadSizes(0).total; }
int64_t ResidentBytes(pid_t pid) { return ReadSizes(pid).resident; }

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace cobra
