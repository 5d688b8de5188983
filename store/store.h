// The persistent data of the server: every computed prediction, every reported measurement, every
// calibration. Records are append-only. Implementations are safe to call from several threads.
#ifndef COBRA_STORE_STORE_H_
#define COBRA_STORE_STORE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "store/graph_reader.h"
#include "store/measurement.h"
#include "store/sql/sql.h"
#include "store/timed_network.h"

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
  std::string labels_json;  // of the call, as an object; empty: none
};

// Where a measurement comes from.
struct Provenance {
  // The worker that reported it.
  std::string worker;
  // Who called; empty if unknown.
  std::string caller;
  // The model version that was serving, and its prediction in microseconds; 0: it does not know the
  // target.
  std::string model_sha256;
  double predicted_us = 0;
};

// A measurement, and what the store knows beside it.
struct StoredMeasurement {
  absl::Time time;
  // Of its task. The measurement itself says what the worker calls its machine.
  std::string target;
  // That of its task (task_queue.h).
  std::string origin;
  // Of the task that asked for it; empty in rows of earlier servers, which stored probes here too.
  std::string task_id;
  // The conditions that its session names (measurement.h); empty where they are known already.
  std::string session_json;
  Measurement measurement;
  Provenance provenance;
  // Why the latency is not believed without a second measurement ("60 us is 15 times more than the
  // predicted 4"). Empty: it is near the prediction, or there is none.
  std::string doubt;
  // Why it is held now: nothing may be learned from it. Empty: it is not. The task queue decides
  // (review.h).
  std::string held;
};

// A call that made a version of a target. A caller that repeats it because the reply was lost gives
// it the same id, so that it is done once.
struct DoneRequest {
  // The caller's; empty: it gave none, and nothing is stored.
  std::string id = {};
  // Of what was asked: another request of the same id is a mistake.
  std::string digest = {};
  // What was answered, as far as it is not the target itself; ASCII.
  std::string answer = {};
};

struct CalibrationRecord {
  absl::Time time;
  std::string target;
  // The model version that the fit belongs to.
  std::string model_sha256;
  // model/predict/target/target.h
  std::string calibration_json;
  // The probe that it was fitted to. For another model version the calibration is fitted again to
  // the probe.
  std::string probe_json;
  // Who sent the probe; empty if unknown.
  std::string caller;
  // Given by the store; later ones are larger.
  int64_t version = 0;
  // The version whose probe it has, beside further timings; then probe_json is not stored. 0: none.
  int64_t based_on = 0;
  // Networks timed after the target was made (Observe); those that are read have no names.
  std::vector<TimedNetwork> timings;
  // Not stored: the version that its timings were checked with, which must still be the newest.
  // 0: any may be.
  int64_t follows = 0;
  // Not read with it (FindRequest).
  DoneRequest request = {};
};

// A CalibrationRecord without the probe and the fit.
struct CalibrationVersion {
  absl::Time time;
  std::string target, caller;
  int64_t version = 0;
  bool withdrawn = false;
};

// Which labelled predictions LabelledPredictions() finds.
struct PredictionFilter {
  // Names and values that its labels have, as CheckLabel() allows them (proto/label.h).
  std::vector<std::pair<std::string, std::string>> labels;
  std::vector<std::string> targets;  // empty: all
  absl::Time since = absl::InfinitePast();
  int64_t limit = 1000;
};

struct StoreCounts {
  int64_t predictions = 0, measurements = 0, calibrations = 0;
};

class Store {
 public:
  virtual ~Store() = default;
  virtual absl::Status AppendPredictions(absl::Span<const PredictionRecord> records) = 0;
  virtual absl::Status AppendMeasurements(absl::Span<const StoredMeasurement> measurements) = 0;
  // The newest `limit` of those that fit, newest first, among the newest kMostLabelled that have
  // labels.
  static constexpr int64_t kMostLabelled = 500000;
  virtual absl::StatusOr<std::vector<PredictionRecord>> LabelledPredictions(const PredictionFilter& filter) = 0;
  // Listeners (change_listener.h) are notified of new and of withdrawn calibrations.
  // All or nothing is stored. AlreadyExists: its request was done before. Aborted: the one that it
  // follows is no longer the newest of its target.
  virtual absl::Status AppendCalibration(const CalibrationRecord& record) = 0;
  // The request of that id that made a version of the target; an empty id: there was none.
  virtual absl::StatusOr<DoneRequest> FindRequest(absl::string_view target, absl::string_view id) = 0;
  // The fit of the version `record.version` for another model than the one that it was made with:
  // model_sha256 and calibration_json of `record`. Listeners are not notified, as no answer
  // changes.
  virtual absl::Status ReplaceFit(const CalibrationRecord& record) = 0;
  // The newest record of each target that is not withdrawn, by name; without its probe, of which
  // all together may be gigabytes, and without its timings.
  virtual absl::StatusOr<std::vector<CalibrationRecord>> LatestCalibrations() = 0;
  // The probe of a record of LatestCalibrations(): what it was fitted to, beside its timings.
  virtual absl::StatusOr<std::string> ProbeOf(const CalibrationRecord& record) = 0;
  // The timings of a record of LatestCalibrations(), and of the versions before it with the same
  // `based_on` that are not withdrawn, in the order of arrival; those of one network share its
  // graph. Without those of networks whose texts, with all that were timed later, have more than
  // kMaxTimedTextBytes, or whose graphs take more than kMaxTimedGraphBytes of memory: a target does
  // not keep more, and all that were ever observed may be too many to be read.
  static constexpr int64_t kMaxTimedTextBytes = int64_t{128} << 20;
  virtual absl::StatusOr<std::vector<TimedNetwork>> TimingsOf(const CalibrationRecord& record) = 0;
  // The newest `most` of each target, withdrawn ones too, and in any case the one that serves;
  // newest first.
  virtual absl::StatusOr<std::vector<CalibrationVersion>> CalibrationVersions(int64_t most) = 0;
  // Changes whenever calibrations are added or withdrawn; costs less than reading them.
  virtual absl::StatusOr<std::string> CalibrationStamp() = 0;
  // LatestCalibrations() ignores the version from now on. NotFound if the target has no such
  // version.
  virtual absl::Status WithdrawCalibration(absl::string_view target, int64_t version) = 0;
  virtual absl::StatusOr<StoreCounts> Counts() = 0;
  // The reports of workers for a target, in the order of arrival. A damaged row is left out, with a
  // warning in the log.
  virtual absl::StatusOr<std::vector<StoredMeasurement>> TaskMeasurements(absl::string_view target) = 0;
};

// Creates the tables of the store and the task queue. FailedPrecondition if those that are there
// are of another version.
absl::Status PrepareSchema(SqlDatabase* database);

// Reads what a worker reports (MeasurementToJson): the graph is rebuilt and its fingerprint
// computed, and every value is checked (CheckReported). InvalidArgument otherwise.
// A graph whose text `graphs` has read is not parsed again.
absl::StatusOr<Measurement> ReportedMeasurement(absl::string_view record_json, GraphReader* graphs);

// In an open transaction. AlreadyExists if its task has a measurement.
absl::Status InsertMeasurement(SqlSession& session, const StoredMeasurement& measurement);

// `location` as for OpenDatabase(). SQLite is used in WAL mode: readers never wait for the writer.
absl::StatusOr<std::unique_ptr<Store>> OpenStore(absl::string_view location);

}  // namespace cobra::store

#endif  // COBRA_STORE_STORE_H_
