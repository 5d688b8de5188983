#include "store/record.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"

namespace cobra::store {
namespace {

using Json = nlohmann::ordered_json;

// Four significant digits more than the clock can tell; keeps lines short.
double Rounded(double us) { return std::round(us * 1000) / 1000; }

std::optional<Outcome> OutcomeFromName(const std::string& name) {
#define COBRA_OUTCOME_CASE(value) \
  if (name == #value) return Outcome::value;
  COBRA_OUTCOMES(COBRA_OUTCOME_CASE)
#undef COBRA_OUTCOME_CASE
  return std::nullopt;
}

std::optional<double> Optional(const Json& j, const char* name) {
  const auto found = j.find(name);
  if (found == j.end() || found->is_null()) return std::nullopt;
  return found->get<double>();
}

// What of the machine's state could be read: name and member.
struct ConditionField {
  const char* name;
  std::optional<double> Record::*value;
};
constexpr ConditionField kConditions[] = {{"clock_before_mhz", &Record::clock_before_mhz},
                                          {"clock_after_mhz", &Record::clock_after_mhz},
                                          {"memory_clock_mhz", &Record::memory_clock_mhz},
                                          {"temperature_c", &Record::temperature_c},
                                          {"power_w", &Record::power_w}};

void AddResult(const Record& record, Json* json) {
  Json& j = *json;
  j["outcome"] = std::string(OutcomeName(record.outcome));
  if (!record.message.empty()) j["message"] = record.message;
  if (record.outcome != Outcome::ok) return;
  const Latency& l = record.latency;
  j["latency_us"] = Rounded(l.median_us);
  j["p10_us"] = Rounded(l.p10_us);
  j["p90_us"] = Rounded(l.p90_us);
  j["min_us"] = Rounded(l.min_us);
  j["mean_us"] = Rounded(l.mean_us);
  j["ci_low_us"] = Rounded(l.ci_low_us);
  j["ci_high_us"] = Rounded(l.ci_high_us);
  j["runs"] = l.runs;
  j["batch"] = l.batch;
  j["cold_us"] = Rounded(l.cold_us);
  if (l.device_us > 0) j["device_us"] = Rounded(l.device_us);
  if (record.peak_memory_bytes > 0) j["peak_memory_bytes"] = record.peak_memory_bytes;
  if (record.energy_j) j["energy_j"] = *record.energy_j;
  if (!record.node_latency_us.empty()) {
    Json nodes = Json::array();
    for (double us : record.node_latency_us) nodes.push_back(Rounded(us));
    j["node_latency_us"] = std::move(nodes);
  }
}

absl::Status ReadResult(const Json& j, Record* record) {
  const std::optional<Outcome> outcome = OutcomeFromName(j.value("outcome", ""));
  if (!outcome) return absl::DataLossError("record: no such outcome");
  record->outcome = *outcome;
  record->message = j.value("message", "");
  Latency& l = record->latency;
  l.median_us = j.value("latency_us", 0.0);
  l.p10_us = j.value("p10_us", 0.0);
  l.p90_us = j.value("p90_us", 0.0);
  l.min_us = j.value("min_us", 0.0);
  l.mean_us = j.value("mean_us", 0.0);
  l.ci_low_us = j.value("ci_low_us", 0.0);
  l.ci_high_us = j.value("ci_high_us", 0.0);
  l.runs = j.value("runs", 0);
  l.batch = j.value("batch", 1);
  l.cold_us = j.value("cold_us", 0.0);
  l.device_us = j.value("device_us", 0.0);
  record->energy_j = Optional(j, "energy_j");
  record->peak_memory_bytes = j.value("peak_memory_bytes", int64_t{0});
  record->node_latency_us = j.value("node_latency_us", std::vector<double>());
  return absl::OkStatus();
}

// nlohmann throws on a wrong type; those exceptions end here.
template <typename F>
absl::Status Guarded(absl::string_view text, F read) {
  const Json j = Json::parse(text.begin(), text.end(), nullptr, /*allow_exceptions=*/false);
  if (j.is_discarded() || !j.is_object()) return absl::DataLossError("record: the line is no JSON object");
  try {
    return read(j);
  } catch (const Json::exception& e) {
    return absl::DataLossError(absl::StrCat("record: ", e.what()));
  }
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

std::string Record::SubjectKey() const {
  return seed == 0 ? absl::StrCat(space, "/", index) : absl::StrCat(space, "@", seed, "/", index);
}

std::string Record::Key() const { return absl::StrCat(SubjectKey(), "/", repeat); }

std::string RecordToJson(const Record& record) {
  Json j;
  j["kind"] = "record";
  j["session"] = record.session;
  if (!record.target.empty()) j["target"] = record.target;
  if (!record.cache.empty()) j["cache"] = record.cache;
  j["space"] = record.space;
  if (record.seed != 0) j["seed"] = record.seed;
  j["index"] = record.index;
  j["repeat"] = record.repeat;
  j["is_network"] = record.is_network;
  j["label"] = record.label;
  j["fingerprint"] = record.fingerprint;
  AddResult(record, &j);
  j["canary_ratio"] = Rounded(record.canary_ratio);
  j["canary_copy_ratio"] = Rounded(record.canary_copy_ratio);
  if (record.suspect) j["suspect"] = true;
  j["load"] = Rounded(record.load);
  j["time_utc"] = record.time_utc;
  for (const ConditionField& field : kConditions) {
    if (record.*field.value) j[field.name] = Rounded(*(record.*field.value));
  }
  if (!record.graph_json.empty()) j["graph"] = Json::parse(record.graph_json, nullptr, /*allow_exceptions=*/false);
  return j.dump();
}

absl::StatusOr<Record> RecordFromJson(absl::string_view line) {
  Record record;
  const absl::Status status = Guarded(line, [&record](const Json& j) -> absl::Status {
    if (j.value("kind", "") != "record") return absl::NotFoundError("the line is no record");
    record.session = j.value("session", "");
    record.space = j.value("space", "");
    record.seed = j.value("seed", uint64_t{0});
    record.index = j.value("index", int64_t{0});
    record.repeat = j.value("repeat", 0);
    record.is_network = j.value("is_network", false);
    record.label = j.value("label", "");
    record.fingerprint = j.value("fingerprint", "");
    record.canary_ratio = j.value("canary_ratio", 1.0);
    record.canary_copy_ratio = j.value("canary_copy_ratio", 1.0);
    record.suspect = j.value("suspect", false);
    record.load = j.value("load", 0.0);
    record.time_utc = j.value("time_utc", "");
    record.target = j.value("target", "");
    record.cache = j.value("cache", "");
    for (const ConditionField& field : kConditions) record.*field.value = Optional(j, field.name);
    if (j.contains("graph")) record.graph_json = j["graph"].dump();
    return ReadResult(j, &record);
  });
  if (!status.ok()) return status;
  return record;
}

std::string ResultToJson(const Record& record) {
  Json j;
  AddResult(record, &j);
  return j.dump();
}

absl::Status MergeResult(absl::string_view json, Record* record) {
  return Guarded(json, [record](const Json& j) { return ReadResult(j, record); });
}

}  // namespace cobra::store
