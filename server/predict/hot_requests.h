// The requests that are asked most, with their bytes, so that a new version can answer them before
// it serves. They are found in a sample of the requests, with the algorithm Space-Saving (Metwally
// et al., Efficient Computation of Frequent and Top-k Elements in Data Streams, ICDT 2005): memory
// is bounded, and none that is asked often is missed.
#ifndef COBRA_SERVER_PREDICT_HOT_REQUESTS_H_
#define COBRA_SERVER_PREDICT_HOT_REQUESTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/synchronization/mutex.h"
#include "base/bytes/hash.h"

namespace cobra::server {

class HotRequests {
 public:
  static constexpr size_t kMost = 256;
  static constexpr size_t kMaxBytes = 256 << 10;  // of one request; larger ones are not kept
  static constexpr size_t kMaxAllBytes = 16 << 20;

  // One in 16 is counted, at random. Never waits for a lock: then it is not counted. `bytes` is
  // called for those that are new.
  void Asked(const Hash128& request, absl::FunctionRef<std::string()> bytes);
  // The most frequent first. Halves all counts, so that what was asked long ago fades.
  std::vector<std::string> Hottest();

 private:
  struct Entry {
    int64_t count = 0;
    std::string bytes;
  };

  absl::Mutex mutex_;
  // Returns how often it was asked. REQUIRES: there is one.
  int64_t DropLeast() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  absl::flat_hash_map<Hash128, Entry> entries_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // of all entries' requests
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_HOT_REQUESTS_H_
