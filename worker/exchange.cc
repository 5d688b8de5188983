#include "worker/exchange.h"

#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/csv.h"
#include "base/status_macros.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "nlohmann/json.hpp"
#include "store/record.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

// Columns from the session's "machine" and "environment"; the names are those of the JSON.
constexpr const char* kMachine[] = {
    "name",    "device",  "kind",        "runtime",         "precision",           "layout",
    "compile", "threads", "peak_gflops", "memory_gb_per_s", "last_level_cache_mb", "clock_mhz",
    "cores"};
constexpr const char* kText[] = {"session",     "target",  "cache",   "space",   "label",
                                 "fingerprint", "outcome", "message", "time_utc"};
constexpr const char* kInteger[] = {"seed", "index", "repeat", "runs", "batch", "peak_memory_bytes"};
constexpr const char* kReal[] = {"latency_us",
                                 "p10_us",
                                 "p90_us",
                                 "min_us",
                                 "mean_us",
                                 "ci_low_us",
                                 "ci_high_us",
                                 "cold_us",
                                 "canary_ratio",
                                 "canary_copy_ratio",
                                 "load",
                                 "device_us",
                                 "energy_j",
                                 "clock_before_mhz",
                                 "clock_after_mhz",
                                 "memory_clock_mhz",
                                 "temperature_c",
                                 "power_w"};
constexpr const char* kBool[] = {"is_network", "suspect"};

std::string TextOf(const Json& j, const char* name) {
  const auto found = j.find(name);
  if (found == j.end() || found->is_null()) return "";
  return found->is_string() ? found->get<std::string>() : found->dump();
}

template <typename F>
void ForEachLine(absl::string_view text, F each) {
  int number = 0;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    ++number;
    if (!line.empty()) each(number, line);
  }
}

std::vector<std::string> Header() {
  std::vector<std::string> header;
  for (const char* name : kText) header.push_back(name);
  for (const char* name : kInteger) header.push_back(name);
  for (const char* name : kReal) header.push_back(name);
  for (const char* name : kBool) header.push_back(name);
  for (const char* name : kMachine) header.push_back(absl::StrCat("machine_", name));
  for (const char* name : {"environment", "node_latency_us", "graph"}) header.push_back(name);
  return header;
}

std::string CsvRow(const Json& record, const Json& session) {
  std::vector<std::string> fields;
  for (const char* name : kText) fields.push_back(TextOf(record, name));
  for (const char* name : kInteger) fields.push_back(TextOf(record, name));
  for (const char* name : kReal) fields.push_back(TextOf(record, name));
  for (const char* name : kBool) fields.push_back(record.value(name, false) ? "1" : "0");
  const Json machine = session.value("machine", Json::object());
  for (const char* name : kMachine) fields.push_back(TextOf(machine, name));
  fields.push_back(TextOf(session, "environment"));
  std::vector<std::string> nodes;
  for (const Json& us : record.value("node_latency_us", Json::array())) nodes.push_back(us.dump());
  fields.push_back(absl::StrJoin(nodes, " "));
  fields.push_back(TextOf(record, "graph"));
  return CsvLine(fields);
}

// A row of a CSV by its columns' names.
class Row {
 public:
  Row(const CsvTable& table, const CsvTable::Row& row) : table_(table), row_(row) {}
  const std::string& operator[](absl::string_view name) const {
    static const std::string* const empty = new std::string();
    const int column = table_.Column(name);
    return column < 0 ? *empty : row_.fields[static_cast<size_t>(column)];
  }

 private:
  const CsvTable& table_;
  const CsvTable::Row& row_;
};

absl::Status SetNumber(const Row& row, const char* column, const char* name, bool integer, Json* j) {
  const std::string& text = row[column];
  if (text.empty()) return absl::OkStatus();
  int64_t whole = 0;
  double real = 0;
  if (integer ? !absl::SimpleAtoi(text, &whole) : !absl::SimpleAtod(text, &real)) {
    return absl::InvalidArgumentError(absl::StrCat(column, " \"", text, "\": is no number"));
  }
  (*j)[name] = integer ? Json(whole) : Json(real);
  return absl::OkStatus();
}

absl::StatusOr<Json> RecordOf(const Row& row) {
  Json j;
  j["kind"] = "record";
  for (const char* name : kText) {
    if (!row[name].empty()) j[name] = row[name];
  }
  for (const char* name : kInteger) COBRA_RETURN_IF_ERROR(SetNumber(row, name, name, true, &j));
  for (const char* name : kReal) COBRA_RETURN_IF_ERROR(SetNumber(row, name, name, false, &j));
  for (const char* name : kBool) j[name] = row[name] == "1" || row[name] == "true";
  Json nodes = Json::array();
  for (absl::string_view text : absl::StrSplit(row["node_latency_us"], ' ', absl::SkipEmpty())) {
    double us = 0;
    if (!absl::SimpleAtod(text, &us))
      return absl::InvalidArgumentError(absl::StrCat("node_latency_us \"", text, "\": is no number"));
    nodes.push_back(us);
  }
  if (!nodes.empty()) j["node_latency_us"] = std::move(nodes);
  if (!row["graph"].empty()) {
    j["graph"] = Json::parse(row["graph"], nullptr, /*allow_exceptions=*/false);
    if (j["graph"].is_discarded()) return absl::InvalidArgumentError("graph: is no JSON");
  }
  return j;
}

