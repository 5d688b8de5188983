// The answer to a request of Predict as the page of /ui takes it: the document of a report
// (report/document.h).
#ifndef COBRA_SERVER_PREDICT_REPORT_REPLY_H_
#define COBRA_SERVER_PREDICT_REPORT_REPLY_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"
#include "server/lanes/call_context.h"
#include "server/lanes/limits.h"
#include "server/predict/pipeline.h"

namespace cobra::server {

// As JSON, without a sweep. `graph`: as for Pipeline::Predict(). Costs what Predict with a
// breakdown costs, and the document, whose size is limited as that of a reply.
absl::StatusOr<std::string> MakeReport(Pipeline* pipeline, const v1::PredictRequest& request,
                                       std::optional<absl::string_view> graph, const ServerLimits& limits,
                                       const CallContext& call);

}  // namespace cobra::server

#endif  // COBRA_SERVER_PREDICT_REPORT_REPLY_H_
