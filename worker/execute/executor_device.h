// Inside the executor only (LibTorch shows): the device that a graph runs on, through c10's
// device-generic interfaces, so that the same code compiles with and without CUDA and needs none of
// its headers.
#ifndef COBRA_WORKER_EXECUTE_EXECUTOR_DEVICE_H_
#define COBRA_WORKER_EXECUTE_EXECUTOR_DEVICE_H_

#include <cstdint>
#include <memory>

#include "ATen/core/Tensor.h"
#include "c10/core/Event.h"
#include "c10/core/Stream.h"
#include "worker/machine/execution.h"

namespace cobra::worker {

// What tensors of an execution are made for; nothing is asked of the device.
c10::Device DeviceOf(const Execution& execution);
// The type that a float32 tensor of the graph has there.
at::ScalarType FloatTypeOf(const Execution& execution);

// Every member may throw LibTorch's exceptions.
class ExecutionDevice {
 public:
  // CUDA: creates the process's context (never before a fork), a separate stream that all later
  // calls go to, and sets the TF32 flags.
  explicit ExecutionDevice(const Execution& execution);
  ~ExecutionDevice();

  // Converts a CPU tensor to the execution's precision, device and memory layout.
  at::Tensor Place(at::Tensor tensor) const;
  at::ScalarType FloatType() const { return FloatTypeOf(execution_); }

  // Waits for all calls.
  void Synchronize() const;
  // Evicts the last-level cache by writing a larger buffer.
  void EvictCaches();
  void BeginRegion();
  // Waits; microseconds since BeginRegion by the device's events, 0 without them.
  double EndRegion();

  // Bytes alive at the device's caching allocator, now, and the maximum since the reset; 0: unknown
  // (before LibTorch 2.9).
  int64_t LiveBytes() const;
  void ResetPeakBytes() const;
  int64_t PeakBytes() const;

 private:
  const Execution execution_;
  const c10::Device device_;
  const c10::Stream stream_;
  std::unique_ptr<c10::Event> begin_, end_;
  at::Tensor eviction_buffer_;
  uint8_t evictions_made_ = 0;
};

// Releases the device memory that LibTorch caches, after a task ran out of memory.
void EmptyDeviceCache(const Execution& execution);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTE_EXECUTOR_DEVICE_H_
