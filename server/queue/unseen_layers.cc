#include "server/queue/unseen_layers.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "base/text/limit_message.h"
#include "graph/builder/extract.h"
#include "graph/form/graph_bytes.h"

namespace cobra::server {
namespace {

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

// What is dropped is offered again by the next request.
void UnseenLayers::Offer(const graph::Graph& graph, const predict::LatencyPrediction& prediction,
                         absl::string_view target, const std::string& caller) {
  if (options_.max_waiting == 0) return;
  OfferedNetwork offered = {graph, {}, std::string(target), graph::GraphBytes(graph)};
  for (const std::string& unknown : prediction.node_unknown) offered.known.push_back(unknown.empty());
  absl::MutexLock lock(&mutex_);
  if (!MakeRoom(caller, offered.bytes)) {
    metrics_->TasksRequested(/*enqueued=*/0, /*dropped=*/1);
    return;
  }
  OfCaller& own = waiting_[caller];
  own.bytes += offered.bytes;
  waiting_bytes_ += offered.bytes;
  own.networks.push_back(std::move(offered));
}

bool UnseenLayers::MakeRoom(const std::string& caller, int64_t bytes) {
  const auto own = waiting_.find(caller);
  const int64_t with_this = bytes + (own == waiting_.end() ? 0 : own->second.bytes);
  if (with_this > options_.max_waiting_bytes_per_caller ||
      (own != waiting_.end() && own->second.networks.size() >= options_.max_waiting_networks_per_caller))
    return false;
  while (waiting_bytes_ + bytes > options_.max_waiting_bytes) {
    const auto most = std::max_element(waiting_.begin(), waiting_.end(),
                                       [](const auto& a, const auto& b) { return a.second.bytes < b.second.bytes; });
    if (most == waiting_.end() || most->second.bytes <= with_this) return false;
    Take(most, /*first=*/false);
    metrics_->TasksRequested(/*enqueued=*/0, /*dropped=*/1);
  }
  return true;
}

UnseenLayers::OfferedNetwork UnseenLayers::Take(Callers::iterator caller, bool first) {
  std::deque<OfferedNetwork>& networks = caller->second.networks;
  OfferedNetwork taken = std::move(first ? networks.front() : networks.back());
  if (first) {
    networks.pop_front();
  } else {
    networks.pop_back();
  }
  caller->second.bytes -= taken.bytes;
  waiting_bytes_ -= taken.bytes;
  if (networks.empty()) waiting_.erase(caller);
  return taken;
}

UnseenLayers::OfferedNetwork UnseenLayers::TakeNext() {
  auto next = waiting_.upper_bound(last_caller_);
  if (next == waiting_.end()) next = waiting_.begin();
  last_caller_ = next->first;
  return Take(next, /*first=*/true);
}

bool UnseenLayers::Flush(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return waiting_.empty() && !working_; };
  return mutex_.AwaitWithDeadline(absl::Condition(&idle), deadline);
}

absl::StatusOr<std::vector<store::TaskSpec>> UnseenLayers::TasksOf(const OfferedNetwork& offered, int64_t room) const {
  std::vector<store::TaskSpec> specs;
  std::set<std::string> ids;
  int64_t extracted = 0;
  for (size_t i = 0; i < offered.known.size() && static_cast<int64_t>(specs.size()) < room; ++i) {
    if (offered.known[i] || graph::IsView(offered.graph.nodes()[i])) continue;
    if (++extracted > options_.max_extracted) break;
    const absl::StatusOr<graph::Graph> layer =
        graph::ExtractLayer(offered.graph, static_cast<int32_t>(i), options_.max_layer_tensors);
    if (absl::IsResourceExhausted(layer.status())) continue;
    COBRA_RETURN_IF_ERROR(layer.status());
    if (!CheckTaskGraph(*layer, options_.task).ok()) continue;
    store::TaskSpec spec = TaskSpecOfGraph(*layer, offered.target, kOrigin);
    spec.priority = 1;  // layers before the networks that contain them: they help other networks too
    if (ids.insert(spec.id).second) specs.push_back(std::move(spec));
  }
  if (!specs.empty() && static_cast<int64_t>(specs.size()) < room && CheckTaskGraph(offered.graph, options_.task).ok())
    specs.push_back(TaskSpecOfGraph(offered.graph, offered.target, kOrigin));
  return specs;
}

absl::StatusOr<int64_t> UnseenLayers::Enqueue(const OfferedNetwork& offered) {
  COBRA_ASSIGN_OR_RETURN(const int64_t waiting, queue_->Waiting(kOrigin, absl::Now() + kDatabaseTime));
  if (waiting >= options_.max_waiting) {
    return absl::ResourceExhaustedError(absl::StrCat(
        LimitMessage("tasks for layers that the model does not know", options_.max_waiting, "tasks (--learn)"),
        "; workers have to measure some of them first"));
  }
  const int64_t room = std::min(options_.max_per_network, options_.max_waiting - waiting);
  COBRA_ASSIGN_OR_RETURN(const std::vector<store::TaskSpec> specs, TasksOf(offered, room));
  if (specs.empty()) return 0;
  COBRA_ASSIGN_OR_RETURN(const std::vector<bool> created,
                         queue_->Enqueue(store::TaskQueue::kServer, specs, absl::Now() + kDatabaseTime));
  return std::count(created.begin(), created.end(), true);
}

void UnseenLayers::Loop() {
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !waiting_.empty() || stop_; };
  while (true) {
    absl::ReleasableMutexLock lock(&mutex_);
    working_ = false;
    mutex_.Await(absl::Condition(&work));
    if (stop_) return;
    const OfferedNetwork offered = TakeNext();
    working_ = true;
    lock.Release();
    const absl::StatusOr<int64_t> enqueued = Enqueue(offered);
    metrics_->TasksRequested(enqueued.ok() ? *enqueued : 0, enqueued.ok() ? 0 : 1);
    if (!enqueued.ok())
      failures_.Warning(absl::StrCat("unknown layers were not enqueued: ", enqueued.status().message()));
  }
}

}  // namespace cobra::server
