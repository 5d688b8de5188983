#include "server/lanes/lanes.h"

#include <algorithm>

namespace cobra::server {
namespace {

// Transactions run one after the other: a second thread prepares the next one.
constexpr int kQueueThreads = 2;
// Calibrations run one after the other (LiveModel).
constexpr int kFitThreads = 1, kAdministrationThreads = 1;

int ThreadsOf(Lane lane, int predictions) {
  switch (lane) {
    case Lane::kPredictions: return predictions;
    case Lane::kQueue: return kQueueThreads;
    case Lane::kFits: return kFitThreads;
    case Lane::kAdministration: return kAdministrationThreads;
  }
  return 1;
}

}  // namespace

Lanes::Lanes(int threads, const ServerLimits& limits, Metrics* metrics)
    : requests_("requests that wait", "try again later", limits.max_waiting_bytes, limits.max_waiting_bytes_per_caller),
      replies_("replies that were not read", "read them, or ask for less at a time", limits.max_unsent_bytes,
               limits.max_unsent_bytes_per_caller) {
  for (const Lane lane : kLanes) {
    PoolOptions options;
    options.lane = lane;
    options.threads = ThreadsOf(lane, threads);
    options.spare_threads = options.threads;
    options.computes = lane == Lane::kPredictions;
    options.max_queued = limits.max_queued;
    options.max_queued_per_caller = limits.max_queued_per_caller;
    pools_[static_cast<size_t>(lane)] = std::make_unique<WorkerPool>(options, metrics);
  }
}

void Lanes::CallBegan() {
  absl::MutexLock lock(&mutex_);
  ++open_calls_;
}

void Lanes::CallEnded() {
  absl::MutexLock lock(&mutex_);
  --open_calls_;
}

void Lanes::Close() {
  closed_.store(true, std::memory_order_relaxed);
  for (const auto& pool : pools_) pool->Close();
}

void Lanes::Abandon() {
  abandoned_.store(true, std::memory_order_relaxed);
  for (const auto& pool : pools_) pool->RefuseQueued();
}

bool Lanes::WaitIdle(absl::Time deadline) {
  return std::all_of(pools_.begin(), pools_.end(), [&](const auto& pool) { return pool->WaitIdle(deadline); });
}

bool Lanes::WaitUntilSent(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto none = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return open_calls_ == 0; };
  return mutex_.AwaitWithDeadline(absl::Condition(&none), deadline);
}

}  // namespace cobra::server
