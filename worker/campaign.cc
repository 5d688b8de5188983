#include "worker/campaign.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "worker/child.h"
#include "worker/executor.h"
#include "worker/machine.h"
#include "worker/measure.h"
#include "worker/random.h"
#include "store/record.h"

namespace cobra {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kGroupWeight = 60;    // about ten seconds of work between two canaries
constexpr int kNetworkWeight = 15;  // a network takes as long as so many layers
constexpr int kCanaryWindow = 400;  // canaries that the session's median looks back on

volatile std::sig_atomic_t stop_requested = 0;
void RequestStop(int) { stop_requested = 1; }

bool IsNetworkSpace(absl::string_view space) { return space == "paper-networks" || space == "real-networks"; }

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

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_(options), start_ns_(SteadyNowNs()) {}

  absl::Status Run() {
    COBRA_RETURN_IF_ERROR(Prepare());
    COBRA_RETURN_IF_ERROR(RunTasks(PlanTasks(options_), options_.budget_s * 0.95));
    COBRA_RETURN_IF_ERROR(RunTasks(PlanRepetitions(options_), options_.budget_s));
    COBRA_RETURN_IF_ERROR(RunTasks(SuspectTasks(), options_.budget_s));
    LogInfo(absl::StrCat(written_, " records in ", static_cast<int>(ElapsedS()), " s"));
    return absl::OkStatus();
  }

 private:
  absl::Status Prepare() {
    COBRA_RETURN_IF_ERROR(PinToCore(options_.core));
    ConfigureLibTorch(options_.threads);
    std::signal(SIGTERM, RequestStop);
    std::signal(SIGINT, RequestStop);
    for (const SpaceCount& space : options_.spaces) {
      COBRA_ASSIGN_OR_RETURN(std::unique_ptr<Sampler> sampler, MakeSampler(space.space, options_.sampler));
      samplers_.push_back(std::move(sampler));
    }
    COBRA_RETURN_IF_ERROR(ReadWhatIsThere());
    file_.reset(std::fopen(options_.out.c_str(), "ae"));
    if (file_ == nullptr)
      return absl::PermissionDeniedError(absl::StrCat(options_.out, ": cannot be opened for appending"));
    COBRA_ASSIGN_OR_RETURN(canary_, Canary::Create());
    canary_->Measure();  // warms LibTorch up, for the children too
    for (int i = 0; i < 5; ++i) canaries_.push_back(canary_->Measure());
    return WriteSession();
  }

