#include "model/predict/target/sheet_check.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "base/status_macros.h"
#include "model/predict/target/device_table.h"

namespace cobra::predict {
namespace {

constexpr size_t kMaxTextBytes = 200;

absl::Status Bad(const char* field, double value, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrFormat("%s %.6g: %s", field, value, why));
}

// What is misspelt would be a runtime that nobody has measured.
absl::Status CheckSoftware(const TargetSpec& sheet) {
  const std::string mode = absl::AsciiStrToLower(sheet.compile);
  if (mode != sheet.compile)
    return absl::InvalidArgumentError(absl::StrCat("compile \"", sheet.compile, "\": did you mean ", mode, "?"));
  constexpr std::pair<absl::string_view, absl::string_view> kOtherNames[] = {
      {"pytorch", "torch"}, {"ort", "onnxruntime"}, {"onnx_runtime", "onnxruntime"}};
  // What follows is a version.
  const size_t family = sheet.runtime.find_first_of("- 0123456789");
  std::string right = absl::AsciiStrToLower(sheet.runtime.substr(0, family));
  while (absl::EndsWith(right, "_")) right.pop_back();
  for (const auto& [wrong, name] : kOtherNames) {
    if (absl::StartsWith(right, wrong)) right = absl::StrCat(name, right.substr(wrong.size()));
  }
  if (family != std::string::npos) {
    const size_t version = sheet.runtime.find_first_not_of("- ", family);
    if (version != std::string::npos) absl::StrAppend(&right, "-", sheet.runtime.substr(version));
  }
  if (right == sheet.runtime) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("runtime \"", sheet.runtime, "\": did you mean ", right, "?"));
}

absl::Status CheckTexts(const TargetSpec& sheet) {
  const struct {
    const char* field;
    const std::string& text;
  } texts[] = {{"name", sheet.name},          {"device", sheet.device}, {"kind", sheet.kind},
               {"runtime", sheet.runtime},    {"layout", sheet.layout}, {"compile", sheet.compile},
               {"precision", sheet.precision}};
  for (const auto& [field, text] : texts) {
    if (text.size() <= kMaxTextBytes && std::none_of(text.begin(), text.end(), absl::ascii_iscntrl)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": has more than ", kMaxTextBytes, " bytes, or a control character"));
  }
  for (const auto& [field, text, example] :
       {std::tuple("device", &sheet.device, "its name as the vendor writes it: NVIDIA L4"),
        std::tuple("runtime", &sheet.runtime, "what runs networks there: torch-2.4, onnxruntime-1.18, ncnn")}) {
    if (text->empty()) return absl::InvalidArgumentError(absl::StrCat(field, " is missing: ", example));
  }
  if (sheet.kind != "cpu" && sheet.kind != "gpu") {
    return absl::InvalidArgumentError(absl::StrCat(
        "kind ", sheet.kind.empty() ? "is missing" : absl::StrCat("\"", sheet.kind, "\""), ": cpu or gpu"));
  }
  if (sheet.layout != "nchw" && sheet.layout != "nhwc")
    return absl::InvalidArgumentError(absl::StrCat("layout \"", sheet.layout, "\": nchw or nhwc"));
  COBRA_RETURN_IF_ERROR(CheckSoftware(sheet));
  return CheckPrecisionName(sheet.precision);
}

