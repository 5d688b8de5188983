// Work that is split among child processes, because it uses a library with its own state or threads
// (LibTorch).
#ifndef COBRA_BASE_PROCESS_PROCESSES_H_
#define COBRA_BASE_PROCESS_PROCESSES_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace cobra {

// Calls work(i) for each i below `count` in a separate process, `jobs` at a time, and waits for
// all. Returns those that failed or crashed, ascending; their messages are in the log.
// ResourceExhausted: no more processes can be started; the started ones have ended. REQUIRES: the
// caller has no other children and no threads.
absl::StatusOr<std::vector<size_t>> RunInProcesses(size_t count, int jobs,
                                                   absl::FunctionRef<absl::Status(size_t)> work);

}  // namespace cobra

#endif  // COBRA_BASE_PROCESS_PROCESSES_H_
