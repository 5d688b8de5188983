#include "client/adapt/target_render.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/answer/unknown.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

json SpecJson(const v1::TargetSpec& s) {
  return {{"name", s.name()},
          {"device", s.device()},
          {"kind", s.kind()},
          {"runtime", s.runtime()},
          {"precision", s.precision()},
          {"layout", s.layout()},
          {"compile", s.compile()},
          {"threads", s.threads()},
          {"peak_gflops", s.peak_gflops()},
          {"memory_gb_per_s", s.memory_gb_per_s()},
          {"last_level_cache_mb", s.last_level_cache_mb()},
          {"clock_mhz", s.clock_mhz()},
          {"cores", s.cores()},
          {"memory_gb", s.memory_gb()},
          {"board_power_w", s.board_power_w()},
          {"process_nm", s.process_nm()}};
}

json SpacesJson(const v1::MeasuredErrors& errors) {
  json spaces = json::array();
  for (const v1::SpaceErrors& s : errors.spaces()) {
    spaces.push_back({{"space", s.space()},
                      {"networks", s.networks()},
                      {"mape", s.mape()},
                      {"within_10_percent", s.within_10_percent()},
                      {"coverage", s.coverage()}});
  }
  return spaces;
}

}  // namespace

json TargetJson(const v1::Target& t) {
  const v1::MeasuredErrors& e = t.errors();
  // Errors measured on the target itself: a calibrated target has only its probe, the others are of
  // its base target.
  json j = {{"spec", SpecJson(t.spec())},
            {"calibrated", t.calibrated()},
            {"base_target", t.base_target()},
            {t.calibrated() ? "base_target_errors" : "errors",
             {{"layer_mape", e.layer_mape()},
              {"network_mape", e.network_mape()},
              {"network_within_5_percent", e.network_within_5_percent()},
              {"network_within_10_percent", e.network_within_10_percent()},
              {"network_within_25_percent", e.network_within_25_percent()},
              {"repeatability_floor", e.repeatability_floor()},
              {"layers_tested", e.layers_tested()},
              {"networks_tested", e.networks_tested()},
              {"layer_coverage", e.layer_coverage()},
              {"network_coverage", e.network_coverage()},
              {"layers_trained", e.layers_trained()},
              {"networks_trained", e.networks_trained()},
              {"not_run", e.not_run()},
              {"spaces", SpacesJson(e)}}}};
  if (t.calibrated()) {
    j["probe_layer_mape_before"] = t.probe_layer_mape_before();
    j["probe_layer_mape_after"] = t.probe_layer_mape_after();
    j["probe_network_mape_after"] = t.probe_network_mape_after();
    if (t.has_disturbance()) {
      j["disturbance"] = {{"typical_ratio", t.disturbance().typical_ratio()},
                          {"low_ratio", t.disturbance().low_ratio()},
                          {"high_ratio", t.disturbance().high_ratio()},
                          {"timings", t.disturbance().timings()}};
    }
    j["samples"] = t.samples();
    j["sample_mape_before"] = t.sample_mape_before();
    j["sample_mape_after"] = t.sample_mape_after();
    j["doubted"] = std::vector<std::string>(t.doubted().begin(), t.doubted().end());
    j["parts"] = json::array();
    for (const v1::AdaptedPart& part : t.parts()) {
      j["parts"].push_back({{"base_target", part.base_target()},
                            {"weight", part.weight()},
                            {"own_specification", part.own_specification()}});
    }
    j["calibrations"] = json::array();
    for (const v1::CalibrationVersion& v : t.calibrations()) {
      j["calibrations"].push_back({{"version", v.version()},
                                   {"created_at", v.created_at()},
                                   {"caller", v.caller()},
                                   {"withdrawn", v.withdrawn()},
                                   {"serving", v.serving()}});
    }
  }
  return j;
}

