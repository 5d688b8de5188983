#ifndef COBRA_MODEL_NET_THREADS_H_
#define COBRA_MODEL_NET_THREADS_H_

namespace cobra::net {

// One thread for LibTorch's operators and for the BLAS below them: parallelism comes from requests (two intra-op
// threads were slower than one). at::set_num_threads alone leaves OpenBLAS with a thread per core, which then spends a
// fifth of the time in sched_yield.
void UseOneThread();

// For programs that train: what is freed stays with the process. glibc otherwise gives the activations of a step back
// to the system and faults them in again at the next, page by page, for which the kernel took a tenth to a quarter of
// the time.
void RetainHeap();

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_THREADS_H_
