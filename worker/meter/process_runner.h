// A runner: a program that runs networks in one runtime and answers lines of JSON
// (docs/runners.md). This side starts it, bounds the time that it may take and what it may print,
// and notices when it dies or hangs.
#ifndef COBRA_WORKER_METER_PROCESS_RUNNER_H_
#define COBRA_WORKER_METER_PROCESS_RUNNER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/file/descriptor.h"
#include "nlohmann/json_fwd.hpp"

namespace cobra::worker {

// The program of a command without its folder, which does not belong in a record. REQUIRES: not
// empty.
std::string ProgramName(const std::vector<std::string>& argv);

// How the runner describes itself.
struct RunnerDescription {
  std::string runtime, version;
  std::string format;  // of the files that it loads: "json", "onnx", "python"
  std::string compile = "eager";
  std::string allocator;
  std::vector<std::string> precisions = {"float32"};
  std::vector<std::string> isas = {"native"};  // to which it can be limited (Isa, worker/machine/execution.h)
  bool profiles = false;

  bool operator==(const RunnerDescription& other) const;
};

struct RunnerLimits {
  absl::Duration start = absl::Minutes(2);  // until it has described itself
  absl::Duration load = absl::Minutes(5);   // torch.compile takes half a minute for a network
  absl::Duration answer = absl::Minutes(2);
  int64_t max_answer_bytes = int64_t{16} << 20;
};

// A network in the files that `load` names.
struct RunnerModel {
  std::string model, weights;  // files
  std::string precision = "float32";
  int threads = 1;
  uint64_t seed = 1;
};

// What the runtime ran, and how long.
struct ProfileEntry {
  std::string name;
  double us = 0;           // in one call of the network
  std::vector<int> calls;  // of the graph that it stands for; empty if the runtime does not say
};

// All calls: Unimplemented, beginning with the operator, if the runtime cannot run the network;
// ResourceExhausted if it has no memory; DeadlineExceeded or Unavailable if the runner hangs, dies
// or prints something that is not an answer: it is then killed, and Start() makes a new one.
// Internal: any other error that it answers.
class ProcessRunner {
 public:
  // Starts `argv` in a new process group and asks it to describe itself.
  static absl::StatusOr<std::unique_ptr<ProcessRunner>> Start(const std::vector<std::string>& argv,
                                                              const RunnerLimits& limits = {});
  ~ProcessRunner();
  ProcessRunner(const ProcessRunner&) = delete;
  ProcessRunner& operator=(const ProcessRunner&) = delete;

  const RunnerDescription& description() const { return description_; }
  absl::Status Load(const RunnerModel& model);
  // Runs the inputs of one safetensors file and writes the outputs to another; tensors are named by
  // their positions.
  absl::Status Verify(const std::string& inputs_path, const std::string& outputs_path);
  // Nanoseconds of each of `calls` regions of `batch` calls, by the runner's own clock. Internal if
  // the number of these is another one, or if since Load() they do not add up, twice, to the time
  // that passed by this side's clock.
  absl::StatusOr<std::vector<double>> Run(int calls, int batch);
  // Times calls for a moment, because the times of a small network do not tell a wrong clock from
  // the overhead of a request. Once for each process; REQUIRES: a Run() since Load(). Internal as
  // Run().
  absl::Status CheckClock();
  // `nodes`: calls of the network, in whose range the entries' must be. Internal if the entries
  // take longer than passed by this side's clock.
  absl::StatusOr<std::vector<ProfileEntry>> Profile(int calls, int64_t nodes);
  // The most memory that the process has had since Load(), beyond what it had before.
  absl::StatusOr<int64_t> PeakMemoryBytes();
  absl::Status Unload();
  bool alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }

 private:
  ProcessRunner(const RunnerLimits& limits, std::string name) : limits_(limits), name_(std::move(name)) {}
  absl::StatusOr<nlohmann::json> Ask(nlohmann::json request, absl::Duration timeout);
  absl::Status Send(const std::string& line, absl::Time deadline);
  absl::StatusOr<std::string> ReadLine(absl::Time deadline);
  absl::Status Describe();
  // Ends the process group; returns how it ended, for a message.
  std::string Kill();

  const RunnerLimits limits_;
  const std::string name_;
  RunnerDescription description_;
  pid_t pid_ = -1;
  Descriptor channel_;  // a socket that is the runner's standard input and output
  std::string buffer_;
  int64_t next_id_ = 1;
  // Of all Run()s since Load(): by this side's clock, and by the runner's.
  double passed_ns_ = 0, timed_ns_ = 0;
  int64_t requests_ = 0;  // of these
  double calls_ = 0;      // of the network, in these
  int threads_ = 1;
  bool clock_checked_ = false;
  bool timed_again_ = false;
};

}  // namespace cobra::worker

#endif  // COBRA_WORKER_METER_PROCESS_RUNNER_H_