absl::StatusOr<Json> SessionOf(const Row& row) {
  Json j, machine = Json::object();
  for (const char* name : kMachine) {
    const std::string column = absl::StrCat("machine_", name);
    const bool is_text =
        std::set<std::string>{"name", "device", "kind", "runtime", "precision", "layout", "compile"}.count(name) > 0;
    if (is_text) {
      if (!row[column].empty()) machine[name] = row[column];
    } else {
      COBRA_RETURN_IF_ERROR(SetNumber(row, column.c_str(), name, std::string(name) == "threads", &machine));
    }
  }
  j["kind"] = "session";
  j["session"] = row["session"];
  j["machine"] = std::move(machine);
  const Json environment = Json::parse(row["environment"], nullptr, /*allow_exceptions=*/false);
  if (environment.is_object()) j["environment"] = environment;
  return j;
}

// What is wrong with a record's numbers; OK if nothing is.
absl::Status CheckTimes(const store::Record& record) {
  if (record.outcome != store::Outcome::ok) return absl::OkStatus();
  const store::Latency& l = record.latency;
  if (!(std::isfinite(l.median_us) && l.median_us > 0))
    return absl::InvalidArgumentError(absl::StrCat("latency_us ", l.median_us, ": is no time"));
  const double steps[] = {l.min_us, l.p10_us, l.median_us, l.p90_us};
  for (size_t i = 1; i < 4; ++i) {
    if (steps[i - 1] > 0 && steps[i] > 0 && steps[i - 1] > steps[i] * 1.000001) {
      return absl::InvalidArgumentError("min_us, p10_us, latency_us, p90_us: are not in order");
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> RecordsToCsv(absl::string_view json_lines) {
  std::map<std::string, Json> sessions;
  ForEachLine(json_lines, [&](int, absl::string_view line) {
    const Json j = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (j.is_object() && j.value("kind", "") == "session") sessions[j.value("session", "")] = j;
  });
  std::string csv = CsvLine(Header());
  absl::Status problem;
  ForEachLine(json_lines, [&](int number, absl::string_view line) {
    const Json j = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!j.is_object()) {
      if (problem.ok()) problem = absl::InvalidArgumentError(absl::StrCat("line ", number, ": is no JSON object"));
      return;
    }
    if (j.value("kind", "") != "record") return;
    const auto session = sessions.find(j.value("session", ""));
    csv += CsvRow(j, session == sessions.end() ? Json::object() : session->second);
  });
  if (!problem.ok()) return problem;
  return csv;
}

absl::StatusOr<std::string> CsvToRecords(absl::string_view csv) {
  COBRA_ASSIGN_OR_RETURN(const CsvTable table, ParseCsv(csv));
  for (const char* needed : {"outcome", "latency_us", "graph"}) {
    if (table.Column(needed) < 0)
      return absl::InvalidArgumentError(absl::StrCat("line 1: the header has no column ", needed));
  }
  std::string sessions, records;
  std::set<std::string> known;
  int64_t index = 0;
  for (const CsvTable::Row& fields : table.rows) {
    const Row row(table, fields);
    absl::StatusOr<Json> record = RecordOf(row);
    absl::StatusOr<Json> session = SessionOf(row);
    for (const absl::Status& status : {record.status(), session.status()}) {
      if (!status.ok()) return absl::InvalidArgumentError(absl::StrCat("line ", fields.line, ": ", status.message()));
    }
    if (!record->contains("space")) (*record)["space"] = "imported";
    if (!record->contains("index")) (*record)["index"] = index;
    ++index;
    if (known.insert(row["session"]).second) absl::StrAppend(&sessions, session->dump(), "\n");
    absl::StrAppend(&records, record->dump(), "\n");
  }
  return sessions + records;
}

CheckedRecords CheckRecords(absl::string_view json_lines) {
  CheckedRecords checked;
  std::set<std::string> sessions, keys;
  ForEachLine(json_lines, [&](int number, absl::string_view line) {
    const auto wrong = [&](absl::string_view what) {
      checked.problems.push_back(absl::StrCat("line ", number, ": ", what));
    };
    const Json j = Json::parse(line.begin(), line.end(), nullptr, /*allow_exceptions=*/false);
    if (!j.is_object()) return wrong("is no JSON object");
    if (j.value("kind", "") == "session") {
      sessions.insert(j.value("session", ""));
      ++checked.sessions;
      absl::StrAppend(&checked.json_lines, line, "\n");
      return;
    }
    if (j.value("kind", "") != "record") return;  // a canary
    absl::StatusOr<store::Record> record = store::RecordFromJson(line);
    if (!record.ok()) return wrong(record.status().message());
    if (sessions.count(record->session) == 0)
      return wrong(absl::StrCat("session \"", record->session, "\": has no line above"));
    if (!keys.insert(record->Key()).second) return wrong(absl::StrCat(record->Key(), ": is there twice"));
    if (const absl::Status times = CheckTimes(*record); !times.ok()) return wrong(times.message());
    const absl::StatusOr<graph::Graph> graph = graph::GraphFromJson(record->graph_json);
    if (!graph.ok()) return wrong(absl::StrCat("graph: ", graph.status().message()));
    if (!record->node_latency_us.empty() && record->node_latency_us.size() != graph->nodes().size()) {
      return wrong(absl::StrCat("node_latency_us: ", record->node_latency_us.size(), " numbers for ",
                                graph->nodes().size(), " calls"));
    }
    record->fingerprint = graph::Fingerprint(*graph).ToHex();
    record->graph_json = graph::GraphToJson(*graph, {/*origins=*/false});
    absl::StrAppend(&checked.json_lines, store::RecordToJson(*record), "\n");
    ++checked.records;
  });
  return checked;
}

}  // namespace cobra::worker
