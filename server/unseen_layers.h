// Enqueues measurements of the layers of a network that the model does not know, and of the network itself. Tasks
// contain shapes and operators only: no names, no source, no values. The number of waiting tasks is bounded. A request
// can opt out (PredictRequest.keep_private), and so can the server (--learn 0).
#ifndef COBRA_SERVER_UNSEEN_LAYERS_H_
#define COBRA_SERVER_UNSEEN_LAYERS_H_

#include <deque>
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
#include "server/measurement_task.h"
#include "server/metrics.h"
#include "store/task_queue.h"

namespace cobra::server {

struct UnseenLayersOptions {
  int64_t max_waiting = 10000;    // tasks of origin "asked" that are not measured yet; 0: none
  int64_t max_per_network = 200;  // different layers of one network: fewer layers take most of its time
  TaskLimits task;                // larger ones are left out
};

class UnseenLayers {
 public:
  static constexpr char kOrigin[] = "asked";

  // The pointers are not owned and must outlive this object.
  UnseenLayers(const UnseenLayersOptions& options, store::TaskQueue* queue, Metrics* metrics);
  ~UnseenLayers();

  // Returns at once. If too much is pending already, the network is dropped. Only for predictions with `extrapolating`.
  void Offer(const graph::Graph& graph, const predict::LatencyPrediction& prediction, absl::string_view target);
  // Returns when everything offered so far is in the queue, or refused; false at the deadline.
  bool Flush(absl::Time deadline = absl::InfiniteFuture());

 private:
  struct OfferedNetwork {
    graph::Graph graph;
    std::vector<bool> known;
    std::string target;
  };
  void Loop();
  absl::StatusOr<int64_t> Enqueue(const OfferedNetwork& offered);

  const UnseenLayersOptions options_;
  store::TaskQueue* const queue_;
  Metrics* const metrics_;
  absl::Mutex mutex_;
  ThrottledLog failures_;
  std::deque<OfferedNetwork> pending_ ABSL_GUARDED_BY(mutex_);
  size_t pending_calls_ ABSL_GUARDED_BY(mutex_) = 0;  // of all networks in pending_
  bool working_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_UNSEEN_LAYERS_H_
