// Tasks in child processes forked from a warm parent: what kills a child (a crash, the kernel's out-of-memory killer,
// its time limit) costs only the task that it was in. One child runs tasks until one of them ends it; the next child
// goes on with the next task.
//
// The parent must be single-threaded when it forks (LibTorch with one intra-op thread starts none).
#ifndef COBRA_WORKER_CHILD_H_
#define COBRA_WORKER_CHILD_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "store/record.h"

namespace cobra::worker {

struct ChildLimits {
  double task_timeout_s = 120;  // no task of ours takes a quarter of this; a hang must not stop the series
  int64_t address_space_bytes =
      0;  // 0: none. Allocation beyond it fails in the child instead of waking the kernel's killer
  // Asked in the child after each task; false: it can do no more (its GPU's context is lost), the next task gets a
  // child of its own.
  std::function<bool()> healthy;
};

struct ChildResult {
  store::Outcome outcome = store::Outcome::ok;
  std::string text;  // ok: what the task returned; otherwise what happened, for people
};

// Calls run(0) ... run(num_tasks - 1) in children and done(i, result) in this process, in order.
absl::Status RunInChildren(int num_tasks, const ChildLimits& limits, const std::function<std::string(int)>& run,
                           const std::function<void(int, const ChildResult&)>& done);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_CHILD_H_
