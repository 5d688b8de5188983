#include "server/memory_trim.h"

#include <malloc.h>

#include <atomic>

#include "absl/time/clock.h"

namespace cobra::server {
namespace {

constexpr int64_t kLargeBytes = 4 << 20;
constexpr absl::Duration kEndingTime = absl::Seconds(1);  // a request that was noted has ended by then

std::atomic<int64_t> noted_ns{0};  // when the last large request was; 0: none since the last trim

}  // namespace

void NoteRequestBytes(int64_t bytes) {
  if (bytes >= kLargeBytes) noted_ns.store(absl::GetCurrentTimeNanos(), std::memory_order_relaxed);
}

void TrimMemory(absl::Time now) {
  int64_t noted = noted_ns.load(std::memory_order_relaxed);
  if (noted == 0 || now - absl::FromUnixNanos(noted) < kEndingTime) return;
  if (noted_ns.compare_exchange_strong(noted, 0)) ::malloc_trim(0);
}

}  // namespace cobra::server
