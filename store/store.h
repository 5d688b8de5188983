// The persistent data of the server: every computed prediction, every reported measurement, every calibration. Records
// are append-only. Implementations are safe to call from several threads.
#ifndef COBRA_STORE_STORE_H_
#define COBRA_STORE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "store/measurement.h"
#include "store/sql.h"

namespace cobra::store {

struct PredictionRecord {
  absl::Time time;
  // 32 hexadecimal digits.
  std::string fingerprint;
  std::string target;
  std::string model_version;
  double latency_us = 0, low_us = 0, high_us = 0;
  double confidence = 0;
  bool extrapolating = false;
  int64_t node_count = 0;
};

// A measurement, and what the store knows beside it.
struct StoredMeasurement {
  absl::Time time;
  // Of its task, or of the probe. The measurement itself says what the worker calls its machine.
  std::string target;
  // "probe", or that of its task (task_queue.h).
  std::string origin;
  // Of the task that asked for it; empty: a probe.
  std::string task_id;
  // The conditions that its session names (measurement.h); empty where they are known already.
  std::string session_json;
  Measurement measurement;
};

struct CalibrationRecord {
  absl::Time time;
  std::string target;
  // The model version that the fit belongs to.
  std::string model_sha256;
  // model/predict/target.h
  std::string calibration_json;
  // The probe that it was fitted to. For another model version the calibration is fitted again to the probe.
  std::string probe_json;
};

struct StoreCounts {
  int64_t predictions = 0, measurements = 0, calibrations = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual absl::Status AppendPredictions(absl::Span<const PredictionRecord> records) = 0;
  virtual absl::Status AppendMeasurements(absl::Span<const StoredMeasurement> measurements) = 0;
  virtual absl::Status AppendCalibration(const CalibrationRecord& record) = 0;
  // The newest record of each target, by name.
  virtual absl::StatusOr<std::vector<CalibrationRecord>> LatestCalibrations() = 0;
  virtual absl::StatusOr<StoreCounts> Counts() = 0;
  // The reports of workers for a target, in the order of arrival. A damaged row is left out, with a warning in the log.
  virtual absl::StatusOr<std::vector<StoredMeasurement>> TaskMeasurements(absl::string_view target) = 0;
};

// Creates or migrates the tables of the store and the task queue. FailedPrecondition if they were written by a newer
// server.
absl::Status PrepareSchema(SqlDatabase* database);

// What a worker reports (MeasurementToJson): the graph is rebuilt and its fingerprint computed, and a latency must be a
// time. InvalidArgument otherwise.
absl::StatusOr<Measurement> ReportedMeasurement(absl::string_view record_json);

// In an open transaction. AlreadyExists if its task has a measurement.
absl::Status InsertMeasurement(SqlSession& session, const StoredMeasurement& measurement);

// `location` as for OpenDatabase(). SQLite is used in WAL mode: readers never wait for the writer.
absl::StatusOr<std::unique_ptr<Store>> OpenStore(absl::string_view location);

}  // namespace cobra::store

#endif  // COBRA_STORE_STORE_H_
