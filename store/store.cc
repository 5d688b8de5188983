#include "store/store.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/bytes/hash.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "base/text/utf8.h"
#include "graph/form/graph_bytes.h"
#include "graph/form/json.h"
#include "nlohmann/json.hpp"
#include "store/graph_reader.h"
#include "store/measurement_json.h"

namespace cobra::store {
namespace {

std::string GraphText(const graph::Graph& graph) { return graph::GraphToJson(graph, {/*origins=*/false}); }

SqlValue TextOrNull(const std::string& text) { return text.empty() ? SqlValue() : SqlValue(text); }

// ---- a measurement's row: the columns that queries use, and record_json with all its fields but
// the graph ----

constexpr char kMeasurementColumns[] =
    "time_us, target, origin, fingerprint, is_network, latency_us, graph_json, outcome, task_id, record_json, "
    "worker, caller, model_sha256, predicted_us, doubt, held";

std::vector<SqlValue> MeasurementToRow(const StoredMeasurement& stored) {
  const Measurement& m = stored.measurement;
  const bool measured = m.outcome == Outcome::ok;
  const bool reported = !stored.task_id.empty();
  return {absl::ToUnixMicros(stored.time),
          stored.target,
          stored.origin,
          m.subject.has_graph() ? m.subject.fingerprint : "",
          int64_t{m.subject.is_network},
          measured ? m.latency.median_us : 0.0,
          m.subject.has_graph() ? GraphText(m.subject.graph) : "",
          std::string(OutcomeName(m.outcome)),
          TextOrNull(stored.task_id),
          reported ? MeasurementToJson(m, {.graph = false}) : "",
          stored.provenance.worker,
          stored.provenance.caller,
          stored.provenance.model_sha256,
          stored.provenance.predicted_us,
          stored.doubt,
          stored.held};
}

// REQUIRES: the row of a task.
absl::StatusOr<StoredMeasurement> MeasurementFromRow(const SqlRow& row, GraphReader* graphs) {
  StoredMeasurement stored;
  stored.time = absl::FromUnixMicros(row.Int(0));
  stored.target = row.Text(1);
  stored.origin = row.Text(2);
  stored.task_id = row.Text(8);
  absl::StatusOr<Measurement> measurement = MeasurementFromJson(row.Text(9));
  if (!measurement.ok()) {
    return absl::DataLossError(absl::StrCat("task ", stored.task_id, ": ", measurement.status().message()));
  }
  Measurement& m = stored.measurement = *std::move(measurement);
  m.subject.fingerprint = row.Text(3);
  m.subject.is_network = row.Int(4) != 0;
  // The column has every digit, record_json only three decimals.
  m.latency.median_us = row.Real(5);
  // Without its graph, nothing is learned from it (model/training/rows/dataset.h counts it).
  const std::string graph_json = row.Text(6);
  if (const absl::Status graph = graph_json.empty() ? absl::OkStatus() : graphs->Read(graph_json, &m.subject);
      !graph.ok())
    LogWarning(absl::StrCat("the measurement of task ", stored.task_id, ": graph: ", graph.message()));
  stored.provenance = {row.Text(10), row.Text(11), row.Text(12), row.Real(13)};
  stored.doubt = row.Text(14);
  stored.held = row.Text(15);
  return stored;
}

// What a label is in labels_json. A quote in a value is written with a backslash, so that no value
// contains it.
std::string LabelJson(const std::pair<std::string, std::string>& label) {
  const auto quoted = [](const std::string& text) {  // ASCII, as the server writes labels_json
    return nlohmann::json(text).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  };
  return absl::StrCat(quoted(label.first), ":", quoted(label.second));
}

// Locks the version until the transaction ends: of several that follow it, one is stored.
absl::Status CheckIsNewest(SqlSession& session, const std::string& target, int64_t version) {
  COBRA_RETURN_IF_ERROR(session.Execute("UPDATE calibrations SET withdrawn = withdrawn WHERE id = $1", {version}));
  COBRA_ASSIGN_OR_RETURN(
      const std::vector<SqlRow> rows,
      session.Query("SELECT MAX(id) FROM calibrations WHERE withdrawn = 0 AND target = $1", {target}));
  if (rows[0].Int(0) == version) return absl::OkStatus();
  return absl::AbortedError(absl::StrCat(target, ": another version follows ", version));
}

// What tells timed networks apart. Not their fingerprint: another user's network may have the same,
// and take longer. (Of older rows it is the fingerprint.)
std::string NetworkKey(absl::string_view graph_json) {
  constexpr size_t kDigits = 32;
  return Sha256Hex(graph_json).substr(0, kDigits);
}

// The networks of rows of timings: the key, its graph's text in the first row of each. The latest,
// up to kMaxTimedGraphBytes.
absl::StatusOr<std::map<std::string, graph::Graph>> TimedGraphs(const std::vector<SqlRow>& rows) {
  std::map<std::string, std::string> texts;
  for (const SqlRow& row : rows) {
    if (!row.Text(1).empty()) texts.emplace(row.Text(0), row.Text(1));
  }
  std::map<std::string, graph::Graph> networks;
  int64_t bytes = 0;
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    const auto text = texts.find(row->Text(0));
    if (text == texts.end() || networks.count(text->first) > 0) continue;
    COBRA_ASSIGN_OR_RETURN(graph::Graph graph, graph::GraphFromJson(text->second));
    bytes += graph::GraphBytes(graph);
    if (bytes > kMaxTimedGraphBytes) break;
    networks.emplace(text->first, std::move(graph));
  }
  return networks;
}

class SqlStore final : public Store {
 public:
  explicit SqlStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  absl::Status AppendPredictions(absl::Span<const PredictionRecord> records) override {
    return database_->Transaction([&](SqlSession& session) {
      for (const PredictionRecord& r : records) {
        COBRA_RETURN_IF_ERROR(session.Execute(
            R"sql(INSERT INTO predictions (time_us, fingerprint, target, model_version, latency_us, low_us, high_us,
                                           confidence, extrapolating, node_count, labels_json)
                  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11))sql",
            {absl::ToUnixMicros(r.time), r.fingerprint, r.target, r.model_version, r.latency_us, r.low_us, r.high_us,
             r.confidence, int64_t{r.extrapolating}, r.node_count, r.labels_json}));
      }
      return absl::OkStatus();
    });
  }

  absl::StatusOr<std::vector<PredictionRecord>> LabelledPredictions(const PredictionFilter& filter) override {
    std::vector<SqlValue> values = {kMostLabelled, filter.limit};
    std::vector<std::string> conditions;
    const auto next = [&values](SqlValue value) {
      values.push_back(std::move(value));
      return absl::StrCat("$", values.size());
    };
    // Both databases have `replace`, which knows no wildcards and tells letters' case apart.
    for (const auto& label : filter.labels)
      conditions.push_back(absl::StrCat("replace(labels_json, ", next(LabelJson(label)), ", '') <> labels_json"));
    if (filter.since != absl::InfinitePast())
      conditions.push_back(absl::StrCat("time_us >= ", next(absl::ToUnixMicros(filter.since))));
    if (!filter.targets.empty()) {
      const auto append = [&next](std::string* out, const std::string& target) { out->append(next(target)); };
      conditions.push_back(absl::StrCat("target IN (", absl::StrJoin(filter.targets, ", ", append), ")"));
    }
    const std::string sql = absl::StrCat(
        "SELECT time_us, fingerprint, target, model_version, latency_us, low_us, high_us, confidence, "
        "extrapolating, node_count, labels_json FROM (SELECT * FROM predictions WHERE labels_json <> '' ",
        "ORDER BY id DESC LIMIT $1) AS labelled", conditions.empty() ? "" : " WHERE ",
        absl::StrJoin(conditions, " AND "), " ORDER BY id DESC LIMIT $2");
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows, database_->Query(sql, values));
    std::vector<PredictionRecord> records;
    for (const SqlRow& row : rows) {
      records.push_back({absl::FromUnixMicros(row.Int(0)), row.Text(1), row.Text(2), row.Text(3), row.Real(4),
                         row.Real(5), row.Real(6), row.Real(7), row.Int(8) != 0, row.Int(9), row.Text(10)});
    }
    return records;
  }

  absl::Status AppendMeasurements(absl::Span<const StoredMeasurement> measurements) override {
    return database_->Transaction([&](SqlSession& session) {
      for (const StoredMeasurement& m : measurements) COBRA_RETURN_IF_ERROR(InsertMeasurement(session, m));
      return absl::OkStatus();
    });
  }

  absl::Status AppendCalibration(const CalibrationRecord& r) override {
    return database_->Transaction([&](SqlSession& session) -> absl::Status {
      // First: of a request that was done, the version that it made may be the one that follows.
      if (!r.request.id.empty()) {
        COBRA_RETURN_IF_ERROR(session.Execute(
            "INSERT INTO done_requests (target, id, digest, answer, time_us) VALUES ($1, $2, $3, $4, $5)",
            {r.target, r.request.id, r.request.digest, r.request.answer, absl::ToUnixMicros(r.time)}));
      }
      if (r.follows > 0) COBRA_RETURN_IF_ERROR(CheckIsNewest(session, r.target, r.follows));
      COBRA_ASSIGN_OR_RETURN(
          const std::vector<SqlRow> rows,
          session.Query(R"sql(INSERT INTO calibrations (time_us, target, model_sha256, calibration_json, probe_json,
                                                        caller, based_on)
                              VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id)sql",
                        {absl::ToUnixMicros(r.time), r.target, r.model_sha256, r.calibration_json,
                         r.based_on == 0 ? r.probe_json : "", r.caller, r.based_on}));
      for (const TimedNetwork& timing : r.timings) {
        const std::string text = GraphText(timing.graph), network = NetworkKey(text);
        COBRA_RETURN_IF_ERROR(session.Execute(
            "INSERT INTO timed_networks (network, graph_json) VALUES ($1, $2) ON CONFLICT (network) DO NOTHING",
            {network, text}));
        COBRA_RETURN_IF_ERROR(
            session.Execute("INSERT INTO timings (calibration, network, latency_us, timings) VALUES ($1, $2, $3, $4)",
                            {rows[0].Int(0), network, timing.latency_us, timing.timings}));
      }
      return session.NotifyListeners();
    });
  }

  absl::StatusOr<DoneRequest> FindRequest(absl::string_view target, absl::string_view id) override {
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        database_->Query("SELECT id, digest, answer FROM done_requests WHERE target = $1 AND id = $2",
                         {std::string(target), std::string(id)}));
    return rows.empty() ? DoneRequest() : DoneRequest{rows[0].Text(0), rows[0].Text(1), rows[0].Text(2)};
  }

  absl::Status ReplaceFit(const CalibrationRecord& r) override {
    return database_->Transaction([&](SqlSession& session) {
      return session.Execute("UPDATE calibrations SET model_sha256 = $1, calibration_json = $2 WHERE id = $3",
                             {r.model_sha256, r.calibration_json, r.version});
    });
  }

  absl::StatusOr<std::vector<CalibrationRecord>> LatestCalibrations() override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           database_->Query(R"sql(SELECT c.time_us, c.target, c.model_sha256, c.calibration_json, '',
                         c.caller, c.id, c.based_on FROM calibrations c
                   WHERE c.id IN (SELECT MAX(id) FROM calibrations WHERE withdrawn = 0 GROUP BY target)
                   ORDER BY c.target)sql"));
    std::vector<CalibrationRecord> records;
    for (const SqlRow& row : rows) {
      records.push_back({absl::FromUnixMicros(row.Int(0)),
                         row.Text(1),
                         row.Text(2),
                         row.Text(3),
                         row.Text(4),
                         row.Text(5),
                         row.Int(6),
                         row.Int(7),
                         {}});
    }
    return records;
  }

  absl::StatusOr<std::string> ProbeOf(const CalibrationRecord& record) override {
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        database_->Query(R"sql(SELECT COALESCE((SELECT b.probe_json FROM calibrations b WHERE b.id = c.based_on),
                                                     c.probe_json)
                                     FROM calibrations c WHERE c.id = $1)sql",
                         {record.version}));
    if (rows.empty()) return absl::NotFoundError(absl::StrCat(record.target, ": has no calibration ", record.version));
    return rows[0].Text(0);
  }

  absl::StatusOr<std::vector<TimedNetwork>> TimingsOf(const CalibrationRecord& record) override {
    if (record.based_on == 0) return std::vector<TimedNetwork>();
    // A log has many timings of one network, whose text may have megabytes.
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        database_->Query(R"sql(WITH own AS (SELECT t.id, t.network, t.latency_us, t.timings FROM timings t
                               JOIN calibrations c ON c.id = t.calibration
                               WHERE c.based_on = $1 AND c.id <= $2 AND c.withdrawn = 0),
                  networks AS (SELECT network, MIN(id) AS first_id, MAX(id) AS last_id FROM own GROUP BY network),
                  sizes AS (SELECT o.network, o.first_id,
                                   SUM(LENGTH(n.graph_json)) OVER (ORDER BY o.last_id DESC) AS text_bytes
                            FROM networks o JOIN timed_networks n ON n.network = o.network)
                  SELECT own.network, CASE WHEN own.id = s.first_id THEN
                           (SELECT n.graph_json FROM timed_networks n WHERE n.network = own.network) ELSE '' END,
                         own.latency_us, own.timings
                  FROM own JOIN sizes s ON s.network = own.network WHERE s.text_bytes <= $3 ORDER BY own.id)sql",
                         {record.based_on, record.version, kMaxTimedTextBytes}));
    COBRA_ASSIGN_OR_RETURN(const auto networks, TimedGraphs(rows));
    std::vector<TimedNetwork> timings;
    for (const SqlRow& row : rows) {
      const auto known = networks.find(row.Text(0));
      if (known != networks.end()) timings.push_back({"", known->second, row.Real(2), row.Int(3)});
    }
    return timings;
  }

  absl::StatusOr<std::vector<CalibrationVersion>> CalibrationVersions(int64_t most) override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           database_->Query(R"sql(SELECT time_us, target, caller, id, withdrawn FROM
                     (SELECT time_us, target, caller, id, withdrawn,
                             ROW_NUMBER() OVER (PARTITION BY target ORDER BY id DESC) AS place FROM calibrations) AS c
                   WHERE place <= $1 OR id IN (SELECT MAX(id) FROM calibrations WHERE withdrawn = 0 GROUP BY target)
                   ORDER BY id DESC)sql",
                                            {most}));
    std::vector<CalibrationVersion> versions;
    for (const SqlRow& row : rows) {
      versions.push_back({absl::FromUnixMicros(row.Int(0)), row.Text(1), row.Text(2), row.Int(3), row.Int(4) != 0});
    }
    return versions;
  }

  // Only a withdrawal changes rows, so that two states have different numbers. (So does ReplaceFit,
  // after which they say the same of what was measured.)
  absl::StatusOr<std::string> CalibrationStamp() override {
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        database_->Query("SELECT COUNT(*), MAX(id), COUNT(CASE WHEN withdrawn <> 0 THEN 1 END) FROM calibrations"));
    return absl::StrCat(rows[0].Int(0), "/", rows[0].Int(1), "/", rows[0].Int(2));
  }

  absl::Status WithdrawCalibration(absl::string_view target, int64_t version) override {
    return database_->Transaction([&](SqlSession& session) -> absl::Status {
      COBRA_ASSIGN_OR_RETURN(
          const std::vector<SqlRow> rows,
          session.Query("UPDATE calibrations SET withdrawn = 1 WHERE target = $1 AND id = $2 RETURNING id",
                        {std::string(target), version}));
      if (rows.empty()) return absl::NotFoundError(absl::StrCat(target, ": has no calibration ", version));
      // Later ones were fitted to its timings, too: they are fitted again.
      COBRA_RETURN_IF_ERROR(session.Execute(
          "UPDATE calibrations SET model_sha256 = '' WHERE target = $1 AND id > $2 AND based_on > 0 AND based_on = "
          "(SELECT w.based_on FROM calibrations w WHERE w.id = $2)",
          {std::string(target), version}));
      return session.NotifyListeners();
    });
  }

  absl::StatusOr<StoreCounts> Counts() override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           database_->Query(R"sql(SELECT (SELECT COUNT(*) FROM predictions),
                                                                             (SELECT COUNT(*) FROM measurements),
                                                                             (SELECT COUNT(*) FROM calibrations))sql"));
    return StoreCounts{rows[0].Int(0), rows[0].Int(1), rows[0].Int(2)};
  }

  absl::StatusOr<std::vector<StoredMeasurement>> TaskMeasurements(absl::string_view target) override {
    COBRA_ASSIGN_OR_RETURN(
        const std::vector<SqlRow> rows,
        database_->Query(absl::StrCat("SELECT ", kMeasurementColumns,
                                      " FROM measurements WHERE target = $1 AND task_id IS NOT NULL ORDER BY id"),
                         {std::string(target)}));
    std::vector<StoredMeasurement> measurements;
    GraphReader graphs;
    for (const SqlRow& row : rows) {
      absl::StatusOr<StoredMeasurement> measurement = MeasurementFromRow(row, &graphs);
      // One damaged row must not prevent learning from the others.
      if (!measurement.ok()) {
        LogWarning(absl::StrCat("a measurement is left out: ", measurement.status().message()));
        continue;
      }
      measurements.push_back(*std::move(measurement));
    }
    return measurements;
  }

 private:
  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace

absl::Status InsertMeasurement(SqlSession& session, const StoredMeasurement& stored) {
  if (!stored.session_json.empty()) {
    COBRA_RETURN_IF_ERROR(session.Execute(
        R"sql(INSERT INTO sessions (session, target, session_json) VALUES ($1, $2, $3)
              ON CONFLICT (session) DO NOTHING)sql",
        {stored.measurement.conditions.session, stored.target, stored.session_json}));
  }
  static const std::string* const sql =
      new std::string(absl::StrCat("INSERT INTO measurements (", kMeasurementColumns,
                                   ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
                                   "$13, $14, $15, $16)"));
  return session.Query(*sql, MeasurementToRow(stored)).status();
}

absl::StatusOr<Measurement> ReportedMeasurement(absl::string_view record_json, GraphReader* graphs) {
  const RecordParts parts = SplitRecord(record_json);
  absl::StatusOr<Measurement> measurement = MeasurementOf(parts.fields);
  if (!measurement.ok()) return absl::InvalidArgumentError(measurement.status().message());
  // A library's message may have several lines.
  std::string& message = measurement->message;
  message.resize(Utf8Prefix(message, kMaxMessageBytes).size());
  std::replace_if(message.begin(), message.end(), absl::ascii_iscntrl, ' ');
  COBRA_RETURN_IF_ERROR(CheckReported(*measurement));
  // A subject that could not be sampled has no graph.
  if (measurement->outcome != Outcome::ok && parts.graph_json.empty()) return measurement;
  const absl::Status graph = graphs->Read(parts.graph_json, &measurement->subject);
  if (!graph.ok()) return absl::InvalidArgumentError(absl::StrCat("graph: ", graph.message()));
  return measurement;
}

absl::StatusOr<std::unique_ptr<Store>> OpenStore(absl::string_view location) {
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, OpenDatabase(location));
  const absl::Status prepared = PrepareSchema(database.get());
  if (!prepared.ok()) return absl::Status(prepared.code(), absl::StrCat("store: ", prepared.message()));
  return std::make_unique<SqlStore>(std::move(database));
}

}  // namespace cobra::store
