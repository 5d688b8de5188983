#include "model/predict/target.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"

namespace cobra::predict {
namespace {

using nlohmann::json;

json SpecToJson(const TargetSpec& s) {
  return {{"name", s.name},
          {"device", s.device},
          {"kind", s.kind},
          {"runtime", s.runtime},
          {"precision", s.precision},
          {"layout", s.layout},
          {"compile", s.compile},
          {"threads", s.threads},
          {"peak_gflops", s.peak_gflops},
          {"memory_gb_per_s", s.memory_gb_per_s},
          {"last_level_cache_mb", s.last_level_cache_mb},
          {"clock_mhz", s.clock_mhz},
          {"cores", s.cores}};
}

// Reads `key` into `*value` if it is there with the right type; a wrong type is an error, an absent key keeps the
// default.
template <typename T>
absl::Status Read(const json& j, const char* key, T* value) {
  auto it = j.find(key);
  if (it == j.end() || it->is_null()) return absl::OkStatus();
  bool fits;
  if constexpr (std::is_same_v<T, std::string>) {
    fits = it->is_string();
  } else if constexpr (std::is_same_v<T, bool>) {
    fits = it->is_boolean();
  } else if constexpr (std::is_same_v<T, std::vector<double>>) {
    fits = it->is_array();
    for (const json& e : *it) fits = fits && e.is_number();
  } else {
    fits = it->is_number();
  }
  if (!fits) return absl::InvalidArgumentError(absl::StrCat("\"", key, "\": unexpected type ", it->type_name()));
  *value = it->get<T>();
  return absl::OkStatus();
}

absl::StatusOr<TargetSpec> SpecFromJson(const json& j) {
  if (!j.is_object()) return absl::InvalidArgumentError("target: not a JSON object");
  TargetSpec s;
  COBRA_RETURN_IF_ERROR(Read(j, "name", &s.name));
  COBRA_RETURN_IF_ERROR(Read(j, "device", &s.device));
  COBRA_RETURN_IF_ERROR(Read(j, "kind", &s.kind));
  COBRA_RETURN_IF_ERROR(Read(j, "runtime", &s.runtime));
  COBRA_RETURN_IF_ERROR(Read(j, "precision", &s.precision));
  COBRA_RETURN_IF_ERROR(Read(j, "layout", &s.layout));
  COBRA_RETURN_IF_ERROR(Read(j, "compile", &s.compile));
  COBRA_RETURN_IF_ERROR(Read(j, "threads", &s.threads));
  COBRA_RETURN_IF_ERROR(Read(j, "peak_gflops", &s.peak_gflops));
  COBRA_RETURN_IF_ERROR(Read(j, "memory_gb_per_s", &s.memory_gb_per_s));
  COBRA_RETURN_IF_ERROR(Read(j, "last_level_cache_mb", &s.last_level_cache_mb));
  COBRA_RETURN_IF_ERROR(Read(j, "clock_mhz", &s.clock_mhz));
  COBRA_RETURN_IF_ERROR(Read(j, "cores", &s.cores));
  return s;
}

absl::StatusOr<json> Parse(absl::string_view text, absl::string_view what) {
  json j = json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (j.is_discarded() || !j.is_object()) return absl::InvalidArgumentError(absl::StrCat(what, ": not a JSON object"));
  return j;
}

}  // namespace

std::string TargetSpecToJson(const TargetSpec& spec) { return SpecToJson(spec).dump(); }

absl::StatusOr<TargetSpec> TargetSpecFromJson(absl::string_view text) {
  COBRA_ASSIGN_OR_RETURN(json j, Parse(text, "target"));
  return SpecFromJson(j);
}

absl::StatusOr<ProbeResult> ProbeResultFromJson(absl::string_view text) {
  COBRA_ASSIGN_OR_RETURN(json j, Parse(text, "probe"));
  if (!j.contains("machine") || !j.contains("records") || !j["records"].is_array()) {
    return absl::InvalidArgumentError(
        "probe: needs \"machine\" and \"records\", as `cobra-worker probe --json` prints them");
  }
  ProbeResult result;
  COBRA_ASSIGN_OR_RETURN(result.machine, SpecFromJson(j["machine"]));
  for (const json& r : j["records"]) {
    if (!r.is_object() || !r.contains("graph")) return absl::InvalidArgumentError("probe: a record has no \"graph\"");
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(r["graph"].dump()));
    ProbeRecord record{std::move(graph)};
    COBRA_RETURN_IF_ERROR(Read(r, "is_network", &record.is_network));
    COBRA_RETURN_IF_ERROR(Read(r, "latency_us", &record.latency_us));
    if (record.latency_us > 0) result.records.push_back(std::move(record));  // a failed measurement has none
  }
  if (result.records.empty()) return absl::InvalidArgumentError("probe: no record has a latency");
  return result;
}

std::string CalibrationToJson(const Calibration& c) {
  return json{{"machine", SpecToJson(c.machine)},
              {"base_target", c.base_target},
              {"model_sha256", c.model_sha256},
              {"coefficients", c.coefficients},
              {"log_network_scale", c.log_network_scale},
              {"interval_log", c.interval_log},
              {"probe_layer_mape_before", c.probe_layer_mape_before},
              {"probe_layer_mape_after", c.probe_layer_mape_after},
              {"probe_network_mape_after", c.probe_network_mape_after}}
      .dump();
}

absl::StatusOr<Calibration> CalibrationFromJson(absl::string_view text) {
  COBRA_ASSIGN_OR_RETURN(json j, Parse(text, "calibration"));
  Calibration c;
  if (!j.contains("machine")) return absl::InvalidArgumentError("calibration: has no \"machine\"");
  COBRA_ASSIGN_OR_RETURN(c.machine, SpecFromJson(j["machine"]));
  COBRA_RETURN_IF_ERROR(Read(j, "base_target", &c.base_target));
  COBRA_RETURN_IF_ERROR(Read(j, "model_sha256", &c.model_sha256));
  COBRA_RETURN_IF_ERROR(Read(j, "coefficients", &c.coefficients));
  COBRA_RETURN_IF_ERROR(Read(j, "log_network_scale", &c.log_network_scale));
  COBRA_RETURN_IF_ERROR(Read(j, "interval_log", &c.interval_log));
  COBRA_RETURN_IF_ERROR(Read(j, "probe_layer_mape_before", &c.probe_layer_mape_before));
  COBRA_RETURN_IF_ERROR(Read(j, "probe_layer_mape_after", &c.probe_layer_mape_after));
  COBRA_RETURN_IF_ERROR(Read(j, "probe_network_mape_after", &c.probe_network_mape_after));
  return c;
}

}  // namespace cobra::predict
