#include "server/idle_exit.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"

namespace cobra::server {

IdleExit::IdleExit(absl::Duration limit, const Metrics* metrics, std::function<void()> stop)
    : limit_(limit), metrics_(metrics), stop_(std::move(stop)), thread_([this] { Loop(); }) {}

IdleExit::~IdleExit() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  thread_.join();
}

void IdleExit::Loop() {
  const absl::Duration period = std::clamp(limit_ / 20, absl::Milliseconds(50), absl::Seconds(5));
  absl::Time idle_since = absl::Now();
  int64_t seen = 0;
  absl::MutexLock lock(&mutex_);
  while (!mutex_.AwaitWithTimeout(absl::Condition(&closed_), period)) {
    const Metrics::Requests requests = metrics_->requests();
    if (requests.began != seen || requests.done != requests.began) idle_since = absl::Now();
    seen = requests.began;
    if (absl::Now() - idle_since < limit_) continue;
    LogInfo(absl::StrCat("no request for ", absl::FormatDuration(limit_), " (--idle-exit-minutes): stopping"));
    stop_();
    return;
  }
}

}  // namespace cobra::server
