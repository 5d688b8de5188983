#include "server/worker_pool.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/limit_message.h"

namespace cobra::server {

WorkerPool::WorkerPool(int num_threads, int max_queued, Metrics* metrics)
    : max_queued_(static_cast<size_t>(max_queued)), metrics_(metrics) {
  for (int i = 0; i < num_threads; ++i) threads_.emplace_back([this] { Loop(); });
}

WorkerPool::~WorkerPool() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
    stop_ = true;
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkerPool::Submit(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  if (closed_) return absl::UnavailableError("the server is stopping; use another one");
  if (queue_.size() >= max_queued_) {
    return absl::ResourceExhaustedError(
        absl::StrCat(LimitMessage("the server is busy", static_cast<int64_t>(max_queued_), "waiting requests"),
                     "; try again later"));
  }
  queue_.push_back(std::move(task));
  PublishLocked();
  return absl::OkStatus();
}

void WorkerPool::Close() {
  absl::MutexLock lock(&mutex_);
  closed_ = true;
}

bool WorkerPool::WaitIdle(absl::Duration timeout) {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return queue_.empty() && running_ == 0; };
  return mutex_.AwaitWithTimeout(absl::Condition(&idle), timeout);
}

void WorkerPool::PublishLocked() {
  if (metrics_ != nullptr) metrics_->SetQueue(static_cast<int64_t>(queue_.size()), running_);
}

void WorkerPool::Loop() {
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !queue_.empty() || stop_; };
  absl::MutexLock lock(&mutex_);
  while (true) {
    mutex_.Await(absl::Condition(&work));
    if (queue_.empty()) return;
    std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    PublishLocked();
    mutex_.Unlock();
    task();
    task = nullptr;  // release its captures before the thread counts as idle
    mutex_.Lock();
    --running_;
    PublishLocked();
  }
}

}  // namespace cobra::server
