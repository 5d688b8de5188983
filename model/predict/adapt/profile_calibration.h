// A new device, described by the profiles of its peers (profile_adapter.h), as a calibration that
// can be stored.
#ifndef COBRA_MODEL_PREDICT_ADAPT_PROFILE_CALIBRATION_H_
#define COBRA_MODEL_PREDICT_ADAPT_PROFILE_CALIBRATION_H_

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/predict/adapt/adapter.h"
#include "model/predict/adapt/profile_adapter.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// As Adapter::Adapt. The interval holds 90 % of the errors that the samples' number leaves on peers
// whose device is left out, and of each sample by all others.
absl::StatusOr<Calibration> AdaptByProfile(const ProfileAdapter& profiles, const ProfileAdapter::Peers& peers,
                                           const TargetSpec& machine, absl::Span<const store::TimedNetwork> samples,
                                           const std::function<bool()>& cancelled);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_PROFILE_CALIBRATION_H_
