#include "model/predict/target/target.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/diagnostic.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/limit_message.h"
#include "base/user_error.h"
#include "graph/form/fingerprint.h"
#include "graph/form/graph_bytes.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "store/measurement_json.h"

namespace cobra::predict {
namespace {

using nlohmann::json;

// Calls visit(name, value) for each field of `spec`, a TargetSpec or a const one.
template <typename Spec, typename Visit>
void VisitFields(Spec& spec, Visit visit) {
  visit("name", spec.name);
  visit("device", spec.device);
  visit("kind", spec.kind);
  visit("runtime", spec.runtime);
  visit("precision", spec.precision);
  visit("layout", spec.layout);
  visit("compile", spec.compile);
  visit("threads", spec.threads);
  visit("peak_gflops", spec.peak_gflops);
  visit("memory_gb_per_s", spec.memory_gb_per_s);
  visit("last_level_cache_mb", spec.last_level_cache_mb);
  visit("clock_mhz", spec.clock_mhz);
  visit("cores", spec.cores);
  visit("vector_bits", spec.vector_bits);
  visit("l2_cache_mb", spec.l2_cache_mb);
  visit("convolution_gflops", spec.convolution_gflops);
  visit("pointwise_gflops", spec.pointwise_gflops);
  visit("depthwise_gflops", spec.depthwise_gflops);
  visit("l2_gb_per_s", spec.l2_gb_per_s);
  visit("l3_gb_per_s", spec.l3_gb_per_s);
  visit("page_fault_us", spec.page_fault_us);
  visit("memory_gb", spec.memory_gb);
  visit("board_power_w", spec.board_power_w);
  visit("process_nm", spec.process_nm);
}

store::FieldType TypeOf(const std::string&) { return store::FieldType::kText; }
store::FieldType TypeOf(int) { return store::FieldType::kInteger; }
store::FieldType TypeOf(double) { return store::FieldType::kReal; }

// Those of a part of a calibration, or of a constant one.
template <typename Part, typename Visit>
void VisitPart(Part& part, Visit visit) {
  visit("base_target", part.base_target);
  visit("own_specification", part.own_specification);
  visit("weight", part.weight);
  visit("coefficients", part.coefficients);
}

template <typename D, typename Visit>
void VisitDisturbance(D& disturbance, Visit visit) {
  visit("typical", disturbance.typical);
  visit("low", disturbance.low);
  visit("high", disturbance.high);
  visit("timings", disturbance.timings);
}

// But its machine, parts, profile and disturbance.
template <typename C, typename Visit>
void VisitCalibration(C& c, Visit visit) {
  visit("base_target", c.base_target);
  visit("model_sha256", c.model_sha256);
  visit("coefficients", c.coefficients);
  visit("log_network_scale", c.log_network_scale);
  visit("own_specification", c.own_specification);
  visit("work_low", c.work_ranges.low);
  visit("work_high", c.work_ranges.high);
  visit("interval_scale", c.interval_scale);
  visit("interval_log", c.interval_log);
  visit("probe_layer_mape_before", c.probe_layer_mape_before);
  visit("probe_layer_mape_after", c.probe_layer_mape_after);
  visit("probe_network_mape_after", c.probe_network_mape_after);
  visit("held_back_error", c.held_back_error);
  visit("samples", c.samples);
  visit("sample_mape_before", c.sample_mape_before);
  visit("sample_mape_after", c.sample_mape_after);
  visit("doubted", c.doubted);
}

// Sets the members of an object to the fields that it is called with.
struct WriteTo {
  template <typename T>
  void operator()(const char* name, const T& value) const {
    object[name] = value;
  }
  json& object;
};

json SpecToJson(const TargetSpec& spec) {
  json j;
  VisitFields(spec, WriteTo{j});
  return j;
}

// Ratios of times, more than any probe measures and further apart than any neighbour brings them.
constexpr size_t kMostRatios = 100000;
constexpr double kMostRatio = 1000;

absl::Status ReadDisturbance(const json& j, std::vector<double>* ratios) {
  const auto from = j.find("disturbance");
  if (from == j.end() || from->is_null()) return absl::OkStatus();
  const auto list = from->is_object() ? from->find("ratios") : from->end();
  const auto fits = [](const json& e) {
    return e.is_number() && e.get<double>() > 1 / kMostRatio && e.get<double>() < kMostRatio;
  };
  if (!from->is_object() || list == from->end() || !list->is_array() || list->size() > kMostRatios ||
      !std::all_of(list->begin(), list->end(), fits)) {
    return absl::InvalidArgumentError(
        "probe: \"disturbance\": needs \"ratios\", a list of how many times as long as undisturbed networks took");
  }
  *ratios = list->get<std::vector<double>>();
  return absl::OkStatus();
}

// Reads `key` into `*value`. A wrong type is an error; an absent key keeps the default.
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
  } else if constexpr (std::is_same_v<T, std::vector<std::string>>) {
    fits = it->is_array();
    for (const json& e : *it) fits = fits && e.is_string();
  } else if constexpr (std::is_same_v<T, int>) {
    fits = it->is_number() && std::fabs(it->template get<double>()) <= 1e9;  // others do not fit into an int
  } else {
    fits = it->is_number();
  }
  if (!fits) return absl::InvalidArgumentError(absl::StrCat("\"", key, "\": unexpected type ", it->type_name()));
  *value = it->get<T>();
  return absl::OkStatus();
}

