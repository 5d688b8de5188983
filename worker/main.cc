// cobra-worker: measures layers and networks on this machine.
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/time/time.h"
#include "base/file.h"
#include "base/status_macros.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "worker/campaign.h"
#include "worker/child.h"
#include "worker/exchange.h"
#include "worker/executor.h"
#include "worker/machine.h"
#include "worker/measure.h"
#include "worker/probe.h"
#ifdef COBRA_GRPC
#include "worker/courier.h"
#endif
#include "worker/spool.h"
#include "worker/work.h"

namespace cobra {
namespace {

struct MeasureFlags {
  std::string spaces, budget, out, graph;
  std::string counts;
  int core = 0;
  uint64_t seed = 1;
  std::string layers = "data/layers/real_layers.jsonl.gz";
};

absl::StatusOr<CampaignOptions> ToCampaign(const MeasureFlags& flags) {
  CampaignOptions options;
  options.out = flags.out;
  options.runner.core = flags.core;
  options.sampler.seed = flags.seed;
  options.sampler.real_layers_path = flags.layers;
  const std::vector<std::string> spaces = absl::StrSplit(flags.spaces, ',', absl::SkipEmpty());
  const std::vector<std::string> counts = absl::StrSplit(flags.counts, ',', absl::SkipEmpty());
  if (spaces.empty() || flags.out.empty())
    return absl::InvalidArgumentError("measure needs --space and --out, or --graph");
  for (size_t i = 0; i < spaces.size(); ++i) {
    int64_t count = 0;
    if (!counts.empty() && !absl::SimpleAtoi(counts[std::min(i, counts.size() - 1)], &count)) {
      return absl::InvalidArgumentError(absl::StrCat("--count ", flags.counts, ": numbers, separated by commas"));
    }
    // With a budget alone the series is longer than any budget; layers and networks in the proportion in which they
    // were shipped.
    if (counts.empty()) count = absl::StrContains(spaces[i], "networks") ? 20000 : 500000;
    options.spaces.push_back({spaces[i], count});
  }
  if (!flags.budget.empty()) {
    absl::Duration budget;
    if (!absl::ParseDuration(flags.budget, &budget) || budget <= absl::ZeroDuration()) {
      return absl::InvalidArgumentError(absl::StrCat("--budget ", flags.budget, ": a duration such as 30m"));
    }
    options.budget_s = absl::ToDoubleSeconds(budget);
  } else if (counts.empty()) {
    return absl::InvalidArgumentError("measure needs --budget or --count");
  }
  return options;
}

absl::Status MeasureOne(const MeasureFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeGzip(flags.graph));
  COBRA_ASSIGN_OR_RETURN(const Graph graph, GraphFromJson(text));
  COBRA_RETURN_IF_ERROR(PinToCore(flags.core));
  ConfigureLibTorch(1);
  Record record;
  COBRA_RETURN_IF_ERROR(RunInChildren(
      1, {}, [&](int) { return RecordToJson(MeasureGraph(graph, CarefulRules())); },
      [&](int, const ChildResult& result) {
        record.outcome = result.outcome;
        record.message = result.text;
        if (result.outcome != Outcome::ok) return;
        if (absl::StatusOr<Record> measured = RecordFromJson(result.text); measured.ok()) record = *std::move(measured);
      }));
  record.space = "asked";
  record.is_network = graph.nodes().size() > 1;
  record.load = LoadAverage();
  record.time_utc = TimeUtc();
  std::printf("%s\n", RecordToJson(record).c_str());
  return absl::OkStatus();
}

absl::Status RunMeasure(const MeasureFlags& flags) {
  if (!flags.graph.empty()) return MeasureOne(flags);
  COBRA_ASSIGN_OR_RETURN(const CampaignOptions options, ToCampaign(flags));
  return RunCampaign(options);
}

// The canary again and again: how much a load elsewhere on the machine changes what is measured here.
absl::Status RunCanary(int core, int count) {
  COBRA_RETURN_IF_ERROR(PinToCore(core));
  ConfigureLibTorch(1);
  COBRA_ASSIGN_OR_RETURN(const std::unique_ptr<Canary> canary, Canary::Create());
  for (int i = -1; i < count; ++i) {
    const CanaryTimes times = canary->Measure();
    if (i < 0) continue;  // warm-up
    std::printf("{\"conv_us\":%.1f,\"matmul_us\":%.1f,\"copy_us\":%.1f,\"load\":%.2f}\n", times.conv_us,
                times.matmul_us, times.copy_us, LoadAverage());
  }
  return absl::OkStatus();
}

absl::Status PrintProbe(int core, bool as_json) {
  COBRA_ASSIGN_OR_RETURN(const std::string json, RunProbe(core, [](int done, int total, absl::string_view label) {
                           std::fprintf(stderr, "\rprobe %d/%d %-32s", done, total, std::string(label).c_str());
                           if (done == total) std::fputc('\n', stderr);
                         }));
  const nlohmann::json canary = nlohmann::json::parse(json)["canary"];
  if (canary["disturbed"].get<bool>()) {
    std::fprintf(stderr,
                 "warning: this machine did something else meanwhile (the same work took %.2f times as long, a copy "
                 "%.2f times): measure again when it is idle\n",
                 canary["compute_ratio"].get<double>(), canary["copy_ratio"].get<double>());
  }
  if (as_json) {
    std::printf("%s\n", json.c_str());
    return absl::OkStatus();
  }
  COBRA_ASSIGN_OR_RETURN(const ProbeResult result, ProbeResultFromJson(json));
  const TargetSpec& machine = result.machine;
  std::printf("%s, %s: %.0f GFLOP/s, %.1f GB/s\n", machine.device.c_str(), machine.runtime.c_str(), machine.peak_gflops,
              machine.memory_gb_per_s);
  for (const ProbeRecord& record : result.records) {
    const Node& last = record.graph.nodes().back();
    std::printf("%12.1f us  %s of %zu calls -> %s\n", record.latency_us,
                record.is_network ? "network" : std::string(OpName(last.op)).c_str(), record.graph.nodes().size(),
                TypeText(last.outputs[0]).c_str());
  }
  return absl::OkStatus();
}

struct ExchangeFlags {
  std::vector<std::string> files;
  std::string format = "csv", out;
  bool skip_invalid = false;
};

bool IsCsv(absl::string_view path) { return absl::EndsWith(path, ".csv") || absl::EndsWith(path, ".csv.gz"); }

absl::Status WriteOut(const std::string& path, const std::string& text) {
  if (path.empty()) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return absl::OkStatus();
  }
  return WriteFileAtomic(path, absl::EndsWith(path, ".gz") ? Gzip(text) : text);
}

