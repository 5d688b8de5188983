// What the doctor finds about the server, its weights and the calibration.
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/bytes/hash.h"
#include "base/file/doc_path.h"
#include "base/file/file.h"
#include "base/names.h"
#include "base/text/counted.h"
#include "base/text/json.h"
#include "base/version.h"
#include "client/answer/unknown.h"
#include "client/asked_server.h"
#include "client/client.h"
#include "client/doctor/doctor.h"
#include "client/local_server.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

constexpr absl::Duration kPatience = absl::Seconds(5);

// Where a question would go; no address if no server is there.
struct Found {
  std::string address;
  Finding finding;
};

Found FindServer(const CommonFlags& common) {
  const std::string& asked = common.client.address;
  const bool must_be_own = asked == kOwnServer;
  if (!must_be_own && (common.client.own_server == OwnServer::kNo || SomebodyListens(asked))) return {asked, {}};
  const LocalServerPlaces places = PlacesOfLocalServer();
  if (!places.folder_status.ok())
    return {"", {Health::kFail, "server", std::string(places.folder_status.message()), ""}};
  if (SomebodyListens(places.address)) return {places.address, {}};
  if (places.program.find('/') == std::string::npos) {
    return {"",
            {Health::kFail, "server",
             absl::StrCat("none at ", must_be_own ? places.address : asked,
                          ", and there is no cobra-server next to this program"),
             "install it, or name a server: --server HOST:PORT"}};
  }
  return {"",
          {Health::kOk, "server",
           absl::StrCat("none runs at ", must_be_own ? places.address : asked,
                        "; the next question starts one for this user"),
           ""}};
}

std::string UnreachableHint(const CommonFlags& common, const absl::Status& status) {
  if (absl::IsUnauthenticated(status) || absl::IsPermissionDenied(status))
    return absl::StrCat("give the token that its operator made for you: --token-file FILE (",
                        DocPath("docs/security.md"), ")");
  if (absl::StrContains(status.message(), "SSL") || absl::StrContains(status.message(), "handshake"))
    return "give its certificate authority: --tls-ca FILE";
  return absl::StrCat("start it: cobra-server --listen ", common.client.address,
                      "; or omit --server (COBRA_SERVER) to have one started for you");
}

Finding ServerFinding(const std::string& address, const v1::GetModelInfoResponse& info) {
  const std::string text = absl::StrCat(address, " answers; version ", info.server_version());
  if (info.server_version() == Version()) return {Health::kOk, "server", text, ""};
  return {Health::kWarn, "server", absl::StrCat(text, ", and this program is ", Version()),
          "use the same version on both sides: restart the server with the new program"};
}

// Of the manifest that would be served from this machine's files.
std::string ShippedSha256() {
  const absl::StatusOr<std::string> text = ReadFile(PlacesOfLocalServer().model + "/manifest.json");
  return text.ok() ? Sha256Hex(*text) : "";
}

Finding ServedWeights(const v1::GetModelInfoResponse& info) {
  const bool is_shipped = info.sha256() == ShippedSha256();
  return {Health::kOk, "served",
          absl::StrCat("weights ", info.version(),
                       is_shipped ? ", the same as next to this program" : ", not those next to this program"),
          ""};
}

absl::string_view ServingSince(const v1::Target& target) {
  for (const v1::CalibrationVersion& version : target.calibrations()) {
    if (version.serving()) return version.created_at();
  }
  return "";
}

// How this machine differs from what was calibrated; empty if it does not.
std::string Difference(const v1::TargetSpec& spec, const json& machine) {
  if (!machine.is_object()) return "";
  const std::string device = machine.value("device", ""), runtime = machine.value("runtime", "");
  if (device != spec.device()) return absl::StrCat("of ", spec.device(), ", and this is ", device);
  if (runtime != spec.runtime()) return absl::StrCat("in ", spec.runtime(), ", and it is ", runtime, " now");
  // Measured twice, the peak differs by some per cent; by a third it does where clocks or
  // neighbours changed.
  constexpr double kOtherSpeed = 1.0 / 3;
  const double now = machine.value("peak_gflops", 0.0);
  if (spec.threads() == machine.value("threads", 0) && spec.peak_gflops() > 0 && now > 0 &&
      std::abs(now / spec.peak_gflops() - 1) > kOtherSpeed)
    return absl::StrFormat("at %.0f GFLOPS, and it has %.0f now", spec.peak_gflops(), now);
  return "";
}

Finding CalibrationFinding(const v1::ListTargetsResponse& targets, const json& machine) {
  constexpr char kAgain[] = "calibrate again: cobra-client calibrate (a minute, leave the machine idle)";
  for (const v1::Target& target : targets.targets()) {
    if (target.spec().name() != kThisMachine) continue;
    const absl::string_view since = ServingSince(target);
    std::string text = absl::StrCat("this-machine: ", target.spec().device(), ", ", target.spec().runtime(), ", of ",
                                    since.substr(0, 10));
    if (const std::string difference = Difference(target.spec(), machine); !difference.empty())
      return {Health::kWarn, "calibration", absl::StrCat("this-machine was calibrated ", difference), kAgain};
    absl::Time time;
    constexpr int64_t kOldDays = 180;
    const int64_t days =
        absl::ParseTime(absl::RFC3339_full, since, &time, nullptr) ? absl::ToInt64Hours(absl::Now() - time) / 24 : 0;
    if (days > kOldDays) return {Health::kWarn, "calibration", absl::StrCat(text, ", ", days, " days ago"), kAgain};
    if (!IsDisturbed(target.disturbance())) return {Health::kOk, "calibration", text, ""};
    return {
        Health::kWarn, "calibration",
        absl::StrCat(text, "; other programs ran on this machine meanwhile: ", DisturbanceText(target.disturbance())),
        "predictions include their effect; if that was an exception, leave the machine idle and calibrate again: "
        "cobra-client calibrate"};
  }
  return {Health::kWarn, "calibration", "this machine is not calibrated, so questions go to all trained targets",
          "cobra-client calibrate measures it for a minute"};
}

}  // namespace

