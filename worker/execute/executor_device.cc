#include "worker/execute/executor_device.h"

#include <algorithm>
#include <utility>

#include "ATen/Context.h"
#include "ATen/ops/empty.h"
#include "c10/core/impl/VirtualGuardImpl.h"
#include "worker/execute/executor_version.h"
#include "worker/machine/machine.h"

// c10::Event has the time between two events since LibTorch 2.4, c10::DeviceAllocator exists since
// 2.9.
#if COBRA_TORCH_AT_LEAST(2, 9)
#include "c10/core/CachingDeviceAllocator.h"
#endif

namespace cobra::worker {
namespace {

constexpr int64_t kCudaSweepBytes = int64_t{256} << 20;  // the largest L2 cache today has 126 MB

// One stream for the whole process: the caching allocator keeps memory per stream.
c10::Stream CreateStream(c10::Device device) {
  if (device.is_cpu()) return c10::Stream(c10::Stream::DEFAULT, device);
  const c10::impl::VirtualGuardImpl guard(device.type());
  static const c10::Stream stream = [&] {
    at::empty({1}, at::TensorOptions().device(device));  // initializes CUDA and its allocator
    guard.setDevice(device);
    return guard.getStreamFromGlobalPool(device, /*isHighPriority=*/false);
  }();
  guard.setDevice(device);
  guard.exchangeStream(stream);
  return stream;
}

}  // namespace

c10::Device DeviceOf(const Execution& execution) {
  if (!execution.is_cuda()) return c10::Device(c10::DeviceType::CPU);
  return c10::Device(c10::DeviceType::CUDA, static_cast<c10::DeviceIndex>(execution.cuda_device));
}

at::ScalarType FloatTypeOf(const Execution& execution) {
  switch (execution.precision) {
    case Precision::bfloat16: return at::kBFloat16;
    case Precision::float16: return at::kHalf;
    case Precision::float32:
    case Precision::tf32:
    case Precision::tf32_convolutions: break;
  }
  return at::kFloat;
}

ExecutionDevice::ExecutionDevice(const Execution& execution)
    : execution_(execution), device_(DeviceOf(execution)), stream_(CreateStream(device_)) {
  if (!execution_.is_cuda()) return;
  // float32 is strict: PyTorch's own default is tf32_convolutions.
  const bool tf32 = execution_.precision == Precision::tf32;
  at::globalContext().setAllowTF32CuBLAS(tf32);
  at::globalContext().setAllowTF32CuDNN(tf32 || execution_.precision == Precision::tf32_convolutions);
  begin_ = std::make_unique<c10::Event>(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
  end_ = std::make_unique<c10::Event>(device_.type(), c10::EventFlag::BACKEND_DEFAULT);
}

ExecutionDevice::~ExecutionDevice() = default;

at::Tensor ExecutionDevice::Place(at::Tensor tensor) const {
  if (tensor.scalar_type() == at::kFloat && FloatType() != at::kFloat) tensor = tensor.to(FloatType());
  if (!device_.is_cpu()) tensor = tensor.to(device_);
  if (execution_.layout == Layout::channels_last && tensor.dim() == 4 && tensor.is_floating_point()) {
    tensor = tensor.contiguous(at::MemoryFormat::ChannelsLast);
  }
  return tensor;
}

void ExecutionDevice::Synchronize() const {
  if (!device_.is_cpu()) c10::impl::VirtualGuardImpl(device_.type()).synchronizeStream(stream_);
}

void ExecutionDevice::EvictCaches() {
  if (!eviction_buffer_.defined()) {
    const int64_t cpu_bytes = std::max<int64_t>(static_cast<int64_t>(LastLevelCacheMb() * 2) << 20, int64_t{64} << 20);
    eviction_buffer_ = at::empty({execution_.is_cuda() ? kCudaSweepBytes : cpu_bytes},
                                 at::TensorOptions().dtype(at::kByte).device(device_));
  }
  eviction_buffer_.fill_(static_cast<int64_t>(++evictions_made_));
}

void ExecutionDevice::BeginRegion() {
  if (begin_ != nullptr) begin_->record(stream_);
}

double ExecutionDevice::EndRegion() {
  if (end_ == nullptr) return 0;
  end_->record(stream_);
  Synchronize();
#if COBRA_TORCH_AT_LEAST(2, 4)
  return begin_->elapsedTime(*end_) * 1000;
#else
  return 0;
#endif
}

#if COBRA_TORCH_AT_LEAST(2, 9)

namespace {

// Index 0 of the allocator's statistics is the sum over its pools.
c10::CachingAllocator::Stat AllocatedBytes(c10::Device device) {
  return c10::getDeviceAllocator(device.type())->getDeviceStats(device.index()).allocated_bytes[0];
}

}  // namespace

int64_t ExecutionDevice::LiveBytes() const { return AllocatedBytes(device_).current; }
int64_t ExecutionDevice::PeakBytes() const { return AllocatedBytes(device_).peak; }
void ExecutionDevice::ResetPeakBytes() const {
  c10::getDeviceAllocator(device_.type())->resetPeakStats(device_.index());
}

void EmptyDeviceCache(const Execution& execution) {
  if (execution.is_cuda()) c10::getDeviceAllocator(c10::DeviceType::CUDA)->emptyCache();
}

#else

int64_t ExecutionDevice::LiveBytes() const { return 0; }
int64_t ExecutionDevice::PeakBytes() const { return 0; }
void ExecutionDevice::ResetPeakBytes() const {}

void EmptyDeviceCache(const Execution&) {}  // the allocator frees its cache before it reports out of memory

#endif

}  // namespace cobra::worker
