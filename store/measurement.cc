#include "store/measurement.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "base/text/json_text.h"
#include "base/text/limit_message.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "store/json_cut.h"
#include "store/measurement_json.h"

namespace cobra::store {
namespace {

using Json = nlohmann::ordered_json;

constexpr MeasurementField kFields[] = {
#define COBRA_MEASUREMENT_FIELD(name, type, member, presence, csv_column) \
  {#name, FieldType::type, FieldPresence::presence, csv_column},
#include "store/measurement_fields.def"
#undef COBRA_MEASUREMENT_FIELD
};
constexpr size_t kFieldCount = std::size(kFields);

constexpr bool CsvColumnsAreAPermutation() {
  bool taken[kFieldCount] = {};
  for (const MeasurementField& field : kFields) {
    if (field.csv_column < 0 || field.csv_column >= static_cast<int>(kFieldCount) || taken[field.csv_column]) {
      return false;
    }
    taken[field.csv_column] = true;
  }
  return true;
}
static_assert(CsvColumnsAreAPermutation(), "two fields have one column of CSV, or a column has no field");

// Calls visit(field, value) for each field of `m`, a Measurement or a const one.
template <typename M, typename Visit>
void VisitFields(M& m, Visit visit) {
  size_t i = 0;
#define COBRA_MEASUREMENT_FIELD(name, type, member, presence, csv_column) visit(kFields[i++], m.member);
#include "store/measurement_fields.def"
#undef COBRA_MEASUREMENT_FIELD
}

std::optional<Outcome> OutcomeFromName(absl::string_view name) {
#define COBRA_OUTCOME_CASE(value) \
  if (name == #value) return Outcome::value;
  COBRA_OUTCOMES(COBRA_OUTCOME_CASE)
#undef COBRA_OUTCOME_CASE
  return std::nullopt;
}

// ---- whether a field has something to write ----

bool IsSet(const std::string& value) { return !value.empty(); }
bool IsSet(const std::vector<double>& value) { return !value.empty(); }
bool IsSet(const std::optional<double>& value) { return value.has_value(); }
bool IsSet(const graph::Graph& graph) { return !graph.nodes().empty(); }
bool IsSet(Outcome) { return true; }
template <typename T>
bool IsSet(const T& number) {
  return number > 0;
}

template <typename T>
bool IsPresent(const MeasurementField& field, const T& value, bool success) {
  switch (field.presence) {
    case FieldPresence::kAlways: return true;
    case FieldPresence::kIfSet: return IsSet(value);
    case FieldPresence::kOfSuccess: return success;
    case FieldPresence::kOfSuccessIfSet: return success && IsSet(value);
  }
  return true;
}

// ---- one value to JSON ----

// More digits than the clock can resolve; keeps lines short. Larger values have no decimals, and a
// thousand times the largest ones would be infinite, which JSON cannot say.
double ThreeDecimals(double value) { return std::fabs(value) < 1e15 ? std::round(value * 1000) / 1000 : value; }

Json ValueToJson(const MeasurementField& field, double value) {
  return field.type == FieldType::kReal ? ThreeDecimals(value) : value;
}
Json ValueToJson(const MeasurementField& field, const std::optional<double>& value) {
  return value ? ValueToJson(field, *value) : Json();
}
Json ValueToJson(const MeasurementField&, const std::string& value) { return value; }
Json ValueToJson(const MeasurementField&, const std::vector<double>& values) {
  Json list = Json::array();
  for (double value : values) list.push_back(ThreeDecimals(value));
  return list;
}
Json ValueToJson(const MeasurementField&, Outcome value) { return std::string(OutcomeName(value)); }
template <typename T>
Json ValueToJson(const MeasurementField&, const T& value) {
  return value;
}

template <typename T>
std::string ValueText(const MeasurementField& field, const T& value) {
  return JsonText(ValueToJson(field, value));
}
std::string ValueText(const MeasurementField& field, const std::string& value) {
  if (field.type == FieldType::kJson) return value.empty() ? "null" : value;
  return JsonText(ValueToJson(field, value));
}
std::string ValueText(const MeasurementField&, const graph::Graph& graph) {
  return IsSet(graph) ? graph::GraphToJson(graph, {/*origins=*/false}) : "null";
}

void AppendMember(absl::string_view name, absl::string_view value, std::string* object) {
  absl::StrAppend(object, object->size() == 1 ? "\"" : ",\"", name, "\":", value);
}

// ---- one value from JSON; a value of a wrong type throws Json::exception ----

absl::Status ValueFromJson(const MeasurementField&, const Json& json, std::optional<double>* value) {
  *value = json.is_null() ? std::nullopt : std::optional<double>(json.get<double>());
  return absl::OkStatus();
}
absl::Status ValueFromJson(const MeasurementField& field, const Json& json, std::string* value) {
  *value = field.type == FieldType::kJson ? JsonText(json) : json.get<std::string>();
  return absl::OkStatus();
}
// SplitRecord() has the text of the graph.
absl::Status ValueFromJson(const MeasurementField&, const Json&, graph::Graph*) { return absl::OkStatus(); }
absl::Status ValueFromJson(const MeasurementField&, const Json& json, Outcome* value) {
  const std::optional<Outcome> outcome = OutcomeFromName(json.get<std::string>());
  if (!outcome) return absl::DataLossError("record: no such outcome");
  *value = *outcome;
  return absl::OkStatus();
}
template <typename T>
absl::Status ValueFromJson(const MeasurementField& field, const Json& json, T* value) {
  // The library converts any number, and one that does not fit is undefined behaviour.
  if (std::is_integral_v<T> && json.is_number_float() &&
      !(std::fabs(json.get<double>()) <= static_cast<double>(std::numeric_limits<int>::max()))) {
    return absl::DataLossError(absl::StrCat("record: \"", field.name, "\": is not a number of its kind"));
  }
  *value = json.get<T>();
  return absl::OkStatus();
}

// ---- what an untrusted worker may report ----

constexpr size_t kMaxNameBytes = 200;  // of sessions, targets, families: the longest have some 60

absl::Status CheckReportedValue(const MeasurementField& field, const std::string& value) {
  const size_t most = field.name == "message" ? kMaxMessageBytes : kMaxNameBytes;
  if (value.size() > most) {
    return absl::InvalidArgumentError(LimitMessage(absl::StrCat("record: \"", field.name, "\""),
                                                   static_cast<int64_t>(value.size()), static_cast<int64_t>(most),
                                                   "bytes"));
  }
  for (const char c : value) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) {
      return absl::InvalidArgumentError(absl::StrCat("record: \"", field.name, "\": has a control character"));
    }
  }
  return absl::OkStatus();
}
absl::Status CheckReportedValue(const MeasurementField& field, double value) {
  if (std::isfinite(value) && value >= 0) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("record: \"", field.name, "\": ", value, " is not a measured value"));
}
absl::Status CheckReportedValue(const MeasurementField& field, const std::optional<double>& value) {
  return CheckReportedValue(field, value.value_or(0));
}
absl::Status CheckReportedValue(const MeasurementField& field, const std::vector<double>& values) {
  for (const double value : values) COBRA_RETURN_IF_ERROR(CheckReportedValue(field, value));
  return absl::OkStatus();
}
absl::Status CheckReportedValue(const MeasurementField&, Outcome) { return absl::OkStatus(); }
absl::Status CheckReportedValue(const MeasurementField&, const graph::Graph&) { return absl::OkStatus(); }
template <typename Integer>
absl::Status CheckReportedValue(const MeasurementField& field, Integer value) {
  return CheckReportedValue(field, static_cast<double>(value));
}

}  // namespace

