// The flags of cobra-worker's commands.
#ifndef COBRA_WORKER_FLAGS_H_
#define COBRA_WORKER_FLAGS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/connection_files.h"
#include "base/file/data_path.h"
#include "base/process/command_line.h"
#include "worker/machine/execution.h"
#include "worker/machine/machine.h"
#include "worker/queue/exchange_command.h"

namespace cobra::worker {

struct MeasureFlags {
  std::string spaces, budget, out, graph, graphs, counts, runner;
  ExecutionFlags execution;
  int64_t first = 0;
  int core = FirstCore();
  int group_tasks = 0;  // 0: the default of the device
  double network_gmacs = 0;
  double tolerance = 0;  // 0: the default
  bool layer_energy = false, share_device = false, in_turns = false;
  uint64_t seed = 1;
  std::string layers;  // empty: the shipped ones
  std::string networks;
};

struct CheckRunnerFlags {
  std::vector<std::string> command;
  int graphs = 200;
};

struct ProbeFlags {
  bool as_json = false;
  std::string budget = "1m";
};

// Flags for a description as in `targets` of a model and in target.json: this machine, or a GPU of
// a table.
struct DescribeFlags {
  // A GPU of the table instead of this machine.
  std::string table_device;
  std::string table = DataPath("data/devices/gpus.csv");
};

struct WorkFlags {
  std::string server = "127.0.0.1:50051", target, spool, worker;
  ConnectionFiles connection;
  int lease_tasks = 120, lease_seconds = 300;
  int memory_gb = 8;
  bool until_idle = false, keep_disturbed = false;
};

void AddExecutionOptions(CLI::App* app, MeasureFlags* flags);
void AddRunnerOption(CLI::App* app, MeasureFlags* flags);
void AddMeasureOptions(CLI::App* command, MeasureFlags* flags);
void AddSampleOptions(CLI::App* command, MeasureFlags* flags);
void AddDescribeOptions(CLI::App* command, MeasureFlags* flags, DescribeFlags* describe);
void AddExportOptions(CLI::App* command, ExchangeFlags* flags);
void AddImportOptions(CLI::App* command, ExchangeFlags* flags);
void AddProbeOptions(CLI::App* command, MeasureFlags* flags, ProbeFlags* probe);
CLI::App* AddCheckRunner(CLI::App* app, MeasureFlags* flags, CheckRunnerFlags* runner);
void AddWorkOptions(CLI::App* app, WorkFlags* flags);
void AddMeasuringWorkOptions(CLI::App* command, MeasureFlags* flags, WorkFlags* work);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_FLAGS_H_
