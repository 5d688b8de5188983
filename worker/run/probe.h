// `cobra-worker probe`: layers and networks, measured in as much time as there is, to calibrate a
// target that was not trained on (model/predict/target/target.h, ProbeResult).
#ifndef COBRA_WORKER_RUN_PROBE_H_
#define COBRA_WORKER_RUN_PROBE_H_

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "worker/run/group_runner.h"
#include "worker/sample/sampler.h"

namespace cobra::worker {

// 64 layers of all operator groups and sizes, then networks: three small ones and one of each
// family of real ones. The same in every version of the worker.
std::vector<Sample> ProbeSubjects();

// After each measurement: how many were made, how many subjects there are, and the last one's
// label.
using ProbeProgress = std::function<void(int done, int subjects, absl::string_view label)>;

// Measures ProbeSubjects() in half a minute, in child processes or in the options' runner; the
// rules of the options are replaced. What is left of `budget` goes to more networks of those
// families, in the order of predict::DesignProbe, and to the same subjects again, of which the
// least disturbed measurement counts. Returns the text that ProbeResultFromJson reads. Canaries
// before, between and after them show whether the machine was busy:
// "canary":{"compute_ratio","copy_ratio","disturbed","load"}, the worst over the median. What that
// did to the networks is in "disturbance":{"ratios"} (predict::ProbeResult), which is absent on a
// GPU.
absl::StatusOr<std::string> RunProbe(GroupRunnerOptions options, absl::Duration budget, const ProbeProgress& progress);

}  // namespace cobra::worker

#endif  // COBRA_WORKER_RUN_PROBE_H_
