// Inside the executor only (LibTorch shows): the device that a graph runs on, through c10's device-generic interfaces,
// so that the same code compiles with and without CUDA and needs none of its headers.
#ifndef COBRA_WORKER_EXECUTOR_DEVICE_H_
#define COBRA_WORKER_EXECUTOR_DEVICE_H_

#include <cstdint>
#include <memory>

#include "ATen/core/Tensor.h"
#include "c10/core/Event.h"
#include "c10/core/Stream.h"
#include "worker/execution.h"

namespace cobra::worker {

// Every member may throw what LibTorch throws.
class ExecutionDevice {
 public:
  // CUDA: creates the process's context (never before a fork), a stream of its own that all later calls go to, and sets
  // the TF32 flags.
  explicit ExecutionDevice(const Execution& execution);
  ~ExecutionDevice();

  // A tensor made on the CPU, as the execution wants it: precision, device, memory layout.
  at::Tensor Place(at::Tensor tensor) const;
  // The type that a float32 tensor of the graph has here.
  at::ScalarType FloatType() const;

  void Synchronize() const;  // waits for everything called
  // Writes through more memory than any last-level cache has.
  void Sweep();
  void BeginRegion();
  double EndRegion();  // waits; microseconds since BeginRegion by the device's events, 0 without them

  // Bytes alive at the device's caching allocator, now and at most since the reset; 0: unknown (before LibTorch 2.9).
  int64_t LiveBytes() const;
  void ResetPeakBytes() const;
  int64_t PeakBytes() const;

 private:
  const Execution execution_;
  const c10::Device device_;
  const c10::Stream stream_;
  std::unique_ptr<c10::Event> begin_, end_;
  at::Tensor sweep_;
  uint8_t sweeps_ = 0;
};

// Gives what LibTorch keeps of a device's memory back, after one task ran out of it.
void EmptyDeviceCache(const Execution& execution);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTOR_DEVICE_H_