// Reads the fields that it is called with from an object, up to the first error.
struct ReadFrom {
  template <typename T>
  void operator()(const char* name, T& value) const {
    if (status->ok()) *status = Read(object, name, &value);
  }
  const json& object;
  absl::Status* status;
};

absl::StatusOr<TargetSpec> SpecFromJson(const json& j) {
  if (!j.is_object()) return absl::InvalidArgumentError("target: not a JSON object");
  TargetSpec spec;
  absl::Status status;
  VisitFields(spec, ReadFrom{j, &status});
  if (!status.ok()) return status;
  return spec;
}

absl::StatusOr<json> Parse(absl::string_view text, absl::string_view what) {
  json j = ParseJson<json>(text);
  if (j.is_discarded() || !j.is_object()) return absl::InvalidArgumentError(absl::StrCat(what, ": not a JSON object"));
  return j;
}

}  // namespace

absl::Span<const TargetField> TargetFields() {
  static const std::vector<TargetField>* const fields = [] {
    auto* all = new std::vector<TargetField>;
    const TargetSpec spec;
    VisitFields(spec, [all](const char* name, const auto& value) { all->push_back({name, TypeOf(value)}); });
    return all;
  }();
  return *fields;
}

absl::string_view RuntimeFamily(const TargetSpec& spec) {
  return absl::string_view(spec.runtime).substr(0, spec.runtime.find('-'));
}

bool IsPyTorch(const TargetSpec& spec) {
  const absl::string_view family = RuntimeFamily(spec);
  return family == "torch" || family == "libtorch";
}

bool HasHalfTensors(const TargetSpec& spec) { return spec.precision == "float16" || spec.precision == "bfloat16"; }

bool HasCasts(const TargetSpec& spec) { return spec.precision == "amp-float16"; }

bool ComputesInHalf(const TargetSpec& spec) { return HasHalfTensors(spec) || HasCasts(spec); }

absl::string_view RuntimeVersion(const TargetSpec& spec) {
  absl::string_view version = absl::string_view(spec.runtime).substr(RuntimeFamily(spec).size());
  absl::ConsumePrefix(&version, "-");
  const size_t first = version.find('.');
  return first == absl::string_view::npos ? version : version.substr(0, version.find_first_of(".+", first + 1));
}

std::string TargetSpecToJson(const TargetSpec& spec) { return JsonText(SpecToJson(spec)); }

absl::StatusOr<TargetSpec> TargetSpecFromJson(absl::string_view text) {
  COBRA_ASSIGN_OR_RETURN(json j, Parse(text, "target"));
  return SpecFromJson(j);
}

