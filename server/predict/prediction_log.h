// Writes predictions to the store from its own thread, many in one transaction, so that no request
// waits for a disk. Transactions follow each other after a pause: each costs the disk and
// the processor as much as a thousand rows. When the disk is slower than the requests, records are
// dropped and counted, so that memory stays bounded; no caller's take more than half of the room.
// Records that a busy database refuses are tried again.
#ifndef COBRA_SERVER_PREDICT_PREDICTION_LOG_H_
#define COBRA_SERVER_PREDICT_PREDICTION_LOG_H_

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/throttled_log.h"
#include "server/lanes/metrics.h"
#include "store/store.h"

namespace cobra::server {

class PredictionLog {
 public:
  // The pointers are not owned and must outlive this object.
  PredictionLog(store::Store* store, Metrics* metrics, int64_t max_pending_bytes = int64_t{16} << 20);
  // Writes what is pending.
  ~PredictionLog();

  void Append(store::PredictionRecord record, const std::string& caller = "");
  // Whether so many predictions of a call with labels may be stored: of each caller 200 a second
  // over time, and 10,000 at once. They cost little or no computation, and each may take 4 KB of
  // the disk; what is refused counts as dropped.
  bool Admits(int64_t rows, const std::string& caller);
  // Returns when everything appended so far is written; false at the deadline, or when the store is
  // lost.
  bool Flush(absl::Time deadline = absl::InfiniteFuture());

 private:
  void Loop();
  bool PutBack(std::vector<store::PredictionRecord>* batch);

  store::Store* const store_;
  Metrics* const metrics_;
  const int64_t max_pending_bytes_;
  ThrottledLog failures_;
  absl::Mutex mutex_;
  std::vector<store::PredictionRecord> pending_ ABSL_GUARDED_BY(mutex_);
  int64_t pending_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::flat_hash_map<std::string, int64_t> bytes_of_caller_ ABSL_GUARDED_BY(mutex_);  // of pending_
  struct Allowance {
    double rows = 0;
    absl::Time since;
  };
  absl::flat_hash_map<std::string, Allowance> allowances_ ABSL_GUARDED_BY(mutex_);
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  bool lost_ ABSL_GUARDED_BY(mutex_) = false;  // the store refused the last batch, and may do so for ever
  int flushing_ ABSL_GUARDED_BY(mutex_) = 0;   // callers of Flush()
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_PREDICTION_LOG_H_
