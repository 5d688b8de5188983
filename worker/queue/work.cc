#include "worker/queue/work.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "base/text/json.h"
#include "store/graph_reader.h"
#include "store/queue/task_subject.h"
#include "worker/machine/device_lock.h"
#include "worker/meter/meter.h"
#include "worker/queue/spool.h"

namespace cobra::worker {
namespace {

constexpr absl::Duration kIdleWait = absl::Milliseconds(50), kFullDiskWait = absl::Seconds(1);
constexpr double kQueueClientRestartWaitNs = 1e9;
constexpr int kMostInterruptions = 3;   // of the whole worker by one task; then that is its outcome
constexpr size_t kMostSamplers = 16;    // some have megabytes of networks, and each task may name another seed
constexpr int kMostDisturbedTries = 3;  // after that, the record of a disturbed machine is reported with a mark

volatile std::sig_atomic_t stop_requested = 0;
void RequestStop(int) { stop_requested = 1; }

// The process that communicates with the server.
class QueueClientProcess {
 public:
  explicit QueueClientProcess(std::vector<std::string> command) : command_(std::move(command)) {}
  ~QueueClientProcess() { Stop(); }

  // Starts the process if it is not running; at most one start per second, by a clock that cannot
  // be set.
  void Keep() {
    if (command_.empty() || IsRunning() || over_) return;
    if (started_ns_ && SteadyNowNs() < *started_ns_ + kQueueClientRestartWaitNs) return;
    if (started_ns_) LogWarning("the queue client died; restarting it");
    started_ns_ = SteadyNowNs();
    // When this process is killed, the other one reports the spooled records and exits.
    const absl::StatusOr<pid_t> started = StartDependent(command_, SIGTERM);
    if (!started.ok()) LogWarning(started.status().message());
    pid_ = started.value_or(-1);
  }

  // The process exits with 0 when there is nothing more to do (--until-idle).
  bool IsOver() {
    IsRunning();
    return over_;
  }

  void Stop() {
    if (!IsRunning()) return;
    kill(pid_, SIGTERM);
    WaitForChild(std::exchange(pid_, -1));
  }

 private:
  bool IsRunning() {
    if (pid_ <= 0) return false;
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
    pid_ = -1;
    over_ =
        WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);  // 2: its command line is wrong
    return false;
  }

  std::vector<std::string> command_;
  pid_t pid_ = -1;
  bool over_ = false;
  std::optional<double> started_ns_;
};

class Work {
 public:
  Work(const WorkOptions& options, Spool spool)
      : options_(options), spool_(std::move(spool)), queue_client_(options.queue_client) {}

  absl::Status Run() {
    signal(SIGTERM, RequestStop);
    signal(SIGINT, RequestStop);
    COBRA_RETURN_IF_ERROR(spool_.NoteInterrupted());
    GroupRunnerOptions options = options_.runner;
    options.stopped = [] { return stop_requested != 0; };
    COBRA_ASSIGN_OR_RETURN(runner_, GroupRunner::Create(options));
    COBRA_ASSIGN_OR_RETURN(session_json_, runner_->SessionJson());
    LogInfo(absl::StrCat("worker ", spool_.worker_id(), " measures; spool ", spool_.folder()));
    while (stop_requested == 0) {
      queue_client_.Keep();
      if (!SaveUnsaved()) {
        absl::SleepFor(kFullDiskWait);
        continue;
      }
      COBRA_ASSIGN_OR_RETURN(std::vector<SpooledTask> todo, spool_.Todo());
      if (!todo.empty()) {
        if (todo.size() > static_cast<size_t>(options_.group_tasks))
          todo.resize(static_cast<size_t>(options_.group_tasks));
        COBRA_RETURN_IF_ERROR(RunGroup(todo));
      } else if (queue_client_.IsOver()) {
        break;
      } else {
        absl::SleepFor(kIdleWait);
      }
    }
    SaveUnsaved();
    queue_client_.Stop();
    LogInfo(absl::StrCat(Counted(measured_, "task"), " measured, ", again_,
                         " of them more than once because the machine was disturbed"));
    return absl::OkStatus();
  }

 private:
  // What is measured is in the spool as soon as nothing can change it: whatever ends this process
  // late in a group, its other tasks are not measured again.
  absl::Status RunGroup(const std::vector<SpooledTask>& spooled) {
    std::vector<SpooledTask> todo;
    std::vector<absl::StatusOr<store::Subject>> subjects;
    store::GraphReader graphs;  // of this group
    for (const SpooledTask& task : spooled) {
      absl::StatusOr<store::Subject> subject = ReadTask(task, &graphs);
      if (absl::IsNotFound(subject.status())) continue;  // cancelled meanwhile
      if (absl::IsDataLoss(subject.status())) {
        COBRA_RETURN_IF_ERROR(spool_.RejectTodo(task, subject.status().message()));
        continue;
      }
      // Its lease lives on if this process starts again soon, so that the server does not count
      // these attempts.
      if (spool_.Interruptions(task.id) >= kMostInterruptions) {
        Save(task, Crashed());
        continue;
      }
      todo.push_back(task);
      subjects.push_back(std::move(subject));
    }
    if (todo.empty()) return absl::OkStatus();
    std::vector<GroupTask> tasks;
    std::vector<bool> ended(todo.size());
    for (size_t i = 0; i < todo.size(); ++i) {
      GroupTask group_task;
      group_task.draw = [this, &subject = subjects[i]] {
        return subject.ok() ? Draw(*subject) : absl::StatusOr<Sample>(subject.status());
      };
      group_task.begins = [this, id = todo[i].id] { spool_.MarkStarted(id); };
      group_task.ends = [this, &ended, id = todo[i].id, i] {
        ended[i] = true;
        spool_.MarkEnded(id);
      };
      group_task.takes = [this, &task = todo[i], &subject = subjects[i]](const store::Measurement& measurement) {
        Take(task, subject, measurement);
      };
      tasks.push_back(std::move(group_task));
    }
    const absl::StatusOr<std::vector<std::optional<store::Measurement>>> measurements = runner_->Run(tasks, &graphs);
    COBRA_RETURN_IF_ERROR(measurements.status());
    for (size_t i = 0; i < todo.size(); ++i) {
      if (!ended[i] || (*measurements)[i]) continue;
      Take(todo[i], subjects[i], NotMeasured(tasks[i].draw().status()));
    }
    return spool_.ClearStarted();
  }

