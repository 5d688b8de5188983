#include "worker/group_runner.h"

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "worker/child.h"
#include "worker/executor.h"
#include "worker/machine.h"

namespace cobra {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kCanaryWindow = 400;  // canaries that the session's median looks back on

Json CanaryJson(const CanaryTimes& times) {
  return {{"conv_us", times.conv_us}, {"matmul_us", times.matmul_us}, {"copy_us", times.copy_us}};
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
          {"profiled_runs", o.profiled_runs}};
}

CanaryTimes CanaryFromText(const std::string& text) {
  const Json j = Json::parse(text, nullptr, false);
  return {j.value("conv_us", 0.0), j.value("matmul_us", 0.0), j.value("copy_us", 0.0)};
}

// In the child. An empty text: there is nothing to measure.
std::string MeasureTask(const GroupTask& task) {
  const absl::StatusOr<Sample> sample = task.draw();
  if (!sample.ok()) return "";
  if (task.begins) task.begins();
  MeasureOptions rules = sample->is_network ? NetworkSeriesRules() : LayerSeriesRules();
  rules.seed = task.seed;
  Record record = MeasureGraph(sample->graph, rules);
  record.is_network = sample->is_network;
  record.label = sample->label;
  return RecordToJson(record);
}

}  // namespace

absl::StatusOr<std::unique_ptr<GroupRunner>> GroupRunner::Create(const GroupRunnerOptions& options) {
  COBRA_RETURN_IF_ERROR(PinToCore(options.core));
  ConfigureLibTorch(options.threads);
  std::unique_ptr<GroupRunner> runner(new GroupRunner(options));
  runner->session_ = absl::StrCat(TimeUtc(), "-", getpid());
  COBRA_ASSIGN_OR_RETURN(runner->canary_, Canary::Create());
  runner->canary_->Measure();  // warms LibTorch up, for the children too
  for (int i = 0; i < 5; ++i) runner->canaries_.push_back(runner->canary_->Measure());
  return runner;
}

absl::StatusOr<std::string> GroupRunner::SessionJson(const std::string& more_json) {
  COBRA_ASSIGN_OR_RETURN(const MachineSpeed speed, MeasureMachineSpeed());
  TargetSpec machine = DescribeMachine(LibTorchVersion(), options_.threads);
  machine.peak_gflops = std::round(speed.peak_gflops * 10) / 10;
  machine.memory_gb_per_s = std::round(speed.memory_gb_per_s * 100) / 100;
  const char* core_type = std::getenv("OPENBLAS_CORETYPE");
  Json j;
  j["kind"] = "session";
  j["session"] = session_;
  j["worker_version"] = "1";
  j["time_utc"] = TimeUtc();
  j["machine"] = Json::parse(TargetSpecToJson(machine));
  j["environment"] = {{"torch", LibTorchVersion()},
                      {"blas_core_type", core_type == nullptr ? "default" : core_type},
                      {"core", options_.core},
                      {"governor", Governor(options_.core)},
                      {"clock_mhz", CurrentClockMhz()},
                      {"huge_pages", HugePages()},
                      {"heap", "retained"},
                      {"temperature", "unavailable"},
                      {"energy", "unavailable"},
                      {"load", LoadAverage()}};
  j["rules"] = {{"layers", RulesJson(LayerSeriesRules())}, {"networks", RulesJson(NetworkSeriesRules())}};
  j.update(Json::parse(more_json));
  j["canary_us"] = CanaryJson(UsualCanary());
  return j.dump();
}

absl::StatusOr<std::vector<std::optional<Record>>> GroupRunner::Run(absl::Span<const GroupTask> tasks) {
  const int last = static_cast<int>(tasks.size()) + 1;  // first and last: the canary
  std::vector<std::optional<Record>> records(tasks.size());
  std::vector<CanaryTimes> around;
  const double load = LoadAverage();
  COBRA_RETURN_IF_ERROR(RunInChildren(
      last + 1, ChildLimits(),
      [&](int i) { return i == 0 || i == last ? CanaryJson(canary_->Measure()).dump() : MeasureTask(tasks[static_cast<size_t>(i - 1)]); },
      [&](int i, const ChildResult& result) {
        if (i == 0 || i == last) {
          if (result.outcome == Outcome::ok) around.push_back(CanaryFromText(result.text));
        } else {
          const size_t k = static_cast<size_t>(i - 1);
          records[k] = ToRecord(tasks[k], result.outcome, result.text);
        }
      }));
  for (const CanaryTimes& times : around) NoteCanary(times);
  const CanaryRatios worst = WorstRatios(around, UsualCanary());
  for (std::optional<Record>& record : records) {
    if (!record) continue;
    record->canary_ratio = worst.compute;
    record->canary_copy_ratio = worst.copy;
    record->suspect = IsDisturbed(worst, options_.canary_tolerance, options_.canary_copy_tolerance);
    record->load = load;
  }
  return records;
}

std::vector<std::string> GroupRunner::TakeCanaryLines() { return std::exchange(canary_lines_, {}); }

void GroupRunner::NoteCanary(const CanaryTimes& times) {
  canaries_.push_back(times);
  Json j = CanaryJson(times);
  j["kind"] = "canary";
  j["session"] = session_;
  j["time_utc"] = TimeUtc();
  j["load"] = LoadAverage();
  canary_lines_.push_back(j.dump());
}

CanaryTimes GroupRunner::UsualCanary() const {
  const size_t from = canaries_.size() > kCanaryWindow ? canaries_.size() - kCanaryWindow : 0;
  return MedianCanary(absl::MakeConstSpan(canaries_).subspan(from));
}

std::optional<Record> GroupRunner::ToRecord(const GroupTask& task, Outcome outcome, const std::string& text) const {
  Record record;
  if (outcome == Outcome::ok) {
    absl::StatusOr<Record> measured = RecordFromJson(text);
    if (!measured.ok()) return std::nullopt;
    record = *std::move(measured);
  } else {
    absl::StatusOr<Sample> sample = task.draw();
    if (!sample.ok()) return std::nullopt;
    record.outcome = outcome;
    record.message = text;
    record.is_network = sample->is_network;
    record.label = sample->label;
    record.fingerprint = Fingerprint(sample->graph).ToHex();
    record.graph_json = GraphToJson(sample->graph, {/*origins=*/false});
  }
  record.session = session_;
  record.time_utc = TimeUtc();
  return record;
}

}  // namespace cobra
