// Tells ThreadSanitizer what Abseil's locks order. Debian's Abseil is not compiled with it, so that
// all that a mutex guards would look like a race. A library for LD_PRELOAD (scripts/test-long.sh
// tsan): it stands before Abseil's functions and calls them. Without ThreadSanitizer in the process
// it does nothing else.
#include <cstdint>

#include "absl/synchronization/mutex.h"
#include "tests/tsan/happens_before.h"

extern "C" {

// absl::Duration and absl::Time: passed in two registers.
struct AbslTime {
  int64_t high;
  uint32_t low;
};

}  // extern "C"

namespace {

// A condition that a lock's holder evaluates, whoever that is: one that waits for it and has got
// the lock inside of Abseil, or one that is about to give the lock away.
struct WatchedCondition {
  WatchedCondition(void* lock, const void* condition)
      : lock(lock), condition(static_cast<const absl::Condition*>(condition)) {
    Release(lock);  // what the condition reads was written by now
  }
  ~WatchedCondition() { Acquire(lock); }
  static bool Holds(WatchedCondition* watched) {
    Acquire(watched->lock);
    const bool holds = watched->condition->Eval();
    Release(watched->lock);  // before the one that waits goes on, and uses its stack for something else
    return holds;
  }

  void* const lock;
  const absl::Condition* const condition;
  const absl::Condition holds{&WatchedCondition::Holds, this};
};

}  // namespace

#define COBRA_NEXT(name) static const auto next = Next(&name, #name)

#define COBRA_ACQUIRES(name) \
  void name(void* lock) {    \
    COBRA_NEXT(name);        \
    next(lock);              \
    Acquire(lock);           \
  }
#define COBRA_RELEASES(name) \
  void name(void* lock) {    \
    COBRA_NEXT(name);        \
    Release(lock);           \
    next(lock);              \
  }
#define COBRA_TRIES(name)          \
  bool name(void* lock) {          \
    COBRA_NEXT(name);              \
    const bool taken = next(lock); \
    if (taken) Acquire(lock);      \
    return taken;                  \
  }

extern "C" {

COBRA_ACQUIRES(_ZN4absl7debian35Mutex4LockEv)
COBRA_ACQUIRES(_ZN4absl7debian35Mutex10ReaderLockEv)
COBRA_RELEASES(_ZN4absl7debian35Mutex6UnlockEv)
COBRA_RELEASES(_ZN4absl7debian35Mutex12ReaderUnlockEv)
COBRA_TRIES(_ZN4absl7debian35Mutex7TryLockEv)
COBRA_TRIES(_ZN4absl7debian35Mutex13ReaderTryLockEv)
COBRA_RELEASES(_ZN4absl7debian35MutexD1Ev)
COBRA_RELEASES(_ZN4absl7debian312Notification6NotifyEv)
COBRA_ACQUIRES(_ZNK4absl7debian312Notification19WaitForNotificationEv)

#define COBRA_AWAITS(name)                           \
  void name(void* lock, const void* condition) {     \
    COBRA_NEXT(name);                                \
    const WatchedCondition watched(lock, condition); \
    next(lock, &watched.holds);                      \
  }
#define COBRA_AWAITS_FOR_A_TIME(name)                           \
  bool name(void* lock, const void* condition, AbslTime time) { \
    COBRA_NEXT(name);                                           \
    const WatchedCondition watched(lock, condition);            \
    return next(lock, &watched.holds, time);                    \
  }

COBRA_AWAITS(_ZN4absl7debian35Mutex5AwaitERKNS0_9ConditionE)
COBRA_AWAITS(_ZN4absl7debian35Mutex8LockWhenERKNS0_9ConditionE)
COBRA_AWAITS(_ZN4absl7debian35Mutex14ReaderLockWhenERKNS0_9ConditionE)
COBRA_AWAITS_FOR_A_TIME(_ZN4absl7debian35Mutex16AwaitWithTimeoutERKNS0_9ConditionENS0_8DurationE)
COBRA_AWAITS_FOR_A_TIME(_ZN4absl7debian35Mutex17AwaitWithDeadlineERKNS0_9ConditionENS0_4TimeE)
COBRA_AWAITS_FOR_A_TIME(_ZN4absl7debian35Mutex19LockWhenWithTimeoutERKNS0_9ConditionENS0_8DurationE)
COBRA_AWAITS_FOR_A_TIME(_ZN4absl7debian35Mutex20LockWhenWithDeadlineERKNS0_9ConditionENS0_4TimeE)

bool _ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE(void* notification, AbslTime time) {
  COBRA_NEXT(_ZNK4absl7debian312Notification30WaitForNotificationWithTimeoutENS0_8DurationE);
  const bool notified = next(notification, time);
  if (notified) Acquire(notification);
  return notified;
}
bool _ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE(void* notification, AbslTime time) {
  COBRA_NEXT(_ZNK4absl7debian312Notification31WaitForNotificationWithDeadlineENS0_4TimeE);
  const bool notified = next(notification, time);
  if (notified) Acquire(notification);
  return notified;
}

// CondVar: the mutex is free while they wait.
void _ZN4absl7debian37CondVar4WaitEPNS0_5MutexE(void* variable, void* lock) {
  COBRA_NEXT(_ZN4absl7debian37CondVar4WaitEPNS0_5MutexE);
  Release(lock);
  next(variable, lock);
  Acquire(lock);
}
bool _ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE(void* variable, void* lock, AbslTime time) {
  COBRA_NEXT(_ZN4absl7debian37CondVar15WaitWithTimeoutEPNS0_5MutexENS0_8DurationE);
  Release(lock);
  const bool timed_out = next(variable, lock, time);
  Acquire(lock);
  return timed_out;
}
bool _ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE(void* variable, void* lock, AbslTime time) {
  COBRA_NEXT(_ZN4absl7debian37CondVar16WaitWithDeadlineEPNS0_5MutexENS0_4TimeE);
  Release(lock);
  const bool timed_out = next(variable, lock, time);
  Acquire(lock);
  return timed_out;
}

}  // extern "C"
