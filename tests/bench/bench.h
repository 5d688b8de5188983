// cobra-bench NAME [--json]: one performance comparison, both sides in one run.
#ifndef COBRA_TESTS_BENCH_BENCH_H_
#define COBRA_TESTS_BENCH_BENCH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace cobra::bench {

using Json = nlohmann::ordered_json;

// Seconds of wall clock, and of the processor as this thread used it: the second does not see other programs.
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
// A child process from start to end; fails unless it exits 0. What it prints is returned in *output (may be null).
absl::StatusOr<Seconds> TimeProcess(const std::vector<std::string>& command, std::string* output);

// reader_bench.cc. `extra` are the arguments behind the name that main() did not take.
absl::StatusOr<Json> RunReader(const std::vector<std::string>& extra);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_BENCH_H_
