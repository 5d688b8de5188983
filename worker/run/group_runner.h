// Measures groups of subjects between two canaries in child processes. Used by a series
// (campaign.h) and by the work for a server (work.h).
//
// On one CPU thread, LibTorch and the canary are warmed up in this process and its children inherit
// them. Neither a CUDA context nor a pool of threads survives a fork: with those, this process
// never calls LibTorch. Every child then sets up its own, runs its own canary, and measures a
// complete group.
//
// With a runner, networks run in that program, and this process only asks it. LibTorch computes the
// canary, and what results are compared with, in children. Without LibTorch (executor.h) there is a
// runner, or nothing but the canary is measured.
#ifndef COBRA_WORKER_RUN_GROUP_RUNNER_H_
#define COBRA_WORKER_RUN_GROUP_RUNNER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/predict/target/target.h"
#include "store/graph_reader.h"
#include "store/measurement.h"
#include "worker/meter/child.h"
#include "worker/meter/pulse.h"
#include "worker/run/measure.h"
#include "worker/run/runner_session.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {

struct GroupRunnerOptions {
  // The first processor; the execution uses one per thread.
  int core = 0;
  Execution execution;
  // The command of a runner (docs/runners.md); empty: LibTorch in this process.
  std::vector<std::string> runner;
  // Measure the energy of layers too, 0.2 s each; that of networks is always measured.
  bool layer_energy = false;
  // What a child may allocate; 0: no limit. Not with CUDA, which reserves more addresses than there
  // is memory.
  int64_t memory_bytes = 0;
  // Tolerance of the convolution and the matrix product.
  double canary_tolerance = kCanaryTolerance;
  // Tolerance of the copy: see CanaryRatios.
  double canary_copy_tolerance = kCanaryCopyTolerance;
  MeasureOptions (*layer_rules)(const Execution&) = LayerSeriesRules;
  MeasureOptions (*network_rules)(const Execution&) = NetworkSeriesRules;
  // Asked between two tasks. True: the group ends there, with its last canary.
  bool (*stopped)() = nullptr;
};

// The name of DescribeTarget(), followed by that of the runner's runtime.
absl::StatusOr<std::string> NameOfTarget(const GroupRunnerOptions& options);

// One task of a group. `draw` is called in a child, and in this process if the child died in the
// task; an error means that there is nothing to measure. `begins` is called in the child right
// before.
struct GroupTask {
  std::function<absl::StatusOr<Sample>()> draw;
  // Seed of weights and inputs.
  uint64_t seed = 1;
  std::function<void()> begins = nullptr;
  // Called in this process when its result is there, or it is known that there is none. Not for
  // tasks that a group leaves out because it was stopped.
  std::function<void()> ends = nullptr;
  // Called in this process, at most once, with what was measured: at once if its runs show that
  // nobody disturbed them, so that no canary can change that; otherwise at the end of the group,
  // also if the group failed.
  std::function<void(const store::Measurement&)> takes = nullptr;
};

class GroupRunner {
 public:
  // Pins this process to its cores, sets LibTorch up and warms it and the canary; with CUDA, tries
  // that in a child. InvalidArgument or Unavailable if there is no such device.
  static absl::StatusOr<std::unique_ptr<GroupRunner>> Create(const GroupRunnerOptions& options);

  // One measurement per task, in their order; space, seed, index and repeat are left to the caller.
  // nullopt: there was nothing to measure, or the task was left out. Graphs that `known` has read
  // are not parsed again when they come back from a child; it may be null.
  absl::StatusOr<std::vector<std::optional<store::Measurement>>> Run(absl::Span<const GroupTask> tasks,
                                                                     store::GraphReader* known = nullptr);

  // The session line, which the measurements name (store/measurement.h). `more_json` is merged into
  // it: caps, seed.
  absl::StatusOr<std::string> SessionJson(const std::string& more_json = "{}");
  const std::string& session() const { return session_; }
  const predict::TargetSpec& machine() const { return machine_; }
  // All canaries since Create(), from which the session's median is computed.
  const std::vector<CanaryTimes>& canaries() const { return canaries_; }
  // One line of JSON for each canary since the last call.
  std::vector<std::string> TakeCanaryLines();

 private:
  explicit GroupRunner(const GroupRunnerOptions& options) : options_(options) {}
  // These two are called in the measuring process.
  absl::Status Enter();
  std::string CanaryText();
  std::string FirstCanaryText();
  absl::Status TakeFirstCanaries(const std::string& text);
  std::string MeasureTask(const GroupTask& task);
  MeasureOptions RulesFor(const GroupTask& task, bool is_network) const;
  // A group that is being measured.
  struct Group {
    absl::Span<const GroupTask> tasks;
    store::GraphReader* known = nullptr;
    double load = 0;                  // of the machine, when it began
    std::vector<CanaryTimes> around;  // so far
    std::vector<std::optional<store::Measurement>> measurements;
    std::vector<bool> taken;  // by their tasks
  };
  absl::Status RunTasksInChildren(Group* group);
  absl::Status RunInRunner(Group* group);
  absl::Status MeasureInRunner(Group* group);
  // The result of the task is there.
  void End(size_t task, std::optional<store::Measurement> measurement, Group* group) const;
  void SetCanary(const CanaryRatios& canary, double load, store::Measurement* measurement) const;
  absl::Status AddCanary(std::vector<CanaryTimes>* around);
  void FillConditions(store::Measurement* measurement) const;
  CanaryTimes MedianCanaryTimes() const;
  std::optional<store::Measurement> MeasurementOf(const GroupTask& task, const ChildResult& result,
                                                  store::GraphReader* known) const;
  void RecordCanaryTimes(const CanaryTimes& times);

  const GroupRunnerOptions options_;
  std::string session_;
  predict::TargetSpec machine_;
  // Of this process.
  std::unique_ptr<Canary> canary_;
  std::unique_ptr<Sensors> sensors_;
  std::unique_ptr<Pulse> pulse_;  // not on a GPU
  std::vector<CanaryTimes> canaries_;
  std::vector<std::string> canary_lines_;
  std::unique_ptr<RunnerSession> runner_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_GROUP_RUNNER_H_
