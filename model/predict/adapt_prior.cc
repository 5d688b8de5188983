#include "model/predict/adapt_prior.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "model/predict/device_table.h"

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

// The exponents of the number of threads. Few trained targets of one runtime have several, so these
// are not learned: with what the peaks of one and two threads teach, fourteen of an i9 are answered
// four times too slow.
constexpr double kOfThreads = 0.75, kOfThreadsElsewhere = 0.6;

// The logarithm of by how much the second is more; 0 if one of them is not known.
double LogRatio(double from, double to) { return from > 0 && to > 0 ? std::log(to / from) : 0; }

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

bool IsComputing(OperatorGroup group) {
  return group == kConvDense || group == kConvPointwise || group == kConvGrouped || group == kProduct;
}

// By how much the threads of `to` are faster together, were each as fast as one of `from`.
double LogOfThreads(const TargetSpec& from, const TargetSpec& to, OperatorGroup group) {
  return (IsComputing(group) ? kOfThreads : kOfThreadsElsewhere) * LogRatio(from.threads, to.threads);
}

// By how much a thread of the one computes faster.
double LogCompute(const TargetSpec& from, const TargetSpec& to, OperatorGroup group) {
  double TargetSpec::*const measured = group == kConvDense     ? &TargetSpec::convolution_gflops
                                       : group == kConvGrouped ? &TargetSpec::depthwise_gflops
                                                               : &TargetSpec::pointwise_gflops;
  // The kernels' rates are those of one core.
  if (from.*measured > 0 && to.*measured > 0) return LogRatio(from.*measured, to.*measured);
  if (!(from.peak_gflops > 0) || !(to.peak_gflops > 0)) return 0;
  return LogRatio(from.peak_gflops, to.peak_gflops) - LogRatio(from.threads, to.threads);
}

// How much longer the calls of a group take on `to` than on `from`: the mean logarithm over
// networks in which they matter. False: in none.
bool GroupLogRatio(const KnownTarget& from, const KnownTarget& to, OperatorGroup group, double* ratio) {
  constexpr double kLeastShare = 0.03, kMost = 3;
  double sum = 0, weights = 0;
  for (size_t n = 0; n < from.networks->size(); ++n) {
    const NetworkView &a = (*from.networks)[n], &b = (*to.networks)[n];
    double us_a = 0, us_b = 0;
    for (size_t c = 0; c < a.classes.size(); ++c) {
      if (a.classes[c].group != group) continue;
      us_a += a.classes[c].us;
      us_b += b.classes[c].us;
    }
    const double share = std::min(us_a / a.us, us_b / b.us);
    if (share < kLeastShare) continue;
    sum += share * std::clamp(std::log(us_b / us_a), -kMost, kMost);
    weights += share;
  }
  if (weights == 0) return false;
  *ratio = sum / weights;
  return true;
}

// Exponents of one group by ridge regression towards those of `plausible`.
void FitGroup(absl::Span<const KnownTarget> targets, OperatorGroup group, SheetLaw* law) {
  constexpr double kPriorDevices = 1.5;  // the plausible exponents count like so many devices
  double aa = 0, ab = 0, bb = 0, ay = 0, by = 0;
  const double each = 1 / static_cast<double>(targets.size());
  for (const KnownTarget& from : targets) {
    for (const KnownTarget& to : targets) {
      double ratio = 0;
      if (!AreComparable(*from.spec, *to.spec) || !GroupLogRatio(from, to, group, &ratio)) continue;
      const double a = LogCompute(*from.spec, *to.spec, group),
                   b = LogRatio(from.spec->memory_gb_per_s, to.spec->memory_gb_per_s);
      const double y =
          -ratio - LogOfThreads(*from.spec, *to.spec, group) - law->of_compute[group] * a - law->of_memory[group] * b;
      aa += each * a * a;
      ab += each * a * b;
      bb += each * b * b;
      ay += each * a * y;
      by += each * b * y;
    }
  }
  const double prior = kPriorDevices * 0.5;  // a pair of neighbours differs by about a half in each
  aa += prior;
  bb += prior;
  const double determinant = aa * bb - ab * ab;
  law->of_compute[group] = std::clamp(law->of_compute[group] + (bb * ay - ab * by) / determinant, 0.0, 1.2);
  law->of_memory[group] = std::clamp(law->of_memory[group] + (aa * by - ab * ay) / determinant, 0.0, 1.2);
}

