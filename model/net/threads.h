#ifndef COBRA_MODEL_NET_THREADS_H_
#define COBRA_MODEL_NET_THREADS_H_

namespace cobra::net {

// One thread for LibTorch's operators and for the BLAS below them: requests run in parallel (two intra-op threads were
// slower than one). With at::set_num_threads alone, OpenBLAS keeps one thread per core and spends a fifth of the time
// in sched_yield.
void UseOneThread();

// For programs that serve, where every network has another number of calls. The one operator of the networks for which
// LibTorch asks oneDNN is gelu. oneDNN compiles code for each new shape and keeps it, scattered over the heap: memory
// grows with each new size of a network. LibTorch's own kernel takes the same time.
void LeaveOneDnnOut();

// For programs that train: the process keeps freed memory. Otherwise glibc returns the activations of a step to the
// system and faults them in again in the next step, page by page; the kernel took a tenth to a quarter of the time for
// that.
void RetainHeap();

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_THREADS_H_
