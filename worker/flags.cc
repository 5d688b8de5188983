#include "worker/flags.h"

#include "absl/strings/str_cat.h"
#include "worker/run/campaign.h"

namespace cobra::worker {

void AddRunnerOption(CLI::App* app, MeasureFlags* flags) {
  app->add_option(
      "--runner", flags->runner,
      "Measure in another runtime, not in LibTorch: torch, torch-compile, onnxruntime, openvino, ncnn, or the "
      "command of a runner (docs/runners.md)");
}

void AddExecutionOptions(CLI::App* app, MeasureFlags* flags) {
  ExecutionFlags& e = flags->execution;
  app->add_option("--device", e.device, "cpu, cuda or cuda:N")->capture_default_str();
  app->add_option(
         "--precision", e.precision,
         "float32, tf32, tf32-convolutions (PyTorch's default), bfloat16, float16: type of the float32 tensors")
      ->capture_default_str();
  app->add_option("--layout", e.layout, "nchw or channels-last")->capture_default_str();
  app->add_option("--cache", e.cache, "warm or cold: last-level cache before a call")->capture_default_str();
  app->add_option("--threads", e.threads, "Threads of one operator, on the CPU")->capture_default_str();
  app->add_option(
         "--isa", e.isa,
         "Instructions that LibTorch and torch may use: native, or as on a processor that has no more than avx2 "
         "or sse41")
      ->capture_default_str();
  app->add_option(
         "--core", flags->core,
         "Processor to run on; with several threads, the first one; default: the first that this process may use")
      ->capture_default_str();
  app->add_flag("--share-device", flags->share_device, "Measure even if another worker uses this processor or GPU");
}

void AddMeasureOptions(CLI::App* command, MeasureFlags* flags) {
  command->add_option(
      "--space", flags->spaces,
      absl::StrCat(SpaceNames(), "; spaces: nas-bench-201 and the four of perfsage. Separated by commas"));
  command->add_option(
      "--count", flags->counts,
      "Samples of each space (one number, or one for each name in --space); a finite space may have fewer");
  command->add_option("--budget", flags->budget, "Time limit of the series: 30m, 2h, 90s");
  command->add_option("--out", flags->out, "JSON lines, appended to; records in it are not measured again");
  command->add_option("--network-gmacs", flags->network_gmacs,
                      "Leave out networks with more 1e9 multiply-accumulates; default: 16.5, for those of a list 1100");
  AddExecutionOptions(command, flags);
  AddRunnerOption(command, flags);
  command
      ->add_option("--group", flags->group_tasks,
                   "Layers between two canaries (a network counts as 15); default: 60, CUDA: 600")
      ->check(CLI::Range(1, 100000));
  command->add_option(
      "--tolerance", flags->tolerance,
      "Relative change of the canary above which a record is marked and measured again; default: 0.05, copy: 0.25");
  command->add_flag("--energy", flags->layer_energy,
                    "Measure the energy of layers too, if the machine has a counter (0.2 s each)");
  command->add_option("--seed", flags->seed, "Seed of the samples")->capture_default_str();
  command->add_option("--layers", flags->layers, "Layers of real networks (JSON lines), instead of the shipped ones");
  command->add_option(
      "--networks", flags->networks,
      absl::StrCat(
          "File of graphs, one JSON object with name and graph per line, for the spaces graphs, torchvision (default: ",
          kTorchvisionNetworks, "), timm (default: ", kTimmNetworks,
          ") and layers-of-networks (records too; default: ", kMeasuredNetworks, ")"));
  command->add_option("--graph", flags->graph, "Graph in JSON: measure it and print its record");
  command->add_flag("--in-turns", flags->in_turns,
                    "With --graph: for each line of standard input, measure for a quarter of a second and print a "
                    "line {latency_us, runs}; to alternate with another program on the same core");
  command->add_option("--graphs", flags->graphs,
                      "File of graphs instead of --space, one per line: `sample`, `cobra-train select`, or records");
}

void AddSampleOptions(CLI::App* command, MeasureFlags* flags) {
  command->add_option("--space", flags->spaces, "As for `measure`")->required();
  command->add_option("--count", flags->counts, "Samples of each space (one number, or one for each)")->required();
  command->add_option("--first", flags->first, "First index; choose one that no series of the same seed has measured")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--out", flags->out, "JSON lines (.gz: compressed)")->required();
  command->add_option("--device", flags->execution.device, "cpu, cuda or cuda:N: limits the size of samples")
      ->capture_default_str();
  command->add_option("--seed", flags->seed, "Seed of the samples")->capture_default_str();
  command->add_option("--layers", flags->layers, "Layers of real networks, instead of the shipped ones");
}

void AddDescribeOptions(CLI::App* command, MeasureFlags* flags, DescribeFlags* describe) {
  AddExecutionOptions(command, flags);
  AddRunnerOption(command, flags);
  command->add_option("--table", describe->table_device,
                      "Describe this GPU instead, by its published specification, e.g. \"NVIDIA L4\"");
  command->add_option("--table-file", describe->table, "CSV of published specifications")
      ->default_str("data/devices/gpus.csv");
}

void AddExportOptions(CLI::App* command, ExchangeFlags* flags) {
  command->add_option("files", flags->files, "JSON lines, plain, gzip or xz")->required();
  command->add_option("--format", flags->format, "Format of the output")
      ->check(CLI::IsMember({"csv", "jsonl"}))
      ->capture_default_str();
  command->add_option("--out", flags->out, "File (.gz: compressed); default: standard output");
}

void AddImportOptions(CLI::App* command, ExchangeFlags* flags) {
  command->add_option("files", flags->files, "*.csv, *.jsonl, plain, gzip or xz")->required();
  command->add_option("--out", flags->out, "JSON lines (.gz: compressed); default: standard output");
  command->add_flag("--skip-invalid", flags->skip_invalid, "Write the valid records even if some are invalid");
}

void AddProbeOptions(CLI::App* command, MeasureFlags* flags, ProbeFlags* probe) {
  command->add_flag("--json", probe->as_json, "Print JSON, for cobra-client calibrate and the server");
  command
      ->add_option("--budget", probe->budget,
                   "Time for measuring, such as 1m, 5m or 30m: half a minute goes to the fixed part, the rest to more "
                   "networks and to repeats")
      ->capture_default_str();
  AddExecutionOptions(command, flags);
  AddRunnerOption(command, flags);
}

CLI::App* AddCheckRunner(CLI::App* app, MeasureFlags* flags, CheckRunnerFlags* runner) {
  CLI::App* command = app->add_subcommand("check-runner", "Tests a runner (docs/runners.md): check-runner -- COMMAND");
  AddExecutionOptions(command, flags);
  command->add_option("--graphs", runner->graphs, "How many graphs to compare")->capture_default_str();
  command->add_option("command", runner->command, "The runner and its arguments")->required();
  return command;
}

void AddWorkOptions(CLI::App* app, WorkFlags* flags) {
  app->add_option("--server", flags->server, "Address of cobra-server, HOST:PORT")->capture_default_str();
  AddConnectionFlags(app, &flags->connection);
  app->add_option("--target", flags->target, "Target name of this machine; default: its own (cobra-worker describe)");
  app->add_option("--spool", flags->spool, "Folder where tasks and records wait; default: in the user's state folder");
  app->add_option("--lease-tasks", flags->lease_tasks, "Maximum number of leased tasks")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app->add_option("--lease-seconds", flags->lease_seconds, "Duration of a lease in seconds")
      ->check(CLI::Range(1, 3600))
      ->capture_default_str();
  app->add_flag("--until-idle", flags->until_idle, "Exit when the server has no more tasks");
}
void AddMeasuringWorkOptions(CLI::App* command, MeasureFlags* flags, WorkFlags* work) {
  AddWorkOptions(command, work);
  command->add_option("--worker", work->worker,
                      "Name of this worker, where its token is bound to one; default: a new name, kept in the spool");
  AddExecutionOptions(command, flags);
  AddRunnerOption(command, flags);
  command->add_option("--group", flags->group_tasks, "Tasks between two canaries; default: 60, CUDA: 600")
      ->check(CLI::Range(1, 1000));
  command->add_option("--layers", flags->layers, "Layers of real networks (JSON lines), instead of the shipped ones");
  command
      ->add_option("--memory-gb", work->memory_gb,
                   "Memory that a task may use, in GiB (not on a GPU): twice what the server lets a task take")
      ->check(CLI::Range(1, 1 << 16))
      ->capture_default_str();
  command->add_flag("--keep-disturbed", work->keep_disturbed,
                    "Keep records even if the machine was busy with other work; for demonstrations");
}

}  // namespace cobra::worker
