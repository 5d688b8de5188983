// Targets for new devices: the adaptors of Adapt, Observe, ExportTarget and SuggestSamples.
#ifndef COBRA_SERVER_TARGETS_ADAPTATION_H_
#define COBRA_SERVER_TARGETS_ADAPTATION_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "cobra/v1/cobra.pb.h"
#include "model/predict/target/timing_level.h"
#include "model/predict/target/timings.h"
#include "server/lanes/call_context.h"
#include "server/lanes/held_bytes.h"
#include "server/reader/network_reader.h"
#include "server/targets/live_model.h"
#include "server/targets/timed_networks.h"
#include "store/measurement.h"

namespace cobra::server {

class Adaptation {
 public:
  // The pointers are not owned and must outlive this object.
  Adaptation(NetworkReader* reader, LiveModel* model) : reader_(reader), model_(model) {}

  // Once for each id of a caller's (done_once.h).
  absl::Status HandleAdapt(v1::AdaptRequest& request, v1::AdaptResponse* response, const CallContext& call);
  absl::Status HandleObserve(v1::ObserveRequest& request, v1::AdaptResponse* response, const CallContext& call);
  absl::Status HandleExportTarget(const v1::ExportTargetRequest& request, v1::ExportTargetResponse* response,
                                  const CallContext& call);
  absl::Status HandleSuggestSamples(v1::SuggestSamplesRequest& request, v1::SuggestSamplesResponse* response,
                                    const CallContext& call);

 private:
  absl::Status Adapt(v1::AdaptRequest& request, VersionCause cause, v1::AdaptResponse* response,
                     const CallContext& call);
  absl::Status Observe(v1::ObserveRequest& request, VersionCause cause, v1::AdaptResponse* response,
                       const CallContext& call);
  // Stores and serves; without what the fit refuses, if the request says so. `warning`: of the
  // answer.
  absl::Status AdaptTo(const v1::AdaptRequest& request, absl::string_view warning, VersionCause cause,
                       predict::ProbeResult* measured, v1::AdaptResponse* response, const CallContext& call);
  // Gives `measured` what the target has been timed with; its version, or 0 if there is no such
  // target.
  absl::StatusOr<int64_t> TakeTimings(const std::string& name, predict::ProbeResult* measured) const;
  // The graphs of records count to the caller as long as the part is kept.
  absl::StatusOr<HeldBytes::Part> HoldRecords(absl::Span<const store::Measurement> records,
                                              const CallContext& call) const;
  // Moves those that are unlike what the target predicts to the refused ones: a mistaken unit.
  absl::Status RejectImplausible(absl::string_view target, const CallContext& call,
                                 predict::CheckedTimings* timings) const;
  // A version that has the timings of a new level and none of the earlier ones, which `measured`
  // has. Aborted as LiveModel::Adapt is.
  absl::Status ReplaceLevel(const std::string& target, const predict::TimingLevel& level, VersionCause cause,
                            LiveModel::Measured* measured, std::vector<store::Measurement> timed, std::string* warning,
                            const v1::AdaptResponse& response, const CallContext& call);

  NetworkReader* const reader_;
  LiveModel* const model_;
};

}  // namespace cobra::server

#endif  // COBRA_SERVER_TARGETS_ADAPTATION_H_
