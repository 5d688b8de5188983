#include "base/address_space.h"

#include <unistd.h>

#include <cstdio>

namespace cobra {
namespace {

// The first numbers of /proc/self/statm, in bytes.
struct Sizes {
  int64_t total = 0, resident = 0;
};

Sizes ReadSizes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return {};
  long long total = 0, resident = 0;  // pages
  const int read = std::fscanf(file, "%lld %lld", &total, &resident);
  std::fclose(file);
  const int64_t page = ::sysconf(_SC_PAGESIZE);
  return read == 2 ? Sizes{total * page, resident * page} : Sizes();
}

}  // namespace

int64_t AddressSpaceBytes() { return ReadSizes().total; }
int64_t ResidentBytes() { return ReadSizes().resident; }

}  // namespace cobra
