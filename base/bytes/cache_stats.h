#ifndef COBRA_BASE_BYTES_CACHE_STATS_H_
#define COBRA_BASE_BYTES_CACHE_STATS_H_

#include <cstdint>

namespace cobra {

// What a cache has done since it was created, and what it holds now.
struct CacheStats {
  int64_t hits = 0, misses = 0, evictions = 0, entries = 0, bytes = 0, capacity_bytes = 0;
};

}  // namespace cobra

#endif  // COBRA_BASE_BYTES_CACHE_STATS_H_
