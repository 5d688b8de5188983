#include "worker/machine/machine.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "base/file/file.h"
#include "base/process/blas_core_type.h"
#include "base/process/subprocess.h"
#include "base/text/utc_text.h"
#include "worker/machine/busy_processors.h"

namespace cobra::worker {
namespace {

// "NVIDIA A100-SXM4-40GB" -> "nvidia-a100-sxm4-40gb"
std::string Slug(absl::string_view name) {
  std::string slug;
  for (char c : absl::AsciiStrToLower(name)) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "unknown" : slug;
}

struct CodeName {
  const char* vendor;
  int family, first_model, last_model;
  const char* name;
};
constexpr CodeName kCodeNames[] = {
    {"AuthenticAMD", 23, 0, 31, "epyc-naples"},
    {"AuthenticAMD", 23, 48, 63, "epyc-rome"},
    {"AuthenticAMD", 25, 0, 15, "epyc-milan"},
    {"AuthenticAMD", 25, 16, 31, "epyc-genoa"},
    {"AuthenticAMD", 25, 160, 175, "epyc-bergamo"},
    {"AuthenticAMD", 26, 0, 31, "epyc-turin"},
    {"GenuineIntel", 6, 85, 85, "xeon-skylake"},
    {"GenuineIntel", 6, 106, 108, "xeon-icelake"},
    {"GenuineIntel", 6, 143, 143, "xeon-sapphirerapids"},
    {"GenuineIntel", 6, 207, 207, "xeon-emeraldrapids"},
    {"GenuineIntel", 6, 63, 63, "xeon-haswell"},
    {"GenuineIntel", 6, 79, 79, "xeon-broadwell"},
};

// aarch64 has no name in /proc/cpuinfo, only "CPU implementer" and "CPU part" (the register
// MIDR_EL1; util-linux's lscpu-arm.c has the same table).
struct ArmCore {
  int implementer, part;
  const char* name;
};
constexpr ArmCore kArmCores[] = {
    {0x41, 0xd03, "Cortex-A53"},  {0x41, 0xd04, "Cortex-A35"},  {0x41, 0xd05, "Cortex-A55"},
    {0x41, 0xd07, "Cortex-A57"},  {0x41, 0xd08, "Cortex-A72"},  {0x41, 0xd09, "Cortex-A73"},
    {0x41, 0xd0a, "Cortex-A75"},  {0x41, 0xd0b, "Cortex-A76"},  {0x41, 0xd0c, "Neoverse-N1"},
    {0x41, 0xd0d, "Cortex-A77"},  {0x41, 0xd40, "Neoverse-V1"}, {0x41, 0xd41, "Cortex-A78"},
    {0x41, 0xd44, "Cortex-X1"},   {0x41, 0xd46, "Cortex-A510"}, {0x41, 0xd47, "Cortex-A710"},
    {0x41, 0xd48, "Cortex-X2"},   {0x41, 0xd49, "Neoverse-N2"}, {0x41, 0xd4a, "Neoverse-E1"},
    {0x41, 0xd4b, "Cortex-A78C"}, {0x41, 0xd4d, "Cortex-A715"}, {0x41, 0xd4e, "Cortex-X3"},
    {0x41, 0xd4f, "Neoverse-V2"}, {0x41, 0xd80, "Cortex-A520"}, {0x41, 0xd81, "Cortex-A720"},
    {0x41, 0xd82, "Cortex-X4"},   {0x41, 0xd84, "Neoverse-V3"}, {0x41, 0xd8e, "Neoverse-N3"},
    {0x46, 0x001, "A64FX"},       {0x48, 0xd01, "Kunpeng-920"}, {0x61, 0x022, "Apple M1"},
    {0x61, 0x023, "Apple M1"},    {0x61, 0x032, "Apple M2"},    {0x61, 0x033, "Apple M2"},
    {0xc0, 0xac3, "AmpereOne"},   {0xc0, 0xac4, "AmpereOne A"},
};

// "ARM 0x41 0xd99" if it is not in the table.
std::string ArmModelName(int implementer, int part) {
  for (const ArmCore& core : kArmCores) {
    if (core.implementer == implementer && core.part == part) return core.name;
  }
  return absl::StrFormat("ARM %#x %#x", implementer, part);
}

}  // namespace

std::string ReadOr(const std::string& path, absl::string_view fallback) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  return std::string(text.ok() ? absl::StripAsciiWhitespace(*text) : fallback);
}

