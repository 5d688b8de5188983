#include "worker/run/group_runner.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "graph/form/fingerprint.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "worker/execute/executor.h"
#include "worker/machine/gpu.h"
#include "worker/machine/machine.h"
#include "worker/machine/sensors.h"
#include "worker/meter/child.h"
#include "worker/run/describe.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kCanaryWindow = 400;  // canaries in the session's running median

Json CanaryJson(const CanaryTimes& times) {
  Json j;
  if (times.conv_us > 0) j["conv_us"] = times.conv_us;
  j["matmul_us"] = times.matmul_us;
  j["copy_us"] = times.copy_us;
  j["core_ratio"] = times.core_ratio;
  return j;
}

Json RulesJson(const MeasureOptions& o) {
  return {{"warmup_ms", o.meter.warmup_ms},
          {"warmup_runs", o.meter.warmup_runs},
          {"warmup_max_ms", o.meter.warmup_max_ms},
          {"interval", o.meter.interval},
          {"min_runs", o.meter.min_runs},
          {"min_runs_slow", o.meter.min_runs_slow},
          {"slow_run_ms", o.meter.slow_run_ms},
          {"max_ms", o.meter.max_ms},
          {"single_run_above_ms", o.meter.single_run_above_ms},
          {"min_batch_us", o.meter.min_batch_us},
          {"profiled_runs", o.profiled_runs},
          {"energy_region_ms", o.energy_region_ms}};
}

CanaryTimes CanaryFromText(const std::string& text) {
  const Json j = ParseJson<Json>(text);
  return {j.value("conv_us", 0.0), j.value("matmul_us", 0.0), j.value("copy_us", 0.0), j.value("core_ratio", 1.0)};
}

// The measurement of a sample that could not be measured.
store::Measurement Failure(const Sample& sample, store::Outcome outcome, absl::string_view message) {
  store::Measurement measurement;
  measurement.outcome = outcome;
  measurement.message = std::string(message);
  measurement.subject.is_network = sample.is_network;
  measurement.subject.label = sample.label;
  store::SetGraph(sample.graph, &measurement.subject);
  return measurement;
}

// A runner's command without the folders of this machine, which are nobody's business in a record.
std::vector<std::string> WithoutFolders(std::vector<std::string> command) {
  for (std::string& word : command) {
    if (word[0] == '/') word.erase(0, word.rfind('/') + 1);
  }
  return command;
}

// A user should know what nobody has checked.
void WarnOfResults(RunnerSession* runner) {
  if (runner->compared_with() != "nothing") return;
  const std::string& why = runner->why_not_compared();
  std::fprintf(stderr, "warning: what %s computes is compared with nothing: this cobra-worker carries no LibTorch%s\n",
               runner->description().runtime.c_str(), why.empty() ? "" : absl::StrCat(", and ", why).c_str());
}

std::string DriverText(int device) {
  const absl::StatusOr<std::unique_ptr<Nvml>> nvml = Nvml::Open(device);
  return nvml.ok() ? (*nvml)->driver_version() : "unavailable";
}

}  // namespace

absl::StatusOr<std::string> NameOfTarget(const GroupRunnerOptions& options) {
  if (options.runner.empty()) return NameOfTarget(options.execution, nullptr);
  COBRA_ASSIGN_OR_RETURN(const auto session, RunnerSession::Create(options.runner, options.execution));
  return NameOfTarget(options.execution, session.get());
}

absl::StatusOr<std::unique_ptr<GroupRunner>> GroupRunner::Create(const GroupRunnerOptions& options) {
  COBRA_RETURN_IF_ERROR(CheckLibTorchHas(options.execution));
  COBRA_RETURN_IF_ERROR(PinToCore(options.core, options.execution.threads));
  std::unique_ptr<GroupRunner> runner(new GroupRunner(options));
  runner->session_ = absl::StrCat(TimeUtc(), "-", getpid());
  if (!options.execution.is_cuda()) {
    std::vector<int> cores(static_cast<size_t>(options.execution.threads));
    std::iota(cores.begin(), cores.end(), options.core);
    COBRA_ASSIGN_OR_RETURN(runner->pulse_, Pulse::Create(std::move(cores)));
  }
  if (!options.runner.empty()) {
    COBRA_ASSIGN_OR_RETURN(runner->runner_, RunnerSession::Create(options.runner, options.execution));
  }
  if (!NeedsChild(options.execution)) {
    COBRA_RETURN_IF_ERROR(runner->Enter());
    COBRA_RETURN_IF_ERROR(runner->TakeFirstCanaries(runner->FirstCanaryText()));
  } else {
    COBRA_ASSIGN_OR_RETURN(const std::string text, RunInChild([&] { return runner->FirstCanaryText(); }));
    COBRA_RETURN_IF_ERROR(runner->TakeFirstCanaries(text));
  }
  if (runner->runner_ != nullptr) WarnOfResults(runner->runner_.get());
  COBRA_ASSIGN_OR_RETURN(runner->machine_, DescribeTarget(options.execution, runner->runner_.get()));
  return runner;
}

