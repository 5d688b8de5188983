#include "server/lanes/memory_trim.h"

#include <malloc.h>

#include <algorithm>

#include "base/process/address_space.h"

namespace cobra::server {
namespace {

constexpr absl::Duration kPeriod = absl::Seconds(1);
// Returning memory takes time in proportion to it.
constexpr int64_t kMuch = 2 << 20, kMuchShare = 32;

// What malloc could give out. It does not say which of it is the system's again.
int64_t FreeBytes() { return static_cast<int64_t>(::mallinfo2().fordblks); }

}  // namespace

void KeepNoLargeBlocks() {
  constexpr int kLargeBlock = 1 << 20;
  ::mallopt(M_MMAP_THRESHOLD, kLargeBlock);
  ::mallopt(M_TRIM_THRESHOLD, kLargeBlock);
  // Each step of a heap's growth holds up the page faults of all threads.
  ::mallopt(M_TOP_PAD, kLargeBlock);
}

void MemoryTrim::Tick(absl::Time now) {
  if (now < next_) return;
  next_ = now + kPeriod;
  const int64_t free = FreeBytes(), resident = ResidentBytes();
  least_free_ = std::min(least_free_, free);
  least_resident_ = std::min(least_resident_, resident);
  const int64_t much = std::max(kMuch, least_resident_ / kMuchShare);
  if (free - least_free_ < much && resident - least_resident_ < much) return;
  ::malloc_trim(0);
  least_free_ = FreeBytes();
  least_resident_ = ResidentBytes();
}

}  // namespace cobra::server
