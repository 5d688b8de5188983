// `cobra-worker probe`: a fixed set of layers and three small networks, measured in under a minute, to calibrate a
// target that was not trained on (model/predict/target.h, ProbeResult).
#ifndef COBRA_WORKER_PROBE_H_
#define COBRA_WORKER_PROBE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "worker/group_runner.h"
#include "worker/sampler.h"

namespace cobra::worker {

// 64 layers over all operator groups and sizes, then three networks; the same in every version of the worker.
std::vector<Sample> ProbeSubjects();

// Measures them by the options but for their rules, in child processes or in the options' runner; `progress(done,
// total, label)` after each. Returns the text that ProbeResultFromJson reads. A canary before, between and after them
// shows whether the machine was busy: "canary":{"compute_ratio","copy_ratio","disturbed","load"}, the worst over the
// median.
absl::StatusOr<std::string> RunProbe(GroupRunnerOptions options,
                                     const std::function<void(int, int, absl::string_view)>& progress);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_PROBE_H_
