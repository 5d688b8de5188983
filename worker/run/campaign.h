// A series of measurements: spaces interleaved in shuffled order, groups of tasks in child
// processes with a canary before and after, every record on disk as soon as its group is done, so
// that a series can be stopped and resumed.
#ifndef COBRA_WORKER_RUN_CAMPAIGN_H_
#define COBRA_WORKER_RUN_CAMPAIGN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/run/group_runner.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {

struct SpaceCount {
  std::string space;
  int64_t count = 0;
  // Which samples, `count` of them; empty: 0 ... count - 1.
  std::vector<int64_t> indices;
  // The source of the samples; null: MakeSampler(space).
  std::shared_ptr<const Sampler> sampler;
  int64_t IndexOf(int64_t i) const { return indices.empty() ? i : indices[static_cast<size_t>(i)]; }
};

struct CampaignOptions {
  std::vector<SpaceCount> spaces;
  // Appended to; records in it are not measured again.
  std::string out;
  // 0: until the counts are reached. A twentieth is reserved for repetitions.
  double budget_s = 0;
  GroupRunnerOptions runner;
  SamplerOptions sampler;
  // Share of subjects to measure again at the end.
  double repeat_share = 0.02;
  // Tasks between two canaries: about ten seconds; a network counts as 15.
  int group_tasks = 60;
};

// One task; the order of a campaign is a function of only the options.
struct Task {
  // Index into CampaignOptions::spaces.
  int space = 0;
  int64_t index = 0;
  int repeat = 0;
};
// The tasks with repeat 0, interleaved.
std::vector<Task> PlanTasks(const CampaignOptions& options);
// The tasks with repeat 1.
std::vector<Task> PlanRepetitions(const CampaignOptions& options);

absl::Status RunCampaign(const CampaignOptions& options);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_CAMPAIGN_H_
