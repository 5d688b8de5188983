// What every fuzzer asks of what it read.
#ifndef COBRA_TESTS_FUZZ_CHECKS_H_
#define COBRA_TESTS_FUZZ_CHECKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/limits.h"
#include "graph/graph.h"

namespace cobra::fuzz {

// Aborts unless it is a graph that can be costed, printed, written and read back, or a refusal with a diagnostic.
void Check(const absl::StatusOr<graph::Graph>& graph);
void CheckRefusal(const absl::Status& status);
// Aborts if the error has no message.
void CheckMessage(const absl::Status& status);
[[noreturn]] void Fail(const char* what, const std::string& detail);

// Limits of sizes stay the usual ones, so that the pool's frozen interpreters are in play.
Limits SmallLimits();

}  // namespace cobra::fuzz

#endif  // COBRA_TESTS_FUZZ_CHECKS_H_
