// Groups of subjects, measured between two canaries in child processes: what both a series (campaign.h) and the work
// for a server (work.h) are made of.
//
// On one CPU thread, LibTorch and the canary are warmed up in this process and its children inherit them. Neither a
// CUDA context nor a pool of threads survives a fork: with those, this process never calls LibTorch, and every child
// sets up its own and its own canary, then measures a whole group.
#ifndef COBRA_WORKER_GROUP_RUNNER_H_
#define COBRA_WORKER_GROUP_RUNNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/predict/target.h"
#include "store/record.h"
#include "worker/measure.h"
#include "worker/sampler.h"

namespace cobra::worker {

struct GroupRunnerOptions {
  int core = 0;  // the first of as many as the execution has threads
  Execution execution;
  bool layer_energy = false;                   // energy of layers too, 0.2 s each; of networks it is always measured
  double canary_tolerance = kCanaryTolerance;  // of the convolution and the matrix product
  double canary_copy_tolerance = kCanaryCopyTolerance;  // of the copy: see CanaryRatios
  MeasureOptions (*layer_rules)(const Execution&) = LayerSeriesRules;
  MeasureOptions (*network_rules)(const Execution&) = NetworkSeriesRules;
};

// Something to measure. `draw` is called in a child, and in this process where the child died of it; an error means
// that there is nothing to measure. `begins` is called in the child right before.
struct GroupTask {
  std::function<absl::StatusOr<Sample>()> draw;
  uint64_t seed = 1;  // of weights and inputs
  std::function<void()> begins;
};

class GroupRunner {
 public:
  // Pins this process to its cores, sets LibTorch up and warms it and the canary; with CUDA, tries that in a child.
  // InvalidArgument or Unavailable where there is no such device.
  static absl::StatusOr<std::unique_ptr<GroupRunner>> Create(const GroupRunnerOptions& options);

  // One record per task, in their order, with outcome, latency, graph, canary ratios, load, time and session; nullopt
  // where there was nothing to measure.
  absl::StatusOr<std::vector<std::optional<store::Record>>> Run(absl::Span<const GroupTask> tasks);

  // The conditions that the records' `session` names (record.h), one line of JSON. `more` is merged into it: caps,
  // seed.
  absl::StatusOr<std::string> SessionJson(const std::string& more_json = "{}");
  const std::string& session() const { return session_; }
  const predict::TargetSpec& machine() const { return machine_; }
  // All since Create(): the session's median is theirs.
  const std::vector<CanaryTimes>& canaries() const { return canaries_; }
  // One line of JSON for each canary since the last call.
  std::vector<std::string> TakeCanaryLines();

 private:
  explicit GroupRunner(const GroupRunnerOptions& options) : options_(options) {}
  absl::Status Enter();      // in the process that measures
  std::string CanaryText();  // there too
  std::string FirstCanaryText();
  absl::Status TakeFirstCanaries(const std::string& text);
  std::string MeasureTask(const GroupTask& task);
  CanaryTimes UsualCanary() const;
  std::optional<store::Record> ToRecord(const GroupTask& task, store::Outcome outcome, const std::string& text) const;
  void NoteCanary(const CanaryTimes& times);

  const GroupRunnerOptions options_;
  std::string session_;
  predict::TargetSpec machine_;
  std::unique_ptr<Canary> canary_;    // of this process
  std::unique_ptr<Sensors> sensors_;  // likewise
  std::vector<CanaryTimes> canaries_;
  std::vector<std::string> canary_lines_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_GROUP_RUNNER_H_
