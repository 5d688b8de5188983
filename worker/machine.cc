#include "worker/machine.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"

namespace cobra {
namespace {

std::string ReadOr(const std::string& path, absl::string_view fallback) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return std::string(fallback);
  return std::string(absl::StripAsciiWhitespace(*text));
}

CpuInfo ThisCpu() { return ParseCpuInfo(ReadOr("/proc/cpuinfo", "")); }

// The largest cache of the first processor.
double LastLevelCacheMb() {
  double most = 0;
  for (int i = 0; i < 8; ++i) {
    std::string size = ReadOr(absl::StrCat("/sys/devices/system/cpu/cpu0/cache/index", i, "/size"), "");
    double scale = 1.0 / 1024;
    if (absl::EndsWith(size, "M")) scale = 1;
    if (!size.empty() && !absl::ascii_isdigit(static_cast<unsigned char>(size.back()))) size.pop_back();
    double value = 0;
    if (absl::SimpleAtod(size, &value)) most = std::max(most, value * scale);
  }
  return most;
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

}  // namespace

CpuInfo ParseCpuInfo(absl::string_view text) {
  CpuInfo cpu;
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
    double mhz = 0;
    if (key == "cpu MHz" && absl::SimpleAtod(value, &mhz)) cpu.clock_mhz = mhz;
    if (key == "flags") {
      for (absl::string_view flag : absl::StrSplit(value, ' ')) {
        cpu.has_avx2 = cpu.has_avx2 || flag == "avx2";
        cpu.has_avx512 = cpu.has_avx512 || flag == "avx512f";
      }
    }
  }
  return cpu;
}

std::string ChooseBlasCoreType(const CpuInfo& cpu) {
  if (cpu.has_avx512) return "SkylakeX";
  return cpu.has_avx2 ? "Haswell" : "";
}

std::string CpuCodeName(const CpuInfo& cpu) {
  for (const CodeName& code : kCodeNames) {
    if (cpu.vendor == code.vendor && cpu.family == code.family && cpu.model >= code.first_model &&
        cpu.model <= code.last_model) {
      return code.name;
    }
  }
  std::string slug;
  for (char c : absl::AsciiStrToLower(cpu.model_name)) {
    if (absl::ascii_isalnum(static_cast<unsigned char>(c))) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
  }
  while (!slug.empty() && slug.back() == '-') slug.pop_back();
  return slug.empty() ? "unknown" : slug;
}

TargetSpec DescribeMachine(absl::string_view libtorch_version, int threads) {
  const CpuInfo cpu = ThisCpu();
  const char* core_type = std::getenv("OPENBLAS_CORETYPE");
  TargetSpec spec;
  spec.name = absl::StrCat("cpu-", CpuCodeName(cpu), "-", threads, "t");
  spec.device = cpu.model_name.empty() ? "unknown" : cpu.model_name;
  spec.kind = "cpu";
  spec.runtime =
      absl::StrCat("libtorch-", libtorch_version, "+openblas-", core_type == nullptr ? "default" : core_type);
  spec.threads = threads;
  spec.last_level_cache_mb = LastLevelCacheMb();
  spec.clock_mhz = cpu.clock_mhz;
  spec.cores = cpu.processors;
  return spec;
}

absl::Status RestartWithEnvironment(char** argv, int threads) {
  constexpr char kDone[] = "COBRA_WORKER_ENVIRONMENT";
  if (std::getenv(kDone) != nullptr) return absl::OkStatus();
  const std::string core_type = ChooseBlasCoreType(ThisCpu());
  if (!core_type.empty()) setenv("OPENBLAS_CORETYPE", core_type.c_str(), /*overwrite=*/0);
  const std::string count = absl::StrCat(threads);
  setenv("OMP_NUM_THREADS", count.c_str(), 1);
  setenv("OPENBLAS_NUM_THREADS", count.c_str(), 1);
  setenv(kDone, "1", 1);
  execv("/proc/self/exe", argv);
  return absl::InternalError(absl::StrCat("exec /proc/self/exe: ", std::strerror(errno)));
}

absl::Status PinToCore(int core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  if (sched_setaffinity(0, sizeof(set), &set) != 0) {
    return absl::InvalidArgumentError(absl::StrCat("--core ", core, ": ", std::strerror(errno)));
  }
  return absl::OkStatus();
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

double CurrentClockMhz() { return ThisCpu().clock_mhz; }

std::string TimeUtc() {
  const std::time_t now = std::time(nullptr);
  std::tm parts;
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace cobra
