// What the server remembers beyond its own life: every prediction that it computed, every measurement that it was
// given, every calibration. Records are only ever appended. Implementations are safe to call from several threads.
#ifndef COBRA_SERVER_STORE_H_
#define COBRA_SERVER_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"

namespace cobra {

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
  std::string origin;       // "probe"
  std::string fingerprint;  // 32 hexadecimal digits
  bool is_network = false;
  double latency_us = 0;
  std::string graph_json;  // graph/json.h, without origins
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
};

// One file, SQLite in WAL mode: readers never wait for the writer. Creates it where it is missing; FailedPrecondition
// when it was written by a newer server.
absl::StatusOr<std::unique_ptr<Store>> OpenSqliteStore(absl::string_view path);

}  // namespace cobra

#endif  // COBRA_SERVER_STORE_H_
