// `cobra-client explain` on several targets: which suits the network best, and what makes the
// difference.
#ifndef COBRA_CLIENT_EXPLAIN_TARGETS_EXPLAINED_H_
#define COBRA_CLIENT_EXPLAIN_TARGETS_EXPLAINED_H_

#include <string>

#include "absl/strings/string_view.h"
#include "client/answer/memory_fit.h"
#include "client/terminal/terminal.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// Milliseconds of each operator on each target, those that differ most first. REQUIRES: a
// breakdown.
std::string TargetsExplainedText(const v1::PredictResponse& response, absl::string_view title, int top,
                                 const TerminalStyle& style = {}, const TargetSheets& sheets = {});

std::string TargetsExplainedJson(const v1::PredictResponse& response, absl::string_view title,
                                 const TargetSheets& sheets = {});

}  // namespace cobra::client

#endif  // COBRA_CLIENT_EXPLAIN_TARGETS_EXPLAINED_H_
