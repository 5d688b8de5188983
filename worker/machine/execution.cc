#include "worker/machine/execution.h"

#include <initializer_list>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/status_macros.h"
#include "worker/machine/machine.h"

namespace cobra::worker {
namespace {

absl::StatusOr<int> ParseDevice(const std::string& text) {
  absl::string_view rest = text;
  if (rest == "cpu") return -1;
  int index = 0;
  if (absl::ConsumePrefix(&rest, "cuda") &&
      (rest.empty() || (absl::ConsumePrefix(&rest, ":") && absl::SimpleAtoi(rest, &index) && index >= 0))) {
    return index;
  }
  return absl::InvalidArgumentError(absl::StrCat("--device ", text, ": cpu, cuda or cuda:N"));
}

template <typename Enum>
absl::StatusOr<Enum> ParseName(absl::string_view flag, absl::string_view text, std::initializer_list<Enum> values,
                               absl::string_view (*name)(Enum)) {
  std::string known;
  for (Enum value : values) {
    if (name(value) == text) return value;
    absl::StrAppend(&known, known.empty() ? "" : ", ", name(value));
  }
  return absl::InvalidArgumentError(absl::StrCat(flag, " ", text, ": there are ", known));
}

absl::Status CheckCpu(const Execution& execution, const CpuInfo& cpu) {
  if ((execution.isa == Isa::avx2 && !cpu.has_avx2) || (execution.isa == Isa::sse41 && !cpu.has_sse41)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--isa ", IsaName(execution.isa), ": this processor has no such instructions"));
  }
  switch (execution.precision) {
    case Precision::float32: return absl::OkStatus();
    case Precision::tf32:
    case Precision::tf32_convolutions:
      return absl::InvalidArgumentError(absl::StrCat("--precision ", PrecisionName(execution.precision),
                                                     ": is a mode of NVIDIA's tensor cores; needs --device cuda"));
    case Precision::float16:
      return absl::InvalidArgumentError("--precision float16: LibTorch computes in it on GPUs; needs --device cuda");
    case Precision::bfloat16:
      if (cpu.has_bfloat16) return absl::OkStatus();
      return absl::InvalidArgumentError(
          "--precision bfloat16: this processor has no instructions for it (avx512_bf16 or amx_bf16 in /proc/cpuinfo)");
  }
  return absl::OkStatus();
}

}  // namespace

absl::string_view PrecisionName(Precision precision) {
  switch (precision) {
    case Precision::float32: return "float32";
    case Precision::tf32: return "tf32";
    case Precision::tf32_convolutions: return "tf32-convolutions";
    case Precision::bfloat16: return "bfloat16";
    case Precision::float16: return "float16";
  }
  return "float32";
}

absl::string_view LayoutName(Layout layout) { return layout == Layout::nchw ? "nchw" : "nhwc"; }

absl::string_view IsaName(Isa isa) {
  switch (isa) {
    case Isa::native: return "native";
    case Isa::avx2: return "avx2";
    case Isa::sse41: return "sse41";
  }
  return "native";
}

absl::string_view CacheName(CacheState cache) { return cache == CacheState::warm ? "warm" : "cold"; }

std::string DeviceText(const Execution& execution) {
  return execution.is_cuda() ? absl::StrCat("cuda:", execution.cuda_device) : "cpu";
}

absl::StatusOr<Execution> ParseExecution(const ExecutionFlags& flags, const CpuInfo& cpu) {
  Execution execution;
  COBRA_ASSIGN_OR_RETURN(execution.cuda_device, ParseDevice(flags.device));
  COBRA_ASSIGN_OR_RETURN(execution.precision,
                         ParseName("--precision", flags.precision,
                                   {Precision::float32, Precision::tf32, Precision::tf32_convolutions,
                                    Precision::bfloat16, Precision::float16},
                                   PrecisionName));
  // Accept PyTorch's name; the targets use nhwc.
  const std::string layout = flags.layout == "channels-last" ? "nhwc" : flags.layout;
  COBRA_ASSIGN_OR_RETURN(execution.layout,
                         ParseName("--layout", layout, {Layout::nchw, Layout::channels_last}, LayoutName));
  COBRA_ASSIGN_OR_RETURN(execution.cache,
                         ParseName("--cache", flags.cache, {CacheState::warm, CacheState::cold}, CacheName));
  COBRA_ASSIGN_OR_RETURN(execution.isa, ParseName("--isa", flags.isa, {Isa::native, Isa::avx2, Isa::sse41}, IsaName));
  if (flags.threads < 1) return absl::InvalidArgumentError(absl::StrCat("--threads ", flags.threads, ": at least 1"));
  if (execution.is_cuda()) {
    if (flags.threads != 1)
      return absl::InvalidArgumentError("--threads: only for the CPU; with --device cuda one thread calls");
    if (execution.isa != Isa::native) return absl::InvalidArgumentError("--isa: only for the CPU");
    return execution;
  }
  execution.threads = flags.threads;
  if (flags.threads > cpu.processors) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads ", flags.threads, ": this machine has ", cpu.processors, " processors"));
  }
  COBRA_RETURN_IF_ERROR(CheckCpu(execution, cpu));
  return execution;
}

}  // namespace cobra::worker
