// Networks in a runner (process_runner.h): each is written in the form that the runner takes, its
// results are compared with LibTorch's, then it is timed by the rules of a series. The runner stays
// for the next network; one that has died is started again.
#ifndef COBRA_WORKER_RUN_RUNNER_SESSION_H_
#define COBRA_WORKER_RUN_RUNNER_SESSION_H_

#include <istream>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "export/weights.h"
#include "graph/graph.h"
#include "store/measurement.h"
#include "worker/machine/execution.h"
#include "worker/meter/process_runner.h"
#include "worker/run/measure.h"

namespace cobra::worker {

class RunnerSession {
 public:
  // `argv` is started now: Unavailable or DeadlineExceeded if it does not describe itself;
  // InvalidArgument if it takes networks in an unknown form, or lacks the precision of `execution`.
  static absl::StatusOr<std::unique_ptr<RunnerSession>> Create(std::vector<std::string> argv,
                                                               const Execution& execution);
  ~RunnerSession();

  const RunnerDescription& description() const { return description_; }
  // As MeasureGraph (measure.h). A runner that hangs has the outcome `timeout`; one that dies,
  // fails or does not compute what LibTorch computes `crashed`. This process must have no threads:
  // LibTorch runs in a child of it.
  // An error if the graph is not at fault: the runner does not start again, or describes itself
  // otherwise, or the files for it cannot be written.
  absl::StatusOr<store::Measurement> Measure(const graph::Graph& graph, const MeasureOptions& options);

  // As MeasureInterleaved (measure.h).
  absl::Status MeasureInterleaved(const graph::Graph& graph, const MeasureOptions& options, std::istream& asks,
                                  std::ostream& answers);

  // For check_runner.h: the runner's process, and what it answers to a network that does not exist.
  bool alive() const { return runner_ != nullptr && runner_->alive(); }
  pid_t pid() const { return runner_ == nullptr ? -1 : runner_->pid(); }
  absl::Status LoadMissingFile();

 private:
  RunnerSession(std::vector<std::string> argv, const Execution& execution)
      : argv_(std::move(argv)), execution_(execution) {}
  // A new process in a new folder: the one before may have done anything with its own.
  absl::Status Start();
  void RemoveFolder();
  // Start(), unless there is a runner that can go on.
  absl::Status MakeReady();
  // Makes the network ready in the runner, whose results are compared with LibTorch's.
  absl::Status Load(const graph::Graph& graph, const MeasureOptions& options);
  absl::Status Write(const std::string& file, absl::string_view contents);
  absl::StatusOr<std::string> ReadOutputs(const graph::Graph& graph) const;
  absl::Status Time(const MeterOptions& options, store::Measurement* measurement);
  absl::Status MeasureInto(const graph::Graph& graph, const MeasureOptions& options, store::Measurement* measurement);
  absl::Status WriteNetwork(const graph::Graph& graph, const exporting::Weights& weights);
  absl::Status CheckResults(const graph::Graph& graph, const exporting::Weights& weights,
                            const std::vector<std::string>& inputs);
  std::string Path(const std::string& name) const { return folder_ + "/" + name; }

  const std::vector<std::string> argv_;
  const Execution execution_;
  RunnerDescription description_;
  std::unique_ptr<ProcessRunner> runner_;
  std::string folder_;   // for the runner's files; in memory if there is /dev/shm
  absl::Status broken_;  // what Measure() returns
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_RUNNER_SESSION_H_
