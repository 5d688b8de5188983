#include "client/adapt/calibrate_command.h"

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/diagnostic.h"
#include "base/file/file.h"
#include "base/process/subprocess.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/user_error.h"
#include "client/adapt/calibration_render.h"
#include "client/answer/exit_code.h"
#include "client/terminal/output.h"
#include "client/terminal/progress.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

constexpr int64_t kMaxProbeBytes = int64_t{64} << 20;

absl::StatusOr<std::string> Probe(const CalibrateFlags& flags) {
  if (!flags.probe_file.empty()) {
    absl::StatusOr<std::string> text = ReadMaybeCompressed(flags.probe_file, kMaxProbeBytes);
    if (!text.ok()) return UsageError(absl::StrCat("--probe ", text.status().message()));
    if (ParseJson<nlohmann::json>(*text).is_object()) return text;
    return UsageError(absl::StrCat("--probe ", flags.probe_file, ": is not a probe"),
                      "pass the unchanged output of `cobra-worker probe --json`");
  }
  const std::string worker = flags.worker.empty() ? SiblingProgram("cobra-worker") : flags.worker;
  Note(absl::StrCat("measuring this machine with ", worker, " probe for ", flags.budget, "; leave it idle"));
  std::vector<std::string> command = {worker,     "probe",     "--json", "--threads", absl::StrCat(flags.threads),
                                      "--budget", flags.budget};
  if (flags.core >= 0) command.insert(command.end(), {"--core", absl::StrCat(flags.core)});
  if (!flags.runner.empty()) command.insert(command.end(), {"--runner", flags.runner});
  SubprocessOptions options;
  options.timeout = absl::InfiniteDuration();  // the worker keeps to the budget, the user has Ctrl-C
  COBRA_ASSIGN_OR_RETURN(ProgramResult probe, RunToEnd(command, options));
  if (probe.exit_status == kExitUsage) return UsageError("cobra-worker rejected its arguments");
  return OutputIfOk(worker, std::move(probe));
}

// Withdraws the version of the target that serves.
absl::StatusOr<int> UndoCalibration(Client* client, const CommonFlags& common, const std::string& name) {
  COBRA_ASSIGN_OR_RETURN(const v1::ListTargetsResponse targets, client->ListTargets({}));
  v1::UndoCalibrationRequest request;
  request.set_target(name);
  for (const v1::Target& target : targets.targets()) {
    if (target.spec().name() != name) continue;
    for (const v1::CalibrationVersion& version : target.calibrations()) {
      if (version.serving()) request.set_version(version.version());
    }
  }
  if (request.version() == 0) {
    return UsageError(absl::StrCat("--name ", name, ": is not a calibrated target"), "cobra-client targets lists them");
  }
  COBRA_ASSIGN_OR_RETURN(const v1::UndoCalibrationResponse response, client->UndoCalibration(request));
  common.json ? PrintData(UndoJson(request, response)) : PrintText(UndoText(request, response));
  return kExitOk;
}

}  // namespace

absl::Status CheckTargetName(const std::string& name) {
  std::optional<Diagnostic> wrong = DiagnosticFromStatus(CheckApiName("--name", name));
  if (!wrong.has_value()) return absl::OkStatus();
  wrong->hint = "for example --name pi-4";
  return DiagnosticToStatus(*wrong);
}

absl::StatusOr<v1::CalibrateResponse> Calibrate(const CommonFlags& common, const CalibrateFlags& flags,
                                                std::string* warning) {
  const std::unique_ptr<Client> client = Client::Connect(common.client);
  // Check that the server is reachable before a minute of measuring.
  COBRA_RETURN_IF_ERROR(client->GetModelInfo({}).status());
  v1::CalibrateRequest request;
  COBRA_ASSIGN_OR_RETURN(*request.mutable_probe_json(), Probe(flags));
  request.set_target(flags.name);
  *warning = ProbeWarning(request.probe_json());
  Progress progress("fitting the target");
  return client->Calibrate(request);
}

absl::StatusOr<int> RunCalibrate(const CommonFlags& common, const CalibrateFlags& flags) {
  COBRA_RETURN_IF_ERROR(CheckServer(common));
  COBRA_RETURN_IF_ERROR(CheckTargetName(flags.name));
  if (flags.undo) return UndoCalibration(Client::Connect(common.client).get(), common, flags.name);
  std::string warning;
  const absl::StatusOr<v1::CalibrateResponse> response = Calibrate(common, flags, &warning);
  // It may be why the server refuses the probe.
  if (!response.ok() && !warning.empty()) Say(absl::StrCat("warning: ", warning, "\n"));
  COBRA_RETURN_IF_ERROR(response.status());
  common.json ? PrintData(CalibrationJson(*response, warning)) : PrintText(CalibrationTable(*response, warning));
  return kExitOk;
}

}  // namespace cobra::client
