// What one run of an interpreter may cost. A hostile program costs at most this and gets a diagnostic kLimit that names
// the line it was at.
#ifndef COBRA_FRONTEND_PYTHON_RUNTIME_LIMITS_H_
#define COBRA_FRONTEND_PYTHON_RUNTIME_LIMITS_H_

#include <atomic>
#include <cstdint>

namespace cobra::python {

// The defaults are for strangers: a program that runs into one of them has cost at most a quarter of a second and a quarter of a
// gigabyte on the machines this was measured on (tests/hostile; docs/long-tests/hostile.txt has the last run), and the largest models that
// were measured stay below a quarter of each. Whoever reads a model of his own that needs more says so (cobra-client --limits-times).
struct Limits {
  // One step is a statement, a call or a turn of a loop; work on long strings and sequences costs steps by its length
  // (Interpreter::Charge), memory one for 64 bytes.
  // Of torchvision, swin_v2_b needs most: 750,000, with its imports.
  int64_t steps = 3'000'000;
  // Bytes of Python objects and of lowered code; nothing is freed before the interpreter is. Of torchvision, swin_v2_b needs most: 39 MB.
  int64_t memory_bytes = int64_t{160} << 20;
  // Python's own default: deeper programs raise RecursionError there too.
  int call_depth = 1000;
  // Native stack of the main program; call_depth frames of ordinary nesting need about a quarter of it.
  int64_t stack_bytes = int64_t{24} << 20;
  // Stack of one generator, and how many may be suspended at once: their product bounds address space, touched pages are few.
  int64_t generator_stack_bytes = 256 << 10;
  int suspended_generators = 2000;
  // Checked by whoever builds the graph (frontend/python/torch). Unrolled networks of 1,000 layers have about 20,000.
  int64_t graph_nodes = 60'000;
  // Wall time of one Run; 0 is none. A server sets its own deadline here.
  int64_t wall_time_ms = 60'000;
  int modules = 4000;                                // torchvision loads about 150
  int64_t source_bytes = int64_t{3} << 20;           // of one file: the largest of the standard library is 0.6 MB; its tree takes 25 times that
  int64_t big_int_bits = 1 << 17;                    // multiplication is quadratic: 2^17 bits cost 2 ms
  int64_t sequence_items = int64_t{1} << 22;         // of one str, list or tuple that an operator or built-in makes
  int64_t output_bytes = int64_t{1} << 20;           // what print() may leave in the captured output
  // Set from another thread to stop the run at the next step; not owned.
  const std::atomic<bool>* cancelled = nullptr;
};

}  // namespace cobra::python

#endif  // COBRA_FRONTEND_PYTHON_RUNTIME_LIMITS_H_
