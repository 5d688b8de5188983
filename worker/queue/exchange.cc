#include "worker/queue/exchange.h"

#include <map>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/file/csv.h"
#include "base/status_macros.h"
#include "base/text/json.h"
#include "model/predict/target/target.h"
#include "nlohmann/json.hpp"
#include "store/measurement.h"

namespace cobra::worker {
namespace {

using Json = nlohmann::ordered_json;

// Returns the text of a field; empty if it is absent.
std::string TextOf(const Json& j, const std::string& name) {
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

// Whether the field is a list or a JSON text: its column comes after those of the session.
bool IsWide(const store::MeasurementField& field) {
  return field.type == store::FieldType::kReals || field.type == store::FieldType::kJson;
}

// The columns: the fields of a record, of its session's machine and environment, then the wide
// fields.
std::vector<std::string> Header() {
  std::vector<std::string> header, wide;
  for (const store::MeasurementField& field : store::MeasurementCsvFields()) {
    (IsWide(field) ? wide : header).emplace_back(field.name);
  }
  for (const predict::TargetField& field : predict::TargetFields()) {
    header.push_back(absl::StrCat("machine_", field.name));
  }
  header.push_back("environment");
  header.insert(header.end(), wide.begin(), wide.end());
  return header;
}

std::string FieldToCsv(const store::MeasurementField& field, const Json& record) {
  const std::string name(field.name);
  switch (field.type) {
    case store::FieldType::kBool: return record.value(name, false) ? "1" : "0";
    case store::FieldType::kReals: {
      std::vector<std::string> numbers;
      for (const Json& number : record.value(name, Json::array())) numbers.push_back(number.dump());
      return absl::StrJoin(numbers, " ");
    }
    case store::FieldType::kText:
    case store::FieldType::kInteger:
    case store::FieldType::kReal:
    case store::FieldType::kExactReal:
    case store::FieldType::kJson: return TextOf(record, name);
  }
  return "";
}

std::string CsvRow(const Json& record, const Json& session) {
  std::vector<std::string> cells, wide;
  for (const store::MeasurementField& field : store::MeasurementCsvFields()) {
    (IsWide(field) ? wide : cells).push_back(FieldToCsv(field, record));
  }
  const Json machine = session.value("machine", Json::object());
  for (const predict::TargetField& field : predict::TargetFields()) {
    cells.push_back(TextOf(machine, std::string(field.name)));
  }
  cells.push_back(TextOf(session, "environment"));
  cells.insert(cells.end(), wide.begin(), wide.end());
  return CsvLine(cells);
}

// Access to a row of a CSV by column name.
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

// Sets j[name] to the number in `cell`; leaves it out if the cell is empty.
absl::Status SetNumber(const std::string& cell, const std::string& column, const std::string& name, bool integer,
                       Json* j) {
  if (cell.empty()) return absl::OkStatus();
  int64_t whole = 0;
  double real = 0;
  if (integer ? !absl::SimpleAtoi(cell, &whole) : !absl::SimpleAtod(cell, &real)) {
    return absl::InvalidArgumentError(absl::StrCat(column, " \"", cell, "\": is not a number"));
  }
  (*j)[name] = integer ? Json(whole) : Json(real);
  return absl::OkStatus();
}

absl::Status FieldFromCsv(const store::MeasurementField& field, const std::string& cell, Json* j) {
  const std::string name(field.name);
  switch (field.type) {
    case store::FieldType::kText:
      if (!cell.empty()) (*j)[name] = cell;
      return absl::OkStatus();
    case store::FieldType::kInteger: return SetNumber(cell, name, name, /*integer=*/true, j);
    case store::FieldType::kReal:
    case store::FieldType::kExactReal: return SetNumber(cell, name, name, /*integer=*/false, j);
    case store::FieldType::kBool: (*j)[name] = cell == "1" || cell == "true"; return absl::OkStatus();
    case store::FieldType::kReals: {
      Json numbers = Json::array();
      for (absl::string_view text : absl::StrSplit(cell, ' ', absl::SkipEmpty())) {
        double number = 0;
        if (!absl::SimpleAtod(text, &number)) {
          return absl::InvalidArgumentError(absl::StrCat(name, " \"", text, "\": is not a number"));
        }
        numbers.push_back(number);
      }
      if (!numbers.empty()) (*j)[name] = std::move(numbers);
      return absl::OkStatus();
    }
    case store::FieldType::kJson:
      if (cell.empty()) return absl::OkStatus();
      (*j)[name] = ParseJson<Json>(cell);
      if ((*j)[name].is_discarded()) return absl::InvalidArgumentError(absl::StrCat(name, ": is not JSON"));
      return absl::OkStatus();
  }
  return absl::OkStatus();
}

absl::StatusOr<Json> RecordOf(const Row& row) {
  Json j;
  j["kind"] = "record";
  for (const store::MeasurementField& field : store::MeasurementCsvFields()) {
    COBRA_RETURN_IF_ERROR(FieldFromCsv(field, row[field.name], &j));
  }
  return j;
}

absl::StatusOr<Json> SessionOf(const Row& row) {
  Json j, machine = Json::object();
  for (const predict::TargetField& field : predict::TargetFields()) {
    const std::string name(field.name), column = absl::StrCat("machine_", name), cell = row[column];
    if (field.type != store::FieldType::kText) {
      COBRA_RETURN_IF_ERROR(SetNumber(cell, column, name, field.type == store::FieldType::kInteger, &machine));
    } else if (!cell.empty()) {
      machine[name] = cell;
    }
  }
  j["kind"] = "session";
  j["session"] = row["session"];
  j["machine"] = std::move(machine);
  const Json environment = ParseJson<Json>(row["environment"]);
  if (environment.is_object()) j["environment"] = environment;
  return j;
}

absl::Status CheckRecord(const store::Measurement& measurement) {
  COBRA_RETURN_IF_ERROR(store::CheckLatencies(measurement));
  const size_t numbers = measurement.node_latency_us.size(), calls = measurement.subject.graph.nodes().size();
  if (calls == 0) return absl::InvalidArgumentError("graph: is missing, or has no calls");
  if (numbers == 0 || numbers == calls) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("node_latency_us: ", numbers, " numbers for ", calls, " calls"));
}

}  // namespace

absl::StatusOr<std::string> RecordsToCsv(absl::string_view json_lines) {
  std::map<std::string, Json> sessions;
  ForEachLine(json_lines, [&](int, absl::string_view line) {
    const Json j = ParseJson<Json>(line);
    if (j.is_object() && j.value("kind", "") == "session") sessions[j.value("session", "")] = j;
  });
  std::string csv = CsvLine(Header());
  absl::Status problem;
  ForEachLine(json_lines, [&](int number, absl::string_view line) {
    const Json j = ParseJson<Json>(line);
    if (!j.is_object()) {
      if (problem.ok()) problem = absl::InvalidArgumentError(absl::StrCat("line ", number, ": is not a JSON object"));
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
    const Json j = ParseJson<Json>(line);
    if (!j.is_object()) return wrong("is not a JSON object");
    if (j.value("kind", "") == "session") {
      sessions.insert(j.value("session", ""));
      ++checked.sessions;
      absl::StrAppend(&checked.json_lines, line, "\n");
      return;
    }
    if (j.value("kind", "") != "record") return;  // a canary record
    absl::StatusOr<store::Measurement> measurement = store::MeasurementFromJson(line);
    if (!measurement.ok()) return wrong(measurement.status().message());
    const std::string& session = measurement->conditions.session;
    if (sessions.count(session) == 0) return wrong(absl::StrCat("session \"", session, "\": has no line above"));
    const std::string key = measurement->subject.Key();
    if (!keys.insert(key).second) return wrong(absl::StrCat(key, ": occurs twice"));
    if (const absl::Status status = CheckRecord(*measurement); !status.ok()) return wrong(status.message());
    absl::StrAppend(&checked.json_lines, store::MeasurementToJson(*measurement), "\n");
    ++checked.records;
  });
  return checked;
}

}  // namespace cobra::worker
