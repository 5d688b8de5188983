// The other side of a benchmark where that is a Python program: a script of this folder.
#ifndef COBRA_TESTS_BENCH_PYTHON_SIDE_H_
#define COBRA_TESTS_BENCH_PYTHON_SIDE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tests/bench/bench.h"

namespace cobra::bench {

inline constexpr char kPython[] = "/usr/bin/python3";

// FailedPrecondition, with what to install, if Python or one of the packages is missing: {"torch",
// "torchvision"}.
absl::Status CheckPython(const std::vector<std::string>& packages);

// Runs `script` of this folder and returns the JSON that it prints.
absl::StatusOr<Json> RunPython(const std::string& script, const std::vector<std::string>& arguments);

}  // namespace cobra::bench

#endif  // COBRA_TESTS_BENCH_PYTHON_SIDE_H_
