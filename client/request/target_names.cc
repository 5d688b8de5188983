#include "client/request/target_names.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/names.h"
#include "base/status_macros.h"
#include "base/user_error.h"
#include "frontend/python/torch/names/torch_version.h"

namespace cobra::client {

absl::StatusOr<std::vector<std::string>> ThisMachine(const CommonFlags& common) {
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse known, Client::Connect(common.client)->ListTargets({}));
  for (const v1::Target& target : known.targets()) {
    if (target.spec().name() == kThisMachine) return std::vector<std::string>{kThisMachine};
  }
  return UsageError("--target: is missing, and this machine is not calibrated",
                    "name one of `cobra-client targets`: --target NAME; or measure this machine for a minute: "
                    "cobra-client calibrate");
}

std::map<std::string, std::string> TorchVersions(const v1::ListTargetsResponse& targets) {
  std::map<std::string, std::string> versions;
  for (const v1::Target& target : targets.targets())
    versions[target.spec().name()] = python::TorchVersionOf(target.spec().runtime());
  return versions;
}

std::map<std::string, std::vector<std::string>> TargetsByVersion(const std::map<std::string, std::string>& versions,
                                                                 const std::vector<std::string>& targets) {
  std::map<std::string, std::vector<std::string>> by_version;
  for (const std::string& target : targets) {  // one that the server does not know is its to refuse
    const auto version = versions.find(target);
    by_version[version == versions.end() ? python::kNewestTorchVersion : version->second].push_back(target);
  }
  return by_version;
}

absl::Status UnknownTarget(const ClientOptions& server, const std::string& name) {
  v1::PredictRequest request;
  request.add_targets(name);  // looked up before the model, which is missing
  absl::Status status = Client::Connect(server)->Predict(request).status();
  const std::string message = absl::StrCat(name, ": no such target");
  if (const std::optional<Diagnostic> answer = DiagnosticFromStatus(status); answer && answer->message == message)
    return status;
  return UsageError(message, "`cobra-client targets` lists the known ones");
}

absl::Status CheckTargets(const ClientOptions& server, const v1::ListTargetsResponse& targets,
                          const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const bool is_known = std::any_of(targets.targets().begin(), targets.targets().end(),
                                      [&](const v1::Target& target) { return target.spec().name() == name; });
    if (!is_known) return UnknownTarget(server, name);
  }
  return absl::OkStatus();
}

std::vector<std::string> DifferentNames(const std::vector<std::string>& names) {
  std::vector<std::string> different;
  for (const std::string& name : names) {
    if (std::find(different.begin(), different.end(), name) == different.end()) different.push_back(name);
  }
  return different;
}

}  // namespace cobra::client
