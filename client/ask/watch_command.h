// `cobra-client predict --watch`: predicts again whenever the model's file, or one that it imports
// from beside it, changes.
#ifndef COBRA_CLIENT_ASK_WATCH_COMMAND_H_
#define COBRA_CLIENT_ASK_WATCH_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/ask/predict_command.h"
#include "client/terminal/terminal.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// Ends with an error of the first question that an edit of the model cannot fix; otherwise Ctrl-C
// ends the process, with code 0.
absl::StatusOr<int> RunPredictWatch(const CommonFlags& common, PredictFlags flags);

// An answer compared with the previous one: the change on each target.
std::string ChangedAnswerText(const v1::PredictResponse& before, const v1::PredictResponse& after, double budget_ms,
                              const TerminalStyle& style);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASK_WATCH_COMMAND_H_
