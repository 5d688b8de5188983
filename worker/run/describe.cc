#include "worker/run/describe.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "model/predict/target/device_table.h"
#include "nlohmann/json.hpp"
#include "worker/execute/executor.h"
#include "worker/machine/busy_processors.h"
#include "worker/machine/gpu.h"
#include "worker/machine/machine.h"
#include "worker/machine/sensors.h"
#include "worker/meter/child.h"
#include "worker/run/speeds.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

double MemoryGb() { return std::round(static_cast<double>(PhysicalMemoryBytes()) / 1e7) / 100; }

// What else runs only takes away: of each speed the best of some attempts counts. Returns how many
// processors others kept busy in the quietest attempt, or 1 if no two attempts agree about the
// peak.
absl::StatusOr<double> MeasureQuietSpeeds(const Execution& execution, predict::TargetSpec* machine) {
  constexpr int kMostAttempts = 6;
  constexpr double kQuiet = 0.1, kAgree = 0.95;
  double least_others = std::numeric_limits<double>::infinity();
  std::vector<double> peaks;
  predict::TargetSpec best = *machine;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const BusyProcessors busy;
    predict::TargetSpec now = *machine;
    COBRA_RETURN_IF_ERROR(MeasureSpeeds(execution, &now));
    const double others = busy.Others(execution.threads);
    least_others = std::min(least_others, others);
    peaks.push_back(now.peak_gflops);
    for (double predict::TargetSpec::*speed :
         {&predict::TargetSpec::peak_gflops, &predict::TargetSpec::memory_gb_per_s,
          &predict::TargetSpec::convolution_gflops, &predict::TargetSpec::pointwise_gflops,
          &predict::TargetSpec::depthwise_gflops, &predict::TargetSpec::l2_gb_per_s, &predict::TargetSpec::l3_gb_per_s})
      best.*speed = std::max(best.*speed, now.*speed);
    best.page_fault_us = attempt == 0 ? now.page_fault_us : std::min(best.page_fault_us, now.page_fault_us);
    if (others < kQuiet) break;
  }
  *machine = best;
  std::sort(peaks.rbegin(), peaks.rend());
  const bool agree = peaks.size() < 2 || peaks[1] >= kAgree * peaks[0];
  return agree || least_others < kQuiet ? least_others : std::max(least_others, 1.0);
}

struct Described {
  predict::TargetSpec machine;
  bool disturbed = false;
};

// Convolutions of our own would not be PyTorch's.
absl::Status AskPyTorch(RunnerSession* torch, const Execution& execution, predict::TargetSpec* machine) {
  constexpr int kAttempts = 3;
  for (int attempt = 0; torch != nullptr && attempt < kAttempts; ++attempt) {
    COBRA_RETURN_IF_ERROR(MeasureSpeedsOfPyTorch(
        execution, [torch](const graph::Graph& graph, int runs) { return torch->MedianUs(graph, runs); }, machine));
  }
  return absl::OkStatus();
}

// A target of a runner: the machine is the same, its runtime another.
std::string NameBehind(const RunnerDescription& runner) {
  return absl::StrCat("-", runner.runtime, runner.compile == "eager" ? "" : absl::StrCat("-", runner.compile));
}

absl::StatusOr<Described> DescribeHere(const Execution& execution) {
  GpuFacts gpu;
  if (execution.is_cuda()) {
    COBRA_ASSIGN_OR_RETURN(gpu, ReadGpuFacts(execution.cuda_device));
  }
  predict::TargetSpec machine = DescribeMachine(RuntimeVersion(execution), execution, gpu);
  machine.memory_gb = execution.is_cuda() ? gpu.memory_gb : MemoryGb();
  // Of a GPU with a published sheet its numbers, as weights were trained with those of all others;
  // they are higher than what one product reaches.
  machine = predict::FilledFromTable(std::move(machine));
  if (execution.is_cuda()) {
    if (!(machine.peak_gflops > 0)) COBRA_RETURN_IF_ERROR(MeasureSpeeds(execution, &machine));
    return Described{std::move(machine), false};
  }
  constexpr double kDisturbed = 0.1;  // of a processor
  COBRA_ASSIGN_OR_RETURN(const double others, MeasureQuietSpeeds(execution, &machine));
  return Described{std::move(machine), others >= kDisturbed};
}

// Runs `f` in a child and returns its text or its error.
template <typename F>
absl::StatusOr<std::string> InChild(F f) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, RunInChild([&] {
                           const absl::StatusOr<std::string> result = f();
                           return result.ok() ? absl::StrCat("+", *result)
                                              : absl::StrCat("-", result.status().message());
                         }));
  if (text[0] == '-') return absl::UnavailableError(text.substr(1));
  return text.substr(1);
}

Json OrUnavailable(const std::optional<double>& value) { return value ? Json(*value) : Json("unavailable"); }

