// A series of measurements: spaces interleaved in shuffled order, groups of tasks in child processes with a canary
// before and after, every record on disk as soon as its group is done, so that a series can be stopped and gone on
// with.
#ifndef COBRA_WORKER_CAMPAIGN_H_
#define COBRA_WORKER_CAMPAIGN_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "worker/group_runner.h"
#include "worker/sampler.h"

namespace cobra::worker {

struct SpaceCount {
  std::string space;
  int64_t count = 0;
  std::vector<int64_t> indices;            // which samples, `count` of them; empty: 0 ... count - 1
  std::shared_ptr<const Sampler> sampler;  // where they come from; null: MakeSampler(space)
  int64_t IndexOf(int64_t i) const { return indices.empty() ? i : indices[static_cast<size_t>(i)]; }
};

struct CampaignOptions {
  std::vector<SpaceCount> spaces;
  std::string out;      // appended to; what it holds is not measured again
  double budget_s = 0;  // 0: until the counts are reached. A twentieth is kept for repetitions
  GroupRunnerOptions runner;
  SamplerOptions sampler;
  double repeat_share = 0.02;  // measured twice, the second time at the end
  int group_tasks = 60;        // between two canaries: about ten seconds; a network counts as 15
};

// One thing to do; the order of a campaign is a function of the options alone.
struct Task {
  int space = 0;  // index into CampaignOptions::spaces
  int64_t index = 0;
  int repeat = 0;
};
std::vector<Task> PlanTasks(const CampaignOptions& options);        // repeat 0, interleaved
std::vector<Task> PlanRepetitions(const CampaignOptions& options);  // repeat 1

absl::Status RunCampaign(const CampaignOptions& options);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_CAMPAIGN_H_
