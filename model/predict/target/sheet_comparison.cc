#include "model/predict/target/sheet_comparison.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "model/predict/target/device_table.h"

namespace cobra::predict {
namespace {

struct SheetNumber {
  double TargetSpec::*value;
  double weight;  // in a distance
};
constexpr SheetNumber kSheetNumbers[] = {{&TargetSpec::peak_gflops, 1},
                                         {&TargetSpec::memory_gb_per_s, 0.7},
                                         {&TargetSpec::last_level_cache_mb, 0.1},
                                         {&TargetSpec::clock_mhz, 0.5},
                                         {&TargetSpec::cores, 0.1},
                                         {&TargetSpec::vector_bits, 0.5},
                                         {&TargetSpec::l2_cache_mb, 0.1},
                                         {&TargetSpec::convolution_gflops, 1},
                                         {&TargetSpec::pointwise_gflops, 0.5},
                                         {&TargetSpec::depthwise_gflops, 0.5},
                                         {&TargetSpec::l2_gb_per_s, 0.3},
                                         {&TargetSpec::l3_gb_per_s, 0.3},
                                         {&TargetSpec::page_fault_us, 0.1},
                                         {&TargetSpec::board_power_w, 0.2}};
constexpr double kOneFactor = 0.5;  // in the logarithm: the distance of 1
// Distances of what is not a number. Without any known number two targets of one runtime are two
// apart.
constexpr double kOtherKind = 8, kOtherPrecision = 4, kOtherHalf = 2, kOtherRuntime = 4, kOtherRuntimeOfTorch = 8,
                 kOtherCompiler = 4, kOtherLayout = 2, kOtherVendor = 3, kTf32 = 1, kOtherVersion = 1.5,
                 kNothingKnown = 2, kSameWords = 1.5;

// PyTorch's default is TF32 in convolutions alone: whoever says float32 may mean that.
bool IsTf32Apart(const TargetSpec& a, const TargetSpec& b) {
  const auto is_either = [](const std::string& precision) {
    return precision == "float32" || precision == "tf32-convolutions";
  };
  return is_either(a.precision) && is_either(b.precision);
}

// Kernels change, and who measured with another version measured other networks in other ways.
bool IsOtherVersion(const TargetSpec& a, const TargetSpec& b) {
  const absl::string_view one = RuntimeVersion(a), other = RuntimeVersion(b);
  return !one.empty() && !other.empty() && one != other;
}

// How far precisions are apart. In half ones the same matrix units compute.
double PrecisionDistance(const TargetSpec& a, const TargetSpec& b) {
  if (a.precision == b.precision) return 0;
  if (IsTf32Apart(a, b)) return kTf32;
  return ComputesInHalf(a) && ComputesInHalf(b) ? kOtherHalf : kOtherPrecision;
}

// No driver for phones says how PyTorch launches kernels.
double RuntimeDistance(const TargetSpec& a, const TargetSpec& b) {
  if (!IsSameRuntime(a, b)) {
    const bool is_torch_of_gpu = a.kind == "gpu" && b.kind == "gpu" && (IsPyTorch(a) || IsPyTorch(b));
    return is_torch_of_gpu ? kOtherRuntimeOfTorch : kOtherRuntime;
  }
  return RuntimeFamily(a) != RuntimeFamily(b) || IsOtherVersion(a, b) ? kOtherVersion : 0;
}

// Words that name a model: with a digit in them, such as "a76", "rk3588", "9554".
std::set<std::string> ModelWords(const std::string& device) {
  std::set<std::string> words;
  std::string word;
  for (size_t i = 0; i <= device.size(); ++i) {
    const unsigned char c = i < device.size() ? static_cast<unsigned char>(device[i]) : ' ';
    if (absl::ascii_isalnum(c)) {
      word += absl::ascii_tolower(c);
      continue;
    }
    const bool has_digit = std::any_of(word.begin(), word.end(), absl::ascii_isdigit);
    if (has_digit && word.size() > 1) words.insert(word);
    word.clear();
  }
  return words;
}

double SharedWords(const std::string& a, const std::string& b) {
  const std::set<std::string> of_a = ModelWords(a), of_b = ModelWords(b);
  if (of_a.empty() || of_b.empty()) return 0;
  size_t shared = 0;
  for (const std::string& word : of_a) shared += of_b.count(word);
  return static_cast<double>(shared) / static_cast<double>(of_a.size() + of_b.size() - shared);
}

}  // namespace

double LogRatio(double from, double to) { return from > 0 && to > 0 ? std::log(to / from) : 0; }

double SheetDistance(const TargetSpec& a, const TargetSpec& b) {
  double sum = 0, weights = 0;
  const auto add = [&](double ratio, double weight) {
    sum += weight * ratio * ratio / (kOneFactor * kOneFactor);
    weights += weight;
  };
  for (const SheetNumber& number : kSheetNumbers) {
    if (a.*number.value > 0 && b.*number.value > 0) add(LogRatio(a.*number.value, b.*number.value), number.weight);
  }
  add(LogRatio(a.threads, b.threads), 1);
  double distance = weights > 1 ? std::sqrt(sum / weights) : std::hypot(kNothingKnown, std::sqrt(sum));
  if (a.kind != b.kind) distance += kOtherKind;
  distance += PrecisionDistance(a, b) + RuntimeDistance(a, b);
  if (a.kind == "gpu" && !IsSameVendor(a, b)) distance += kOtherVendor;
  if (a.compile != b.compile) distance += kOtherCompiler;
  if (a.layout != b.layout) distance += kOtherLayout;
  return std::max(0.0, distance - kSameWords * SharedWords(a.device, b.device));
}

bool IsAmd(const TargetSpec& gpu) {
  return absl::StrContains(gpu.device, "AMD") || absl::StrContains(gpu.device, "Radeon") ||
         absl::StrContains(gpu.device, "Instinct");
}

bool IsSameVendor(const TargetSpec& a, const TargetSpec& b) { return IsAmd(a) == IsAmd(b); }

bool IsSameMaker(const TargetSpec& a, const TargetSpec& b) {
  const auto is_intel = [](const TargetSpec& gpu) {
    return absl::StrContains(gpu.device, "Intel") || absl::StartsWith(gpu.device, "Arc ");
  };
  return IsSameVendor(a, b) && is_intel(a) == is_intel(b);
}

bool IsSameRuntime(const TargetSpec& a, const TargetSpec& b) {
  const auto is_torch_gpu = [](const TargetSpec& spec) { return spec.kind == "gpu" && IsPyTorch(spec); };
  return RuntimeFamily(a) == RuntimeFamily(b) || (is_torch_gpu(a) && is_torch_gpu(b));
}

bool IsSameDevice(const TargetSpec& a, const TargetSpec& b) { return a.device == b.device; }

bool IsSamePrecision(const TargetSpec& a, const TargetSpec& b) { return PrecisionDistance(a, b) <= kTf32; }

bool IsNamedAlike(const TargetSpec& a, const TargetSpec& b) {
  return IsSameDevice(a, b) || (a.kind == "gpu" && b.kind == "gpu" && !a.device.empty() &&
                                DeviceWords(a.device, true) == DeviceWords(b.device, true));
}

bool AreComparable(const TargetSpec& a, const TargetSpec& b) {
  return a.kind == b.kind && IsSameRuntime(a, b) && a.compile == b.compile && a.precision == b.precision &&
         !IsSameDevice(a, b);
}

WayOfRunning WayOf(const TargetSpec& spec) {
  WayOfRunning way;
  way.computing = HasCasts(spec)             ? WayOfRunning::kCasts
                  : HasHalfTensors(spec)     ? WayOfRunning::kHalfTensors
                  : spec.precision == "int8" ? WayOfRunning::kInt8
                                             : WayOfRunning::kFloat32;
  way.is_compiled = spec.compile != "eager";
  way.is_from_python = RuntimeFamily(spec) == "torch";
  return way;
}

std::vector<size_t> ThatRunAlike(const TargetSpec& spec, absl::Span<const TargetSpec* const> others) {
  std::vector<size_t> alike(others.size());
  std::iota(alike.begin(), alike.end(), size_t{0});
  if (spec.kind != "gpu" || !IsPyTorch(spec)) return alike;
  const auto keep = [&](const auto& is_alike) {
    std::vector<size_t> kept;
    for (const size_t i : alike) {
      if (others[i]->kind == "gpu" && IsPyTorch(*others[i]) && is_alike(WayOf(*others[i]))) kept.push_back(i);
    }
    if (!kept.empty()) alike = std::move(kept);
  };
  const WayOfRunning own = WayOf(spec);
  keep([&own](const WayOfRunning& way) { return way.is_half() == own.is_half(); });
  keep([&own](const WayOfRunning& way) { return way.computing == own.computing; });
  keep([&own](const WayOfRunning& way) { return way.is_compiled == own.is_compiled; });
  keep([&own](const WayOfRunning& way) { return way.is_from_python == own.is_from_python; });
  return alike;
}

bool HasNumbers(const TargetSpec& spec) {
  return spec.peak_gflops > 0 || spec.memory_gb_per_s > 0 || spec.clock_mhz > 0 || spec.convolution_gflops > 0;
}

TargetSpec FilledFrom(TargetSpec spec, const TargetSpec& other) {
  // What it learned of its own way to compute in half precision, with casts or without, fits no
  // other.
  if (ComputesInHalf(spec) && ComputesInHalf(other)) spec.precision = other.precision;
  // As much power for each operation as the other has.
  if (!(spec.board_power_w > 0) && spec.peak_gflops > 0 && other.peak_gflops > 0)
    spec.board_power_w = other.board_power_w * spec.peak_gflops / other.peak_gflops;
  for (const SheetNumber& number : kSheetNumbers) {
    if (!(spec.*number.value > 0)) spec.*number.value = other.*number.value;
  }
  return spec;
}

}  // namespace cobra::predict
