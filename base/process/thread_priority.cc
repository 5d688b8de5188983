#include "base/process/thread_priority.h"

#include <linux/futex.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace cobra {
namespace {

constexpr int64_t kTurnNs = 1'000'000, kRestNs = 100'000;
constexpr int64_t kShortWorkNs = 5'000'000;  // and a pause of as much begins another work
constexpr int64_t kLatelyNs = 10'000'000;

struct Turns {
  bool patient = false;
  const std::atomic<int64_t>* answered_ns = nullptr;  // since 1970
  int64_t began_ns = 0, seen_ns = 0, rested_ns = 0;   // CLOCK_MONOTONIC
};
thread_local Turns turns;

int64_t NowNs(clockid_t clock) {
  timespec now;
  ::clock_gettime(clock, &now);
  return now.tv_sec * int64_t{1'000'000'000} + now.tv_nsec;
}

// A wait for what never happens: the only sleep that a confined process is allowed
// (reader/sandbox.cc).
void Rest() {
  const uint32_t word = 0;
  const timespec duration{0, kRestNs};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &duration, nullptr, 0);
}

bool ShouldRest(int64_t now) {
  if (turns.answered_ns != nullptr)
    return NowNs(CLOCK_REALTIME) - turns.answered_ns->load(std::memory_order_relaxed) < kLatelyNs;
  if (now - turns.seen_ns > kShortWorkNs) turns.began_ns = now;
  turns.seen_ns = now;
  return now - turns.began_ns >= kShortWorkNs;
}

}  // namespace

void UseBatchPriority(const std::atomic<int64_t>* answered_ns) {
  turns.patient = true;
  turns.answered_ns = answered_ns;
  sched_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.sched_policy = SCHED_NORMAL;
  attributes.sched_nice = 5;
  attributes.sched_runtime = 50'000'000;  // ns: of this policy, the length of a turn
  ::syscall(SYS_sched_setattr, 0, &attributes, 0);
}

void YieldPeriodically() {
  if (!turns.patient) return;
  const int64_t now = NowNs(CLOCK_MONOTONIC);
  if (!ShouldRest(now) || now - turns.rested_ns < kTurnNs) return;
  Rest();
  turns.rested_ns = turns.seen_ns = NowNs(CLOCK_MONOTONIC);
}

}  // namespace cobra
