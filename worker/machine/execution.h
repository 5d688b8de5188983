// How a graph is run: device, precision, memory layout, number of threads, and the state of the
// caches. With the device's specification and the runtime this is the target
// (model/predict/target/target.h).
#ifndef COBRA_WORKER_MACHINE_EXECUTION_H_
#define COBRA_WORKER_MACHINE_EXECUTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::worker {

struct CpuInfo;

// The type of a graph's float32 tensors. float32 means no TF32 anywhere; tf32 keeps float32 tensors
// and allows it in cuDNN and cuBLAS; tf32_convolutions only in cuDNN, which is PyTorch's default;
// bfloat16 and float16 are what model.to(dtype) does (without autocast: explicit casts to float32
// stay float32).
enum class Precision { float32, tf32, tf32_convolutions, bfloat16, float16 };

// channels_last: inputs and weights of four dimensions are stored as NHWC, as after
// .to(memory_format=channels_last).
enum class Layout { nchw, channels_last };

// warm: every call has the same buffers, as in a loop over one batch. cold: a region begins with
// other data in the last-level cache, and no two calls of it share inputs or weights.
enum class CacheState { warm, cold };

// The instructions that kernels may use at most. avx2, sse41: environment variables make oneDNN,
// ATen and OpenBLAS behave as on an older or smaller processor; only runtimes built on them obey
// (docs/runners.md).
enum class Isa { native, avx2, sse41 };

struct Execution {
  // -1: the CPU.
  int cuda_device = -1;
  Precision precision = Precision::float32;
  Layout layout = Layout::nchw;
  // Threads of one operator, on the CPU.
  int threads = 1;
  Isa isa = Isa::native;
  CacheState cache = CacheState::warm;

  bool is_cuda() const { return cuda_device >= 0; }
  // Neither a CUDA context nor a pool of threads survives a fork, so they must be created in the
  // measuring child.
  bool needs_child_process() const { return is_cuda() || threads > 1; }
  // The tensors differ from the graph's, so that LibTorch may lack kernels for them.
  bool converts_tensors() const {
    return precision == Precision::bfloat16 || precision == Precision::float16 || layout != Layout::nchw;
  }
};

// "float32", as in TargetSpec.
absl::string_view PrecisionName(Precision precision);
// "nchw", "nhwc", as in TargetSpec.
absl::string_view LayoutName(Layout layout);
// "native", "avx2", "sse41"
absl::string_view IsaName(Isa isa);
// "warm", "cold"
absl::string_view CacheName(CacheState cache);
// "cpu", "cuda:0"
std::string DeviceText(const Execution& execution);

// The flags of the command line.
struct ExecutionFlags {
  std::string device = "cpu", precision = "float32", layout = "nchw", cache = "warm", isa = "native";
  int threads = 1;
};
// InvalidArgument, beginning with the flag, if the value is unknown or this CPU does not support
// it.
absl::StatusOr<Execution> ParseExecution(const ExecutionFlags& flags, const CpuInfo& cpu);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_EXECUTION_H_
