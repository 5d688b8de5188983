#include "worker/run/campaign.h"

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "nlohmann/json.hpp"
#include "store/measurement.h"
#include "store/measurement_json.h"
#include "worker/machine/machine.h"
#include "worker/run/group_runner.h"
#include "worker/run/measure.h"
#include "worker/sample/random.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kNetworkWeight = 15;  // a network takes as long as this many layers
// Values of store::Subject::repeat: 1 is the second measurement for the floor, 2 to 4 repeat a
// disturbed measurement.
constexpr int kFloorRepeat = 1, kFirstAgain = 2, kLastAgain = 4;

volatile std::sig_atomic_t stop_requested = 0;
void RequestStop(int) { stop_requested = 1; }

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options) : options_(options), start_ns_(SteadyNowNs()) {}

  absl::Status Run() {
    COBRA_RETURN_IF_ERROR(Prepare());
    COBRA_RETURN_IF_ERROR(RunTasks(PlanTasks(options_), options_.budget_s * 0.95));
    COBRA_RETURN_IF_ERROR(RunTasks(PlanRepetitions(options_), options_.budget_s));
    for (int again = kFirstAgain; again <= kLastAgain; ++again) {
      COBRA_RETURN_IF_ERROR(RunTasks(SuspectTasks(again), options_.budget_s));
    }
    LogInfo(absl::StrCat(Counted(written_, "record"), " in ", static_cast<int>(ElapsedS()), " s; ", DisturbedText()));
    return absl::OkStatus();
  }

 private:
  absl::Status Prepare() {
    std::signal(SIGTERM, RequestStop);
    std::signal(SIGINT, RequestStop);
    for (const SpaceCount& space : options_.spaces) {
      if (space.sampler != nullptr) {
        samplers_.push_back(space.sampler);
        continue;
      }
      COBRA_ASSIGN_OR_RETURN(std::unique_ptr<Sampler> sampler, MakeSampler(space.space, options_.sampler));
      samplers_.push_back(std::move(sampler));
    }
    COBRA_RETURN_IF_ERROR(ReadExisting());
    file_.reset(std::fopen(options_.out.c_str(), "ae"));
    if (file_ == nullptr)
      return absl::PermissionDeniedError(absl::StrCat(options_.out, ": cannot be opened for appending"));
    COBRA_ASSIGN_OR_RETURN(runner_, GroupRunner::Create(options_.runner));
    return WriteSession();
  }

  absl::Status ReadExisting() {
    if (!FileExists(options_.out)) return absl::OkStatus();
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadFile(options_.out));
    for (absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
      const absl::StatusOr<store::Measurement> measurement = store::MeasurementOf(store::SplitRecord(line).fields);
      if (!measurement.ok()) continue;  // a session line or an incomplete one
      done_.insert(measurement->subject.Key());
      NoteSuspect(*measurement);
    }
    return absl::OkStatus();
  }

  absl::Status WriteSession() {
    const SampleCaps& caps = options_.sampler.caps;
    Json more;
    more["caps"] = {{"layer_macs", caps.layer_macs},
                    {"grouped_macs", caps.grouped_macs},
                    {"tensor_bytes", caps.tensor_bytes},
                    {"weight_bytes", caps.weight_bytes},
                    {"network_macs", caps.network_macs}};
    more["seed"] = options_.sampler.seed;
    COBRA_ASSIGN_OR_RETURN(const std::string line, runner_->SessionJson(more.dump()));
    return WriteLine(line);
  }

  absl::Status RunTasks(const std::vector<Task>& tasks, double until_s) {
    std::vector<Task> group;
    int weight = 0;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (done_.count(KeyOf(tasks[i])) == 0) {
        group.push_back(tasks[i]);
        weight += IsNetworkSpace(SpaceOf(tasks[i])) ? kNetworkWeight : 1;
      }
      if (weight < options_.group_tasks && i + 1 < tasks.size()) continue;
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

  absl::Status RunGroup(const std::vector<Task>& group) {
    std::vector<GroupTask> tasks;
    for (const Task& task : group) {
      const Sampler* sampler = samplers_[task.space].get();
      tasks.push_back(
          {[sampler, index = task.index] { return sampler->At(index); }, options_.sampler.seed + task.index, nullptr});
    }
    COBRA_ASSIGN_OR_RETURN(std::vector<std::optional<store::Measurement>> measurements, runner_->Run(tasks));
    for (const std::string& line : runner_->TakeCanaryLines()) COBRA_RETURN_IF_ERROR(WriteLine(line));
    for (size_t i = 0; i < group.size(); ++i) {
      if (!measurements[i]) continue;  // nothing to sample at that index
      NameSubject(group[i], &measurements[i]->subject);
      COBRA_RETURN_IF_ERROR(Write(*measurements[i]));
    }
    if (std::fflush(file_.get()) != 0) return absl::InternalError(absl::StrCat(options_.out, ": cannot be written"));
    return absl::OkStatus();
  }

  absl::Status Write(const store::Measurement& measurement) {
    ++written_;
    if (measurement.outcome != store::Outcome::ok) ++failed_;
    if (measurement.conditions.suspect) ++suspect_;
    if (measurement.conditions.disturbed) disturbed_.push_back(DisturbanceRatio(measurement.latency));
    done_.insert(measurement.subject.Key());
    NoteSuspect(measurement);
    return WriteLine(store::MeasurementToJson(measurement));
  }

  absl::Status WriteLine(const std::string& line) {
    if (std::fwrite(line.data(), 1, line.size(), file_.get()) != line.size() || std::fputc('\n', file_.get()) == EOF) {
      return absl::InternalError(absl::StrCat(options_.out, ": cannot be written"));
    }
    return absl::OkStatus();
  }

  void NoteSuspect(const store::Measurement& measurement) {
    const store::Subject& subject = measurement.subject;
    if (!measurement.conditions.suspect || subject.repeat == kFloorRepeat || subject.repeat >= kLastAgain) return;
    for (size_t s = 0; s < options_.spaces.size(); ++s) {
      if (options_.spaces[s].space != subject.space || subject.seed != options_.sampler.seed) continue;
      suspects_.push_back({static_cast<int>(s), subject.index, std::max(subject.repeat + 1, kFirstAgain)});
    }
  }
  std::vector<Task> SuspectTasks(int repeat) const {
    std::vector<Task> tasks;
    for (const Task& task : suspects_) {
      if (task.repeat == repeat) tasks.push_back(task);
    }
    return tasks;
  }

  // The last words of a series: whether its numbers are those of a quiet machine.
  std::string DisturbedText() const {
    if (disturbed_.empty()) return "none of them disturbed";
    return absl::StrFormat(
        "%d of them disturbed: other programs ran on this machine, and in the median latency_us is %.2f times the "
        "undisturbed time (quiet_us)",
        disturbed_.size(), Median(disturbed_));
  }

  const std::string& SpaceOf(const Task& task) const { return options_.spaces[task.space].space; }
  void NameSubject(const Task& task, store::Subject* subject) const {
    subject->space = SpaceOf(task);
    subject->seed = options_.sampler.seed;
    subject->index = task.index;
    subject->repeat = task.repeat;
  }
  std::string KeyOf(const Task& task) const {
    store::Subject subject;
    NameSubject(task, &subject);
    return subject.Key();
  }
  double ElapsedS() const { return (SteadyNowNs() - start_ns_) / 1e9; }

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  const CampaignOptions options_;
  const double start_ns_;
  std::vector<std::shared_ptr<const Sampler>> samplers_;
  std::unique_ptr<std::FILE, Close> file_;
  std::unique_ptr<GroupRunner> runner_;
  std::set<std::string> done_;
  std::vector<Task> suspects_;
  std::vector<double> disturbed_;  // the ratios of such records
  int64_t written_ = 0, failed_ = 0, suspect_ = 0;
};

}  // namespace

std::vector<Task> PlanTasks(const CampaignOptions& options) {
  std::vector<std::pair<double, Task>> placed;
  Random random(options.sampler.seed, "order", 0);
  for (size_t s = 0; s < options.spaces.size(); ++s) {
    const int64_t count = options.spaces[s].count;
    // Each space is spread evenly over the whole series, so that at any moment all spaces have
    // grown equally.
    for (int64_t i = 0; i < count; ++i) {
      placed.push_back({(static_cast<double>(i) + random.Unit()) / static_cast<double>(count),
                        {static_cast<int>(s), options.spaces[s].IndexOf(i), 0}});
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

}  // namespace cobra::worker
