#include "worker/work.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <map>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "worker/spool.h"

namespace cobra {
namespace {

using Json = nlohmann::ordered_json;

constexpr absl::Duration kIdleWait = absl::Milliseconds(50);
constexpr absl::Duration kCourierRestartWait = absl::Seconds(1);
constexpr int kMostDisturbedTries = 3;  // a record from a machine that stays disturbed is handed in, marked

volatile std::sig_atomic_t stop_requested = 0;
void RequestStop(int) { stop_requested = 1; }

// The process that talks to the server.
class Courier {
 public:
  explicit Courier(std::vector<std::string> command) : command_(std::move(command)) {}
  ~Courier() { Stop(); }

  // Starts it where it is not running; at most one start a second.
  void Keep() {
    if (command_.empty() || IsRunning() || absl::Now() < last_start_ + kCourierRestartWait) return;
    if (last_start_ != absl::InfinitePast() && !over_) LogWarning("the courier died; starting it again");
    if (over_) return;
    last_start_ = absl::Now();
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);  // when this process is killed, it hands in what lies in the spool and ends
    if (getppid() != parent) _exit(0);
    std::vector<char*> argv;
    for (std::string& word : command_) argv.push_back(&word[0]);
    argv.push_back(nullptr);
    execv(argv[0], argv.data());
    _exit(127);
  }

  // It ends with 0 when there is nothing more to do (--until-idle).
  bool IsOver() {
    IsRunning();
    return over_;
  }

  void Stop() {
    if (!IsRunning()) return;
    kill(pid_, SIGTERM);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
  }

 private:
  bool IsRunning() {
    if (pid_ <= 0) return false;
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) != pid_) return true;
    pid_ = -1;
    over_ = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2);  // 2: its command line is wrong
    return false;
  }

  std::vector<std::string> command_;
  pid_t pid_ = -1;
  bool over_ = false;
  absl::Time last_start_ = absl::InfinitePast();
};

class Work {
 public:
  Work(const WorkOptions& options, Spool spool) : options_(options), spool_(std::move(spool)), courier_(options.courier) {}

  absl::Status Run() {
    signal(SIGTERM, RequestStop);
    signal(SIGINT, RequestStop);
    COBRA_RETURN_IF_ERROR(spool_.ForgetStarted());
    COBRA_ASSIGN_OR_RETURN(runner_, GroupRunner::Create(options_.runner));
    COBRA_ASSIGN_OR_RETURN(session_json_, runner_->SessionJson());
    LogInfo(absl::StrCat("worker ", spool_.worker_id(), " measures; spool ", spool_.folder()));
    while (stop_requested == 0) {
      courier_.Keep();
      COBRA_ASSIGN_OR_RETURN(std::vector<SpooledTask> todo, spool_.Todo());
      if (!todo.empty()) {
        if (todo.size() > static_cast<size_t>(options_.group_tasks)) todo.resize(static_cast<size_t>(options_.group_tasks));
        COBRA_RETURN_IF_ERROR(RunGroup(todo));
      } else if (courier_.IsOver()) {
        break;
      } else {
        absl::SleepFor(kIdleWait);
      }
    }
    courier_.Stop();
    LogInfo(absl::StrCat(measured_, " tasks measured, ", again_, " of them more than once because the machine was disturbed"));
    return absl::OkStatus();
  }

 private:
  absl::Status RunGroup(const std::vector<SpooledTask>& todo) {
    std::vector<GroupTask> tasks;
    for (const SpooledTask& task : todo) {
      const absl::StatusOr<std::string> text = spool_.ReadTodo(task);  // NotFound: cancelled meanwhile
      GroupTask group_task;
      group_task.draw = [this, text] { return text.ok() ? Draw(*text) : absl::StatusOr<Sample>(text.status()); };
      group_task.begins = [this, id = task.id] { spool_.MarkStarted(id); };
      tasks.push_back(std::move(group_task));
    }
    COBRA_ASSIGN_OR_RETURN(std::vector<std::optional<Record>> records, runner_->Run(tasks));
    for (size_t i = 0; i < todo.size(); ++i) {
      if (!FileExists(absl::StrCat(spool_.folder(), "/todo/", todo[i].file))) continue;
      Record record = records[i] ? *std::move(records[i]) : NotMeasured(tasks[i].draw().status());
      if (record.suspect && ++tries_[todo[i].id] < kMostDisturbedTries) {
        ++again_;
        continue;  // it stays where it is
      }
      COBRA_RETURN_IF_ERROR(Finish(todo[i], std::move(record)));
    }
    return spool_.ForgetStarted();
  }