Findings LookAtServer(const CommonFlags& common, const json& machine) {
  const Found found = FindServer(common);
  if (found.address.empty()) return {found.finding};
  ClientOptions options = common.client;
  options.address = found.address;
  options.own_server = OwnServer::kNo;
  options.deadline = kPatience;
  const std::unique_ptr<Client> client = Client::Connect(options);
  const absl::StatusOr<v1::GetModelInfoResponse> info = client->GetModelInfo({});
  if (!info.ok())
    return {{Health::kFail, "server", std::string(info.status().message()), UnreachableHint(common, info.status())}};
  Findings findings = {ServerFinding(found.address, *info), ServedWeights(*info)};
  const bool takes_precedence = common.client.own_server != OwnServer::kNo && found.address == common.client.address;
  if (const std::string store = OwnStore(); takes_precedence && !store.empty()) {
    findings.push_back(
        {Health::kWarn, "server",
         absl::StrCat("it is used instead of this user's own server, so the targets and history of that one (", store,
                      ") are not available"),
         "--server own, or COBRA_SERVER=own, uses that one"});
  }
  if (absl::StartsWith(found.address, "unix:") && common.client.own_server == OwnServer::kStart &&
      !PlacesOfLocalServer().is_of_this_version) {
    findings.push_back({Health::kWarn, "server", "this user's server was started from different files",
                        "nothing to do: the next question replaces it"});
  }
  const absl::StatusOr<v1::ListTargetsResponse> targets = client->ListTargets({});
  if (!targets.ok()) {
    findings.push_back(
        {Health::kFail, "targets", std::string(targets.status().message()),
         absl::StrCat("the server's log has the details; check its store (", DocPath("docs/operations.md"), ")")});
    return findings;
  }
  int calibrated = 0;
  for (const v1::Target& target : targets->targets()) calibrated += target.calibrated() ? 1 : 0;
  findings.push_back(
      {Health::kOk, "targets",
       absl::StrCat(targets->targets_size() - calibrated, " trained, ", calibrated, " calibrated or adapted"), ""});
  findings.push_back(CalibrationFinding(*targets, machine));
  return findings;
}

Findings LookAtWeights(const std::string& folder) {
  constexpr char kMend[] = "install the programs again, or name the folder of a model: cobra-server --model DIR";
  const auto fail = [&](const absl::Status& status) {
    return Findings{{Health::kFail, "weights", std::string(status.message()), kMend}};
  };
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(folder, "/manifest.json"));
  if (!text.ok()) return fail(text.status());
  const json manifest = ParseJson<json>(*text);
  if (!manifest.is_object() || !manifest.contains("tensors_sha256"))
    return fail(absl::DataLossError(absl::StrCat(folder, "/manifest.json: is not the manifest of a model")));
  const std::string tensors = absl::StrCat(folder, "/tensors.safetensors");
  const absl::StatusOr<std::string> bytes = ReadFile(tensors);
  if (!bytes.ok()) return fail(bytes.status());
  if (Sha256Hex(*bytes) != manifest.value("tensors_sha256", ""))
    return fail(
        absl::DataLossError(absl::StrCat(tensors, ": SHA-256 differs from the manifest's: the file is damaged")));
  return {{Health::kOk, "weights",
           absl::StrCat("of ", manifest.value("trained_at", "").substr(0, 10), " in ", folder, ", checksum correct"),
           ""}};
}

Findings LookAtFolders() {
  const LocalServerPlaces places = PlacesOfLocalServer();
  Findings findings;
  if (!places.folder_status.ok())
    findings.push_back({Health::kFail, "folders", std::string(places.folder_status.message()), ""});
  constexpr char kMend[] = "make this user its owner, or choose another folder: XDG_STATE_HOME=DIR";
  if (absl::Status made = MakeUserStateFolder(); !made.ok()) {
    findings.push_back({Health::kFail, "folders", std::string(made.message()), kMend});
    return findings;
  }
  const std::string trial = absl::StrCat(places.state, "/.doctor");
  if (absl::Status written = WriteFileAtomic(trial, "x"); !written.ok())
    return {{Health::kFail, "folders", absl::StrCat(places.state, ": cannot be written: ", written.message()), kMend}};
  ::unlink(trial.c_str());
  struct statvfs disk = {};
  if (::statvfs(places.state.c_str(), &disk) != 0) return findings;
  const double free_mb = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize) / 1e6;
  constexpr double kLittleMb = 500, kTooLittleMb = 20;
  const Health health = free_mb < kTooLittleMb ? Health::kFail : free_mb < kLittleMb ? Health::kWarn : Health::kOk;
  struct stat store = {};
  const bool has_store = ::stat(absl::StrCat(places.state, "/cobra.sqlite").c_str(), &store) == 0;
  findings.push_back({health, "disk",
                      absl::StrCat(absl::StrFormat("%.1f GB free in ", free_mb / 1000), places.state,
                                   has_store ? absl::StrCat(", the store has ", MebibytesText(store.st_size)) : ""),
                      health == Health::kOk ? ""
                                            : absl::StrCat("free some space: old predictions may be deleted (",
                                                           DocPath("docs/operations.md"), ", The store)")});
  return findings;
}

}  // namespace cobra::client
