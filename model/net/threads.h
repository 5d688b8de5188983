#ifndef COBRA_MODEL_NET_THREADS_H_
#define COBRA_MODEL_NET_THREADS_H_

namespace cobra {

// One thread for LibTorch's operators and for the BLAS below them: parallelism comes from requests (two intra-op threads were slower than one).
// at::set_num_threads alone leaves OpenBLAS with a thread per core, which then spends a fifth of the time in sched_yield.
void UseOneThread();

}  // namespace cobra

#endif  // COBRA_MODEL_NET_THREADS_H_
