// Writes predictions to the store from a thread of its own, many in one transaction, so that no request waits for a
// disk. Transactions follow each other after a pause: each costs the disk and the processor as much as a thousand rows.
// When the disk is slower than the requests, records are dropped and counted, so that memory stays bounded.
#ifndef COBRA_SERVER_PREDICTION_LOG_H_
#define COBRA_SERVER_PREDICTION_LOG_H_

#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/throttled_log.h"
#include "server/metrics.h"
#include "store/store.h"

namespace cobra::server {

class PredictionLog {
 public:
  // The pointers are not owned and must outlive this object.
  PredictionLog(store::Store* store, Metrics* metrics, size_t max_pending = 65536);  // about 15 MB
  // Writes what is pending.
  ~PredictionLog();

  void Append(store::PredictionRecord record);
  // Returns when everything appended so far is written; false at the deadline.
  bool Flush(absl::Time deadline = absl::InfiniteFuture());

 private:
  void Loop();

  store::Store* const store_;
  Metrics* const metrics_;
  const size_t max_pending_;
  ThrottledLog failures_;
  absl::Mutex mutex_;
  std::vector<store::PredictionRecord> pending_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  int flushing_ ABSL_GUARDED_BY(mutex_) = 0;  // callers of Flush()
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICTION_LOG_H_
