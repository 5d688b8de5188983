// cobra-bench NAME [--json]: one performance comparison, both sides in one run.
#ifndef COBRA_TESTS_BENCH_BENCH_H_
#define COBRA_TESTS_BENCH_BENCH_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/process/command_line.h"
#include "nlohmann/json.hpp"

namespace cobra::bench {

using Json = nlohmann::ordered_json;

// Seconds of wall clock, and of the processor as this thread used it: the second does not see other
// programs.
struct Seconds {
  double wall = 0, cpu = 0;
};
class Stopwatch {
 public:
  Stopwatch();
  Seconds Elapsed() const;

 private:
  Seconds start_;
};
// The run in the middle by wall clock, so that both figures are of one run.
Seconds MiddleRun(std::vector<Seconds> runs);
// A child process from start to end; fails unless it exits 0. What it prints is returned in *output
// (may be null).
absl::StatusOr<Seconds> TimeProcess(const std::vector<std::string>& command, std::string* output);

// Runs a benchmark once the command line has been parsed. Its result is printed, unless it is null.
using RunBenchmark = std::function<absl::StatusOr<Json>()>;

// --rounds and --seconds, which most benchmarks have.
void AddRounds(CLI::App* app, int* rounds, const std::string& about = "How often both sides are measured");
void AddSeconds(CLI::App* app, double* seconds, const std::string& about);

// Each adds the flags of one benchmark to its subcommand (main.cc lists them).
RunBenchmark AddBatch(CLI::App* app);
RunBenchmark AddBulk(CLI::App* app);
RunBenchmark AddCache(CLI::App* app);
RunBenchmark AddCandidates(CLI::App* app);
RunBenchmark AddCold(CLI::App* app);
RunBenchmark AddEcho(CLI::App* app);
RunBenchmark AddEncode(CLI::App* app);
RunBenchmark AddFlood(CLI::App* app);
RunBenchmark AddHttp(CLI::App* app);
RunBenchmark AddLocks(CLI::App* app);
RunBenchmark AddMemory(CLI::App* app);
RunBenchmark AddReader(CLI::App* app);
RunBenchmark AddReload(CLI::App* app);
RunBenchmark AddServe(CLI::App* app);
RunBenchmark AddStart(CLI::App* app);
RunBenchmark AddStream(CLI::App* app);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_BENCH_H_
