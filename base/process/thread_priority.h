// How the kernel shares processors between threads that answer at once and threads that compute.
// Needs no privileges; if the kernel does not support a setting, nothing changes.
#ifndef COBRA_BASE_PROCESS_THREAD_PRIORITY_H_
#define COBRA_BASE_PROCESS_THREAD_PRIORITY_H_

#include <atomic>
#include <cstdint>

namespace cobra {

// Gives the calling thread (or process, if it has one thread), and those that it starts from now
// on, long time slices and a lower share. A thread with normal slices that wakes up preempts it
// (since Linux 6.12); otherwise it would first finish its slice, some 3 ms. `answered_ns`: when
// other threads last answered, in ns since 1970; null: unknown. Not owned.
void UseBatchPriority(const std::atomic<int64_t>* answered_ns = nullptr);

// To be called some ten times a millisecond in loops of a thread with batch priority: sleeps
// briefly from time to time. The kernel schedules a waiting thread only at its next tick, up to 4
// ms later, but at once when another thread sleeps. Sleeps only if others answered in the last 10
// ms; if that is unknown, from the fifth millisecond of work on. Does nothing in other threads.
void YieldPeriodically();

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_THREAD_PRIORITY_H_
