// What the model was unsure about, put into the measurement queue: the layers of a network that it does not know, and
// the network itself. Shapes and operators only: no names, no source, no values. Bounded in what waits, and left out
// where a request says so (PredictRequest.keep_private) or the server was told to (--learn 0).
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
#include "graph/graph.h"
#include "model/predict/predictor.h"
#include "server/metrics.h"
#include "store/task_queue.h"

namespace cobra::server {

struct UnseenLayersOptions {
  int64_t max_waiting = 10000;    // tasks of origin "asked" that are not measured yet; 0: nothing is asked
  int64_t max_per_network = 200;  // different layers of one network: most of the time of it is in fewer
  // Of one task: a stranger's question must not keep a worker busy for minutes, or fill its memory. Far above what
  // models in use have.
  int64_t max_task_macs = 200'000'000'000;
  int64_t max_task_bytes = int64_t{4} << 30;  // peak memory
};

class UnseenLayers {
 public:
  static constexpr char kOrigin[] = "asked";

  // Neither pointer is owned; both must live longer.
  UnseenLayers(const UnseenLayersOptions& options, store::TaskQueue* queue, Metrics* metrics);
  ~UnseenLayers();

  // Returns at once; where too much is pending already, the network is forgotten. Only for predictions that say
  // `extrapolating`.
  void Offer(const graph::Graph& graph, const predict::LatencyPrediction& prediction, absl::string_view target);
  void Flush();  // returns when everything offered so far is in the queue, or refused

 private:
  struct Offered {
    graph::Graph graph;
    std::vector<bool> known;
    std::string target;
  };
  void Loop();
  bool IsTooLarge(const graph::Graph& graph) const;
  absl::StatusOr<int64_t> Enqueue(const Offered& offered);

  const UnseenLayersOptions options_;
  store::TaskQueue* const queue_;
  Metrics* const metrics_;
  absl::Mutex mutex_;
  std::deque<Offered> pending_ ABSL_GUARDED_BY(mutex_);
  bool working_ ABSL_GUARDED_BY(mutex_) = false;
  bool stop_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last: starts when everything else exists
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_UNSEEN_LAYERS_H_
