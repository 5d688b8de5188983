// Targets as messages.
#ifndef COBRA_SERVER_TARGETS_TARGET_MESSAGE_H_
#define COBRA_SERVER_TARGETS_TARGET_MESSAGE_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "cobra/v1/target.pb.h"
#include "model/predict/predictor.h"
#include "server/targets/live_model.h"

namespace cobra::server {

v1::TargetSpec SpecMessage(const predict::TargetSpec& spec);
// A caller's data sheet, checked (model/predict/target/sheet_check.h); empty fields have the
// defaults of a target. Errors carry a Diagnostic and begin with the field.
absl::StatusOr<predict::TargetSpec> CheckedSpec(const v1::TargetSpec& message);

void FillTarget(const predict::TargetInfo& info, const ModelSnapshot& model, v1::Target* out);
// Of a target that was just made.
absl::Status FillTargetByName(const ModelSnapshot& model, absl::string_view name, v1::Target* out);

}  // namespace cobra::server

#endif  // COBRA_SERVER_TARGETS_TARGET_MESSAGE_H_