absl::string_view OutcomeName(Outcome outcome) {
  switch (outcome) {
#define COBRA_OUTCOME_NAME(value) \
  case Outcome::value: return #value;
    COBRA_OUTCOMES(COBRA_OUTCOME_NAME)
#undef COBRA_OUTCOME_NAME
  }
  return "ok";
}

absl::Span<const MeasurementField> MeasurementFields() { return kFields; }

absl::Span<const MeasurementField> MeasurementCsvFields() {
  static const std::array<MeasurementField, kFieldCount>* const sorted = [] {
    auto* fields = new std::array<MeasurementField, kFieldCount>;
    for (const MeasurementField& field : kFields) (*fields)[static_cast<size_t>(field.csv_column)] = field;
    return fields;
  }();
  return *sorted;
}

std::string FieldsToJson(const Measurement& measurement, absl::Span<const absl::string_view> names) {
  std::string object = "{";
  for (absl::string_view name : names) {
    VisitFields(measurement, [&](const MeasurementField& field, const auto& value) {
      if (field.name == name) AppendMember(name, ValueText(field, value), &object);
    });
  }
  return object + "}";
}

RecordParts SplitRecord(absl::string_view text) {
  RecordParts parts;
  const absl::string_view graph = MemberText(text, "graph");
  if (!graph.empty()) {
    const size_t begin = static_cast<size_t>(graph.data() - text.data());
    parts.fields = ParseJson<Json>(absl::StrCat(text.substr(0, begin), "null", text.substr(begin + graph.size())));
    if (graph != "null") parts.graph_json = std::string(graph);
    return parts;
  }
  parts.fields = ParseJson<Json>(text);
  if (!parts.fields.is_object()) return parts;
  if (const auto found = parts.fields.find("graph"); found != parts.fields.end() && !found->is_null())
    parts.graph_json = JsonText(*found);
  return parts;
}