absl::Status RunExport(const ExchangeFlags& flags) {
  std::string lines;
  for (const std::string& file : flags.files) {
    COBRA_ASSIGN_OR_RETURN(const std::string text, ReadMaybeGzip(file));
    absl::StrAppend(&lines, text, absl::EndsWith(text, "\n") ? "" : "\n");
  }
  if (flags.format == "jsonl") return WriteOut(flags.out, lines);
  COBRA_ASSIGN_OR_RETURN(const std::string csv, RecordsToCsv(lines));
  return WriteOut(flags.out, csv);
}

absl::Status RunImport(const ExchangeFlags& flags) {
  std::string lines;
  int64_t problems = 0;
  for (const std::string& file : flags.files) {
    COBRA_ASSIGN_OR_RETURN(std::string text, ReadMaybeGzip(file));
    if (IsCsv(file)) {
      absl::StatusOr<std::string> converted = CsvToRecords(text);
      if (!converted.ok()) return absl::InvalidArgumentError(absl::StrCat(file, ": ", converted.status().message()));
      text = *std::move(converted);
    }
    CheckedRecords checked = CheckRecords(text);
    for (const std::string& problem : checked.problems) std::fprintf(stderr, "%s: %s\n", file.c_str(), problem.c_str());
    std::fprintf(stderr, "%s: %lld records of %lld sessions in order, %zu lines are not\n", file.c_str(), static_cast<long long>(checked.records),
                 static_cast<long long>(checked.sessions), checked.problems.size());
    problems += static_cast<int64_t>(checked.problems.size());
    lines += checked.json_lines;
  }
  if (problems > 0 && !flags.skip_invalid) {
    return absl::InvalidArgumentError("nothing is written (--skip-invalid writes what is in order)");
  }
  return WriteOut(flags.out, lines);
}