absl::Status GroupRunner::Enter() {
  if (canary_ != nullptr) return absl::OkStatus();
  const Execution& execution = options_.execution;
  ConfigureLibTorch(execution.threads);
  COBRA_ASSIGN_OR_RETURN(canary_, Canary::Create(execution));
  canary_->Measure();  // warms up LibTorch, and a GPU's clocks
  sensors_ = SensorsOf(execution, options_.core);
  return absl::OkStatus();
}

// {"canaries":[...]} or {"error"}.
std::string GroupRunner::FirstCanaryText() {
  if (const absl::Status status = Enter(); !status.ok()) return Json{{"error", std::string(status.message())}}.dump();
  Json canaries = Json::array();
  for (int i = 0; i < 5; ++i) canaries.push_back(CanaryJson(canary_->Measure()));
  return Json{{"canaries", std::move(canaries)}}.dump();
}

absl::Status GroupRunner::TakeFirstCanaries(const std::string& text) {
  const Json j = ParseJson<Json>(text);
  if (!j.is_object() || !j.contains("canaries")) {
    const std::string why = j.is_object() ? j.value("error", "") : "";
    return absl::UnavailableError(
        absl::StrCat("the canary does not run on ", DeviceText(options_.execution), ": ", why));
  }
  for (const Json& times : j["canaries"]) canaries_.push_back(CanaryFromText(times.dump()));
  return absl::OkStatus();
}

std::string GroupRunner::CanaryText() {
  const absl::Status status = Enter();
  return status.ok() ? CanaryJson(canary_->Measure()).dump() : "{}";
}

MeasureOptions GroupRunner::RulesFor(const GroupTask& task, bool is_network) const {
  const Execution& execution = options_.execution;
  MeasureOptions rules = is_network ? options_.network_rules(execution) : options_.layer_rules(execution);
  rules.seed = task.seed;
  rules.sensors = sensors_.get();
  if (pulse_ != nullptr) rules.meter.pulse = [this] { return pulse_->Ratio(); };
  rules.meter.one_thread = !execution.is_cuda() && execution.threads == 1;
  if (options_.layer_energy) rules.energy_region_ms = MeasureOptions().energy_region_ms;
  return rules;
}

absl::Status GroupRunner::AddCanary(std::vector<CanaryTimes>* around) {
  const absl::StatusOr<std::string> text = RunInChild([&] { return CanaryText(); });
  if (text.ok()) around->push_back(CanaryFromText(*text));
  return text.ok() || absl::IsUnavailable(text.status()) ? absl::OkStatus() : text.status();
}

// Also after a fault of the runner: what was measured before is judged by what the canary says now.
absl::Status GroupRunner::RunInRunner(Group* group) {
  COBRA_RETURN_IF_ERROR(AddCanary(&group->around));
  const absl::Status measured = MeasureInRunner(group);
  const absl::Status canary = AddCanary(&group->around);
  return measured.ok() ? canary : measured;
}

absl::Status GroupRunner::MeasureInRunner(Group* group) {
  for (size_t i = 0; i < group->tasks.size(); ++i) {
    if (options_.stopped != nullptr && options_.stopped()) break;
    const GroupTask& task = group->tasks[i];
    const absl::StatusOr<Sample> sample = task.draw();
    if (!sample.ok()) {
      End(i, std::nullopt, group);
      continue;
    }
    if (task.begins) task.begins();
    COBRA_ASSIGN_OR_RETURN(store::Measurement measurement,
                           runner_->Measure(sample->graph, RulesFor(task, sample->is_network)));
    measurement.subject.is_network = sample->is_network;
    measurement.subject.label = sample->label;
    FillConditions(&measurement);
    End(i, std::move(measurement), group);
  }
  return absl::OkStatus();
}

