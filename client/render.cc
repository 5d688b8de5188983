#include "client/render.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/counted.h"
#include "base/json.h"
#include "client/asking.h"
#include "client/compare_render.h"
#include "client/target_ranking.h"
#include "client/text_table.h"
#include "client/unknown.h"
#include "graph/cost.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

std::string Dump(const json& j) { return j.dump(1, ' ', false, json::error_handler_t::replace); }

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

// "; version 7 of 2026-11-20T08:00:00Z, 2 earlier"; empty without versions.
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
                      "; the answers are those of other devices until --spec has them, or timings come\n");
}

}  // namespace

void AddQuestion(const ModelArguments& model, json* j) { report::AddModel(ReportQuestion(model), j); }

std::string SummaryLine(int64_t calls, int64_t parameters, int64_t macs, int64_t peak_memory_bytes) {
  return absl::StrCat(Counted(calls, "call"), ", ", CountText(static_cast<double>(parameters)), " parameters, ",
                      CountText(static_cast<double>(macs)), " multiply-accumulates, peak memory ",
                      MebibytesText(peak_memory_bytes));
}

std::string PlaceOf(const v1::NodeLatency& row) { return PlaceText(row.file(), row.line()); }

double ShareOf(const v1::NodeLatency& row, const v1::TargetPrediction& prediction) {
  return prediction.latency_us() > 0 ? row.latency_us() / prediction.latency_us() : 0;
}

std::string PredictionJson(const v1::PredictResponse& r, const PredictionView& view) {
  json predictions = json::array();
  for (const v1::TargetPrediction& p : r.predictions()) {
    json j = FieldsJson<json>(p);
    if (!p.torch_version().empty()) j["torch_version"] = p.torch_version();
    if (const auto spec = view.targets.find(p.target()); spec != view.targets.end()) {
      j["device"] = spec->second.device();
      j["runtime"] = spec->second.runtime();
      j["precision"] = spec->second.precision();
      j["threads"] = spec->second.threads();
      const double memory_gb = spec->second.memory_gb();
      j["fits"] = memory_gb > 0 ? json(FitsInto(PeakMemoryOn(r, p), memory_gb)) : json();
      j["memory"] = LackOfMemory(r, p, view.targets);
    }
    if (view.budget_ms > 0) j["over_budget"] = p.latency_us() > view.budget_ms * 1000;
    if (view.breakdown) {
      json rows = json::array();
      for (const v1::NodeLatency& row : p.breakdown()) {
        rows.push_back({{"node", row.node()},
                        {"op", row.op()},
                        {"module", row.module_path()},
                        {"where", PlaceOf(row)},
                        {"latency_us", row.latency_us()},
                        {"latency_share", ShareOf(row, p)},
                        {"unknown", row.unknown()}});
      }
      j["breakdown"] = std::move(rows);
    }
    predictions.push_back(std::move(j));
  }
  json answer = {{"predictions", std::move(predictions)},
                 {"fingerprint", r.fingerprint()},
                 {"calls", r.node_count()},
                 {"params", r.parameter_count()},
                 {"macs", r.macs()},
                 {"flops", r.flops()},
                 {"peak_memory_bytes", r.peak_memory_bytes()},
                 {"model_version", r.model_version()},
                 {"read_us", r.read_us()},
                 {"predict_us", r.predict_us()}};
  if (r.predictions_size() > 1) answer["ranking"] = RankingJson(r, view.targets);
  AddQuestion(view.model, &answer);
  if (view.comparison != nullptr) answer["comparison"] = ComparisonJson(*view.comparison);
  return Dump(answer);
}

