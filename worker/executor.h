// Runs a Graph through LibTorch, call by call, as PyTorch would run the user's model in eval and inference mode: the
// same ATen entry points, in-place calls in place, views as views, activations freed at their last use. No Python: what
// a record holds is eager LibTorch, some 3 to 10 us a call less than the same call made from Python.
//
// On a GPU the same graph runs through the same entry points on CUDA tensors. A refusal by LibTorch is Unimplemented
// where the execution makes tensors other than the graph's (precision, layout): it has no kernel for them.
//
// Not thread-safe; one Executor at a time per process (peak memory is counted at the process's allocator).
#ifndef COBRA_WORKER_EXECUTOR_H_
#define COBRA_WORKER_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "worker/execution.h"
#include "worker/meter.h"

namespace cobra::worker {

// Once, before anything else of LibTorch: threads of one operator; operators never run beside each other.
void ConfigureLibTorch(int threads);
std::string LibTorchVersion();  // "1.13.1"
// With what does the arithmetic: "1.13.1+openblas-SkylakeX", "2.11.0+cuda-13.0+cudnn-91200". Creates no CUDA context.
std::string RuntimeVersion(const Execution& execution);
// InvalidArgument where this LibTorch has no CUDA. Touches no device.
absl::Status CheckLibTorchHas(const Execution& execution);
// True once CUDA reported an error that its context does not survive: this process can measure nothing more.
bool DeviceIsBroken();
// Gives what LibTorch keeps of a GPU's memory back, after a graph did not fit.
void FreeDeviceMemory(const Execution& execution);

class Executor {
 public:
  // Allocates inputs, weights and buffers: random and never zero, scaled so that activations neither overflow nor
  // become denormal. Unimplemented when an operator (or one of its attributes) has no kernel here; ResourceExhausted
  // when memory does not suffice.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const graph::Graph& graph, uint64_t seed,
                                                          const Execution& execution = {});
  ~Executor();

  // One pass; the outputs of the graph are dropped. ResourceExhausted: out of memory; Internal: LibTorch refused. On a
  // GPU the work may still be going on: see Hooks().
  absl::Status Run();
  // What surrounds a timed region of Run()s. Valid for the executor's life. What fails inside them, failure() says.
  RegionHooks Hooks();
  absl::Status failure() const;
  // One pass that compares shape and dtype of every node's outputs with the graph. Internal names the node that
  // differs.
  absl::Status RunChecked();
  // One pass that counts; the most bytes alive at once, weights and inputs included; 0 where nobody counts (CUDA before
  // LibTorch 2.9).
  absl::StatusOr<int64_t> PeakMemoryBytes();
  // One pass with the clock read around every node (a GPU is waited for at each); microseconds.
  absl::StatusOr<std::vector<double>> RunProfiled(const ClockNs& now_ns = SteadyNowNs);

  // For tests that compare with another implementation: float32 tensors of the graph only.
  absl::Status SetTensor(graph::ValueRef ref,
                         absl::Span<const float> values);           // an input, parameter, buffer or constant
  absl::StatusOr<std::vector<std::vector<float>>> RunForOutputs();  // the graph's outputs, contiguous
  // The same for every real dtype. Doubles hold integers up to 2^53.
  absl::Status SetValues(graph::ValueRef ref, absl::Span<const double> values);
  absl::StatusOr<std::vector<std::vector<double>>> RunForValues();

 private:
  class Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// True if the executor has a kernel for `op` (some of its attribute values may still be refused).
bool HasKernel(graph::Op op);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTOR_H_