Json SensorsJson(Sensors* sensors) {
  const SensorReadings now = sensors == nullptr ? SensorReadings() : sensors->Read();
  const std::optional<double> joules = sensors == nullptr ? std::nullopt : sensors->Joules();
  return {{"clock_mhz", OrUnavailable(now.clock_mhz)},
          {"memory_clock_mhz", OrUnavailable(now.memory_clock_mhz)},
          {"temperature_c", OrUnavailable(now.temperature_c)},
          {"power_w", OrUnavailable(now.power_w)},
          {"energy", joules ? "counted" : "unavailable"}};
}

absl::StatusOr<Described> DescribeWhereItMayRun(const Execution& execution) {
  COBRA_RETURN_IF_ERROR(CheckLibTorchHas(execution));
  if (!NeedsChild(execution)) return DescribeHere(execution);
  COBRA_ASSIGN_OR_RETURN(const std::string text, InChild([&]() -> absl::StatusOr<std::string> {
                           ConfigureLibTorch(execution.threads);
                           COBRA_ASSIGN_OR_RETURN(const Described described, DescribeHere(execution));
                           return absl::StrCat(described.disturbed ? "!" : ".",
                                               predict::TargetSpecToJson(described.machine));
                         }));
  COBRA_ASSIGN_OR_RETURN(predict::TargetSpec machine, predict::TargetSpecFromJson(text.substr(1)));
  return Described{std::move(machine), text[0] == '!'};
}

absl::StatusOr<Described> Describe(const Execution& execution, RunnerSession* runner) {
  COBRA_ASSIGN_OR_RETURN(Described described, DescribeWhereItMayRun(execution));
  if (runner == nullptr) return described;
  predict::TargetSpec& machine = described.machine;
  if (!HasLibTorch()) COBRA_RETURN_IF_ERROR(AskPyTorch(runner->PyTorch(), execution, &machine));
  const RunnerDescription& is = runner->description();
  machine.runtime = absl::StrCat(is.runtime, "-", is.version);
  machine.compile = is.compile;
  absl::StrAppend(&machine.name, NameBehind(is));
  return described;
}

}  // namespace

bool NeedsChild(const Execution& execution) { return HasLibTorch() && execution.needs_child_process(); }

absl::StatusOr<predict::TargetSpec> DescribeTarget(const Execution& execution, RunnerSession* runner) {
  COBRA_ASSIGN_OR_RETURN(Described described, Describe(execution, runner));
  return std::move(described.machine);
}

absl::StatusOr<std::string> NameOfTarget(const Execution& execution, const RunnerSession* runner) {
  const std::string behind = runner == nullptr ? "" : NameBehind(runner->description());
  if (!execution.is_cuda()) return absl::StrCat(TargetName(execution), behind);
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Nvml> nvml, Nvml::Open(execution.cuda_device));
  return absl::StrCat(TargetName(execution, nvml->name()), behind);
}

absl::StatusOr<std::string> DescriptionJson(const Execution& execution, int core, RunnerSession* runner) {
  COBRA_ASSIGN_OR_RETURN(const Described described, Describe(execution, runner));
  const predict::TargetSpec& machine = described.machine;
  Json j = ParseJson<Json>(predict::TargetSpecToJson(machine));
  Json versions = {{"runtime", machine.runtime}};
  if (HasLibTorch()) versions["libtorch"] = LibTorchVersion();
  Json precisions = Json::array({"float32"});
  if (execution.is_cuda()) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, InChild([&]() -> absl::StatusOr<std::string> {
                             COBRA_ASSIGN_OR_RETURN(const GpuFacts gpu, ReadGpuFacts(execution.cuda_device));
                             return Json{{"major", gpu.compute_major}, {"minor", gpu.compute_minor}}.dump();
                           }));
    const Json gpu = ParseJson<Json>(text);
    j["compute_capability"] = absl::StrCat(gpu["major"].get<int>(), ".", gpu["minor"].get<int>());
    precisions.push_back("float16");
    if (gpu["major"].get<int>() >= 8)
      precisions.insert(precisions.end(), {"tf32", "tf32-convolutions", "bfloat16"});  // since Ampere
    if (const auto nvml = Nvml::Open(execution.cuda_device); nvml.ok()) versions["driver"] = (*nvml)->driver_version();
  } else {
    for (const CpuCache& cache : CpuCaches())
      j["caches_kb"][absl::StrCat("L", cache.level, " ", cache.type)] = cache.kb;
    if (ThisCpu().has_bfloat16) precisions.push_back("bfloat16");
  }
  j["precisions"] = std::move(precisions);
  j["versions"] = std::move(versions);
  j["governor"] = Governor(core);
  if (described.disturbed) j["disturbed"] = true;
  j["sensors"] = SensorsJson(SensorsOf(execution, core).get());
  return j.dump();
}

}  // namespace cobra::worker