void GroupRunner::End(size_t task, std::optional<store::Measurement> measurement, Group* group) const {
  const GroupTask& its = group->tasks[task];
  if (its.ends) its.ends();
  group->measurements[task] = std::move(measurement);
  std::optional<store::Measurement>& known = group->measurements[task];
  if (!known || known->latency.quiet_runs == 0 || !its.takes) return;
  SetCanary(WorstRatios(group->around, MedianCanaryTimes()), group->load, &*known);
  its.takes(*known);
  group->taken[task] = true;
}

void GroupRunner::SetCanary(const CanaryRatios& canary, double load, store::Measurement* measurement) const {
  store::Conditions& conditions = measurement->conditions;
  conditions.canary_ratio = canary.compute;
  conditions.canary_copy_ratio = canary.copy;
  // What the undisturbed runs say holds, however loud the neighbours were between them.
  conditions.suspect = measurement->latency.quiet_runs == 0 &&
                       IsDisturbed(canary, options_.canary_tolerance, options_.canary_copy_tolerance);
  conditions.disturbed = IsDisturbed(*measurement, canary);
  conditions.load = load;
}

// Runs in the child. Returns the measurement as a line; empty if there is nothing to measure.
std::string GroupRunner::MeasureTask(const GroupTask& task) {
  const absl::StatusOr<Sample> sample = task.draw();
  if (!sample.ok()) return "";
  if (task.begins) task.begins();
  if (const absl::Status status = Enter(); !status.ok()) {
    return store::MeasurementToJson(Failure(*sample, store::Outcome::crashed, status.message()));
  }
  store::Measurement measurement = MeasureGraph(sample->graph, RulesFor(task, sample->is_network));
  measurement.subject.is_network = sample->is_network;
  measurement.subject.label = sample->label;
  return store::MeasurementToJson(measurement);
}

absl::StatusOr<std::string> GroupRunner::SessionJson(const std::string& more_json) {
  const Execution& execution = options_.execution;
  const std::unique_ptr<Sensors> sensors = SensorsOf(execution, options_.core);
  const SensorReadings now = sensors == nullptr ? SensorReadings() : sensors->Read();
  const std::optional<double> joules = sensors == nullptr ? std::nullopt : sensors->Joules();
  const auto or_unavailable = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json("unavailable");
  };
  const char* core_type = std::getenv("OPENBLAS_CORETYPE");
  Json j;
  j["kind"] = "session";
  j["session"] = session_;
  j["worker_version"] = "2";
  j["time_utc"] = TimeUtc();
  j["machine"] = ParseJson<Json>(predict::TargetSpecToJson(machine_));
  j["environment"] = {{"torch", HasLibTorch() ? LibTorchVersion() : "none"},
                      {"blas_core_type", core_type == nullptr ? "default" : core_type},
                      {"core", options_.core},
                      {"governor", Governor(options_.core)},
                      {"clock_mhz", or_unavailable(now.clock_mhz)},
                      {"huge_pages", HugePages()},
                      {"heap", "retained"},
                      {"temperature", or_unavailable(now.temperature_c)},
                      {"energy", joules ? "counted" : "unavailable"},
                      {"load", LoadAverage()},
                      {"cache", std::string(CacheName(execution.cache))}};
  if (runner_ != nullptr) {
    const RunnerDescription& is = runner_->description();
    j["environment"]["runner"] = {{"command", WithoutFolders(options_.runner)},
                                  {"runtime", is.runtime},
                                  {"version", is.version},
                                  {"format", is.format},
                                  {"compile", is.compile},
                                  {"allocator", is.allocator},
                                  {"compared_with", runner_->compared_with()}};
  }
  if (execution.is_cuda()) {
    j["environment"]["tf32"] = execution.precision == Precision::tf32;
    j["environment"]["tf32_convolutions"] = execution.precision == Precision::tf32_convolutions;
    j["environment"]["driver"] = DriverText(execution.cuda_device);
  }
  j["rules"] = {{"layers", RulesJson(options_.layer_rules(execution))},
                {"networks", RulesJson(options_.network_rules(execution))}};
  j.update(ParseJson<Json>(more_json));
  j["canary_us"] = CanaryJson(MedianCanaryTimes());
  return j.dump();
}