absl::StatusOr<ProbeResult> ProbeResultFromJson(absl::string_view text, bool needs_records) {
  COBRA_ASSIGN_OR_RETURN(json j, Parse(text, "probe"));
  if (!j.contains("machine") || !j.contains("records") || !j["records"].is_array()) {
    return absl::InvalidArgumentError(
        "probe: needs \"machine\" and \"records\", as `cobra-worker probe --json` and `cobra-client adapt --export` "
        "write them");
  }
  ProbeResult result;
  COBRA_ASSIGN_OR_RETURN(result.machine, SpecFromJson(j["machine"]));
  COBRA_RETURN_IF_ERROR(ReadDisturbance(j, &result.disturbance));
  int64_t graph_bytes = 0;
  for (const json& r : j["records"]) {
    if (!r.is_object() || !r.contains("graph")) return absl::InvalidArgumentError("probe: a record has no \"graph\"");
    store::Measurement measurement;
    if (const absl::Status status = store::MergeFields(nlohmann::ordered_json(r), &measurement); !status.ok()) {
      return absl::InvalidArgumentError(absl::StrCat("probe: ", status.message()));
    }
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(JsonText(r["graph"])));
    graph_bytes += graph::GraphBytes(graph);
    if (graph_bytes > kMaxProbeGraphBytes) {
      return UserError(
          Diagnostic::Kind::kLimit,
          absl::StrCat("probe: record ", result.records.size() + 1, ": ",
                       LimitMessage("the graphs up to this one", graph_bytes, kMaxProbeGraphBytes, "bytes of memory")),
          "leave out some of the records");
    }
    store::SetGraph(std::move(graph), &measurement.subject);
    const double us = measurement.latency.median_us;
    // A failed measurement has no latency.
    const bool is_measured = measurement.outcome == store::Outcome::ok && r.contains("latency_us");
    if (us < 0 || (us == 0 && is_measured)) {
      return absl::InvalidArgumentError(
          absl::StrCat("probe: latency_us ", us, ": a time is positive, in microseconds"));
    }
    if (us > 0) result.records.push_back(std::move(measurement));
  }
  if (needs_records && result.records.empty()) return absl::InvalidArgumentError("probe: no record has a latency");
  return result;
}

std::string ProbeResultToJson(const ProbeResult& probe) {
  return ProbeResultToJson(probe, std::numeric_limits<int64_t>::max()).value();
}

// A record at a time: as values, all of them would take many times their text.
absl::StatusOr<std::string> ProbeResultToJson(const ProbeResult& probe, int64_t max_bytes) {
  std::string text = absl::StrCat("{\"machine\":", JsonText(nlohmann::ordered_json(SpecToJson(probe.machine))));
  if (!probe.disturbance.empty())
    absl::StrAppend(&text, ",\"disturbance\":", JsonText(json{{"ratios", probe.disturbance}}));
  absl::StrAppend(&text, ",\"records\":[");
  bool is_first = true;
  for (store::Measurement measured : probe.records) {
    measured.latency.median_us = measured.undisturbed_us();
    std::vector<absl::string_view> fields = {"space", "is_network", "label", "latency_us", "runs", "graph"};
    if (!measured.node_latency_us.empty()) fields.push_back("node_latency_us");
    if (!measured.profile_json.empty()) fields.push_back("profile");
    absl::StrAppend(&text, is_first ? "" : ",", store::FieldsToJson(measured, fields));
    is_first = false;
    if (static_cast<int64_t>(text.size()) > max_bytes)
      return UserError(Diagnostic::Kind::kLimit, LimitMessage("what the target was timed with", max_bytes, "bytes"),
                       "such a target cannot be exported");
  }
  return absl::StrCat(text, "]}");
}

