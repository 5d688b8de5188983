// What every fuzzer asks of what it read.
#ifndef COBRA_TESTS_FUZZ_CHECKS_H_
#define COBRA_TESTS_FUZZ_CHECKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/limits.h"
#include "graph/graph.h"

namespace cobra::fuzz {

// Aborts unless it is a graph that can be costed, printed, written and read back, or a refusal with
// a diagnostic. To write and read back a graph takes twenty times as long as to read its input did:
// of inputs whose graphs have n calls that is done for one in n, so that large graphs take no
// longer than small ones.
void Check(const absl::StatusOr<graph::Graph>& graph, absl::string_view input);
// Whether a costly check is due for this input, as it is for one in `times`: always the same answer
// for the same input.
bool IsDue(absl::string_view input, size_t times);
// From now on every check is due.
void MakeEveryCheck();
void CheckRefusal(const absl::Status& status);
// Aborts if the error has no message.
void CheckMessage(const absl::Status& status);
[[noreturn]] void Fail(const char* what, const std::string& detail);

// Small in what takes time; sizes have the usual limits.
Limits SmallLimits();

}  // namespace cobra::fuzz

#endif  // COBRA_TESTS_FUZZ_CHECKS_H_
