// How a graph is run: on what, in which precision and memory layout, with how many threads, and what a call finds in
// the caches. With the device's specification and the runtime this is the target (model/predict/target.h).
#ifndef COBRA_WORKER_EXECUTION_H_
#define COBRA_WORKER_EXECUTION_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace cobra::worker {

struct CpuInfo;

// What the float32 tensors of a graph become. float32 means no TF32 anywhere; tf32 keeps float32 tensors and allows it
// in cuDNN and cuBLAS; bfloat16 and float16 are what model.to(dtype) does (no autocast: what a graph casts to float32
// stays it).
enum class Precision { float32, tf32, bfloat16, float16 };

// channels_last: inputs and weights of four dimensions lie in memory as NHWC, as after
// .to(memory_format=channels_last).
enum class Layout { nchw, channels_last };

// warm: every call has the same buffers, as in a loop over one batch. cold: a region begins with the last-level cache
// full of something else, and no two calls of it share inputs or weights.
enum class CacheState { warm, cold };

struct Execution {
  int cuda_device = -1;  // -1: the CPU
  Precision precision = Precision::float32;
  Layout layout = Layout::nchw;
  int threads = 1;  // of one operator, on the CPU
  CacheState cache = CacheState::warm;

  bool is_cuda() const { return cuda_device >= 0; }
  // Neither a CUDA context nor a pool of threads survives a fork: what measures sets them up in the child itself.
  bool lives_in_child() const { return is_cuda() || threads > 1; }
  // The tensors differ from the graph's, so that LibTorch may lack kernels for them.
  bool changes_tensors() const {
    return precision == Precision::bfloat16 || precision == Precision::float16 || layout != Layout::nchw;
  }
};

absl::string_view PrecisionName(Precision precision);  // "float32", as TargetSpec says it
absl::string_view LayoutName(Layout layout);           // "nchw", "nhwc", as TargetSpec says it
absl::string_view CacheName(CacheState cache);         // "warm", "cold"
std::string DeviceText(const Execution& execution);    // "cpu", "cuda:0"

// As the command line says it.
struct ExecutionFlags {
  std::string device = "cpu", precision = "float32", layout = "nchw", cache = "warm";
  int threads = 1;
};
// InvalidArgument, beginning with the flag, where it is none of the above or this CPU cannot do it.
absl::StatusOr<Execution> ParseExecution(const ExecutionFlags& flags, const CpuInfo& cpu);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_EXECUTION_H_
