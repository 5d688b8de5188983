// Networks in a runner (process_runner.h): each is written in the form that the runner takes, its
// results are compared with LibTorch's, then it is timed by the rules of a series. The runner stays
// for the next network; one that has died is started again.
//
// A program without LibTorch compares with PyTorch's results instead, where our runner `torch` can
// be started (runner_command.h): a second session, which computes each network once. PyTorch itself
// is compared with nothing there.
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
  // What results are compared with: "libtorch-1.13.0", "torch-2.13.0", "nothing".
  std::string compared_with();
  // Why that is nothing; "" if the runner is PyTorch itself.
  const std::string& why_not_compared() const { return why_not_compared_; }
  // The session of a PyTorch that runs call by call: this one or that which it compares with; null
  // if there is none.
  RunnerSession* PyTorch();
  // The median of `runs` runs, in microseconds.
  absl::StatusOr<double> MedianUs(const graph::Graph& graph, int runs);
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
  // What a program without LibTorch compares with, started when first asked for; null: nothing.
  RunnerSession* Reference();
  // The contents of the file of outputs for these files of weights and inputs; in float32.
  absl::StatusOr<std::string> Compute(const graph::Graph& graph, const std::string& weights, const std::string& inputs);
  // "=" or what is wrong, after "?" if nobody else can run the network.
  std::string DifferenceText(const graph::Graph& graph, const exporting::Weights& weights,
                             const std::vector<std::string>& inputs,
                             const absl::StatusOr<std::string>& of_reference) const;
  bool IsEagerTorch() const;
  // Makes the network ready in the runner, whose results are compared with others.
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
  std::unique_ptr<RunnerSession> reference_;
  bool looked_for_reference_ = false;
  std::string why_not_compared_;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_RUNNER_SESSION_H_
