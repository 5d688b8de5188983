#include "server/lanes/worker_pool.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/process/thread_priority.h"
#include "base/retry_delay.h"
#include "base/text/limit_message.h"
#include "server/lanes/call_context.h"

namespace cobra::server {
namespace {

constexpr int kShares[] = {5, 2, 1};  // by Urgency
static_assert(std::size(kShares) == std::size(kUrgencies));

// A busy server says to come back when half of what waits has run.
constexpr absl::Duration kShortestDelay = absl::Milliseconds(50), kLongestDelay = absl::Seconds(5);
constexpr double kNewestWeight = 0.05;  // of the latest call in the mean run time

}  // namespace

size_t WorkerPool::Caller::num_waiting() const {
  size_t sum = 0;
  for (const std::deque<PoolCall>& calls : waiting) sum += calls.size();
  return sum;
}

WorkerPool::WorkerPool(const PoolOptions& options, Metrics* metrics) : options_(options), metrics_(metrics) {
  for (int i = 0; i < options.threads + options.spare_threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkerPool::~WorkerPool() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    stop_ = true;
    turn_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkerPool::Submit(PoolCall call) {
  absl::Status admitted, busy;
  PoolCall given_up, refused;
  {
    absl::MutexLock lock(&mutex_);
    admitted = MakeRoomLocked(call.caller, &given_up);
    if (given_up.run) busy = BusyLocked("this client", options_.max_queued);
    if (admitted.ok()) {
      const auto urgency = static_cast<size_t>(call.urgency);
      const Callers::iterator caller = callers_.try_emplace(call.caller).first;
      if (caller->second.waiting[urgency].empty()) classes_[urgency].turns.push_back(caller);
      caller->second.waiting[urgency].push_back(std::move(call));
      ++classes_[urgency].queued;
      ++queued_;
      turn_.Signal();
      PublishLocked();
    } else {
      refused = std::move(call);
    }
  }
  if (refused.run) refused.run(admitted);
  if (given_up.run) given_up.run(busy);
}

void WorkerPool::NoteFastReply() {
  constexpr int64_t kPrecisionNs = 1'000'000;  // the threads seldom write to what all of them read
  const int64_t now = absl::GetCurrentTimeNanos();
  if (now - answered_at_once_ns_.load(std::memory_order_relaxed) > kPrecisionNs)
    answered_at_once_ns_.store(now, std::memory_order_relaxed);
}

int WorkerPool::LimitLocked() const {
  if (!options_.computes || options_.threads == 1) return options_.threads;
  const int64_t since = absl::GetCurrentTimeNanos() - answered_at_once_ns_.load(std::memory_order_relaxed);
  return options_.threads - (since < absl::ToInt64Nanoseconds(options_.rest) ? 1 : 0);
}

// Callers come back at different times, or all of them would be refused again.
absl::Status WorkerPool::BusyLocked(absl::string_view what, int limit) {
  const absl::Duration until_half = absl::Seconds(mean_run_seconds_ * queued_ / options_.threads / 2);
  const absl::Duration delay = std::clamp(until_half, kShortestDelay, kLongestDelay) * absl::Uniform(random_, 1.0, 1.5);
  return WithRetryDelay(
      absl::ResourceExhaustedError(
          absl::StrCat(LimitMessage(what, int64_t{limit}, "waiting requests"), "; retry after the time in RetryInfo")),
      delay);
}

absl::Status WorkerPool::MakeRoomLocked(const std::string& caller, PoolCall* given_up) {
  if (closed_) return StoppingError();
  const auto own = callers_.find(caller);
  const size_t waiting = own == callers_.end() ? 0 : own->second.num_waiting();
  if (waiting >= static_cast<size_t>(options_.max_queued_per_caller))
    return BusyLocked("this client", options_.max_queued_per_caller);
  if (queued_ < options_.max_queued) return absl::OkStatus();
  const auto greediest = std::max_element(callers_.begin(), callers_.end(), [](const auto& a, const auto& b) {
    return a.second.num_waiting() < b.second.num_waiting();
  });
  if (greediest->second.num_waiting() <= waiting + 1) return BusyLocked("the server is busy", options_.max_queued);
  GiveUpLocked(greediest, given_up);
  return absl::OkStatus();
}

// The newest of the least urgent ones. REQUIRES: the caller has another one waiting.
void WorkerPool::GiveUpLocked(Callers::iterator caller, PoolCall* given_up) {
  for (size_t urgency = std::size(kUrgencies); urgency-- > 0;) {
    std::deque<PoolCall>& calls = caller->second.waiting[urgency];
    if (calls.empty()) continue;
    *given_up = std::move(calls.back());
    calls.pop_back();
    Class& of = classes_[urgency];
    if (calls.empty()) of.turns.erase(std::find(of.turns.begin(), of.turns.end(), caller));
    --of.queued;
    --queued_;
    return;
  }
}

void WorkerPool::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

void WorkerPool::RefuseQueued() {
  std::vector<PoolCall> refused;
  {
    absl::MutexLock lock(&mutex_);
    for (size_t urgency = 0; urgency < classes_.size(); ++urgency) {
      while (!classes_[urgency].turns.empty()) refused.push_back(TakeLocked({urgency, 0}));
    }
    PublishLocked();
  }
  for (const PoolCall& call : refused) call.run(StoppingError());
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

// Smooth weighted round robin, as in nginx: each class that waits gains its share, the one that has
// most pays for all.
std::optional<WorkerPool::Turn> WorkerPool::NextLocked() const {
  if (queued_ == 0) return std::nullopt;
  const bool only_new_callers = running_.size() >= static_cast<size_t>(LimitLocked());
  std::optional<Turn> next;
  int most = 0;
  for (size_t urgency = 0; urgency < classes_.size(); ++urgency) {
    const auto& turns = classes_[urgency].turns;
    const auto turn = std::find_if(turns.begin(), turns.end(),
                                   [&](const auto& c) { return !only_new_callers || c->second.running == 0; });
    const int credit = classes_[urgency].credit + kShares[urgency];
    if (turn == turns.end() || (next.has_value() && credit <= most)) continue;
    next = {urgency, static_cast<size_t>(turn - turns.begin())};
    most = credit;
  }
  return next;
}

PoolCall WorkerPool::TakeLocked(Turn turn) {
  Class& taken = classes_[turn.urgency];
  for (size_t urgency = 0; urgency < classes_.size(); ++urgency) {
    if (classes_[urgency].turns.empty()) continue;
    classes_[urgency].credit += kShares[urgency];
    taken.credit -= kShares[urgency];
  }
  const Callers::iterator caller = taken.turns[turn.position];
  taken.turns.erase(taken.turns.begin() + static_cast<std::ptrdiff_t>(turn.position));
  std::deque<PoolCall>& calls = caller->second.waiting[turn.urgency];
  PoolCall call = std::move(calls.front());
  calls.pop_front();
  --taken.queued;
  --queued_;
  if (!calls.empty()) {
    taken.turns.push_back(caller);
  } else if (caller->second.running == 0 && caller->second.num_waiting() == 0) {
    callers_.erase(caller);
  }
  if (taken.turns.empty()) taken.credit = 0;
  return call;
}

void WorkerPool::PublishLocked() {
  if (metrics_ == nullptr) return;
  for (const Urgency urgency : kUrgencies)
    metrics_->SetQueued(options_.lane, urgency, classes_[static_cast<size_t>(urgency)].queued);
  metrics_->SetRunning(options_.lane, static_cast<int64_t>(running_.size()));
}

std::optional<WorkerPool::Turn> WorkerPool::AwaitTurnLocked() {
  while (true) {
    if (std::optional<Turn> turn = NextLocked(); turn.has_value() || stop_) return turn;
    if (queued_ > 0 && LimitLocked() < options_.threads) {
      turn_.WaitWithTimeout(&mutex_, options_.rest);  // nobody wakes a thread when its rest is over
    } else {
      turn_.Wait(&mutex_);
    }
  }
}

void WorkerPool::Loop() {
  if (options_.computes) UseBatchPriority(&answered_at_once_ns_);
  absl::MutexLock lock(&mutex_);
  while (true) {
    const std::optional<Turn> turn = AwaitTurnLocked();
    if (!turn.has_value()) return;
    PoolCall call = TakeLocked(*turn);
    if (queued_ > 0) turn_.Signal();
    ++callers_[call.caller].running;
    const auto running = running_.insert(running_.end(), {call.rpc, call.caller, call.deadline});
    PublishLocked();
    mutex_.Unlock();
    const absl::Time began = absl::Now();
    call.run(absl::OkStatus());
    call.run = nullptr;  // release its captures before the thread counts as idle
    const double seconds = absl::ToDoubleSeconds(absl::Now() - began);
    mutex_.Lock();
    mean_run_seconds_ += kNewestWeight * (seconds - mean_run_seconds_);
    if (running->reported) {
      LogWarning(absl::StrCat(MethodName(call.rpc), " of ", call.caller, " ended ",
                              absl::FormatDuration(absl::Now() - call.deadline), " past its deadline"));
    }
    running_.erase(running);
    const Callers::iterator caller = callers_.find(call.caller);
    if (--caller->second.running == 0 && caller->second.num_waiting() == 0) callers_.erase(caller);
    PublishLocked();
  }
}

}  // namespace cobra::server
