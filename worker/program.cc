// cobra-worker: measures layers and networks on this machine.
#include "worker/program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <iostream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "absl/time/time.h"
#include "base/address.h"
#include "base/file/data_path.h"
#include "base/file/file.h"
#include "base/process/command_line.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "graph/form/json.h"
#include "model/predict/target/device_table.h"
#include "nlohmann/json.hpp"
#include "worker/execute/executor.h"
#include "worker/flags.h"
#include "worker/machine/device_lock.h"
#include "worker/machine/execution.h"
#include "worker/machine/machine.h"
#include "worker/meter/child.h"
#include "worker/queue/exchange_command.h"
#include "worker/run/campaign.h"
#include "worker/run/check_runner.h"
#include "worker/run/describe.h"
#include "worker/run/graph_list.h"
#include "worker/run/measure.h"
#include "worker/run/probe_command.h"
#include "worker/run/runner_command.h"
#include "worker/run/runner_session.h"
#ifdef COBRA_GRPC
#include "proto/connection.h"
#include "worker/queue/queue_client.h"
#endif
#include "worker/queue/spool.h"
#include "worker/queue/work.h"

namespace cobra::worker {
namespace {

absl::StatusOr<Execution> ToExecution(const MeasureFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const Execution execution, ParseExecution(flags.execution, ThisCpu()));
  if (!HasLibTorch()) COBRA_RETURN_IF_ERROR(CheckLibTorchHas(execution));
  if (execution.is_cuda() && IsOwnRunner(flags.runner)) {
    return UsageError(absl::StrCat("--device ", DeviceText(execution), ": our runner ", flags.runner,
                                   " runs networks on the processor"),
                      "leave out --runner to measure the GPU in LibTorch");
  }
  return execution;
}

absl::Status NoRuntime(absl::string_view command) {
  return UsageError(absl::StrCat(command, ": this cobra-worker carries no LibTorch"),
                    "name a runtime of your own, --runner torch (docs/runners.md); cobra-worker runtimes lists those "
                    "that are here");
}

// What `command` measures in, or the error that there is nothing, before anything else is done.
absl::StatusOr<GroupRunnerOptions> ToRunner(absl::string_view command, const MeasureFlags& flags) {
  GroupRunnerOptions options;
  COBRA_ASSIGN_OR_RETURN(options.execution, ToExecution(flags));
  if (flags.runner.empty() && !HasLibTorch()) return NoRuntime(command);
  options.core = flags.core;
  options.layer_energy = flags.layer_energy;
  COBRA_ASSIGN_OR_RETURN(options.runner, RunnerCommand(flags.runner));
  if (flags.tolerance > 0) {
    options.canary_tolerance = flags.tolerance;
    options.canary_copy_tolerance = std::max(flags.tolerance, kCanaryCopyTolerance);
  }
  return options;
}

// A GPU computes in a millisecond what takes a core a second. So only samples that do not fit a
// card of 40 GB, or take seconds on it, are left out.
SampleCaps CapsFor(const Execution& execution) {
  SampleCaps caps;
  if (!execution.is_cuda()) return caps;
  caps.layer_macs = 500'000'000'000;
  caps.grouped_macs = 100'000'000'000;
  caps.tensor_bytes = int64_t{2} << 30;
  caps.weight_bytes = int64_t{2} << 30;
  caps.network_macs = 2'000'000'000'000;
  return caps;
}

// A child on a GPU takes seconds to set up its context, so its groups are larger.
int GroupTasks(const MeasureFlags& flags, const Execution& execution) {
  constexpr int kCpuGroup = 60, kCudaGroup = 600;
  return flags.group_tasks > 0 ? flags.group_tasks : execution.is_cuda() ? kCudaGroup : kCpuGroup;
}

absl::StatusOr<std::vector<DeviceLock>> LockFor(const GroupRunnerOptions& runner, const MeasureFlags& flags) {
  return LockDevices(DevicesOf(runner.execution, runner.core), flags.share_device);
}

// The spaces of --space, with groups expanded, and how many samples of each (--count).
absl::StatusOr<std::vector<SpaceCount>> ToSpaces(const MeasureFlags& flags, const SamplerOptions& sampler_options) {
  std::vector<SpaceCount> found;
  const std::vector<std::string> spaces = absl::StrSplit(flags.spaces, ',', absl::SkipEmpty());
  const std::vector<std::string> counts = absl::StrSplit(flags.counts, ',', absl::SkipEmpty());
  for (size_t i = 0; i < spaces.size(); ++i) {
    int64_t count = 0;
    if (!counts.empty() && !absl::SimpleAtoi(counts[std::min(i, counts.size() - 1)], &count)) {
      return absl::InvalidArgumentError(absl::StrCat("--count ", flags.counts, ": numbers, separated by commas"));
    }
    COBRA_ASSIGN_OR_RETURN(const std::vector<std::string> members, ExpandSpace(spaces[i]));
    for (const std::string& name : members) {
      COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Sampler> sampler, MakeSampler(name, sampler_options));
      // With only a budget, the series is longer than any budget. Layers and networks have the
      // proportion of the shipped measurements.
      const int64_t wanted = !counts.empty() ? count : IsNetworkSpace(name) ? 20000 : 500000;
      found.push_back({name, std::min(wanted, sampler->size())});
    }
  }
  return found;
}

