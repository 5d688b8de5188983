#include "base/process/address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>
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

bool CanMapAPage() {
  void* const mapped = ::mmap(nullptr, PageBytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped != MAP_FAILED && ::munmap(mapped, PageBytes()) == 0;
}

// Without /proc: the kernel maps nothing above a limit, so the lowest limit that leaves room for a
// page is what is mapped and that page.
int64_t SearchForTotal() {
  rlimit before = {};
  if (::getrlimit(RLIMIT_AS, &before) != 0) return 0;
  const auto page = static_cast<int64_t>(PageBytes());
  int64_t low = 0, high = (int64_t{1} << 48) / page;  // in pages: no room at `low`, room at `high`
  while (low + 1 < high) {
    const int64_t middle = low + (high - low) / 2;
    const rlimit tried = {static_cast<rlim_t>(middle * page), before.rlim_max};
    (::setrlimit(RLIMIT_AS, &tried) == 0 && !CanMapAPage() ? low : high) = middle;
  }
  ::setrlimit(RLIMIT_AS, &before);
  return low * page;
}

}  // namespace

int64_t AddressSpaceBytes() {
  const int64_t total = ReadSizes(0).total;
  return total > 0 ? total : SearchForTotal();
}
int64_t ResidentBytes(pid_t pid) { return ReadSizes(pid).resident; }

size_t PageBytes() {
  static const auto bytes = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace cobra