  // The task leaves the spool, unless the machine was disturbed.
  void Take(const SpooledTask& task, const absl::StatusOr<store::Subject>& subject, store::Measurement measurement) {
    if (!IsInTodo(task)) return;  // cancelled
    if (measurement.conditions.suspect && ++tries_[task.id] < kMostDisturbedTries) {
      ++again_;
      return;
    }
    if (subject.ok()) NameSubject(*subject, &measurement.subject);
    Save(task, std::move(measurement));
  }

  void Save(const SpooledTask& task, store::Measurement measurement) {
    const absl::Status finished = Finish(task, measurement);
    if (finished.ok()) return;
    LogWarning(absl::StrCat(finished.message(), "; the record is kept until there is room for it"));
    unsaved_.emplace_back(task, std::move(measurement));
  }

  // False: there is no room for them yet.
  bool SaveUnsaved() {
    while (!unsaved_.empty()) {
      const auto& [task, measurement] = unsaved_.back();
      if (IsInTodo(task) && !Finish(task, measurement).ok()) return false;
      unsaved_.pop_back();
    }
    return true;
  }

  bool IsInTodo(const SpooledTask& task) const {
    return FileExists(absl::StrCat(spool_.folder(), "/todo/", task.file));
  }

  // NotFound: it is gone; DataLoss: the file is not a task. Any other error is the outcome of the
  // task.
  absl::StatusOr<store::Subject> ReadTask(const SpooledTask& task, store::GraphReader* graphs) const {
    const absl::StatusOr<std::string> text = spool_.ReadTodo(task);
    if (absl::IsNotFound(text.status())) return text.status();
    if (!text.ok()) return absl::DataLossError(text.status().message());
    if (!OutlineOfJson(*text).fault.empty()) return absl::DataLossError("is not a task");
    return store::TaskSubjectFromJson(*text, graphs);
  }

  store::Measurement Crashed() {
    store::Measurement measurement = NotMeasured(absl::OkStatus());
    measurement.outcome = store::Outcome::crashed;
    measurement.message = absl::StrCat("the worker died ", kMostInterruptions, " times while it measured this");
    return measurement;
  }

  // What is the task's; the rest is known since it was drawn.
  static void NameSubject(const store::Subject& task, store::Subject* subject) {
    subject->space = task.space;
    subject->seed = task.seed;
    subject->index = task.index;
    subject->repeat = task.repeat;
  }

  absl::Status Finish(const SpooledTask& task, const store::Measurement& measurement) {
    COBRA_RETURN_IF_ERROR(spool_.Finish(task, {store::MeasurementToJson(measurement), session_json_}));
    tries_.erase(task.id);
    ++measured_;
    return absl::OkStatus();
  }

  store::Measurement NotMeasured(const absl::Status& why) {
    store::Measurement measurement;
    measurement.conditions.session = runner_->session();
    measurement.subject.space = "asked";
    measurement.outcome = store::Outcome::unsupported;
    measurement.message = std::string(why.message());
    return measurement;
  }

  absl::StatusOr<Sample> Draw(const store::Subject& wanted) {
    if (wanted.has_graph()) return Sample{wanted.is_network, wanted.label, wanted.graph};
    SamplerOptions options = options_.sampler;
    options.seed = wanted.seed;
    const std::string key = absl::StrCat(wanted.space, "/", wanted.seed);
    if (samplers_.size() >= kMostSamplers && samplers_.count(key) == 0) samplers_.clear();
    std::unique_ptr<Sampler>& sampler = samplers_[key];
    if (sampler == nullptr) {
      COBRA_ASSIGN_OR_RETURN(sampler, MakeSampler(wanted.space, options));
    }
    return sampler->At(wanted.index);
  }

  const WorkOptions options_;
  Spool spool_;
  QueueClientProcess queue_client_;
  std::unique_ptr<GroupRunner> runner_;
  std::string session_json_;
  std::map<std::string, std::unique_ptr<Sampler>> samplers_;
  std::map<std::string, int> tries_;
  // Measured while the disk was full: of one group at most.
  std::vector<std::pair<SpooledTask, store::Measurement>> unsaved_;
  int64_t measured_ = 0, again_ = 0;
};

}  // namespace

absl::Status RunWork(const WorkOptions& options) {
  COBRA_ASSIGN_OR_RETURN(const std::vector<DeviceLock> devices,
                         LockDevices(DevicesOf(options.runner.execution, options.runner.core), options.share_device));
  COBRA_RETURN_IF_ERROR(MakeDirectories(options.spool));
  COBRA_ASSIGN_OR_RETURN(const DeviceLock own_spool, LockSpool(options.spool));  // before anything is changed there
  COBRA_ASSIGN_OR_RETURN(Spool spool, Spool::Open(options.spool, options.worker));
  return Work(options, std::move(spool)).Run();
}

}  // namespace cobra::worker