// What no device has: of each kind, generously.
absl::Status CheckRanges(const TargetSpec& sheet) {
  const bool is_gpu = sheet.kind == "gpu";
  const double most_gflops = is_gpu ? 2e7 : 1e6, most_gb_per_s = is_gpu ? 3e4 : 5e3;
  const struct {
    const char* field;
    double value, least, most;
  } numbers[] = {{"threads", static_cast<double>(sheet.threads), 1, 4096},
                 {"peak_gflops", sheet.peak_gflops, 0.01, most_gflops},
                 {"memory_gb_per_s", sheet.memory_gb_per_s, 0.01, most_gb_per_s},
                 {"last_level_cache_mb", sheet.last_level_cache_mb, 0.001, 1e4},
                 {"clock_mhz", sheet.clock_mhz, 10, 1e4},
                 {"cores", sheet.cores, 1, 1e5},
                 {"l2_cache_mb", sheet.l2_cache_mb, 0.001, 1e4},
                 {"convolution_gflops", sheet.convolution_gflops, 0.01, most_gflops},
                 {"pointwise_gflops", sheet.pointwise_gflops, 0.01, most_gflops},
                 {"depthwise_gflops", sheet.depthwise_gflops, 0.001, most_gflops},
                 {"l2_gb_per_s", sheet.l2_gb_per_s, 0.01, 1e6},
                 {"l3_gb_per_s", sheet.l3_gb_per_s, 0.01, 1e6},
                 {"page_fault_us", sheet.page_fault_us, 0.001, 1e4},
                 {"memory_gb", sheet.memory_gb, 0.001, is_gpu ? 2e3 : 1e5},
                 {"board_power_w", sheet.board_power_w, 0.1, 2e4},
                 {"process_nm", sheet.process_nm, 1, 200}};
  for (const auto& [field, value, least, most] : numbers) {
    const bool is_unknown = value == 0 && absl::string_view(field) != "threads";
    if (is_unknown || (value >= least && value <= most)) continue;
    return Bad(field, value,
               absl::StrFormat("no %s has that; from %.6g to %.6g, or 0 if it is not known", sheet.kind, least, most));
  }
  return absl::OkStatus();
}

// Two units of fused multiply-adds in each core, and as much again by a higher clock and by matrix
// units; those compute sixteen times as much in half precision or int8. The slowest take twenty
// cycles for an operation.
absl::Status CheckPeakOfProcessor(const TargetSpec& sheet) {
  if (!(sheet.peak_gflops > 0)) return absl::OkStatus();
  constexpr double kWidestBits = 512, kHighestMhz = 6e3, kLeastOfCycle = 0.05;  // where they are not given
  const double bits = sheet.vector_bits > 0 ? sheet.vector_bits : kWidestBits,
               mhz = sheet.clock_mhz > 0 ? sheet.clock_mhz : kHighestMhz, threads = sheet.threads,
               most = (sheet.precision == "float32" ? 1 : 16) * 8 * 4 * bits / 32 * mhz / 1000 * threads,
               least = kLeastOfCycle * sheet.clock_mhz / 1000 * threads;
  if (sheet.peak_gflops > most) {
    return Bad("peak_gflops", sheet.peak_gflops,
               absl::StrFormat("more than %d threads of %.6g MHz and %.6g bits can have, which is below %.4g",
                               sheet.threads, mhz, bits, most));
  }
  if (sheet.peak_gflops < least) {
    return Bad("peak_gflops", sheet.peak_gflops,
               absl::StrFormat("less than %d threads of %.6g MHz have, which is above %.4g; 10^9 operations a second",
                               sheet.threads, sheet.clock_mhz, least));
  }
  return absl::OkStatus();
}

// A core of a GPU does some hundred operations a cycle in float32, and some thousand with its
// tensor units.
absl::Status CheckPeakOfGpu(const TargetSpec& sheet) {
  // In data/devices/gpus.csv from 24 (a Jetson Nano) to 2,300 (a B200 in half precision) for each
  // watt.
  constexpr double kFewestOfWatt = 4, kMostOfWatt = 1e4;
  const double of_watt = sheet.board_power_w > 0 ? sheet.peak_gflops / sheet.board_power_w : 0;
  if (of_watt > 0 && (of_watt < kFewestOfWatt || of_watt > kMostOfWatt)) {
    return Bad("board_power_w", sheet.board_power_w,
               absl::StrFormat("with peak_gflops %.6g that is %.4g GFLOPS for each watt; GPUs have %.6g to %.6g",
                               sheet.peak_gflops, of_watt, kFewestOfWatt, kMostOfWatt));
  }
  if (!(sheet.peak_gflops > 0) || !(sheet.cores > 0) || !(sheet.clock_mhz > 0)) return absl::OkStatus();
  const double of_cycle = sheet.precision == "float32" ? 1024 : 32768,
               most = of_cycle * sheet.cores * sheet.clock_mhz / 1000;
  if (sheet.peak_gflops <= most) return absl::OkStatus();
  return Bad("peak_gflops", sheet.peak_gflops,
             absl::StrFormat("more than %.6g cores of %.6g MHz can have%s, which is below %.4g", sheet.cores,
                             sheet.clock_mhz, sheet.precision == "float32" ? " in float32" : "", most));
}