absl::StatusOr<absl::Duration> ToBudget(const std::string& text) {
  absl::Duration budget;
  if (absl::ParseDuration(text, &budget) && budget > absl::ZeroDuration()) return budget;
  return absl::InvalidArgumentError(absl::StrCat("--budget ", text, ": a duration such as 30m"));
}

absl::StatusOr<CampaignOptions> ToCampaign(const MeasureFlags& flags) {
  CampaignOptions options;
  if (flags.spaces.empty() == flags.graphs.empty() || flags.out.empty()) {
    return absl::InvalidArgumentError("measure needs --space or --graphs, and --out; or --graph");
  }
  options.out = flags.out;
  COBRA_ASSIGN_OR_RETURN(options.runner, ToRunner("measure", flags));
  options.group_tasks = GroupTasks(flags, options.runner.execution);
  options.sampler.caps = CapsFor(options.runner.execution);
  if (flags.network_gmacs > 0) {
    options.sampler.caps.network_macs = static_cast<int64_t>(flags.network_gmacs * 1e9);
    options.sampler.caps.network_macs_asked = true;
  }
  options.sampler.seed = flags.seed;
  if (!flags.layers.empty()) options.sampler.real_layers_path = flags.layers;
  options.sampler.networks_path = flags.networks;
  if (flags.graphs.empty()) {
    COBRA_ASSIGN_OR_RETURN(options.spaces, ToSpaces(flags, options.sampler));
  } else {
    COBRA_ASSIGN_OR_RETURN(GraphList list, ReadGraphList(flags.graphs));
    options.spaces = std::move(list.spaces);
    options.sampler.seed = list.seed;
  }
  if (!flags.budget.empty()) {
    COBRA_ASSIGN_OR_RETURN(const absl::Duration budget, ToBudget(flags.budget));
    options.budget_s = absl::ToDoubleSeconds(budget);
  } else if (flags.counts.empty() && flags.graphs.empty()) {
    return absl::InvalidArgumentError("measure needs --budget or --count");
  }
  return options;
}

