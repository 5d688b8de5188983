// `cobra-client model`: the weights that a server answers with.
#ifndef COBRA_CLIENT_DOCTOR_MODEL_COMMAND_H_
#define COBRA_CLIENT_DOCTOR_MODEL_COMMAND_H_

#include "absl/status/statusor.h"
#include "client/request/common_flags.h"

namespace cobra::client {

// The exit code.
absl::StatusOr<int> RunModel(const CommonFlags& common);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_DOCTOR_MODEL_COMMAND_H_
