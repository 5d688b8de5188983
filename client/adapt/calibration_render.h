// What became of a target that the user made: as text for people and as JSON for programs.
#ifndef COBRA_CLIENT_ADAPT_CALIBRATION_RENDER_H_
#define COBRA_CLIENT_ADAPT_CALIBRATION_RENDER_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// A warning if the machine was busy during the probe. "" if it was not, or if the worker did not
// record it.
std::string ProbeWarning(absl::string_view probe_json);
std::string CalibrationTable(const v1::CalibrateResponse& response, absl::string_view warning);
std::string CalibrationJson(const v1::CalibrateResponse& response, absl::string_view warning);

// `refused`: rows that were left out.
std::string AdaptedText(const v1::AdaptResponse& response, const std::vector<std::string>& refused);
std::string AdaptedJson(const v1::AdaptResponse& response, const std::vector<std::string>& refused);
// What serves after a version was withdrawn.
std::string UndoText(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response);
std::string UndoJson(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ADAPT_CALIBRATION_RENDER_H_