absl::Status MeasureOne(const MeasureFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(GroupRunnerOptions options, ToRunner("measure", flags));
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeCompressed(flags.graph));
  COBRA_ASSIGN_OR_RETURN(const graph::Graph graph, graph::GraphFromJson(text));
  if (flags.in_turns) {
    COBRA_ASSIGN_OR_RETURN(const std::vector<DeviceLock> device, LockFor(options, flags));
    COBRA_RETURN_IF_ERROR(CheckLibTorchHas(options.execution));
    COBRA_RETURN_IF_ERROR(PinToCore(options.core, options.execution.threads));
    if (!options.runner.empty()) {
      COBRA_ASSIGN_OR_RETURN(const auto session, RunnerSession::Create(options.runner, options.execution));
      return session->MeasureInterleaved(graph, InterleavedRules(options.execution), std::cin, std::cout);
    }
    ConfigureLibTorch(options.execution.threads);
    return MeasureInterleaved(graph, InterleavedRules(options.execution), std::cin, std::cout);
  }
  options.layer_energy = true;
  options.layer_rules = options.network_rules = CarefulRules;
  COBRA_ASSIGN_OR_RETURN(const std::vector<DeviceLock> device, LockFor(options, flags));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<GroupRunner> runner, GroupRunner::Create(options));
  const bool is_network = graph.nodes().size() > 1;
  const GroupTask task = {[&]() -> absl::StatusOr<Sample> {
                            return Sample{is_network, "", graph};
                          },
                          /*seed=*/1, nullptr};
  COBRA_ASSIGN_OR_RETURN(std::vector<std::optional<store::Measurement>> records, runner->Run({task}));
  if (!records[0]) return absl::InternalError("the child's record cannot be read");
  records[0]->subject.space = "asked";
  std::printf("%s\n", store::MeasurementToJson(*records[0]).c_str());
  if (records[0]->conditions.disturbed) std::fputs(DisturbedWarning(records[0]->latency).c_str(), stderr);
  return absl::OkStatus();
}

absl::Status RunMeasure(const MeasureFlags& flags) {
  if (!flags.graph.empty()) return MeasureOne(flags);
  COBRA_ASSIGN_OR_RETURN(const CampaignOptions options, ToCampaign(flags));
  COBRA_ASSIGN_OR_RETURN(const std::vector<DeviceLock> device, LockFor(options.runner, flags));
  return RunCampaign(options);
}

// Candidates for `cobra-train select`: what the series of the same seed would measure at these
// indices.
absl::Status RunSample(const MeasureFlags& flags) {
  SamplerOptions options;
  COBRA_ASSIGN_OR_RETURN(const Execution execution, ParseExecution(flags.execution, ThisCpu()));
  options.caps = CapsFor(execution);
  options.seed = flags.seed;
  if (!flags.layers.empty()) options.real_layers_path = flags.layers;
  COBRA_ASSIGN_OR_RETURN(const std::vector<SpaceCount> spaces, ToSpaces(flags, options));
  std::string lines;
  for (const SpaceCount& space : spaces) {
    COBRA_ASSIGN_OR_RETURN(const std::string of_space, CandidateLines(space.space, flags.first, space.count, options));
    lines += of_space;
  }
  return WriteMaybeGzip(flags.out, lines);
}

// Repeats the canary, to show how much load elsewhere on the machine changes the measurements.
absl::Status RunCanary(const MeasureFlags& flags, int count) {
  GroupRunnerOptions options;  // without LibTorch in loops of our own
  options.core = flags.core;
  COBRA_ASSIGN_OR_RETURN(options.execution, ToExecution(flags));
  COBRA_ASSIGN_OR_RETURN(const std::vector<DeviceLock> device, LockFor(options, flags));
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<GroupRunner> runner, GroupRunner::Create(options));
  for (int i = 0; i < count; i += 2) {  // one before and one after an empty group
    COBRA_RETURN_IF_ERROR(runner->Run({}).status());
    for (const std::string& line : runner->TakeCanaryLines()) std::printf("%s\n", line.c_str());
  }
  return absl::OkStatus();
}

absl::Status RunCheckRunner(const MeasureFlags& flags, const CheckRunnerFlags& runner) {
  CheckRunnerOptions options;
  options.runner = runner.command;
  options.graphs = runner.graphs;
  options.sampler.seed = flags.seed;
  if (!flags.layers.empty()) options.sampler.real_layers_path = flags.layers;
  COBRA_ASSIGN_OR_RETURN(options.execution, ToExecution(flags));
  COBRA_RETURN_IF_ERROR(PinToCore(flags.core, options.execution.threads));
  COBRA_ASSIGN_OR_RETURN(const bool passed, CheckRunner(options, std::cout));
  return passed ? absl::OkStatus() : absl::FailedPreconditionError("the runner failed");
}

