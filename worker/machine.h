// This machine as a target, and what of its state can be read. What cannot be read (virtual machines hide a lot) is
// "unavailable".
#ifndef COBRA_WORKER_MACHINE_H_
#define COBRA_WORKER_MACHINE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/predict/target.h"
#include "worker/execution.h"
#include "worker/gpu.h"

namespace cobra::worker {

// What /proc/cpuinfo says of the first processor.
struct CpuInfo {
  std::string vendor;  // "AuthenticAMD"
  std::string model_name;
  int family = 0;
  int model = 0;
  double clock_mhz = 0;
  bool has_avx2 = false;
  bool has_avx512 = false;
  bool has_bfloat16 = false;  // products of bfloat16: avx512_bf16, amx_bf16, or ARM's bf16
  int processors = 0;
};
CpuInfo ParseCpuInfo(absl::string_view text);
CpuInfo ThisCpu();

// OpenBLAS does not know every processor and then falls back to slower kernels: SkylakeX wherever AVX-512 is, Haswell
// where AVX2 is.
std::string ChooseBlasCoreType(const CpuInfo& cpu);
// "epyc-genoa", "xeon-icelake"; from the vendor's name where the model is not in our table.
std::string CpuCodeName(const CpuInfo& cpu);

// What --target takes: "cpu-epyc-genoa-1t", "cpu-epyc-genoa-2t-bfloat16", "gpu-nvidia-h200-tf32-nhwc". `gpu`: the GPU's
// name.
std::string TargetName(const Execution& execution, absl::string_view gpu = "");
// Everything but peak_gflops and memory_gb_per_s, which are measured. `runtime_version`: RuntimeVersion() of
// executor.h. `gpu` where the execution is on one.
predict::TargetSpec DescribeMachine(absl::string_view runtime_version, const Execution& execution,
                                    const GpuFacts& gpu = {});
struct CpuCache {
  std::string level, type;  // "1", "Data"
  double kb = 0;
};
std::vector<CpuCache> CpuCaches();  // of the first processor
double LastLevelCacheMb();          // 0: unknown

// OPENBLAS_CORETYPE and the numbers of threads must be in the environment before LibTorch is loaded: sets them and
// starts this program again, once. Returns only where nothing had to change, or on error.
absl::Status RestartWithEnvironment(char** argv, int threads);

// To `count` processors from `core` on.
absl::Status PinToCore(int core, int count = 1);
double LoadAverage();
std::string Governor(int core);  // or "unavailable"
std::string HugePages();         // "always", "madvise", "never" or "unavailable"
std::string TimeUtc();           // "2026-11-20T08:40:00Z"

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_H_
