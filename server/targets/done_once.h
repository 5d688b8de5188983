// Calls that make a version of a target (Calibrate, Adapt, Observe) are done once for each id that
// their callers give them (proto/request_id.h), by whichever server of a store and however often it
// restarts: the id is stored with the version.
#ifndef COBRA_SERVER_TARGETS_DONE_ONCE_H_
#define COBRA_SERVER_TARGETS_DONE_ONCE_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"
#include "google/protobuf/message.h"
#include "server/lanes/call_context.h"
#include "server/targets/live_model.h"
#include "store/store.h"

namespace cobra::server {

// What is stored of the call, without an answer; empty if the caller gave no id.
store::DoneRequest RequestOf(const google::protobuf::Message& request, const CallContext& call);

// `work`, which stores `request` with the version; or, if that was done before, `repeat` with the
// answer that was stored. A Diagnostic if the id was that of another request.
absl::Status DoOnce(LiveModel* model, absl::string_view target, const store::DoneRequest& request,
                    absl::FunctionRef<absl::Status()> work,
                    absl::FunctionRef<absl::Status(const std::string& answer)> repeat);

// What Adapt and Observe return in addition to the target, as it is stored, and back.
std::string StoredAnswer(const v1::AdaptResponse& response, absl::string_view warning);
absl::Status FillStoredAnswer(const std::string& answer, const ModelSnapshot& model, absl::string_view target,
                              v1::AdaptResponse* response);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TARGETS_DONE_ONCE_H_