namespace {

// Four digits: latencies are not known any better.
double Rounded(double log_us) { return std::round(log_us * 1e4) / 1e4; }

json ProfileToJson(const CalibrationProfile& profile) {
  json samples = json::array();
  for (const CalibrationProfile::Sample& sample : profile.samples) {
    std::vector<double> log_us;
    for (const double value : sample.network.log_us) log_us.push_back(Rounded(value));
    samples.push_back({{"log_us", log_us},
                       {"variance", Rounded(sample.network.variance)},
                       {"is_quantized", sample.network.is_quantized},
                       {"measured_log_us", sample.measured_log_us}});
  }
  return {{"targets", profile.targets}, {"samples", std::move(samples)}, {"interval_scale", profile.interval_scale}};
}

absl::Status ReadProfile(const json& j, CalibrationProfile* profile) {
  const auto from = j.find("profile");
  if (from == j.end()) return absl::OkStatus();
  if (!from->is_object()) return absl::InvalidArgumentError("\"profile\": not an object");
  COBRA_RETURN_IF_ERROR(Read(*from, "targets", &profile->targets));
  COBRA_RETURN_IF_ERROR(Read(*from, "interval_scale", &profile->interval_scale));
  const auto list = from->find("samples");
  if (list == from->end()) return absl::OkStatus();
  if (!list->is_array()) return absl::InvalidArgumentError("\"samples\": not a list");
  for (const json& sample : *list) {
    if (!sample.is_object()) return absl::InvalidArgumentError("\"samples\": has what is not an object");
    CalibrationProfile::Sample& read = profile->samples.emplace_back();
    COBRA_RETURN_IF_ERROR(Read(sample, "log_us", &read.network.log_us));
    COBRA_RETURN_IF_ERROR(Read(sample, "variance", &read.network.variance));
    COBRA_RETURN_IF_ERROR(Read(sample, "is_quantized", &read.network.is_quantized));
    COBRA_RETURN_IF_ERROR(Read(sample, "measured_log_us", &read.measured_log_us));
    if (read.network.log_us.size() != profile->targets.size())
      return absl::InvalidArgumentError("\"log_us\": not as many as \"targets\"");
  }
  return absl::OkStatus();
}

}  // namespace

std::string CalibrationToJson(const Calibration& c) {
  json j = {{"machine", SpecToJson(c.machine)}, {"parts", json::array()}, {"profile", ProfileToJson(c.profile)}};
  VisitCalibration(c, WriteTo{j});
  for (const CalibrationPart& part : c.parts) VisitPart(part, WriteTo{j["parts"].emplace_back()});
  VisitDisturbance(c.disturbance, WriteTo{j["disturbance"]});
  return JsonText(j);
}

namespace {

absl::Status ReadParts(const json& j, std::vector<CalibrationPart>* parts) {
  const auto list = j.find("parts");
  if (list == j.end()) return absl::OkStatus();
  if (!list->is_array()) return absl::InvalidArgumentError("\"parts\": not a list");
  for (const json& from : *list) {
    if (!from.is_object()) return absl::InvalidArgumentError("\"parts\": has what is not an object");
    absl::Status status;
    VisitPart(parts->emplace_back(), ReadFrom{from, &status});
    COBRA_RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

absl::Status ReadDisturbance(const json& j, Disturbance* disturbance) {
  const auto from = j.find("disturbance");
  if (from == j.end()) return absl::OkStatus();
  if (!from->is_object()) return absl::InvalidArgumentError("\"disturbance\": not an object");
  absl::Status status;
  VisitDisturbance(*disturbance, ReadFrom{*from, &status});
  return status;
}

}  // namespace

absl::StatusOr<Calibration> CalibrationFromJson(absl::string_view text) {
  COBRA_ASSIGN_OR_RETURN(json j, Parse(text, "calibration"));
  Calibration c;
  if (!j.contains("machine")) return absl::InvalidArgumentError("calibration: has no \"machine\"");
  COBRA_ASSIGN_OR_RETURN(c.machine, SpecFromJson(j["machine"]));
  absl::Status status;
  VisitCalibration(c, ReadFrom{j, &status});
  COBRA_RETURN_IF_ERROR(status);
  COBRA_RETURN_IF_ERROR(ReadParts(j, &c.parts));
  COBRA_RETURN_IF_ERROR(ReadProfile(j, &c.profile));
  COBRA_RETURN_IF_ERROR(ReadDisturbance(j, &c.disturbance));
  return c;
}

}  // namespace cobra::predict