absl::Status MergeFields(const nlohmann::ordered_json& object, Measurement* measurement) {
  absl::Status status;
  VisitFields(*measurement, [&](const MeasurementField& field, auto& value) {
    const auto found = object.find(std::string(field.name));
    if (!status.ok() || found == object.end()) return;
    try {
      status = ValueFromJson(field, *found, &value);
    } catch (const Json::exception& e) {
      status = absl::DataLossError(absl::StrCat("record: \"", field.name, "\": ", e.what()));
    }
  });
  return status;
}

std::string MeasurementToJson(const Measurement& measurement, const MeasurementJsonOptions& options) {
  std::string object = "{";
  AppendMember("kind", "\"record\"", &object);
  VisitFields(measurement, [&](const MeasurementField& field, const auto& value) {
    if (field.type == FieldType::kJson && !options.graph) return;
    if (!IsPresent(field, value, measurement.outcome == Outcome::ok)) return;
    AppendMember(field.name, ValueText(field, value), &object);
  });
  return object + "}";
}

absl::StatusOr<Measurement> MeasurementOf(const nlohmann::ordered_json& fields) {
  if (!fields.is_object()) return absl::DataLossError("record: the line is not a JSON object");
  if (const auto kind = fields.find("kind"); kind == fields.end() || *kind != "record") {
    return absl::NotFoundError("the line is not a record");
  }
  if (!fields.contains("outcome")) return absl::DataLossError("record: no such outcome");
  Measurement measurement;
  COBRA_RETURN_IF_ERROR(MergeFields(fields, &measurement));
  return measurement;
}

absl::StatusOr<Measurement> MeasurementFromJson(absl::string_view line) {
  GraphReader graphs;
  return MeasurementFromJson(line, &graphs);
}

absl::StatusOr<Measurement> MeasurementFromJson(absl::string_view line, GraphReader* graphs) {
  const RecordParts parts = SplitRecord(line);
  COBRA_ASSIGN_OR_RETURN(Measurement measurement, MeasurementOf(parts.fields));
  if (parts.graph_json.empty()) return measurement;
  const absl::Status graph = graphs->Read(parts.graph_json, &measurement.subject);
  if (!graph.ok()) return absl::InvalidArgumentError(absl::StrCat("graph: ", graph.message()));
  return measurement;
}

absl::Status CheckLatency(const Measurement& measurement) {
  const double median_us = measurement.latency.median_us;
  if (measurement.outcome != Outcome::ok || (std::isfinite(median_us) && median_us > 0)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("latency_us ", median_us, ": is not a time"));
}

absl::Status CheckReported(const Measurement& measurement) {
  COBRA_RETURN_IF_ERROR(CheckLatency(measurement));
  absl::Status status;
  VisitFields(measurement, [&](const MeasurementField& field, const auto& value) {
    if (status.ok() && field.type != FieldType::kJson) status = CheckReportedValue(field, value);
  });
  return status;
}

absl::Status CheckLatencies(const Measurement& measurement) {
  COBRA_RETURN_IF_ERROR(CheckLatency(measurement));
  if (measurement.outcome != Outcome::ok) return absl::OkStatus();
  // 0: another tool did not report it. Rounding may swap equal times.
  constexpr double kRounding = 1.000001;
  const Latency& latency = measurement.latency;
  const double steps[] = {latency.min_us, latency.p10_us, latency.median_us, latency.p90_us};
  for (size_t i = 1; i < std::size(steps); ++i) {
    if (steps[i - 1] > 0 && steps[i] > 0 && steps[i - 1] > steps[i] * kRounding) {
      return absl::InvalidArgumentError("min_us, p10_us, latency_us, p90_us: are not in order");
    }
  }
  return absl::OkStatus();
}

}  // namespace cobra::store