absl::Status GroupRunner::RunTasksInChildren(Group* group) {
  const int last = static_cast<int>(group->tasks.size()) + 1;  // the first and the last task are canaries
  ChildLimits limits;
  limits.healthy = [] { return !DeviceIsBroken(); };
  if (!options_.execution.is_cuda()) limits.memory_bytes = options_.memory_bytes;
  if (options_.stopped != nullptr) limits.stopped = options_.stopped;
  int num_done = 0;
  COBRA_RETURN_IF_ERROR(RunInChildren(
      last + 1, limits,
      [&](int i) { return i == 0 || i == last ? CanaryText() : MeasureTask(group->tasks[static_cast<size_t>(i - 1)]); },
      [&](int i, const ChildResult& result) {
        ++num_done;
        if (i == 0 || i == last) {
          if (result.outcome == store::Outcome::ok) group->around.push_back(CanaryFromText(result.text));
        } else {
          const size_t k = static_cast<size_t>(i - 1);
          End(k, MeasurementOf(group->tasks[k], result, group->known), group);
        }
      }));
  return num_done > last ? absl::OkStatus() : AddCanary(&group->around);
}

absl::StatusOr<std::vector<std::optional<store::Measurement>>> GroupRunner::Run(absl::Span<const GroupTask> tasks,
                                                                                store::GraphReader* known) {
  Group group;
  group.tasks = tasks;
  group.known = known;
  group.load = LoadAverage();
  group.measurements.resize(tasks.size());
  group.taken.resize(tasks.size());
  const absl::Status status = runner_ != nullptr ? RunInRunner(&group) : RunTasksInChildren(&group);
  for (const CanaryTimes& times : group.around) RecordCanaryTimes(times);
  const CanaryRatios worst = WorstRatios(group.around, MedianCanaryTimes());
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!group.measurements[i] || group.taken[i]) continue;
    SetCanary(worst, group.load, &*group.measurements[i]);
    if (tasks[i].takes) tasks[i].takes(*group.measurements[i]);
  }
  COBRA_RETURN_IF_ERROR(status);
  return std::move(group.measurements);
}

std::vector<std::string> GroupRunner::TakeCanaryLines() { return std::exchange(canary_lines_, {}); }

void GroupRunner::RecordCanaryTimes(const CanaryTimes& times) {
  canaries_.push_back(times);
  Json j = CanaryJson(times);
  j["kind"] = "canary";
  j["session"] = session_;
  j["time_utc"] = TimeUtc();
  j["load"] = LoadAverage();
  canary_lines_.push_back(j.dump());
}

CanaryTimes GroupRunner::MedianCanaryTimes() const {
  const size_t from = canaries_.size() > kCanaryWindow ? canaries_.size() - kCanaryWindow : 0;
  return MedianCanary(absl::MakeConstSpan(canaries_).subspan(from));
}

std::optional<store::Measurement> GroupRunner::MeasurementOf(const GroupTask& task, const ChildResult& result,
                                                             store::GraphReader* known) const {
  store::Measurement measurement;
  if (result.outcome == store::Outcome::ok) {
    absl::StatusOr<store::Measurement> measured =
        known == nullptr ? store::MeasurementFromJson(result.text) : store::MeasurementFromJson(result.text, known);
    if (!measured.ok()) return std::nullopt;
    measurement = *std::move(measured);
  } else {
    const absl::StatusOr<Sample> sample = task.draw();
    if (!sample.ok()) return std::nullopt;
    measurement = Failure(*sample, result.outcome, result.text);
  }
  FillConditions(&measurement);
  return measurement;
}

void GroupRunner::FillConditions(store::Measurement* measurement) const {
  store::Conditions& conditions = measurement->conditions;
  conditions.session = session_;
  conditions.target = machine_.name;
  conditions.cache = std::string(CacheName(options_.execution.cache));
  conditions.time_utc = TimeUtc();
}

}  // namespace cobra::worker