  absl::Status Finish(const SpooledTask& task, Record record) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, spool_.ReadTodo(task));
    const Json json = Json::parse(text, nullptr, false);
    const Json subject = json.is_object() ? json.value("subject", Json::object()) : Json::object();
    const Json sample = subject.value("sample", Json::object());
    record.space = sample.value("space", "asked");
    record.seed = sample.value("seed", uint64_t{0});
    record.index = sample.value("index", int64_t{0});
    record.repeat = subject.value("repeat", 0);
    Json done;
    done["record"] = Json::parse(RecordToJson(record));
    done["session"] = Json::parse(session_json_);
    tries_.erase(task.id);
    ++measured_;
    return spool_.Finish(task, done.dump());
  }

  Record NotMeasured(const absl::Status& why) {
    Record record;
    record.session = runner_->session();
    record.outcome = Outcome::unsupported;
    record.message = std::string(why.message());
    return record;
  }

  // {"subject": {"graph"} or {"sample": {"space", "index", "seed"}}}.
  absl::StatusOr<Sample> Draw(const std::string& text) {
    const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!json.is_object() || !json.contains("subject")) return absl::InvalidArgumentError("the task has no subject");
    const Json& subject = json["subject"];
    if (subject.contains("graph")) {
      COBRA_ASSIGN_OR_RETURN(Graph graph, GraphFromJson(subject["graph"].dump()));
      Sample sample{false, "", std::move(graph)};
      const auto compute = [&](const Node& node) { return !IsView(node) && !IsAlias(sample.graph, node); };
      const auto nodes = sample.graph.nodes();
      sample.is_network = std::count_if(nodes.begin(), nodes.end(), compute) > 1;
      const auto first = std::find_if(nodes.begin(), nodes.end(), compute);
      sample.label = sample.is_network ? "asked" : first == nodes.end() ? "" : std::string(OpName(first->op));
      return sample;
    }
    const Json sample = subject.value("sample", Json::object());
    SamplerOptions options = options_.sampler;
    options.seed = sample.value("seed", uint64_t{1});
    const std::string space = sample.value("space", "");
    std::unique_ptr<Sampler>& sampler = samplers_[absl::StrCat(space, "/", options.seed)];
    if (sampler == nullptr) {
      COBRA_ASSIGN_OR_RETURN(sampler, MakeSampler(space, options));
    }
    return sampler->At(sample.value("index", int64_t{0}));
  }

  const WorkOptions options_;
  Spool spool_;
  Courier courier_;
  std::unique_ptr<GroupRunner> runner_;
  std::string session_json_;
  std::map<std::string, std::unique_ptr<Sampler>> samplers_;
  std::map<std::string, int> tries_;
  int64_t measured_ = 0, again_ = 0;
};

}  // namespace

absl::Status RunWork(const WorkOptions& options) {
  std::vector<DeviceLock> lock;
  if (!options.share_device) {
    const Execution& execution = options.runner.execution;
    for (int i = 0; i < execution.threads; ++i) {
      const std::string name = execution.is_cuda() ? absl::StrCat("cuda", execution.cuda_device) : absl::StrCat("cpu", options.runner.core + i);
      COBRA_ASSIGN_OR_RETURN(DeviceLock device, DeviceLock::Take(name));
      lock.push_back(std::move(device));
    }
  }
  COBRA_ASSIGN_OR_RETURN(Spool spool, Spool::Open(options.spool));
  COBRA_ASSIGN_OR_RETURN(DeviceLock own_spool, DeviceLock::Take("spool", options.spool));
  return Work(options, std::move(spool)).Run();
}

}  // namespace cobra