// A calibration is to work by itself where there is a PyTorch.
absl::Status TakePyTorch(MeasureFlags* flags) {
  constexpr char kNoLibTorch[] = "probe: this cobra-worker carries no LibTorch, and";
  flags->runner = "torch";
  if (const absl::StatusOr<std::vector<std::string>> command = RunnerCommand(flags->runner); !command.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(kNoLibTorch, " ",
                                                      absl::StripPrefix(command.status().message(), "--runner torch: "),
                                                      "; or name another runtime, --runner onnxruntime"));
  }
  std::fprintf(stderr, "%s measures in the PyTorch of %s; --runner names another runtime\n", kNoLibTorch,
               RunnerPython().c_str());
  return absl::OkStatus();
}

absl::Status RunProbeFor(MeasureFlags flags, const ProbeFlags& probe) {
  COBRA_ASSIGN_OR_RETURN(const absl::Duration budget, ToBudget(probe.budget));
  if (flags.runner.empty() && !HasLibTorch()) COBRA_RETURN_IF_ERROR(TakePyTorch(&flags));
  COBRA_ASSIGN_OR_RETURN(const GroupRunnerOptions options, ToRunner("probe", flags));
  COBRA_ASSIGN_OR_RETURN(const std::vector<DeviceLock> device, LockFor(options, flags));
  return PrintProbe(options, budget, probe.as_json);
}

absl::Status RunDescribe(const MeasureFlags& flags, const DescribeFlags& describe) {
  if (!describe.table_device.empty()) {
    COBRA_ASSIGN_OR_RETURN(const std::string csv, ReadFile(describe.table));
    COBRA_ASSIGN_OR_RETURN(const predict::TargetSpec spec, predict::TargetFromTable(csv, describe.table_device));
    std::printf("%s\n", predict::TargetSpecToJson(spec).c_str());
    return absl::OkStatus();
  }
  COBRA_ASSIGN_OR_RETURN(const GroupRunnerOptions options, ToRunner("describe", flags));
  COBRA_ASSIGN_OR_RETURN(const std::vector<DeviceLock> lock, LockFor(options, flags));
  COBRA_RETURN_IF_ERROR(PinToCore(options.core, options.execution.threads));
  std::unique_ptr<RunnerSession> runner;
  if (!options.runner.empty()) {
    COBRA_ASSIGN_OR_RETURN(runner, RunnerSession::Create(options.runner, options.execution));
  }
  if (!options.execution.needs_child_process()) ConfigureLibTorch(1);
  COBRA_ASSIGN_OR_RETURN(const std::string json, DescriptionJson(options.execution, options.core, runner.get()));
  std::printf("%s\n", json.c_str());
  if (absl::StrContains(json, "\"disturbed\":true")) {
    std::fputs(
        "warning: other programs ran on these processors in each of six attempts: the speeds may be too low; describe "
        "the machine again when it is idle, or name an idle core (--core)\n",
        stderr);
  }
  return absl::OkStatus();
}

// One line for each runtime, for people; one object for programs.
absl::Status RunRuntimes(bool as_json) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  if (HasLibTorch()) list.push_back({{"name", "libtorch"}, {"version", LibTorchVersion()}});
  for (const OwnRuntime& runtime : OwnRuntimes()) {
    list.push_back({{"name", runtime.name}});
    if (!runtime.missing.empty()) list.back()["missing"] = runtime.missing;
    if (runtime.missing.empty()) list.back()["version"] = runtime.version;
  }
  if (as_json) {
    std::printf("%s\n", nlohmann::ordered_json{{"python", RunnerPython()}, {"runtimes", list}}.dump().c_str());
    return absl::OkStatus();
  }
  for (const auto& runtime : list) {
    const std::string name = runtime["name"].get<std::string>();
    std::printf("%-14s %s%s\n", name.c_str(), runtime.value("version", "").c_str(),
                runtime.value("missing", "").c_str());
  }
  return absl::OkStatus();
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  PrintError("cobra-worker", status);
  return absl::IsInvalidArgument(status) ? kUsageExitCode : 1;
}

