#include "server/lanes/watchdog.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "server/lanes/memory_trim.h"

namespace cobra::server {

Watchdog::Watchdog(const WatchdogOptions& options, Lanes* lanes, Metrics* metrics, LaneChanged changed)
    : options_(options), lanes_(lanes), metrics_(metrics), changed_(std::move(changed)), thread_([this] { Loop(); }) {}

Watchdog::~Watchdog() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

bool Watchdog::CanAnswer(Lane lane) {
  WorkerPool& pool = lanes_->pool(lane);
  for (const OverdueCall& call : pool.NewlyOverdue(options_.grace)) {
    metrics_->CallOverdue(call.rpc);
    LogWarning(absl::StrCat(MethodName(call.rpc), " of ", call.caller, " still runs ", absl::FormatDuration(call.by),
                            " past its deadline"));
  }
  const int stuck = pool.num_stuck(options_.grace);
  metrics_->SetStuckThreads(lane, stuck);
  return stuck < pool.num_threads();
}

void Watchdog::Loop() {
  bool could_answer[std::size(kLanes)];
  std::fill(std::begin(could_answer), std::end(could_answer), true);
  MemoryTrim memory_trim;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      if (mutex_.AwaitWithTimeout(absl::Condition(&stop_), options_.period)) return;
    }
    for (const Lane lane : kLanes) {
      bool& could = could_answer[static_cast<size_t>(lane)];
      const bool can = CanAnswer(lane);
      if (can == std::exchange(could, can)) continue;
      if (can) {
        LogInfo(absl::StrCat("the threads for ", LaneName(lane), " answer again"));
      } else {
        LogError(absl::StrCat("all threads for ", LaneName(lane), " are stuck"));
      }
      changed_(lane, can);
    }
    memory_trim.Tick(absl::Now());
  }
}

}  // namespace cobra::server
