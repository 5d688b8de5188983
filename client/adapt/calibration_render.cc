#include "client/adapt/calibration_render.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/text/counted.h"
#include "base/text/json.h"
#include "client/adapt/target_render.h"
#include "client/answer/unknown.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

// Without these numbers a device is taken for those that explain it.
std::string UnknownNumbersText(const v1::TargetSpec& spec) {
  // How processors run ncnn is compared without their bandwidth, which those that were measured do
  // not say.
  const bool needs_bandwidth = spec.kind() != "cpu" || !absl::StartsWith(spec.runtime(), "ncnn");
  std::vector<std::string> unknown;
  if (!(spec.peak_gflops() > 0)) unknown.push_back("peak_gflops");
  if (needs_bandwidth && !(spec.memory_gb_per_s() > 0)) unknown.push_back("memory_gb_per_s");
  if (unknown.empty()) return "";
  return absl::StrCat("not known of \"", spec.device(), "\": ", absl::StrJoin(unknown, ", "),
                      "; until --spec has them, or networks are timed, the answers are those of other devices\n");
}

// A tenth of what was measured is off by 90 %.
constexpr double kUnlikeSheet = 0.9;

constexpr char kCheckSheet[] =
    "warning: the timings do not match the data sheet; are they from this device, with its threads, and in "
    "milliseconds?\n";

// Of a reply: the server puts what is to be known of all timings beside the doubted ones
// (server/targets/new_level.h).
constexpr absl::string_view kWarning = "warning: ";

bool IsWarning(absl::string_view doubted) { return absl::StartsWith(doubted, kWarning); }

}  // namespace

std::string ProbeWarning(absl::string_view probe_json) {
  const json probe = ParseJson<json>(probe_json);
  const auto canary = probe.is_object() ? probe.find("canary") : probe.end();
  if (canary == probe.end() || !canary->is_object()) return "";
  const auto disturbed = canary->find("disturbed");
  if (disturbed == canary->end() || *disturbed != true) return "";
  const auto ratio = [&canary](const char* name) {
    const auto it = canary->find(name);
    return it != canary->end() && it->is_number() ? it->get<double>() : 1.0;
  };
  return absl::StrFormat(
      "the machine was busy during the measurement (the same work took %.2f times as long, a copy %.2f "
      "times): calibrate again when it is idle",
      ratio("compute_ratio"), ratio("copy_ratio"));
}

std::string CalibrationTable(const v1::CalibrateResponse& r, absl::string_view warning) {
  const v1::Target& t = r.target();
  return absl::StrCat("target ", t.spec().name(), ": ", t.spec().device(), ", ", t.spec().runtime(), ", on top of ",
                      t.base_target(), VersionText(t), "\nfrom ", Counted(r.layers_used(), "layer"), " and ",
                      Counted(r.networks_used(), "network"), "; error on the layers ",
                      PercentText(t.probe_layer_mape_before()), " before, ", PercentText(t.probe_layer_mape_after()),
                      " after; on the networks ", PercentText(t.probe_network_mape_after()), " after\n",
                      IsDisturbed(t.disturbance())
                          ? absl::StrCat("other programs run on this machine: ", DisturbanceText(t.disturbance()),
                                         "; predictions include their effect, and also state the undisturbed time\n")
                          : "",
                      warning.empty() ? "" : "warning: ", warning, warning.empty() ? "" : "\n");
}

std::string CalibrationJson(const v1::CalibrateResponse& r, absl::string_view warning) {
  json j = {{"target", TargetJson(r.target())}, {"layers_used", r.layers_used()}, {"networks_used", r.networks_used()}};
  if (!warning.empty()) j["warning"] = std::string(warning);
  return IndentedJson(j);
}

std::string AdaptedText(const v1::AdaptResponse& r, const std::vector<std::string>& refused) {
  const v1::Target& t = r.target();
  std::string text = absl::StrCat("target ", t.spec().name(), " serves", VersionText(t), "\n");
  if (t.samples() == 0) {
    absl::StrAppend(&text, "based only on the data sheet: a few timings improve it (cobra-client observe)\n",
                    UnknownNumbersText(t.spec()));
  } else {
    absl::StrAppendFormat(&text, "%d %s: the data sheet alone is off by %s", t.samples(),
                          t.samples() == 1 ? "network was timed" : "networks were timed",
                          PercentText(t.sample_mape_before()));
    if (t.samples() > 1 && t.sample_mape_after() != t.sample_mape_before()) {
      absl::StrAppend(&text, ", each network predicted from the others by ", PercentText(t.sample_mape_after()));
    } else if (t.samples() > 1 && t.sample_mape_before() < 0.05) {
      absl::StrAppend(&text, "; they confirm it");
    } else if (t.samples() > 1) {
      absl::StrAppend(&text, "; they do not improve on it, so only the data sheet is used");
    }
    absl::StrAppend(&text, "\n", t.sample_mape_before() > kUnlikeSheet ? kCheckSheet : "");
  }
  if (t.parts_size() > 0) absl::StrAppend(&text, "explained by");
  for (int i = 0; i < t.parts_size(); ++i) {
    absl::StrAppendFormat(&text, "%s %s (%s%s)", i == 0 ? "" : ",", t.parts(i).base_target(),
                          PercentText(t.parts(i).weight()),
                          t.parts(i).own_specification() ? ", with the new data sheet" : "");
  }
  if (t.parts_size() > 0) absl::StrAppend(&text, "\n");
  for (const std::string& row : t.doubted()) absl::StrAppend(&text, IsWarning(row) ? "" : "counts little: ", row, "\n");
  for (const std::string& row : refused) absl::StrAppend(&text, "left out: ", row, "\n");
  return text;
}

std::string AdaptedJson(const v1::AdaptResponse& r, const std::vector<std::string>& refused) {
  v1::Target target = r.target();
  target.clear_doubted();
  std::vector<std::string> warnings;
  for (const std::string& row : r.target().doubted()) {
    if (IsWarning(row)) {
      warnings.emplace_back(absl::StripPrefix(row, kWarning));
    } else {
      target.add_doubted(row);
    }
  }
  return IndentedJson(json{{"target", TargetJson(target)}, {"refused", refused}, {"warnings", warnings}});
}

std::string UndoText(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response) {
  const std::string what = absl::StrCat("target ", request.target(), ": version ", request.version(), " is withdrawn");
  return response.has_target() ? absl::StrCat(what, VersionText(response.target()), " serves\n")
                               : absl::StrCat(what, "; no version is left, so the target no longer exists\n");
}

std::string UndoJson(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response) {
  return IndentedJson(json{{"withdrawn_version", request.version()},
                           {"target", response.has_target() ? TargetJson(response.target()) : json()}});
}

}  // namespace cobra::client
