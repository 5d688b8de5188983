#include "server/worker_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/limit_message.h"
#include "base/log.h"

namespace cobra::server {
namespace {

absl::Status Stopping() { return absl::UnavailableError("the server is stopping; use another one"); }

absl::Status Busy(absl::string_view what, int limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat(LimitMessage(what, int64_t{limit}, "waiting requests"), "; try again later"));
}

}  // namespace

WorkerPool::WorkerPool(const PoolOptions& options, Metrics* metrics) : options_(options), metrics_(metrics) {
  for (int i = 0; i < options.threads + options.spare_threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkerPool::~WorkerPool() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    stop_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Submit(PoolCall call) {
  absl::Status admitted;
  PoolCall given_up;
  {
    absl::MutexLock lock(&mutex_);
    admitted = MakeRoomLocked(call.caller, &given_up);
    if (admitted.ok()) {
      const Callers::iterator caller = callers_.try_emplace(call.caller).first;
      if (caller->second.waiting.empty()) turns_.push_back(caller);
      caller->second.waiting.push_back(std::move(call));
      ++queued_;
      PublishLocked();
    }
  }
  if (!admitted.ok()) call.run(admitted);
  if (given_up.run) given_up.run(Busy("this client", options_.max_queued));
}

absl::Status WorkerPool::MakeRoomLocked(const std::string& caller, PoolCall* given_up) {
  if (closed_) return Stopping();
  const auto own = callers_.find(caller);
  const size_t waiting = own == callers_.end() ? 0 : own->second.waiting.size();
  if (waiting >= static_cast<size_t>(options_.max_queued_per_caller))
    return Busy("this client", options_.max_queued_per_caller);
  if (queued_ < options_.max_queued) return absl::OkStatus();
  const auto greediest = std::max_element(turns_.begin(), turns_.end(), [](const auto& a, const auto& b) {
    return a->second.waiting.size() < b->second.waiting.size();
  });
  std::deque<PoolCall>& most = (*greediest)->second.waiting;
  if (most.size() <= waiting + 1) return Busy("the server is busy", options_.max_queued);
  *given_up = std::move(most.back());
  most.pop_back();
  --queued_;
  return absl::OkStatus();
}

void WorkerPool::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

void WorkerPool::RefuseQueued() {
  std::vector<PoolCall> refused;
  {
    absl::MutexLock lock(&mutex_);
    while (!turns_.empty()) refused.push_back(TakeLocked(0));
    PublishLocked();
  }
  for (const PoolCall& call : refused) call.run(Stopping());
}

bool WorkerPool::WaitIdle(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return queued_ == 0 && running_.empty(); };
  return mutex_.AwaitWithDeadline(absl::Condition(&idle), deadline);
}

std::vector<OverdueCall> WorkerPool::NewlyOverdue(absl::Duration grace) {
  std::vector<OverdueCall> overdue;
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&mutex_);
  for (Running& call : running_) {
    if (call.reported || now - call.deadline <= grace) continue;
    call.reported = true;
    overdue.push_back({call.rpc, call.caller, now - call.deadline});
  }
  return overdue;
}

int WorkerPool::num_stuck(absl::Duration grace) {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&mutex_);
  return static_cast<int>(std::count_if(running_.begin(), running_.end(),
                                        [&](const Running& call) { return now - call.deadline > grace; }));
}

size_t WorkerPool::NextLocked() const {
  if (running_.size() < static_cast<size_t>(options_.threads)) return 0;
  const auto next = std::find_if(turns_.begin(), turns_.end(), [](const auto& c) { return c->second.running == 0; });
  return static_cast<size_t>(next - turns_.begin());
}

PoolCall WorkerPool::TakeLocked(size_t turn) {
  const Callers::iterator caller = turns_[turn];
  turns_.erase(turns_.begin() + static_cast<std::ptrdiff_t>(turn));
  PoolCall call = std::move(caller->second.waiting.front());
  caller->second.waiting.pop_front();
  --queued_;
  if (!caller->second.waiting.empty()) {
    turns_.push_back(caller);
  } else if (caller->second.running == 0) {
    callers_.erase(caller);
  }
  return call;
}

void WorkerPool::PublishLocked() {
  if (metrics_ != nullptr) metrics_->SetQueue(options_.lane, queued_, static_cast<int64_t>(running_.size()));
}

void WorkerPool::Loop() {
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return NextLocked() < turns_.size() || stop_; };
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(&work));
    const size_t turn = NextLocked();
    if (turn >= turns_.size()) return;
    PoolCall call = TakeLocked(turn);
    ++callers_[call.caller].running;
    const auto running = running_.insert(running_.end(), {call.rpc, call.caller, call.deadline});
    PublishLocked();
    mutex_.Unlock();
    call.run(absl::OkStatus());
    call.run = nullptr;  // release its captures before the thread counts as idle
    mutex_.Lock();
    if (running->reported) {
      LogWarning(absl::StrCat(MethodName(call.rpc), " of ", call.caller, " ended ",
                              absl::FormatDuration(absl::Now() - call.deadline), " past its deadline"));
    }
    running_.erase(running);
    const Callers::iterator caller = callers_.find(call.caller);
    if (--caller->second.running == 0 && caller->second.waiting.empty()) callers_.erase(caller);
    PublishLocked();
  }
}

}  // namespace cobra::server
