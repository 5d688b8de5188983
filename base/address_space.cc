#include "base/address_space.h"

#include <unistd.h>

#include <cstdio>

namespace cobra {

int64_t AddressSpaceBytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");  // its first number, in pages
  if (file == nullptr) return 0;
  long long pages = 0;
  const int read = std::fscanf(file, "%lld", &pages);
  std::fclose(file);
  return read == 1 ? pages * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace cobra
