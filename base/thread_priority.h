// How the kernel shares processors between threads that answer at once and threads that compute.
// Without rights; where the kernel does not know a wish, nothing changes.
#ifndef COBRA_BASE_THREAD_PRIORITY_H_
#define COBRA_BASE_THREAD_PRIORITY_H_

#include <atomic>
#include <cstdint>

namespace cobra {

// The calling thread, or process if it has one thread, and those that it starts from now on: long
// turns, and others get more of them. Whoever wakes up with usual turns interrupts it (since Linux
// 6.12); otherwise it would finish its own first, some 3 ms. `answered_ns`: when others were last
// answered, in ns since 1970; null: nobody knows. Not owned.
void ComputePatiently(const std::atomic<int64_t>* answered_ns = nullptr);

// For loops of a thread that computes patiently, some ten times a millisecond: a short sleep every
// so often. A thread that waits for a processor is let in by the kernel at its next tick only, up
// to 4 ms later, but at once when another one sleeps. Only while others were answered in the last
// 10 ms; where nobody knows, from the fifth millisecond of work on. Nothing in other threads.
void YieldPeriodically();

}  // namespace cobra

#endif  // COBRA_BASE_THREAD_PRIORITY_H_