// What `targets` of a model and the measurements' target.json say of a machine.
absl::Status RunDescribe(int core) {
  COBRA_RETURN_IF_ERROR(PinToCore(core));
  ConfigureLibTorch(1);
  TargetSpec machine = DescribeMachine(LibTorchVersion(), 1);
  COBRA_ASSIGN_OR_RETURN(const MachineSpeed speed, MeasureMachineSpeed());
  machine.peak_gflops = speed.peak_gflops;
  machine.memory_gb_per_s = speed.memory_gb_per_s;
  std::printf("%s\n", TargetSpecToJson(machine).c_str());
  return absl::OkStatus();
}

int ExitCode(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "cobra-worker: %s\n", std::string(status.message()).c_str());
  return absl::IsInvalidArgument(status) ? 2 : 1;
}

#ifdef COBRA_GRPC
struct WorkFlags {
  std::string server = "127.0.0.1:50051", target, spool;
  int lease_tasks = 120, lease_seconds = 300, group_tasks = 60;
  bool share_device = false, until_idle = false, keep_disturbed = false;
};

std::string DefaultSpool(const std::string& target) {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state != nullptr) return absl::StrCat(state, "/cobra-worker/", target);
  return absl::StrCat(home == nullptr ? "." : home, "/.local/state/cobra-worker/", target);
}

absl::Status RunWorkFor(WorkFlags flags, int core, const std::string& layers) {
  if (flags.target.empty()) flags.target = DescribeMachine(LibTorchVersion(), 1).name;
  if (flags.spool.empty()) flags.spool = DefaultSpool(flags.target);
  WorkOptions options;
  options.spool = flags.spool;
  options.share_device = flags.share_device;
  options.group_tasks = flags.group_tasks;
  options.runner.core = core;
  if (flags.keep_disturbed) options.runner.canary_tolerance = options.runner.canary_copy_tolerance = std::numeric_limits<double>::infinity();
  options.sampler.real_layers_path = layers;
  options.courier = {"/proc/self/exe", "courier", "--server", flags.server, "--target", flags.target, "--spool", flags.spool,
                     "--lease-tasks", absl::StrCat(flags.lease_tasks), "--lease-seconds", absl::StrCat(flags.lease_seconds)};
  if (flags.until_idle) options.courier.push_back("--until-idle");
  return RunWork(options);
}

absl::Status RunCourierFor(const WorkFlags& flags) {
  COBRA_ASSIGN_OR_RETURN(Spool spool, Spool::Open(flags.spool));
  CourierOptions options;
  options.server = flags.server;
  options.target = flags.target;
  options.lease_tasks = flags.lease_tasks;
  options.lease = absl::Seconds(flags.lease_seconds);
  options.until_idle = flags.until_idle;
  return RunCourier(options, std::move(spool));
}

void AddWorkOptions(CLI::App* app, WorkFlags* flags) {
  app->add_option("--server", flags->server, "Address of cobra-server")->capture_default_str();
  app->add_option("--target", flags->target, "Name of the target that this machine is; default: its own (cobra-worker describe)");
  app->add_option("--spool", flags->spool, "Folder where tasks and records wait; default: in the user's state folder");
  app->add_option("--lease-tasks", flags->lease_tasks, "Tasks to hold")->check(CLI::Range(1, 1000))->capture_default_str();
  app->add_option("--lease-seconds", flags->lease_seconds, "How long tasks stay this worker's if it dies")->check(CLI::Range(1, 3600))->capture_default_str();
  app->add_flag("--until-idle", flags->until_idle, "End when the server has nothing to measure");
}
#endif

