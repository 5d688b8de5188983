// Warnings about timings that do not go with those that a target has: they are taken, for devices
// get other drivers, hosts and power modes, and the reply has a warning.
#ifndef COBRA_SERVER_TARGETS_NEW_LEVEL_H_
#define COBRA_SERVER_TARGETS_NEW_LEVEL_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cobra/v1/cobra.pb.h"
#include "model/predict/adapt/calibration.h"
#include "model/predict/target/timing_level.h"
#include "server/targets/live_model.h"
#include "store/measurement.h"

namespace cobra::server {

// Whether the target knows more than a data sheet, which promises less than a measurement.
bool IsTimed(const predict::Calibration& serving);

// How many times as long as the version of `target` that serves predicts the records took, in the
// median. 1 if there are none, if it was never timed, or while they take less than twice and more
// than half as long. Fails as a prediction does.
absl::StatusOr<double> LevelOf(const ModelSnapshot& model, absl::string_view target,
                               absl::Span<const store::Measurement> records, const std::function<bool()>& cancelled);

// Of timings that take the place of all others, of some that join them, and of some that make
// others invalid, of which `left_out` networks were not timed again. Empty for a level of 1.
std::string ReplacedWarning(double level, absl::string_view target);
std::string JoinedWarning(double level);
std::string NewLevelWarning(const predict::TimingLevel& level, size_t left_out, absl::string_view target);

// Of timings that are more than twofold from what a trained target with this device, software,
// precision and number of threads takes: others have published its timings. The target nearest to
// them counts; calls that none knows do not.
absl::StatusOr<std::string> PublishedWarning(const ModelSnapshot& model, const predict::TargetSpec& sheet,
                                             absl::Span<const store::Measurement> records,
                                             const std::function<bool()>& cancelled);

// Beside what a target's own timings are doubted for; clients know it by its first word, "warning:
// ". Nothing if `text` is empty.
void AddWarning(const std::string& text, v1::AdaptResponse* response);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TARGETS_NEW_LEVEL_H_
