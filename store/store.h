// What the server remembers beyond its own life: every prediction that it computed, every measurement that it was
// given, every calibration. Records are only ever appended. Implementations are safe to call from several threads.
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
#include "store/sql.h"

namespace cobra::store {

struct PredictionRecord {
  absl::Time time;
  std::string fingerprint;  // 32 hexadecimal digits
  std::string target;
  std::string model_version;
  double latency_us = 0, low_us = 0, high_us = 0;
  double confidence = 0;
  bool extrapolating = false;
  int64_t node_count = 0;
};

struct MeasurementRecord {
  absl::Time time;
  std::string target;       // the machine that it was measured on
  std::string origin;       // "probe", or that of its task (task_queue.h)
  std::string fingerprint;  // 32 hexadecimal digits
  bool is_network = false;
  double latency_us = 0;       // 0 where outcome is not "ok"
  std::string graph_json;      // graph/json.h, without origins
  std::string outcome = "ok";  // store/record.h
  std::string task_id;         // of the task that asked for it; empty: nobody did
  std::string record_json;   // what the worker said beside this (store/record.h), without the graph; empty for a probe
  std::string session;       // names the conditions
  std::string session_json;  // the conditions; empty where they are known already
};

struct CalibrationRecord {
  absl::Time time;
  std::string target;
  std::string model_sha256;      // the model version that the fit belongs to
  std::string calibration_json;  // model/predict/target.h
  std::string probe_json;        // what it was fitted from: another model version is fitted anew from it
};

struct StoreCounts {
  int64_t predictions = 0, measurements = 0, calibrations = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual absl::Status AppendPredictions(absl::Span<const PredictionRecord> records) = 0;
  virtual absl::Status AppendMeasurements(absl::Span<const MeasurementRecord> records) = 0;
  virtual absl::Status AppendCalibration(const CalibrationRecord& record) = 0;
  // The newest record of each target, by name.
  virtual absl::StatusOr<std::vector<CalibrationRecord>> LatestCalibrations() = 0;
  virtual absl::StatusOr<StoreCounts> Counts() = 0;
  // What workers handed in for a target, in the order of its coming.
  virtual absl::StatusOr<std::vector<MeasurementRecord>> TaskMeasurements(absl::string_view target) = 0;
};

// Tables of the store and the task queue, made or brought up to date; FailedPrecondition when they were written by a
// newer server.
absl::Status PrepareSchema(SqlDatabase* database);

// What a worker hands in (record.h): the graph is built anew and its fingerprint computed, and a latency must be one.
// InvalidArgument otherwise. Target, origin, task and time are left to the caller.
absl::StatusOr<MeasurementRecord> MeasurementFromRecordJson(absl::string_view record_json);

// In an open transaction; AlreadyExists where its task has a measurement.
absl::Status InsertMeasurement(SqlSession& session, const MeasurementRecord& record);

// Takes what OpenDatabase() takes. SQLite is used in WAL mode: readers never wait for the writer.
absl::StatusOr<std::unique_ptr<Store>> OpenStore(absl::string_view location);

}  // namespace cobra::store

#endif  // COBRA_STORE_STORE_H_
