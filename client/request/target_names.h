// The targets that a question names.
#ifndef COBRA_CLIENT_REQUEST_TARGET_NAMES_H_
#define COBRA_CLIENT_REQUEST_TARGET_NAMES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/request/common_flags.h"
#include "cobra/v1/cobra.pb.h"

namespace cobra::client {

// The default of a command for which all targets would be too many: this-machine, or a usage error
// that says what to do.
absl::StatusOr<std::vector<std::string>> ThisMachine(const CommonFlags& common);

// The version of PyTorch as which programs are read for each target.
std::map<std::string, std::string> TorchVersions(const v1::ListTargetsResponse& targets);

// `targets` by the version of PyTorch as which a program is read for them, in their order.
std::map<std::string, std::vector<std::string>> TargetsByVersion(const std::map<std::string, std::string>& versions,
                                                                 const std::vector<std::string>& targets);

// A usage Diagnostic for a target that the server does not have; the server's hint says what to ask
// instead.
absl::Status UnknownTarget(const ClientOptions& server, const std::string& name);

// OK, or UnknownTarget for the first of `names` that is not among `targets`.
absl::Status CheckTargets(const ClientOptions& server, const v1::ListTargetsResponse& targets,
                          const std::vector<std::string>& names);

// `names`, each once, in their order.
std::vector<std::string> DifferentNames(const std::vector<std::string>& names);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_REQUEST_TARGET_NAMES_H_
