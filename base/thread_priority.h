// How the kernel shares processors between threads that answer at once and threads that compute. Without rights; where
// the kernel does not know a wish, nothing changes.
#ifndef COBRA_BASE_THREAD_PRIORITY_H_
#define COBRA_BASE_THREAD_PRIORITY_H_

namespace cobra {

// The calling thread, or process if it has one thread, and those that it starts from now on: long turns, and others get
// more of them. Whoever wakes up with usual turns interrupts it (since Linux 6.12); otherwise it would finish its own
// first, some 3 ms.
void ComputePatiently();

}  // namespace cobra

#endif  // COBRA_BASE_THREAD_PRIORITY_H_
