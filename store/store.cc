#include "store/store.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "graph/fingerprint.h"
#include "graph/json.h"
#include "store/record.h"

namespace cobra::store {
namespace {

SqlValue TextOrNull(const std::string& text) { return text.empty() ? SqlValue() : SqlValue(text); }

class SqlStore final : public Store {
 public:
  explicit SqlStore(std::unique_ptr<SqlDatabase> database) : database_(std::move(database)) {}

  absl::Status AppendPredictions(absl::Span<const PredictionRecord> records) override {
    return database_->Transaction([&](SqlSession& session) {
      for (const PredictionRecord& r : records) {
        COBRA_RETURN_IF_ERROR(
            session.Execute("INSERT INTO predictions (time_us, fingerprint, target, model_version, latency_us, low_us, "
                            "high_us, confidence, "
                            "extrapolating, node_count) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
                            {absl::ToUnixMicros(r.time), r.fingerprint, r.target, r.model_version, r.latency_us,
                             r.low_us, r.high_us, r.confidence, int64_t{r.extrapolating}, r.node_count}));
      }
      return absl::OkStatus();
    });
  }

  absl::Status AppendMeasurements(absl::Span<const MeasurementRecord> records) override {
    return database_->Transaction([&](SqlSession& session) {
      for (const MeasurementRecord& r : records) COBRA_RETURN_IF_ERROR(InsertMeasurement(session, r));
      return absl::OkStatus();
    });
  }

  absl::Status AppendCalibration(const CalibrationRecord& r) override {
    return database_->Transaction([&](SqlSession& session) {
      return session.Execute(
          "INSERT INTO calibrations (time_us, target, model_sha256, calibration_json, probe_json) VALUES ($1, $2, $3, "
          "$4, $5)",
          {absl::ToUnixMicros(r.time), r.target, r.model_sha256, r.calibration_json, r.probe_json});
    });
  }

  absl::StatusOr<std::vector<CalibrationRecord>> LatestCalibrations() override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           Read("SELECT time_us, target, model_sha256, calibration_json, probe_json FROM calibrations "
                                "WHERE id IN (SELECT MAX(id) FROM calibrations GROUP BY target) ORDER BY target"));
    std::vector<CalibrationRecord> records;
    for (const SqlRow& row : rows) {
      records.push_back({absl::FromUnixMicros(row.Int(0)), row.Text(1), row.Text(2), row.Text(3), row.Text(4)});
    }
    return records;
  }

  absl::StatusOr<StoreCounts> Counts() override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           Read("SELECT (SELECT COUNT(*) FROM predictions), (SELECT COUNT(*) FROM measurements), "
                                "(SELECT COUNT(*) FROM calibrations)"));
    return StoreCounts{rows[0].Int(0), rows[0].Int(1), rows[0].Int(2)};
  }

  absl::StatusOr<std::vector<MeasurementRecord>> TaskMeasurements(absl::string_view target) override {
    COBRA_ASSIGN_OR_RETURN(const std::vector<SqlRow> rows,
                           Read("SELECT time_us, target, origin, fingerprint, is_network, latency_us, graph_json, "
                                "outcome, task_id, record_json "
                                "FROM measurements WHERE target = $1 AND task_id IS NOT NULL ORDER BY id",
                                {std::string(target)}));
    std::vector<MeasurementRecord> records;
    for (const SqlRow& r : rows) {
      records.push_back({absl::FromUnixMicros(r.Int(0)), r.Text(1), r.Text(2), r.Text(3), r.Int(4) != 0, r.Real(5),
                         r.Text(6), r.Text(7), r.Text(8), r.Text(9)});
    }
    return records;
  }

 private:
  absl::StatusOr<std::vector<SqlRow>> Read(absl::string_view sql, std::initializer_list<SqlValue> parameters = {}) {
    std::vector<SqlRow> rows;
    COBRA_RETURN_IF_ERROR(database_->Transaction([&](SqlSession& session) -> absl::Status {
      COBRA_ASSIGN_OR_RETURN(rows, session.Query(sql, parameters));
      return absl::OkStatus();
    }));
    return rows;
  }

  const std::unique_ptr<SqlDatabase> database_;
};

}  // namespace

absl::Status InsertMeasurement(SqlSession& session, const MeasurementRecord& r) {
  if (!r.session_json.empty()) {
    COBRA_RETURN_IF_ERROR(session.Execute(
        "INSERT INTO sessions (session, target, session_json) VALUES ($1, $2, $3) ON CONFLICT (session) DO NOTHING",
        {r.session, r.target, r.session_json}));
  }
  return session.Execute(
      "INSERT INTO measurements (time_us, target, origin, fingerprint, is_network, latency_us, graph_json, outcome, "
      "task_id, record_json) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
      {absl::ToUnixMicros(r.time), r.target, r.origin, r.fingerprint, int64_t{r.is_network}, r.latency_us, r.graph_json,
       r.outcome, TextOrNull(r.task_id), r.record_json});
}

absl::StatusOr<MeasurementRecord> MeasurementFromRecordJson(absl::string_view record_json) {
  absl::StatusOr<Record> record = RecordFromJson(record_json);
  if (!record.ok()) return absl::InvalidArgumentError(record.status().message());
  const bool measured = record->outcome == Outcome::ok;
  const double latency_us = record->latency.median_us;
  if (measured && !(std::isfinite(latency_us) && latency_us > 0)) {
    return absl::InvalidArgumentError(absl::StrCat("latency_us ", latency_us, ": is no time"));
  }
  MeasurementRecord measurement;
  measurement.is_network = record->is_network;
  measurement.latency_us = measured ? latency_us : 0;
  if (measured || !record->graph_json.empty()) {  // what could not even be drawn has no graph
    const absl::StatusOr<graph::Graph> graph = graph::GraphFromJson(record->graph_json);
    if (!graph.ok()) return absl::InvalidArgumentError(absl::StrCat("graph: ", graph.status().message()));
    measurement.fingerprint = graph::Fingerprint(*graph).ToHex();
    measurement.graph_json = graph::GraphToJson(*graph, {/*origins=*/false});
  }
  measurement.outcome = std::string(OutcomeName(record->outcome));
  measurement.session = record->session;
  record->graph_json.clear();
  measurement.record_json = RecordToJson(*record);
  return measurement;
}

absl::StatusOr<std::unique_ptr<Store>> OpenStore(absl::string_view location) {
  COBRA_ASSIGN_OR_RETURN(std::unique_ptr<SqlDatabase> database, OpenDatabase(location));
  const absl::Status prepared = PrepareSchema(database.get());
  if (!prepared.ok()) return absl::Status(prepared.code(), absl::StrCat("store: ", prepared.message()));
  return std::make_unique<SqlStore>(std::move(database));
}

}  // namespace cobra::store