std::string VersionText(const v1::Target& t) {
  for (int i = 0; i < t.calibrations_size(); ++i) {
    const v1::CalibrationVersion& version = t.calibrations(i);
    if (!version.serving()) continue;
    const int earlier = t.calibrations_size() - 1 - i;
    return absl::StrCat("; version ", version.version(), " of ", version.created_at(),
                        earlier == 0
                            ? ", its first"
                            : absl::StrCat(", ", earlier, earlier == 1 ? " earlier one" : " earlier ones", " kept"));
  }
  return "";
}

std::string TargetsTable(const v1::ListTargetsResponse& response, const TerminalStyle& style) {
  constexpr int kHeadOfDevice = 28,
                kMostOfDevice = 44;  // some boards have names of a hundred letters; --format json has them all
  std::vector<std::vector<std::string>> rows = {{"target", "device", "runtime", "threads", "layer error",
                                                 "network error", "repeatability", "networks tested", ""}};
  for (const v1::Target& t : response.targets()) {
    const v1::MeasuredErrors& e = t.errors();
    std::vector<std::string> row = {t.spec().name(), ShortenedInside(t.spec().device(), kMostOfDevice, kHeadOfDevice),
                                    t.spec().runtime(), absl::StrCat(t.spec().threads())};
    if (t.parts_size() > 0) {  // adapted: of its timings, each by the others
      row.insert(row.end(), {"-", t.samples() > 1 ? PercentText(t.sample_mape_after()) : "-", "-",
                             t.samples() > 1 ? absl::StrCat(t.samples()) : "-"});
      const std::string from = t.samples() == 0   ? "data sheet alone"
                               : t.samples() == 1 ? "one timing"
                                                  : absl::StrCat(t.samples(), " timings, each by the others");
      row.push_back(absl::StrCat("adapted: ", from, VersionText(t)));
    } else if (t.calibrated()) {  // only its probe was measured on it
      row.insert(row.end(),
                 {PercentText(t.probe_layer_mape_after()), PercentText(t.probe_network_mape_after()), "-", "-"});
      row.push_back(absl::StrCat("on its probe, layers ", PercentText(t.probe_layer_mape_before()),
                                 " before; calibrated on top of ", t.base_target(), VersionText(t),
                                 IsDisturbed(t.disturbance()) ? "; disturbed: " : "",
                                 IsDisturbed(t.disturbance()) ? DisturbanceText(t.disturbance()) : ""));
    } else {
      row.insert(row.end(), {e.layers_tested() > 0 ? PercentText(e.layer_mape()) : "-",
                             e.networks_tested() > 0 ? PercentText(e.network_mape()) : "-",
                             e.repeatability_floor() > 0 ? PercentText(e.repeatability_floor()) : "-",
                             e.networks_tested() > 0 ? absl::StrCat(e.networks_tested()) : "-", "on held-out rows"});
    }
    rows.push_back(std::move(row));
  }
  const Painter paint(style.color);
  const auto painted = [&paint](size_t row, size_t, const std::string& text) {
    return row == 0 ? paint.Dim(text) : text;
  };
  const std::vector<Column> columns = {{.min_width = 36, .keep_both = true},
                                       {.min_width = 20, .keep_both = true, .leave_out = 2},
                                       {.min_width = 17, .keep_both = true, .leave_out = 4},
                                       {.right = true, .leave_out = 3},
                                       {.right = true, .leave_out = 5},
                                       {true},
                                       {.right = true, .leave_out = 7},
                                       {.right = true, .leave_out = 6},
                                       {.min_width = 16, .leave_out = 8}};
  return TextTable(rows, columns, style.width, painted);
}

std::string TargetsJson(const v1::ListTargetsResponse& response) {
  json targets = json::array();
  for (const v1::Target& t : response.targets()) targets.push_back(TargetJson(t));
  return IndentedJson(json{{"targets", std::move(targets)}});
}

}  // namespace cobra::client
