// cobra-bench NAME [--json]: runs one comparison and prints it, as a table or as one JSON object.
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "base/process/command_line.h"
#include "tests/bench/bench.h"

namespace cobra::bench {
namespace {

void PrintTable(const Json& value, const std::string& indent) {
  for (const auto& [key, item] : value.items()) {
    if (item.is_object()) {
      std::cout << indent << key << "\n";
      PrintTable(item, indent + "  ");
    } else {
      std::printf("%s%-24s %s\n", indent.c_str(), key.c_str(),
                  item.is_number_float() ? absl::StrCat(item.get<double>()).c_str() : item.dump().c_str());
    }
  }
}

struct Benchmark {
  const char* name;
  const char* about;  // null: not listed, for other benchmarks to start
  RunBenchmark (*add)(CLI::App* app);
};
constexpr Benchmark kBenchmarks[] = {
    {"reader",
     "How fast source becomes a graph: parser in MB/s; torchvision models read in a running process and by a new one, "
     "compared with PyTorch (build, torch.fx.symbolic_trace, ShapeProp). Takes some minutes",
     AddReader},
    {"serve",
     "How fast the server answers what it has answered before, compared with a gRPC server that only echoes as many "
     "bytes. Takes some minutes",
     AddServe},
    {"stream",
     "How fast the server answers over one stream what it has answered before, compared with a bare gRPC stream",
     AddStream},
    {"batch", "How fast the server answers batches of a thousand architecture strings, compared with an echo",
     AddBatch},
    {"encode", "How fast layers are encoded, compared with the matrix products of OpenBLAS on one thread", AddEncode},
    {"cold",
     "How fast ResNet-50 is predicted from source when all its layers are new, compared with PyTorch. Takes some "
     "minutes",
     AddCold},
    {"bulk",
     "How long a cold server takes for all 15,625 networks of NAS-Bench-201, compared with a graph network in PyTorch. "
     "Takes some minutes",
     AddBulk},
    {"candidates",
     "How many new networks of search spaces a server answers in a second of its processor time, and in what memory. "
     "Takes an hour",
     AddCandidates},
    {"cache", "Whether the server answers as fast with a million cached entries as with a thousand. Takes some minutes",
     AddCache},
    {"start", "How long the server takes from its start to serving", AddStart},
    {"flood",
     "What one client notices while another one floods the server with new networks, or with programs that never end. "
     "Takes two minutes",
     AddFlood},
    {"http", "How fast the server answers over HTTP what it has answered before, compared with gRPC. Takes a minute",
     AddHttp},
    {"locks", "How long the server's threads hold its locks, and what that means for 16 cores", AddLocks},
    {"memory", "What a million cached layers take, and whether memory that was evicted comes back. Takes some minutes",
     AddMemory},
    {"reload", "Latencies and answers while new model versions are loaded. Takes two minutes", AddReload},
    {"echo", nullptr, AddEcho},
};

// The exit code.
int Run(const CLI::App& app, const RunBenchmark& run, bool json) {
  const absl::StatusOr<Json> result = run();
  if (!result.ok()) {
    PrintError(app.get_name(), result.status());
    return 1;
  }
  if (result->is_null()) return 0;
  if (json) {
    std::cout << result->dump(2) << "\n";
  } else {
    PrintTable(*result, "");
  }
  return 0;
}

int Main(int argc, char** argv) {
  bool json = false;
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);  // as cobra-server: the echo has it as well
  CLI::App app("Compares performance with other programs, both in one run. Leave the machine idle.", "cobra-bench");
  app.require_subcommand(1);
  app.footer("Exit codes: 0 success, 1 a program to compare with is missing or failed, 2 usage error.");
  std::vector<std::pair<CLI::App*, RunBenchmark>> added;
  for (const Benchmark& benchmark : kBenchmarks) {
    CLI::App* command = app.add_subcommand(benchmark.name, benchmark.about == nullptr ? "" : benchmark.about);
    if (benchmark.about == nullptr) command->group("");
    command->add_flag("--json", json, "One JSON object instead of a table");
    added.emplace_back(command, benchmark.add(command));
  }
  const absl::StatusOr<bool> parsed = ParseCommandLine(&app, argc, argv);
  if (!parsed.ok()) {
    PrintError(app.get_name(), parsed.status());
    return kUsageExitCode;
  }
  if (!*parsed) return 0;
  for (const auto& [command, run] : added) {
    if (command->parsed()) return Run(app, run, json);
  }
  return kUsageExitCode;  // require_subcommand leaves nothing else
}

}  // namespace
}  // namespace cobra::bench

int main(int argc, char** argv) { return cobra::bench::Main(argc, argv); }
