// This machine as a target, and its state. Values that cannot be read (virtual machines hide many)
// are "unavailable".
#ifndef COBRA_WORKER_MACHINE_MACHINE_H_
#define COBRA_WORKER_MACHINE_MACHINE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "model/predict/target/target.h"
#include "worker/machine/execution.h"
#include "worker/machine/gpu.h"

namespace cobra::worker {

// The contents of /proc/cpuinfo for the first processor.
struct CpuInfo {
  // "AuthenticAMD"
  std::string vendor;
  std::string model_name;
  int family = 0;
  int model = 0;
  double clock_mhz = 0;
  bool has_sse41 = false;
  bool has_avx2 = false;
  bool has_avx512 = false;
  // Instructions for bfloat16 products: avx512_bf16, amx_bf16, or ARM's bf16.
  bool has_bfloat16 = false;
  bool has_amx = false;
  int processors = 0;
};
CpuInfo ParseCpuInfo(absl::string_view text);
CpuInfo ThisCpu();
// The contents of a file below /proc or /sys, without white space around them; `fallback` if it
// cannot be read.
std::string ReadOr(const std::string& path, absl::string_view fallback);

int64_t PhysicalMemoryBytes();

// "epyc-genoa", "xeon-icelake"; made of the vendor's name if the model is not in our table.
std::string CpuCodeName(const CpuInfo& cpu);

// The target's name: "cpu-epyc-genoa-1t", "cpu-epyc-genoa-2t-bfloat16", "cpu-epyc-genoa-1t-avx2",
// "gpu-nvidia-h200-tf32-nhwc". `gpu`: the GPU's name.
std::string TargetName(const Execution& execution, absl::string_view gpu = "");
// Everything but the speeds, which are measured (MeasureSpeeds, measure.h). `runtime_version`:
// RuntimeVersion() of executor.h. `gpu`: if the execution is on a GPU.
predict::TargetSpec DescribeMachine(absl::string_view runtime_version, const Execution& execution,
                                    const GpuFacts& gpu = {});
struct CpuCache {
  // "1", "Data"
  std::string level, type;
  double kb = 0;
};
// Of the first processor.
std::vector<CpuCache> CpuCaches();
// 0: unknown.
double LastLevelCacheMb();
// How long the first write to a page of 4 KiB of newly mapped memory takes. 0 if none can be
// mapped.
double PageFaultUs();

// OPENBLAS_CORETYPE, the numbers of threads and, unless native, the instructions that kernels may
// use must be in the environment before LibTorch is loaded: sets them and restarts this program,
// once. Runners inherit them. Returns only if nothing had to change, or on error.
absl::Status RestartWithEnvironment(char** argv, int threads, Isa isa);

// Pins the process to `count` processors from `core` on.
absl::Status PinToCore(int core, int count = 1);
// The first of OwnProcessors() (busy_processors.h).
int FirstCore();
double LoadAverage();
// Or "unavailable".
std::string Governor(int core);
// "always", "madvise", "never" or "unavailable".
std::string HugePages();
// "2026-11-20T08:40:00Z"
std::string TimeUtc();

}  // namespace cobra::worker

#endif  // COBRA_WORKER_MACHINE_MACHINE_H_