#ifdef COBRA_GRPC
std::string DefaultSpool(const std::string& target) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state != nullptr) return absl::StrCat(state, "/cobra-worker/", target);
  return absl::StrCat(home == nullptr ? "." : home, "/.local/state/cobra-worker/", target);
}

absl::Status RunWorkFor(WorkFlags flags, const MeasureFlags& measure) {
  COBRA_RETURN_IF_ERROR(CheckAddress("--server", flags.server));
  COBRA_RETURN_IF_ERROR(proto::CheckConnection(flags.connection, flags.server));
  WorkOptions options;
  COBRA_ASSIGN_OR_RETURN(options.runner, ToRunner("work", measure));
  if (flags.target.empty()) {
    COBRA_ASSIGN_OR_RETURN(flags.target, NameOfTarget(options.runner));
  }
  if (flags.spool.empty()) flags.spool = DefaultSpool(flags.target);
  options.spool = flags.spool;
  options.worker = flags.worker;
  options.share_device = measure.share_device;
  options.runner.memory_bytes = int64_t{flags.memory_gb} << 30;
  options.group_tasks = GroupTasks(measure, options.runner.execution);
  options.sampler.caps = CapsFor(options.runner.execution);
  if (flags.keep_disturbed)
    options.runner.canary_tolerance = options.runner.canary_copy_tolerance = std::numeric_limits<double>::infinity();
  if (!measure.layers.empty()) options.sampler.real_layers_path = measure.layers;
  const ConnectionFiles& c = flags.connection;
  options.queue_client = {SiblingProgram("cobra-worker"), "queue-client"};
  for (const auto& [flag, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"--server", flags.server},
           {"--target", flags.target},
           {"--spool", flags.spool},
           {"--lease-tasks", absl::StrCat(flags.lease_tasks)},
           {"--lease-seconds", absl::StrCat(flags.lease_seconds)},
           {"--tls-ca", c.tls_ca},
           {"--tls-cert", c.tls_cert},
           {"--tls-key", c.tls_key},
           {"--token-file", c.token_file}}) {
    if (!value.empty()) options.queue_client.insert(options.queue_client.end(), {flag, value});
  }
  if (flags.until_idle) options.queue_client.push_back("--until-idle");
  return RunWork(options);
}

absl::Status RunQueueClientCommand(const WorkFlags& flags) {
  COBRA_RETURN_IF_ERROR(MakeDirectories(flags.spool));
  COBRA_ASSIGN_OR_RETURN(const DeviceLock own_queue, LockQueueClient(flags.spool));  // before its name is read
  COBRA_ASSIGN_OR_RETURN(Spool spool, Spool::Open(flags.spool));
  QueueClientOptions options;
  options.server = flags.server;
  options.connection = flags.connection;
  options.target = flags.target;
  options.lease_tasks = flags.lease_tasks;
  options.lease = absl::Seconds(flags.lease_seconds);
  options.until_idle = flags.until_idle;
  return RunQueueClient(options, std::move(spool));
}

#endif

// Called before the command line is parsed: the environment at process start determines LibTorch's
// threads and kernels.
absl::string_view ValueOfFlag(absl::string_view flag, int argc, char** argv) {
  absl::string_view value;
  for (int i = 1; i < argc && absl::string_view(argv[i]) != "--"; ++i) {
    absl::string_view word = argv[i];
    if (word == flag && i + 1 < argc)
      value = argv[i + 1];
    else if (absl::ConsumePrefix(&word, flag) && absl::ConsumePrefix(&word, "="))
      value = word;
  }
  return value;
}

// Wrong values are left to the command line's own check.
absl::Status RestartForFlags(int argc, char** argv) {
  int threads = 1;
  if (!absl::SimpleAtoi(ValueOfFlag("--threads", argc, argv), &threads)) threads = 1;
  const absl::string_view name = ValueOfFlag("--isa", argc, argv);
  const Isa isa = name == IsaName(Isa::avx2) ? Isa::avx2 : name == IsaName(Isa::sse41) ? Isa::sse41 : Isa::native;
  return RestartWithEnvironment(argv, std::clamp(threads, 1, std::max(1, ThisCpu().processors)), isa);
}