int Main(int argc, char** argv) {
  if (const absl::Status status = RestartWithEnvironment(argv, /*threads=*/1); !status.ok()) {
    std::fprintf(stderr, "cobra-worker: %s\n", std::string(status.message()).c_str());
    return 1;
  }
  CLI::App app("Measures layers and networks on this machine.", "cobra-worker");
  app.require_subcommand(1);
  MeasureFlags flags;
  CLI::App* measure = app.add_subcommand("measure", "Measures a series of samples, or one graph");
  measure->add_option("--space", flags.spaces,
                      "paper-layers, real-layers, paper-networks, real-networks; separated by commas");
  measure->add_option("--count", flags.counts, "how many of each space (one number, or one for each)");
  measure->add_option("--budget", flags.budget, "how long, e.g. 30m");
  measure->add_option("--out", flags.out, "JSON lines, appended to; what is there is not measured again");
  measure->add_option("--core", flags.core, "processor to run on")->capture_default_str();
  measure->add_option("--seed", flags.seed, "of the samples")->capture_default_str();
  measure->add_option("--layers", flags.layers, "layers of real networks")->capture_default_str();
  measure->add_option("--graph", flags.graph, "a graph in JSON: measures it and prints its record");
  CLI::App* canary = app.add_subcommand("canary", "Measures the canary: a convolution, a matrix product, a copy");
  int canary_count = 10;
  canary->add_option("--core", flags.core, "processor to run on")->capture_default_str();
  canary->add_option("--count", canary_count, "how often")->capture_default_str();
  CLI::App* probe =
      app.add_subcommand("probe", "Measures the fixed set from which a new machine is adapted, in under a minute");
  bool as_json = false;
  probe->add_flag("--json", as_json, "for cobra-client calibrate and the server");
  probe->add_option("--core", flags.core, "processor to run on")->capture_default_str();
  CLI::App* describe = app.add_subcommand("describe", "This machine as a target: name, caches, clock, cores; peak and bandwidth measured");
  describe->add_option("--core", flags.core, "processor to measure on")->capture_default_str();
  ExchangeFlags exchange;
  CLI::App* export_records = app.add_subcommand("export", "Records (JSON lines) as CSV, each with its conditions");
  export_records->add_option("files", exchange.files, "JSON lines, plain or gzip")->required();
  export_records->add_option("--format", exchange.format)->check(CLI::IsMember({"csv", "jsonl"}))->capture_default_str();
  export_records->add_option("--out", exchange.out, "file (.gz: packed); default: standard output");
  CLI::App* import_records = app.add_subcommand("import", "Records of others (CSV or JSON lines), checked one by one");
  import_records->add_option("files", exchange.files, "*.csv, *.jsonl, plain or gzip")->required();
  import_records->add_option("--out", exchange.out, "JSON lines (.gz: packed); default: standard output");
  import_records->add_flag("--skip-invalid", exchange.skip_invalid, "write what is in order although not all is");
#ifdef COBRA_GRPC
  WorkFlags work_flags;
  CLI::App* work = app.add_subcommand("work", "Measures what a server asks for, until stopped");
  AddWorkOptions(work, &work_flags);
  work->add_option("--core", flags.core, "processor to run on")->capture_default_str();
  work->add_option("--group", work_flags.group_tasks, "Tasks between two canaries")->check(CLI::Range(1, 1000))->capture_default_str();
  work->add_option("--layers", flags.layers, "layers of real networks")->capture_default_str();
  work->add_flag("--share-device", work_flags.share_device, "Measure even if another worker does so on this processor");
  work->add_flag("--keep-disturbed", work_flags.keep_disturbed, "Take records as they come although the machine does other things: for demonstrations");
  CLI::App* courier = app.add_subcommand("courier", "The part of `work` that talks to the server; started by it");
  AddWorkOptions(courier, &work_flags);
#endif
  CLI11_PARSE(app, argc, argv);

#ifdef COBRA_GRPC
  if (work->parsed() || courier->parsed()) return ExitCode(work->parsed() ? RunWorkFor(work_flags, flags.core, flags.layers) : RunCourierFor(work_flags));
#endif
  if (describe->parsed()) return ExitCode(RunDescribe(flags.core));
  if (export_records->parsed()) return ExitCode(RunExport(exchange));
  if (import_records->parsed()) return ExitCode(RunImport(exchange));
  const absl::Status status = canary->parsed()  ? RunCanary(flags.core, canary_count)
                              : probe->parsed() ? PrintProbe(flags.core, as_json)
                                                : RunMeasure(flags);
  return ExitCode(status);
}

}  // namespace
}  // namespace cobra

int main(int argc, char** argv) { return cobra::Main(argc, argv); }
