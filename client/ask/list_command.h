// `cobra-client predict --list LIST.csv`: many models at once, over one stream.
#ifndef COBRA_CLIENT_ASK_LIST_COMMAND_H_
#define COBRA_CLIENT_ASK_LIST_COMMAND_H_

#include <string>

#include "absl/status/statusor.h"
#include "client/ask/predict_command.h"

namespace cobra::client {

// `flags.list` and `flags.out` name the files. The exit code: 0 if any row is answered, 4 if none
// is. If the server is lost on the way, its status, after the answers that came are written, the
// reason for each of the other rows.
absl::StatusOr<int> RunPredictList(const CommonFlags& common, PredictFlags flags);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_ASK_LIST_COMMAND_H_