// The coefficients that turn one target into another, beyond `shift`: a ridge regression over
// classes of calls.
AdaptVector CoefficientsBetween(const KnownTarget& from, const KnownTarget& to, const AdaptVector& shift) {
  AdaptMatrix a{};
  AdaptVector b{};
  for (size_t i = 0; i < a.size(); ++i) a[i][i] = i == 0 ? 1e-3 : i == 1 ? 0.3 : i % 2 == 0 ? 0.2 : 0.6;
  a[kLaunchTerm][kLaunchTerm] = 0.1;
  for (size_t n = 0; n < from.networks->size(); ++n) {
    const NetworkView &x = (*from.networks)[n], &y = (*to.networks)[n];
    for (size_t c = 0; c < x.classes.size(); ++c) {
      const double weight = std::sqrt(x.classes[c].us / x.us * y.classes[c].us / y.us);
      const AdaptVector terms = TermsOf(x.classes[c]);
      const double ratio = std::clamp(std::log(y.classes[c].us / x.classes[c].us) - Dot(terms, shift), -3.0, 3.0);
      AddOuter(terms, weight, &a);
      for (size_t i = 0; i < terms.size(); ++i) b[i] += weight * terms[i] * ratio;
    }
  }
  return Product(InverseOf(a).inverse, b);
}

}  // namespace

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

SheetLaw PlausibleLaw() {
  SheetLaw law;
  for (int group = 0; group < kNumOperatorGroups; ++group) {
    const bool is_computing = IsComputing(static_cast<OperatorGroup>(group));
    law.of_compute[static_cast<size_t>(group)] = is_computing ? 0.75 : 0.35;
    law.of_memory[static_cast<size_t>(group)] = is_computing ? 0.1 : 0.4;
  }
  return law;
}

AdaptVector SheetShift(const TargetSpec& from, const TargetSpec& to, const SheetLaw& law) {
  AdaptVector shift{};
  const double memory = LogRatio(from.memory_gb_per_s, to.memory_gb_per_s);
  for (size_t group = 0; group < kNumOperatorGroups; ++group) {
    const auto of_calls = static_cast<OperatorGroup>(group);
    shift[2 + 2 * group] = -law.of_compute[group] * LogCompute(from, to, of_calls) - law.of_memory[group] * memory -
                           LogOfThreads(from, to, of_calls);
  }
  return shift;
}

TargetDifferences DifferencesOf(absl::Span<const KnownTarget> targets) {
  constexpr double kPlausibleScale = 0.5 * 0.5, kPlausibleBias = 0.15 * 0.15, kPlausibleSlope = 0.1 * 0.1,
                   kPlausibleLaunch = 0.5 * 0.5;
  constexpr size_t kNeighbors = 6;
  constexpr double kPriorPairs = 4;
  TargetDifferences differences;
  for (int group = 0; group < kNumOperatorGroups && !targets.empty(); ++group)
    FitGroup(targets, static_cast<OperatorGroup>(group), &differences.law);
  double pairs = kPriorPairs, scale = kPriorPairs * kPlausibleScale;
  for (size_t i = 0; i < differences.covariance.size(); ++i)
    differences.covariance[i][i] = kPriorPairs * (i % 2 == 0 ? kPlausibleBias : kPlausibleSlope);
  const bool has_gpus = !targets.empty() && targets[0].spec->kind == "gpu";
  differences.covariance[kLaunchTerm][kLaunchTerm] = kPriorPairs * kPlausibleSlope;
  if (has_gpus) differences.launch_variance = kPlausibleLaunch;
  for (const KnownTarget& to : targets) {
    std::vector<std::pair<double, const KnownTarget*>> near;
    for (const KnownTarget& from : targets) {
      if (AreComparable(*from.spec, *to.spec)) near.push_back({SheetDistance(*from.spec, *to.spec), &from});
    }
    std::sort(near.begin(), near.end());
    if (near.size() > kNeighbors) near.resize(kNeighbors);
    for (const auto& [distance, from] : near) {
      AdaptVector between = CoefficientsBetween(*from, to, SheetShift(*from->spec, *to.spec, differences.law));
      scale += between[0] * between[0];
      between[0] = 0;
      AddOuter(between, 1, &differences.covariance);
      pairs += 1;
    }
  }
  for (AdaptVector& row : differences.covariance) {
    for (double& value : row) value /= pairs;
  }
  differences.scale_variance = std::max(scale / pairs, kPlausibleScale);
  return differences;
}

}  // namespace cobra::predict
