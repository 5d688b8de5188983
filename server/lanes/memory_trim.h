// glibc keeps what large requests, and floods of small ones, have freed: hundreds of megabytes
// after a few of them. It goes back to the system within seconds.
#ifndef COBRA_SERVER_LANES_MEMORY_TRIM_H_
#define COBRA_SERVER_LANES_MEMORY_TRIM_H_

#include <cstdint>

#include "absl/time/time.h"

namespace cobra::server {

// From now on large blocks go back as soon as they are free. By default glibc keeps up to 64 MiB of
// them for each of its arenas, beyond the reach of malloc_trim. Before the process has threads.
void KeepNoLargeBlocks();

class MemoryTrim {
 public:
  // Returns free memory to the system if there is much more of it, or of memory in all, than there
  // was; looks once a second. Takes some milliseconds. From one thread.
  void Tick(absl::Time now);

 private:
  absl::Time next_ = absl::InfinitePast();
  int64_t least_free_ = 0, least_resident_ = 0;  // since the last time that memory was returned
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_LANES_MEMORY_TRIM_H_
