// Runs tasks in child processes forked from a warm parent. If a child dies (a crash, the kernel's
// out-of-memory killer, its time limit), only the current task is lost. One child runs tasks until
// one of them ends it; the next child continues with the next task.
//
// The parent must be single-threaded when it forks (LibTorch with one intra-op thread starts none).
#ifndef COBRA_WORKER_METER_CHILD_H_
#define COBRA_WORKER_METER_CHILD_H_

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "store/measurement.h"

namespace cobra::worker {

struct ChildLimits {
  // No task of ours takes a quarter of this; a hang must not stop the series.
  double task_timeout_s = 120;
  // What a child may allocate beyond its parent's address space; 0: no limit. Allocation fails in
  // the child, before the kernel's out-of-memory killer acts. Sanitizers reserve terabytes: under
  // them there is no limit.
  int64_t memory_bytes = 0;
  // Called in the child after each task. False: the child cannot run more tasks (its GPU's context
  // is lost), so the next task gets a new child.
  std::function<bool()> healthy;
  // Called in this process before each result is awaited. True: nothing more is run; the child,
  // which has begun the next task, is killed.
  std::function<bool()> stopped;
};

struct ChildResult {
  store::Outcome outcome = store::Outcome::ok;
  // With outcome `ok` the task's result, otherwise an error message.
  std::string text;
};

// Calls run(0) ... run(num_tasks - 1) in children and done(i, result) in this process, in order.
// With `limits.stopped`, done() is not called for the tasks that are left out.
absl::Status RunInChildren(int num_tasks, const ChildLimits& limits, const std::function<std::string(int)>& run,
                           const std::function<void(int, const ChildResult&)>& done);
// The result of one task in a child. Unavailable if the child died; otherwise an error of
// RunInChildren().
absl::StatusOr<std::string> RunInChild(const std::function<std::string()>& run);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_METER_CHILD_H_