// Whoever builds a device gives it memory that its arithmetic can use. A mistaken unit, a
// thousandfold, is beyond what any device has (data/devices, data/public), and some more either
// way; matrix units compute ten times as much.
absl::Status CheckBalance(const TargetSpec& sheet) {
  const bool is_single = sheet.precision == "float32" || sheet.precision == "tf32-convolutions";
  const double fewest = sheet.kind == "gpu" ? (is_single ? 0.2 : 1) : 0.1, most = is_single ? 500 : 5000;
  if (!(sheet.peak_gflops > 0) || !(sheet.memory_gb_per_s > 0)) return absl::OkStatus();
  const double of_byte = sheet.peak_gflops / sheet.memory_gb_per_s;
  if (of_byte >= fewest && of_byte <= most) return absl::OkStatus();
  return Bad("memory_gb_per_s", sheet.memory_gb_per_s,
             absl::StrFormat("with peak_gflops %.6g that is %.4g operations for each byte; devices have %.6g to %.6g",
                             sheet.peak_gflops, of_byte, fewest, most));
}

// Whoever gives a name for all numbers means one device by it.
absl::Status CheckName(const TargetSpec& sheet) {
  // The chips of NVIDIA's boards have processors, too.
  const bool has_processor = absl::StrContains(absl::AsciiStrToLower(sheet.device), "jetson");
  if (sheet.kind == "cpu" && ProcessNm(sheet.device) > 0 && !has_processor)
    return absl::InvalidArgumentError(absl::StrCat("device \"", sheet.device, "\": is a GPU, but kind is cpu"));
  if (sheet.kind != "gpu" || sheet.peak_gflops > 0 || sheet.memory_gb_per_s > 0) return absl::OkStatus();
  constexpr absl::string_view kOrNumbers = ", or give peak_gflops and memory_gb_per_s";
  if (const std::vector<std::string> like = DevicesNamedLike(sheet.device); !like.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("device \"", sheet.device, "\": may be ", absl::StrJoin(like, ", "), "; say which", kOrNumbers));
  }
  if (!GpusNamed(sheet.device).empty()) return absl::OkStatus();
  // Without numbers it would be answered for as whatever explains an unknown device.
  const std::vector<std::string> of_model = GpusOfModel(sheet.device);
  if (of_model.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "device \"", sheet.device, "\": has no data sheet here, and ", absl::StrJoin(of_model, ", "),
      of_model.size() > 1 ? " have" : " has", " one; name ", of_model.size() > 1 ? "one of them" : "it", kOrNumbers));
}

// A GPU that data/devices has, by its exact name: power limits and memories differ between its
// variants, not by more than this.
absl::Status CheckAgainstTable(const TargetSpec& sheet) {
  constexpr double kMostTimes = 2.5;
  if (sheet.kind != "gpu") return absl::OkStatus();
  if (LacksUnitsFor(sheet.device, sheet.precision)) {
    return absl::InvalidArgumentError(
        absl::StrCat("precision \"", sheet.precision, "\": ", sheet.device, " has no units for it; ",
                     sheet.precision == "bfloat16" ? "float16 or float32" : "PyTorch computes in float32 there"));
  }
  TargetSpec of_table;
  of_table.kind = sheet.kind;
  of_table.device = sheet.device;
  of_table.precision = sheet.precision;
  of_table = FilledFromTable(std::move(of_table));
  const struct {
    const char* field;
    double given, known;
  } numbers[] = {{"peak_gflops", sheet.peak_gflops, of_table.peak_gflops},
                 {"memory_gb_per_s", sheet.memory_gb_per_s, of_table.memory_gb_per_s},
                 {"cores", sheet.cores, of_table.cores},
                 {"clock_mhz", sheet.clock_mhz, of_table.clock_mhz},
                 {"memory_gb", sheet.memory_gb, of_table.memory_gb},
                 {"board_power_w", sheet.board_power_w, of_table.board_power_w},
                 {"process_nm", sheet.process_nm, ProcessNm(sheet.device)}};
  for (const auto& [field, given, known] : numbers) {
    if (!(given > 0) || !(known > 0) || std::max(given / known, known / given) <= kMostTimes) continue;
    return Bad(field, given,
               absl::StrFormat("%s in %s has %.6g; leave it out, or give the device another name", sheet.device,
                               sheet.precision, known));
  }
  return absl::OkStatus();
}