std::string GraphTable(const graph::Graph& graph) {
  const graph::GraphCost cost = graph::CostOf(graph);
  return absl::StrCat(graph::PrintGraph(graph), "\n",
                      SummaryLine(static_cast<int64_t>(graph.nodes().size()), graph.num_parameters(), cost.macs,
                                  graph::PeakMemoryBytes(graph)),
                      "\n");
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
      for (std::string cell : {std::string("-"), t.samples() > 1 ? PercentText(t.sample_mape_after()) : "-",
                               std::string("-"), t.samples() > 1 ? absl::StrCat(t.samples()) : "-"}) {
        row.push_back(std::move(cell));
      }
      const std::string from = t.samples() == 0   ? "data sheet alone"
                               : t.samples() == 1 ? "one timing"
                                                  : absl::StrCat(t.samples(), " timings, each by the others");
      row.push_back(absl::StrCat("adapted: ", from, VersionText(t)));
    } else if (t.calibrated()) {  // only its probe was measured on it
      for (std::string cell : {PercentText(t.probe_layer_mape_after()), PercentText(t.probe_network_mape_after()),
                               std::string("-"), std::string("-")}) {
        row.push_back(std::move(cell));
      }
      row.push_back(absl::StrCat("on its probe, layers ", PercentText(t.probe_layer_mape_before()),
                                 " before; calibrated on top of ", t.base_target(), VersionText(t),
                                 IsDisturbed(t.disturbance()) ? "; disturbed: " : "",
                                 IsDisturbed(t.disturbance()) ? DisturbanceText(t.disturbance()) : ""));
    } else {
      row.push_back(e.layers_tested() > 0 ? PercentText(e.layer_mape()) : "-");
      row.push_back(e.networks_tested() > 0 ? PercentText(e.network_mape()) : "-");
      row.push_back(e.repeatability_floor() > 0 ? PercentText(e.repeatability_floor()) : "-");
      row.push_back(e.networks_tested() > 0 ? absl::StrCat(e.networks_tested()) : "-");
      row.push_back("on held-out rows");
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
  return Dump({{"targets", std::move(targets)}});
}

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
                          ? absl::StrCat("something else runs on this machine: ", DisturbanceText(t.disturbance()),
                                         "; predictions are of the machine as it is, and say the undisturbed time "
                                         "beside it\n")
                          : "",
                      warning.empty() ? "" : "warning: ", warning, warning.empty() ? "" : "\n");
}

std::string CalibrationJson(const v1::CalibrateResponse& r, absl::string_view warning) {
  json j = {{"target", TargetJson(r.target())}, {"layers_used", r.layers_used()}, {"networks_used", r.networks_used()}};
  if (!warning.empty()) j["warning"] = std::string(warning);
  return Dump(j);
}

// A tenth of what was measured is off by 90 %.
constexpr double kUnlikeSheet = 0.9;
constexpr char kCheckSheet[] =
    "warning: the timings are unlike the data sheet; are they of this device, its threads, and in milliseconds?\n";

namespace {

// Of a reply: the server puts what is to be known of all timings beside the doubted ones
// (server/targets/new_level.h).
constexpr absl::string_view kWarning = "warning: ";
bool IsWarning(absl::string_view doubted) { return absl::StartsWith(doubted, kWarning); }

}  // namespace

std::string AdaptedText(const v1::AdaptResponse& r, const std::vector<std::string>& refused) {
  const v1::Target& t = r.target();
  std::string text = absl::StrCat("target ", t.spec().name(), " serves", VersionText(t), "\n");
  if (t.samples() == 0) {
    absl::StrAppend(&text, "from the data sheet alone: a few timings make it better (cobra-client observe)\n",
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
      absl::StrAppend(&text, "; they predict each other no better, so the data sheet counts and they do not");
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
  return Dump({{"target", TargetJson(target)}, {"refused", refused}, {"warnings", warnings}});
}

std::string UndoText(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response) {
  const std::string what = absl::StrCat("target ", request.target(), ": version ", request.version(), " is withdrawn");
  return response.has_target() ? absl::StrCat(what, VersionText(response.target()), " serves\n")
                               : absl::StrCat(what, "; no version is left, and the target is gone\n");
}

std::string UndoJson(const v1::UndoCalibrationRequest& request, const v1::UndoCalibrationResponse& response) {
  return Dump({{"withdrawn_version", request.version()},
               {"target", response.has_target() ? TargetJson(response.target()) : json()}});
}

std::string ModelTable(const v1::GetModelInfoResponse& r) {
  return TextTable({{"version", r.version()},
                    {"sha256", r.sha256()},
                    {"parameters", absl::StrCat(r.parameter_count())},
                    {"vocabulary", absl::StrCat(r.vocabulary_size())},
                    {"trained at", r.trained_at()},
                    {"layers trained on", absl::StrCat(r.layers_trained())},
                    {"networks trained on", absl::StrCat(r.networks_trained())},
                    {"server version", r.server_version()}},
                   {false, false});
}

std::string ModelJson(const v1::GetModelInfoResponse& r) {
  return Dump({{"version", r.version()},
               {"sha256", r.sha256()},
               {"parameter_count", r.parameter_count()},
               {"vocabulary_size", r.vocabulary_size()},
               {"trained_at", r.trained_at()},
               {"layers_trained", r.layers_trained()},
               {"networks_trained", r.networks_trained()},
               {"server_version", r.server_version()}});
}

}  // namespace cobra::client