constexpr char kFooter[] =
    "Exit codes: 0 success, 1 failure (a file, the server, the machine), 2 usage error. cobra-worker COMMAND --help "
    "lists the flags of a command.";

}  // namespace

int Main(int argc, char** argv) {
  if (const absl::Status status = RestartForFlags(argc, argv); !status.ok()) {
    PrintError("cobra-worker", status);
    return 1;
  }
  CLI::App app("Measures layers and networks on this machine.", "cobra-worker");
  app.require_subcommand(1);
  MeasureFlags flags;
  CLI::App* measure = app.add_subcommand("measure", "Measures a series of samples, or one graph");
  AddMeasureOptions(measure, &flags);
  CLI::App* sample =
      app.add_subcommand("sample", "Draws samples without measuring them, for `cobra-train select` to choose from");
  AddSampleOptions(sample, &flags);
  CLI::App* canary = app.add_subcommand("canary", "Measures the canary: a convolution, a matrix product, a copy");
  int canary_count = 10;
  AddExecutionOptions(canary, &flags);
  canary->add_option("--count", canary_count, "How many times to measure it")->capture_default_str();
  CLI::App* probe =
      app.add_subcommand("probe", "Measures the layers and networks that calibrate a new machine, in a minute");
  ProbeFlags probe_flags;
  AddProbeOptions(probe, &flags, &probe_flags);
  CLI::App* describe = app.add_subcommand(
      "describe", "Describes this machine as a target: name, caches, clock, cores; measures peak and bandwidth");
  DescribeFlags describe_flags;
  AddDescribeOptions(describe, &flags, &describe_flags);
  CLI::App* runtimes = app.add_subcommand("runtimes", "Lists the runtimes that --runner finds on this machine");
  bool runtimes_as_json = false;
  runtimes->add_flag("--json", runtimes_as_json, "Print JSON, for programs");
  CheckRunnerFlags runner_flags;
  CLI::App* check_runner = AddCheckRunner(&app, &flags, &runner_flags);
  ExchangeFlags exchange;
  CLI::App* export_records = app.add_subcommand("export", "Converts records (JSON lines) to CSV with conditions");
  AddExportOptions(export_records, &exchange);
  CLI::App* import_records = app.add_subcommand("import", "Checks and converts records of others (CSV or JSON lines)");
  AddImportOptions(import_records, &exchange);
#ifdef COBRA_GRPC
  WorkFlags work_flags;
  CLI::App* work = app.add_subcommand("work", "Measures the tasks of a server, until stopped");
  AddMeasuringWorkOptions(work, &flags, &work_flags);
  CLI::App* queue_client =
      app.add_subcommand("queue-client", "Exchanges tasks and records with the server; started by `work`");
  AddWorkOptions(queue_client, &work_flags);
#endif
  app.footer(kFooter);
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) return ExitCode(parsed.status());
  if (!*parsed) return 0;
#ifdef COBRA_GRPC
  if (work->parsed() || queue_client->parsed())
    return ExitCode(work->parsed() ? RunWorkFor(work_flags, flags) : RunQueueClientCommand(work_flags));
#endif
  if (sample->parsed()) return ExitCode(RunSample(flags));
  if (check_runner->parsed()) return ExitCode(RunCheckRunner(flags, runner_flags));
  if (runtimes->parsed()) return ExitCode(RunRuntimes(runtimes_as_json));
  if (describe->parsed()) return ExitCode(RunDescribe(flags, describe_flags));
  if (export_records->parsed()) return ExitCode(RunExport(exchange));
  if (import_records->parsed()) return ExitCode(RunImport(exchange));
  if (canary->parsed()) return ExitCode(RunCanary(flags, canary_count));
  return ExitCode(probe->parsed() ? RunProbeFor(flags, probe_flags) : RunMeasure(flags));
}

}  // namespace cobra::worker