CpuInfo ParseCpuInfo(absl::string_view text) {
  CpuInfo cpu;
  int arm_implementer = 0, arm_part = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    const std::vector<absl::string_view> parts = absl::StrSplit(line, absl::MaxSplits(':', 1));
    if (parts.size() != 2) continue;
    const absl::string_view key = absl::StripAsciiWhitespace(parts[0]), value = absl::StripAsciiWhitespace(parts[1]);
    if (key == "processor") ++cpu.processors;
    if (cpu.processors > 1) continue;
    int number = 0;
    if (key == "vendor_id") cpu.vendor = std::string(value);
    if (key == "model name") cpu.model_name = std::string(value);
    if (key == "cpu family" && absl::SimpleAtoi(value, &number)) cpu.family = number;
    if (key == "model" && absl::SimpleAtoi(value, &number)) cpu.model = number;
    if (key == "CPU implementer" && absl::SimpleHexAtoi(value, &number)) arm_implementer = number;
    if (key == "CPU part" && absl::SimpleHexAtoi(value, &number)) arm_part = number;
    double mhz = 0;
    if (key == "cpu MHz" && absl::SimpleAtod(value, &mhz)) cpu.clock_mhz = mhz;
    if (key == "flags" || key == "Features") {
      for (absl::string_view flag : absl::StrSplit(value, ' ')) {
        cpu.has_sse41 = cpu.has_sse41 || flag == "sse4_1";
        cpu.has_avx2 = cpu.has_avx2 || flag == "avx2";
        cpu.has_avx512 = cpu.has_avx512 || flag == "avx512f";
        cpu.has_amx = cpu.has_amx || flag == "amx_tile";
        cpu.has_bfloat16 = cpu.has_bfloat16 || flag == "avx512_bf16" || flag == "amx_bf16" || flag == "bf16";
      }
    }
  }
  if (cpu.model_name.empty() && arm_implementer != 0) cpu.model_name = ArmModelName(arm_implementer, arm_part);
  return cpu;
}

std::string CpuCodeName(const CpuInfo& cpu) {
  for (const CodeName& code : kCodeNames) {
    if (cpu.vendor == code.vendor && cpu.family == code.family && cpu.model >= code.first_model &&
        cpu.model <= code.last_model) {
      return code.name;
    }
  }
  // Some virtual machines hide the model number. AMX is new in this generation.
  if (cpu.vendor == "GenuineIntel" && cpu.has_amx) return "xeon-sapphirerapids";
  return Slug(cpu.model_name);
}

CpuInfo ThisCpu() { return ParseCpuInfo(ReadOr("/proc/cpuinfo", "")); }

int64_t PhysicalMemoryBytes() {
  return static_cast<int64_t>(::sysconf(_SC_PHYS_PAGES)) * static_cast<int64_t>(::sysconf(_SC_PAGESIZE));
}

// The largest cache of the first processor.
double LastLevelCacheMb() {
  double most = 0;
  for (const CpuCache& cache : CpuCaches()) most = std::max(most, cache.kb / 1024);
  return most;
}

std::vector<CpuCache> CpuCaches() {
  std::vector<CpuCache> caches;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = absl::StrCat("/sys/devices/system/cpu/cpu0/cache/index", i);
    std::string size = ReadOr(absl::StrCat(folder, "/size"), "");
    const double scale = absl::EndsWith(size, "M") ? 1024 : 1;
    if (!size.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(size.back()))) size.pop_back();
    double value = 0;
    if (!absl::SimpleAtod(size, &value)) continue;
    caches.push_back(
        {ReadOr(absl::StrCat(folder, "/level"), ""), ReadOr(absl::StrCat(folder, "/type"), ""), value * scale});
  }
  return caches;
}

