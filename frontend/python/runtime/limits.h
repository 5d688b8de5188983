// What one run of an interpreter may cost. A hostile program costs at most this and gets a diagnostic kLimit that names
// the line it was at.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_LIMITS_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_LIMITS_H_

#include <atomic>
#include <cstdint>

namespace cobra::python {

struct Limits {
  // One step is a statement, a call or a turn of a native loop. The largest models of the corpus need under 5 million.
  int64_t steps = 50'000'000;
  // Bytes of Python objects and of lowered code; nothing is freed before the interpreter is. Importing a big library takes about 40 MB.
  int64_t memory_bytes = int64_t{512} << 20;
  // Python's own default: deeper programs raise RecursionError there too.
  int call_depth = 1000;
  // Native stack of the main program; call_depth frames of ordinary nesting need about a tenth of it.
  int64_t stack_bytes = int64_t{64} << 20;
  // Stack of one generator, and how many may be suspended at once: their product bounds address space, touched pages are few.
  int64_t generator_stack_bytes = 256 << 10;
  int suspended_generators = 2000;
  // Checked by whoever builds the graph (frontend/python/torch). Unrolled networks of 1,000 layers have about 20,000.
  int64_t graph_nodes = 500'000;
  // Wall time of one Run; 0 is none. A server sets its own deadline here.
  int64_t wall_time_ms = 60'000;
  int modules = 4000;                                // torchvision loads about 150
  int64_t source_bytes = int64_t{16} << 20;          // of one file: the largest of the standard library is 0.6 MB
  int64_t big_int_bits = 1 << 17;                    // multiplication is quadratic: 2^17 bits cost 2 ms
  int64_t sequence_items = int64_t{1} << 25;         // of one str, list or tuple that an operator or built-in makes
  int64_t output_bytes = int64_t{1} << 20;           // what print() may leave in the captured output
  // Set from another thread to stop the run at the next step; not owned.
  const std::atomic<bool>* cancelled = nullptr;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_LIMITS_H_
