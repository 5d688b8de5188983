// Runs a Graph through LibTorch, call by call, as PyTorch would run the user's model in eval and
// inference mode: the same ATen entry points, in-place calls in place, views as views, activations
// freed at their last use. Records are measured without Python, in eager LibTorch: some 3 to 10 us
// per call less than the same call from Python.
//
// On a GPU the same graph runs through the same entry points on CUDA tensors. If LibTorch fails
// although the execution changes the tensors' precision or layout, the error is Unimplemented: it
// has no kernel for them.
//
// Not thread-safe; one Executor at a time per process (peak memory is counted at the process's
// allocator).
#ifndef COBRA_WORKER_EXECUTE_EXECUTOR_H_
#define COBRA_WORKER_EXECUTE_EXECUTOR_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "graph/graph.h"
#include "worker/machine/execution.h"
#include "worker/meter/meter.h"

namespace cobra::worker {

// False in a program that carries none (without_libtorch.cc): it measures through runners, and all
// else here is an error.
bool HasLibTorch();
// Call once, before other uses of LibTorch. Sets the threads of one operator; operators never run
// in parallel.
void ConfigureLibTorch(int threads);
// "1.13.1"; "" without LibTorch.
std::string LibTorchVersion();
// With the arithmetic library: "1.13.1+openblas-SkylakeX", "2.11.0+cuda-13.0+cudnn-91200". Creates
// no CUDA context.
std::string RuntimeVersion(const Execution& execution);
// InvalidArgument if the execution is on a GPU, and there is no LibTorch with CUDA. Uses no
// device.
absl::Status CheckLibTorchHas(const Execution& execution);
// True after a CUDA error that its context does not survive: this process cannot measure any more.
bool DeviceIsBroken();
// Releases the GPU memory that LibTorch caches, after a graph did not fit.
void FreeDeviceMemory(const Execution& execution);

class Executor {
 public:
  // Allocates inputs, weights and buffers: random and never zero, scaled so that activations
  // neither overflow nor become denormal. Unimplemented when an operator (or one of its attributes)
  // has no kernel here; ResourceExhausted if there is not enough memory.
  static absl::StatusOr<std::unique_ptr<Executor>> Create(const graph::Graph& graph, uint64_t seed,
                                                          const Execution& execution = {});
  ~Executor();

  // One pass; the outputs of the graph are dropped. ResourceExhausted: out of memory; Internal:
  // LibTorch refused. On a GPU the work may not be finished yet: see Hooks().
  absl::Status Run();
  // The hooks around a timed region of Run()s. Valid for the executor's lifetime. failure() returns
  // an error that occurred inside them.
  RegionHooks Hooks();
  absl::Status failure() const;
  // One pass that compares shape and dtype of every node's outputs with the graph. Internal names
  // the node that differs.
  absl::Status RunChecked();
  // One pass that counts memory: the peak of allocated bytes, weights and inputs included; 0 if
  // unknown (CUDA before LibTorch 2.9).
  absl::StatusOr<int64_t> PeakMemoryBytes();
  // One pass with a clock around every node (on a GPU it waits after each one); microseconds.
  absl::StatusOr<std::vector<double>> RunProfiled(const ClockNs& now_ns = SteadyNowNs);

  // For tests that compare with another implementation: float32 tensors of the graph only.
  // An input, parameter, buffer or constant.
  absl::Status SetTensor(graph::ValueRef ref, absl::Span<const float> values);
  // The graph's outputs, contiguous.
  absl::StatusOr<std::vector<std::vector<float>>> RunForOutputs();
  // The same for every real dtype. Doubles hold integers up to 2^53.
  absl::Status SetValues(graph::ValueRef ref, absl::Span<const double> values);
  absl::StatusOr<std::vector<std::vector<double>>> RunForValues();

 private:
  class Impl;
  explicit Executor(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// True if the executor has a kernel for `op` (some of its attribute values may still be
// unsupported).
bool HasKernel(graph::Op op);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTE_EXECUTOR_H_
