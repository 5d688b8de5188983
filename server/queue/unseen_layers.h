// Enqueues measurements of the layers of a network that the model does not know, and of the network
// itself. Tasks contain shapes and operators only: no names, no source, no values. The number of
// waiting tasks is bounded. A request can opt out (PredictRequest.keep_private), and so can the
// server (--learn 0).
//
// Networks wait for it in memory, after their requests have been answered. They are bounded in
// bytes, for each caller and together; callers take turns, and whoever has most gives way to
// others.
#ifndef COBRA_SERVER_QUEUE_UNSEEN_LAYERS_H_
#define COBRA_SERVER_QUEUE_UNSEEN_LAYERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/throttled_log.h"
#include "graph/graph.h"
#include "model/predict/predictor.h"
#include "server/lanes/metrics.h"
#include "server/queue/measurement_task.h"
#include "store/queue/task_queue.h"

namespace cobra::server {

struct UnseenLayersOptions {
  int64_t max_waiting = 10000;    // tasks of origin "asked" that are not measured yet; 0: none
  int64_t max_per_network = 200;  // different layers of one network: fewer layers take most of its time
  // Unknown calls of one network that are looked at, and what each may consist of: some 200 ms of
  // processor time.
  int64_t max_extracted = 2000, max_layer_tensors = 4096;
  // Of networks that wait. One of 20,000 calls has 16 MiB; larger ones are not learned from.
  int64_t max_waiting_bytes_per_caller = int64_t{16} << 20, max_waiting_bytes = int64_t{64} << 20;
  size_t max_waiting_networks_per_caller = 64;
  TaskLimits task;  // larger ones are left out
};

class UnseenLayers {
 public:
  static constexpr char kOrigin[] = "asked";

  // The pointers are not owned and must outlive this object.
  UnseenLayers(const UnseenLayersOptions& options, store::TaskQueue* queue, Metrics* metrics);
  ~UnseenLayers();

  // Returns at once. If too much of the caller's waits already, the network is dropped. Only for
  // predictions with `extrapolating`.
  void Offer(const graph::Graph& graph, const predict::LatencyPrediction& prediction, absl::string_view target,
             const std::string& caller);
  // Of networks that wait.
  int64_t waiting_bytes() const {
    absl::MutexLock lock(&mutex_);
    return waiting_bytes_;
  }
  // Returns when everything offered so far is in the queue, or refused; false at the deadline.
  bool Flush(absl::Time deadline = absl::InfiniteFuture());

 private:
  struct OfferedNetwork {
    graph::Graph graph;
    std::vector<bool> known;
    std::string target;
    int64_t bytes = 0;
  };
  struct OfCaller {
    std::deque<OfferedNetwork> networks;
    int64_t bytes = 0;
  };
  using Callers = std::map<std::string, OfCaller>;

  bool MakeRoom(const std::string& caller, int64_t bytes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The first or the last one of the caller, which has some.
  OfferedNetwork Take(Callers::iterator caller, bool first) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  OfferedNetwork TakeNext() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop();
  absl::StatusOr<int64_t> Enqueue(const OfferedNetwork& offered);
  absl::StatusOr<std::vector<store::TaskSpec>> TasksOf(const OfferedNetwork& offered, int64_t room) const;

  const UnseenLayersOptions options_;
  store::TaskQueue* const queue_;
  Metrics* const metrics_;
  mutable absl::Mutex mutex_;
  ThrottledLog failures_;
  Callers waiting_ ABSL_GUARDED_BY(mutex_);  // without those that have none
  int64_t waiting_bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string last_caller_ ABSL_GUARDED_BY(mutex_);  // whose turn it was
  bool working_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_QUEUE_UNSEEN_LAYERS_H_