double PageFaultUs() {
  constexpr size_t kPage = 4096, kPages = 4096;  // of larger pages, the share of 4 KiB
  void* mapped = mmap(nullptr, kPage * kPages, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return 0;
  madvise(mapped, kPage * kPages, MADV_NOHUGEPAGE);  // as malloc's memory is where huge pages have to be asked for
  volatile char* const bytes = static_cast<char*>(mapped);
  const auto start = std::chrono::steady_clock::now();
  for (size_t page = 0; page < kPages; ++page) bytes[page * kPage] = 1;
  const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  munmap(mapped, kPage * kPages);
  return us / kPages;
}

namespace {
// Of the widest registers that kernels may use.
double VectorBits(const CpuInfo& cpu, Isa isa) {
  if (cpu.has_avx512 && isa == Isa::native) return 512;
  return cpu.has_avx2 && isa != Isa::sse41 ? 256 : 128;
}
}  // namespace

std::string TargetName(const Execution& execution, absl::string_view gpu) {
  std::string name = execution.is_cuda() ? absl::StrCat("gpu-", Slug(gpu))
                                         : absl::StrCat("cpu-", CpuCodeName(ThisCpu()), "-", execution.threads, "t");
  if (execution.isa != Isa::native) absl::StrAppend(&name, "-", IsaName(execution.isa));
  if (execution.precision != Precision::float32) absl::StrAppend(&name, "-", PrecisionName(execution.precision));
  if (execution.layout != Layout::nchw) absl::StrAppend(&name, "-", LayoutName(execution.layout));
  return name;
}

predict::TargetSpec DescribeMachine(absl::string_view runtime_version, const Execution& execution,
                                    const GpuFacts& gpu) {
  predict::TargetSpec spec;
  spec.name = TargetName(execution, gpu.name);
  spec.precision = std::string(PrecisionName(execution.precision));
  spec.layout = std::string(LayoutName(execution.layout));
  spec.threads = execution.threads;
  spec.runtime = absl::StrCat("libtorch-", runtime_version);
  if (execution.is_cuda()) {
    spec.device = gpu.name;
    spec.kind = "gpu";
    spec.last_level_cache_mb = gpu.l2_mb;
    spec.clock_mhz = gpu.clock_mhz;
    spec.cores = gpu.sms;
    return spec;
  }
  const CpuInfo cpu = ThisCpu();
  spec.device = cpu.model_name.empty() ? "unknown" : cpu.model_name;
  if (execution.isa != Isa::native) absl::StrAppend(&spec.device, ", up to ", IsaName(execution.isa));
  spec.kind = "cpu";
  spec.last_level_cache_mb = LastLevelCacheMb();
  spec.clock_mhz = cpu.clock_mhz;
  spec.cores = cpu.processors;
  spec.vector_bits = VectorBits(cpu, execution.isa);
  for (const CpuCache& cache : CpuCaches()) {
    if (cache.level == "2") spec.l2_cache_mb = cache.kb / 1024;
  }
  return spec;
}

namespace {

// A limit that the user's environment has would make a record say more than was measured.
void SetIsa(Isa isa) {
  struct Limit {
    const char *name, *avx2, *sse41;
  };
  for (const Limit& limit : {Limit{"ONEDNN_MAX_CPU_ISA", "AVX2", "SSE41"},
                             {"DNNL_MAX_CPU_ISA", "AVX2", "SSE41"},
                             {"ATEN_CPU_CAPABILITY", "avx2", "default"},
                             {"MKL_ENABLE_INSTRUCTIONS", "AVX2", "SSE4_2"}}) {
    if (isa == Isa::native) {
      unsetenv(limit.name);
    } else {
      setenv(limit.name, isa == Isa::avx2 ? limit.avx2 : limit.sse41, 1);
    }
  }
  if (isa != Isa::native) setenv("OPENBLAS_CORETYPE", isa == Isa::avx2 ? "Haswell" : "Nehalem", 1);
}

}  // namespace

absl::Status RestartWithEnvironment(char** argv, int threads, Isa isa) {
  constexpr char kDone[] = "COBRA_WORKER_ENVIRONMENT";
  const std::string wanted = absl::StrCat(threads, " ", IsaName(isa));
  if (const char* done = std::getenv(kDone); done != nullptr && done == wanted) {
    unsetenv(kDone);  // a worker that a runner starts is another one
    return absl::OkStatus();
  }
  SetIsa(isa);
  const std::string core_type = BlasCoreType(ThisCpu().has_avx2, ThisCpu().has_avx512);
  // Whatever the shell has there: it slows LibTorch down, and the description of the machine would
  // be wrong.
  if (isa == Isa::native && !core_type.empty()) setenv("OPENBLAS_CORETYPE", core_type.c_str(), 1);
  const std::string count = absl::StrCat(threads);
  setenv("OMP_NUM_THREADS", count.c_str(), 1);
  setenv("OPENBLAS_NUM_THREADS", count.c_str(), 1);
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", /*overwrite=*/0);  // CUDA then counts GPUs as NVML does
  setenv(kDone, wanted.c_str(), 1);
  return RestartThisProgram(argv);
}

absl::Status PinToCore(int core, int count) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (int i = 0; i < count; ++i) CPU_SET(core + i, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--core ", core, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
}

int FirstCore() {
  const std::vector<int> cores = OwnProcessors();
  return cores.empty() ? 0 : cores[0];
}

double LoadAverage() {
  double load[1] = {0};
  return getloadavg(load, 1) == 1 ? load[0] : 0;
}

std::string Governor(int core) {
  return ReadOr(absl::StrCat("/sys/devices/system/cpu/cpu", core, "/cpufreq/scaling_governor"), "unavailable");
}

std::string HugePages() {
  const std::string text = ReadOr("/sys/kernel/mm/transparent_hugepage/enabled", "");
  const size_t open = text.find('['), close = text.find(']');
  return open == std::string::npos || close == std::string::npos ? "unavailable"
                                                                 : text.substr(open + 1, close - open - 1);
}

std::string TimeUtc() { return UtcText(absl::Now()); }

}  // namespace cobra::worker
