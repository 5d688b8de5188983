#include "server/unseen_layers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "graph/extract.h"

namespace cobra::server {
namespace {

// A burst beyond these is dropped, and the next request offers the networks again. A call takes about a kilobyte.
constexpr size_t kMaxPending = 64;
constexpr size_t kMaxPendingCalls = 100'000;
// The database is busy or away: the queue's own calls come first.
constexpr absl::Duration kDatabaseTime = absl::Seconds(5);

}  // namespace

UnseenLayers::UnseenLayers(const UnseenLayersOptions& options, store::TaskQueue* queue, Metrics* metrics)
    : options_(options), queue_(queue), metrics_(metrics), thread_([this] { Loop(); }) {}

UnseenLayers::~UnseenLayers() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void UnseenLayers::Offer(const graph::Graph& graph, const predict::LatencyPrediction& prediction,
                         absl::string_view target) {
  if (options_.max_waiting == 0) return;
  {
    absl::MutexLock lock(&mutex_);
    if (pending_.size() >= kMaxPending || pending_calls_ + graph.nodes().size() > kMaxPendingCalls) {
      metrics_->TasksRequested(/*enqueued=*/0, /*dropped=*/1);
      return;
    }
    pending_calls_ += graph.nodes().size();
  }
  // Copied without the lock: other requests do not wait for a large network.
  std::vector<bool> known;
  for (const std::string& unknown : prediction.node_unknown) known.push_back(unknown.empty());
  OfferedNetwork offered = {graph, std::move(known), std::string(target)};
  absl::MutexLock lock(&mutex_);
  pending_.push_back(std::move(offered));
}

bool UnseenLayers::Flush(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return pending_.empty() && !working_; };
  return mutex_.AwaitWithDeadline(absl::Condition(&idle), deadline);
}

absl::StatusOr<int64_t> UnseenLayers::Enqueue(const OfferedNetwork& offered) {
  COBRA_ASSIGN_OR_RETURN(const int64_t waiting, queue_->Waiting(kOrigin, absl::Now() + kDatabaseTime));
  std::vector<store::TaskSpec> specs;
  std::set<std::string> ids;
  const int64_t room = std::min(options_.max_per_network, options_.max_waiting - waiting);
  for (size_t i = 0; i < offered.known.size() && static_cast<int64_t>(specs.size()) < room; ++i) {
    if (offered.known[i] || graph::IsView(offered.graph.nodes()[i])) continue;
    COBRA_ASSIGN_OR_RETURN(const graph::Graph layer, graph::ExtractLayer(offered.graph, static_cast<int32_t>(i)));
    if (!CheckTaskGraph(layer, options_.task).ok()) continue;
    store::TaskSpec spec = TaskSpecOfGraph(layer, offered.target, kOrigin);
    spec.priority = 1;  // layers before the networks that contain them: they help other networks too
    if (ids.insert(spec.id).second) specs.push_back(std::move(spec));
  }
  if (!specs.empty() && static_cast<int64_t>(specs.size()) < room && CheckTaskGraph(offered.graph, options_.task).ok())
    specs.push_back(TaskSpecOfGraph(offered.graph, offered.target, kOrigin));
  if (specs.empty()) return 0;
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> created,
                         queue_->Enqueue(store::TaskQueue::kServer, specs, absl::Now() + kDatabaseTime));
  return std::count(created.begin(), created.end(), true);
}

void UnseenLayers::Loop() {
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !pending_.empty() || stop_; };
  while (true) {
    absl::ReleasableMutexLock lock(&mutex_);
    working_ = false;
    mutex_.Await(absl::Condition(&work));
    if (stop_) return;
    const OfferedNetwork offered = std::move(pending_.front());
    pending_.pop_front();
    pending_calls_ -= offered.graph.nodes().size();
    working_ = true;
    lock.Release();
    const absl::StatusOr<int64_t> enqueued = Enqueue(offered);
    metrics_->TasksRequested(enqueued.ok() ? *enqueued : 0, enqueued.ok() ? 0 : 1);
    if (!enqueued.ok())
      failures_.Warning(absl::StrCat("unknown layers were not enqueued: ", enqueued.status().message()));
  }
}

}  // namespace cobra::server