  absl::Status ReadWhatIsThere() {
    if (!FileExists(options_.out)) return absl::OkStatus();
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(options_.out));
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      absl::StatusOr<Record> record = RecordFromJson(line);
      if (!record.ok()) continue;  // a session line, or one that was cut short
      done_.insert(record->Key());
      NoteSuspect(*record);
    }
    return absl::OkStatus();
  }

  absl::Status WriteSession() {
    COBRA_ASSIGN_OR_RETURN(const MachineSpeed speed, MeasureMachineSpeed());
    TargetSpec machine = DescribeMachine(LibTorchVersion(), options_.threads);
    machine.peak_gflops = std::round(speed.peak_gflops * 10) / 10;
    machine.memory_gb_per_s = std::round(speed.memory_gb_per_s * 100) / 100;
    session_ = absl::StrCat(TimeUtc(), "-", getpid());
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
    const SampleCaps& caps = options_.sampler.caps;
    j["caps"] = {{"layer_macs", caps.layer_macs},
                 {"grouped_macs", caps.grouped_macs},
                 {"tensor_bytes", caps.tensor_bytes},
                 {"weight_bytes", caps.weight_bytes},
                 {"network_macs", caps.network_macs}};
    j["seed"] = options_.sampler.seed;
    j["canary_us"] = CanaryJson(UsualCanary());
    return WriteLine(j.dump());
  }

  absl::Status RunTasks(const std::vector<Task>& tasks, double until_s) {
    std::vector<Task> group;
    int weight = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (done_.count(KeyOf(tasks[i])) == 0) {
        group.push_back(tasks[i]);
        weight += IsNetworkSpace(SpaceOf(tasks[i])) ? kNetworkWeight : 1;
      }
      if (weight < kGroupWeight && i + 1 < tasks.size()) continue;
      if (group.empty()) continue;
      if (stop_requested || (options_.budget_s > 0 && ElapsedS() > until_s)) return absl::OkStatus();
      COBRA_RETURN_IF_ERROR(RunGroup(group));
      std::fprintf(stderr, "\r%s %zu/%zu records %lld failed %lld suspect %lld  %.0f s ", TimeUtc().c_str(), i + 1,
                   tasks.size(), static_cast<long long>(written_), static_cast<long long>(failed_),
                   static_cast<long long>(suspect_), ElapsedS());
      group.clear();
      weight = 0;
    }
    std::fputc('\n', stderr);
    return absl::OkStatus();
  }

  // First and last task of a group: the canary.
  absl::Status RunGroup(const std::vector<Task>& group) {
    const int last = static_cast<int>(group.size()) + 1;
    std::vector<Record> records;
    std::vector<CanaryTimes> around;
    const double load = LoadAverage();
    ChildLimits limits;
    COBRA_RETURN_IF_ERROR(RunInChildren(
        last + 1, limits, [&](int i) { return i == 0 || i == last ? CanaryText() : RunTask(group[i - 1]); },
        [&](int i, const ChildResult& result) {
          if (i == 0 || i == last) {
            if (result.outcome == Outcome::ok) around.push_back(CanaryFromText(result.text));
          } else {
            records.push_back(ToRecord(group[i - 1], result));
          }
        }));
    for (const CanaryTimes& times : around) canaries_.push_back(times);
    const CanaryTimes usual = UsualCanary();
    const CanaryRatios worst = WorstRatios(around, usual);
    for (const CanaryTimes& times : around) COBRA_RETURN_IF_ERROR(WriteCanary(times));
    for (Record& record : records) {
      if (record.space.empty()) continue;  // nothing to sample at that index
      record.canary_ratio = worst.compute;
      record.canary_copy_ratio = worst.copy;
      record.suspect = IsDisturbed(worst, options_.canary_tolerance, options_.canary_copy_tolerance);
      record.load = load;
      COBRA_RETURN_IF_ERROR(Write(record));
    }
    if (std::fflush(file_.get()) != 0) return absl::InternalError(absl::StrCat(options_.out, ": cannot be written"));
    return absl::OkStatus();
  }

  // In the child.
  std::string CanaryText() { return CanaryJson(canary_->Measure()).dump(); }

  std::string RunTask(const Task& task) {
    absl::StatusOr<Sample> sample = samplers_[task.space]->At(task.index);
    if (!sample.ok()) return "";
    MeasureOptions rules = sample->is_network ? NetworkSeriesRules() : LayerSeriesRules();
    rules.seed = options_.sampler.seed + task.index;
    Record record = MeasureGraph(sample->graph, rules);
    record.is_network = sample->is_network;
    record.label = sample->label;
    return RecordToJson(record);
  }

  static CanaryTimes CanaryFromText(const std::string& text) {
    const Json j = Json::parse(text, nullptr, false);
    return {j.value("conv_us", 0.0), j.value("matmul_us", 0.0), j.value("copy_us", 0.0)};
  }

  // In the parent; an empty space means that there is nothing to record.
  Record ToRecord(const Task& task, const ChildResult& result) {
    Record record;
    if (result.outcome == Outcome::ok) {
      absl::StatusOr<Record> measured = RecordFromJson(result.text);
      if (!measured.ok()) return record;
      record = *std::move(measured);
    } else {
      absl::StatusOr<Sample> sample = samplers_[task.space]->At(task.index);
      if (!sample.ok()) return record;
      record.outcome = result.outcome;
      record.message = result.text;
      record.is_network = sample->is_network;
      record.label = sample->label;
      record.fingerprint = Fingerprint(sample->graph).ToHex();
      record.graph_json = GraphToJson(sample->graph, {/*origins=*/false});
    }
    record.session = session_;
    record.space = SpaceOf(task);
    record.index = task.index;
    record.repeat = task.repeat;
    record.time_utc = TimeUtc();
    return record;
  }

  absl::Status Write(const Record& record) {
    ++written_;
    if (record.outcome != Outcome::ok) ++failed_;
    if (record.suspect) ++suspect_;
    done_.insert(record.Key());
    NoteSuspect(record);
    return WriteLine(RecordToJson(record));
  }

  absl::Status WriteCanary(const CanaryTimes& times) {
    Json j = CanaryJson(times);
    j["kind"] = "canary";
    j["session"] = session_;
    j["time_utc"] = TimeUtc();
    j["load"] = LoadAverage();
    return WriteLine(j.dump());
  }

  absl::Status WriteLine(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fputc('\n', file_.get()) == EOF) {
      return absl::InternalError(absl::StrCat(options_.out, ": cannot be written"));
    }
    return absl::OkStatus();
  }

  void NoteSuspect(const Record& record) {
    for (size_t s = 0; s < options_.spaces.size(); ++s) {
      if (record.suspect && record.repeat == 0 && options_.spaces[s].space == record.space) {
        suspects_.push_back({static_cast<int>(s), record.index, 2});
      }
    }
  }
  std::vector<Task> SuspectTasks() const { return suspects_; }

  CanaryTimes UsualCanary() const {
    const size_t from = canaries_.size() > kCanaryWindow ? canaries_.size() - kCanaryWindow : 0;
    return MedianCanary(absl::MakeConstSpan(canaries_).subspan(from));
  }

  const std::string& SpaceOf(const Task& task) const { return options_.spaces[task.space].space; }
  std::string KeyOf(const Task& task) const {
    Record record;
    record.space = SpaceOf(task);
    record.index = task.index;
    record.repeat = task.repeat;
    return record.Key();
  }
  double ElapsedS() const { return (SteadyNowNs() - start_ns_) / 1e9; }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  const CampaignOptions options_;
  const double start_ns_;
  std::string session_;
  std::vector<std::unique_ptr<Sampler>> samplers_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<Canary> canary_;
  std::vector<CanaryTimes> canaries_;
  std::set<std::string> done_;
  std::vector<Task> suspects_;
  int64_t written_ = 0, failed_ = 0, suspect_ = 0;
};

}  // namespace

std::vector<Task> PlanTasks(const CampaignOptions& options) {
  std::vector<std::pair<double, Task>> placed;
  Random random(options.sampler.seed, "order", 0);
  for (size_t s = 0; s < options.spaces.size(); ++s) {
    const int64_t count = options.spaces[s].count;
    // Each space is spread evenly over the whole series: at any moment, all have grown alike.
    for (int64_t i = 0; i < count; ++i) {
      placed.push_back(
          {(static_cast<double>(i) + random.Unit()) / static_cast<double>(count), {static_cast<int>(s), i, 0}});
    }
  }
  std::stable_sort(placed.begin(), placed.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Task> tasks;
  for (const auto& [at, task] : placed) tasks.push_back(task);
  return tasks;
}

std::vector<Task> PlanRepetitions(const CampaignOptions& options) {
  std::vector<Task> tasks;
  for (const Task& task : PlanTasks(options)) {
    Random random(options.sampler.seed, absl::StrCat("repeat/", options.spaces[task.space].space), task.index);
    if (random.Chance(options.repeat_share)) tasks.push_back({task.space, task.index, 1});
  }
  return tasks;
}

absl::Status RunCampaign(const CampaignOptions& options) { return Campaign(options).Run(); }

}  // namespace cobra
