#ifndef COBRA_MODEL_NET_THREADS_H_
#define COBRA_MODEL_NET_THREADS_H_

namespace cobra::net {

// One thread for LibTorch's operators and for the BLAS below them (two intra-op threads were slower
// than one). With at::set_num_threads alone, OpenBLAS keeps one thread per core and spends a fifth
// of the time in sched_yield.
void UseOneThread();

// For programs that train: the process keeps freed memory. Otherwise glibc returns the activations
// of a step to the system and faults them in again in the next step, page by page; the kernel took
// a tenth to a quarter of the time for that.
void RetainHeap();

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_THREADS_H_