// Numbers that are each possible, and not together.
absl::Status CheckTogether(const TargetSpec& sheet) {
  if (sheet.vector_bits != 0) {
    const double log = std::log2(sheet.vector_bits);
    if (!(sheet.vector_bits >= 32 && sheet.vector_bits <= 2048 && log == std::floor(log)))
      return Bad("vector_bits", sheet.vector_bits, "is none of 32, 64, 128, 256, 512, 1024, 2048");
  }
  const bool is_cpu = sheet.kind == "cpu";
  if (!is_cpu && sheet.vector_bits != 0) return Bad("vector_bits", sheet.vector_bits, "is a number of processors");
  if (is_cpu && sheet.board_power_w != 0) return Bad("board_power_w", sheet.board_power_w, "is a number of GPUs");
  if (is_cpu && sheet.process_nm != 0) return Bad("process_nm", sheet.process_nm, "is a number of GPUs");
  if (sheet.memory_gb > 0 && sheet.last_level_cache_mb > 1e3 * sheet.memory_gb) {
    return Bad("last_level_cache_mb", sheet.last_level_cache_mb,
               absl::StrFormat("more than memory_gb %.6g", sheet.memory_gb));
  }
  constexpr double kThreadsOfCore = 8;  // POWER; x86 two, Xeon Phi four
  if (is_cpu && sheet.cores > 0 && sheet.threads > kThreadsOfCore * sheet.cores)
    return Bad("threads", sheet.threads, absl::StrFormat("more than %.6g cores can run", sheet.cores));
  if (sheet.l2_cache_mb > 0 && sheet.last_level_cache_mb > 0 && sheet.l2_cache_mb > sheet.last_level_cache_mb) {
    return Bad("l2_cache_mb", sheet.l2_cache_mb,
               absl::StrFormat("more than last_level_cache_mb %.6g", sheet.last_level_cache_mb));
  }
  COBRA_RETURN_IF_ERROR(CheckAgainstTable(sheet));
  COBRA_RETURN_IF_ERROR(CheckBalance(sheet));
  COBRA_RETURN_IF_ERROR(is_cpu ? CheckPeakOfProcessor(sheet) : CheckPeakOfGpu(sheet));
  // Winograd's algorithm needs a quarter of the multiplications.
  constexpr double kAbovePeak = 16;
  for (const auto& [field, value] :
       {std::pair("convolution_gflops", sheet.convolution_gflops),
        std::pair("pointwise_gflops", sheet.pointwise_gflops), std::pair("depthwise_gflops", sheet.depthwise_gflops)}) {
    if (sheet.peak_gflops > 0 && value > kAbovePeak * sheet.peak_gflops)
      return Bad(field, value, absl::StrFormat("%.3g times peak_gflops", value / sheet.peak_gflops));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPrecisionName(absl::string_view precision) {
  constexpr absl::string_view kPrecisions[] = {"float32",     "tf32", "tf32-convolutions", "bfloat16", "float16",
                                               "amp-float16", "int8"};
  if (absl::c_linear_search(kPrecisions, precision)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("precision \"", precision, "\": ", absl::StrJoin(kPrecisions, ", ")));
}

absl::Status CheckSheet(const TargetSpec& sheet) {
  COBRA_RETURN_IF_ERROR(CheckTexts(sheet));
  COBRA_RETURN_IF_ERROR(CheckRanges(sheet));
  COBRA_RETURN_IF_ERROR(CheckName(sheet));
  return CheckTogether(sheet);
}

}  // namespace cobra::predict
