#ifndef COBRA_TESTS_SERVER_FAKE_STORE_H_
#define COBRA_TESTS_SERVER_FAKE_STORE_H_

#include <atomic>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "store/store.h"

namespace cobra::server {

// Keeps everything in memory; can be slow or broken.
class FakeStore : public store::Store {
 public:
  absl::Notification* block_writes_until = nullptr;
  bool fail_writes = false;
  std::atomic<int> refuse_writes{0};  // so many times
  std::atomic<bool> lost{false};      // IsStoreLost()
  bool fail_reads = false;            // of calibrations

  absl::Status AppendPredictions(absl::Span<const store::PredictionRecord> records) override {
    if (block_writes_until != nullptr) block_writes_until->WaitForNotification();
    if (fail_writes) return absl::InternalError("disk full");
    if (lost) return store::MarkStoreLost(absl::UnavailableError("the file was removed"));
    if (refuse_writes > 0) {
      --refuse_writes;
      return absl::UnavailableError("the database is busy");
    }
    absl::MutexLock lock(&mutex_);
    predictions_ += static_cast<int64_t>(records.size());
    for (const store::PredictionRecord& record : records) labelled_ += record.labels_json.empty() ? 0 : 1;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<store::PredictionRecord>> LabelledPredictions(const store::PredictionFilter&) override {
    return std::vector<store::PredictionRecord>();
  }
  absl::Status AppendMeasurements(absl::Span<const store::StoredMeasurement> records) override {
    if (fail_writes) return absl::UnavailableError("disk full");
    absl::MutexLock lock(&mutex_);
    measurements.insert(measurements.end(), records.begin(), records.end());
    return absl::OkStatus();
  }
  absl::Status AppendCalibration(const store::CalibrationRecord& record) override {
    if (fail_writes) return absl::UnavailableError("disk full");
    absl::MutexLock lock(&mutex_);
    if (!record.request.id.empty() && !FindLocked(record.target, record.request.id).id.empty())
      return absl::AlreadyExistsError("the request was done before");
    for (const store::CalibrationRecord& known : calibrations) {
      if (record.follows > 0 && known.target == record.target && known.version > record.follows)
        return absl::AbortedError("another version follows");
    }
    calibrations.push_back(record);
    calibrations.back().version = static_cast<int64_t>(calibrations.size());
    if (record.based_on > 0)
      calibrations.back().probe_json = calibrations[static_cast<size_t>(record.based_on) - 1].probe_json;
    return absl::OkStatus();
  }
  absl::StatusOr<store::DoneRequest> FindRequest(absl::string_view target, absl::string_view id) override {
    absl::MutexLock lock(&mutex_);
    return FindLocked(target, id);
  }
  absl::Status ReplaceFit(const store::CalibrationRecord& record) override {
    if (fail_writes) return absl::UnavailableError("disk full");
    absl::MutexLock lock(&mutex_);
    store::CalibrationRecord& stored = calibrations.at(static_cast<size_t>(record.version) - 1);
    stored.model_sha256 = record.model_sha256;
    stored.calibration_json = record.calibration_json;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<store::CalibrationRecord>> LatestCalibrations() override {
    absl::MutexLock lock(&mutex_);
    std::map<std::string, store::CalibrationRecord> latest;
    for (const store::CalibrationRecord& record : calibrations) {
      if (withdrawn.count(record.version) == 0) latest[record.target] = record;
    }
    std::vector<store::CalibrationRecord> records;
    for (const auto& [name, record] : latest) {
      records.push_back(record);
      records.back().probe_json.clear();
    }
    return records;
  }
  absl::StatusOr<std::string> ProbeOf(const store::CalibrationRecord& of) override {
    absl::MutexLock lock(&mutex_);
    const int64_t version = of.based_on == 0 ? of.version : of.based_on;
    return calibrations.at(static_cast<size_t>(version) - 1).probe_json;
  }
  absl::StatusOr<std::vector<store::TimedNetwork>> TimingsOf(const store::CalibrationRecord& of) override {
    absl::MutexLock lock(&mutex_);
    std::vector<store::TimedNetwork> timings;
    for (const store::CalibrationRecord& record : calibrations) {
      if (of.based_on == 0 || record.based_on != of.based_on || record.version > of.version ||
          withdrawn.count(record.version) > 0)
        continue;
      timings.insert(timings.end(), record.timings.begin(), record.timings.end());
    }
    return timings;
  }
  absl::StatusOr<std::vector<store::CalibrationVersion>> CalibrationVersions(int64_t) override {
    absl::MutexLock lock(&mutex_);
    std::vector<store::CalibrationVersion> versions;
    for (auto record = calibrations.rbegin(); record != calibrations.rend(); ++record) {
      versions.push_back(
          {record->time, record->target, record->caller, record->version, withdrawn.count(record->version) > 0});
    }
    return versions;
  }
  absl::StatusOr<std::string> CalibrationStamp() override {
    if (fail_reads) return absl::UnavailableError("the database restarts");
    absl::MutexLock lock(&mutex_);
    return absl::StrCat(calibrations.size(), "/", withdrawn.size());
  }
  absl::Status WithdrawCalibration(absl::string_view, int64_t version) override {
    absl::MutexLock lock(&mutex_);
    if (version < 1 || version > static_cast<int64_t>(calibrations.size()))
      return absl::NotFoundError("no such version");
    withdrawn.insert(version);
    return absl::OkStatus();
  }
  absl::StatusOr<store::StoreCounts> Counts() override {
    absl::MutexLock lock(&mutex_);
    return store::StoreCounts{predictions_, static_cast<int64_t>(measurements.size()),
                              static_cast<int64_t>(calibrations.size())};
  }
  absl::StatusOr<std::vector<store::StoredMeasurement>> TaskMeasurements(absl::string_view) override {
    absl::MutexLock lock(&mutex_);
    return measurements;
  }

  int64_t num_predictions() { return Counts()->predictions; }
  int64_t num_labelled() {
    absl::MutexLock lock(&mutex_);
    return labelled_;
  }

  std::vector<store::CalibrationRecord> calibrations;  // version i + 1 is at place i
  std::set<int64_t> withdrawn;
  std::vector<store::StoredMeasurement> measurements;

 private:
  store::DoneRequest FindLocked(absl::string_view target, absl::string_view id) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    for (const store::CalibrationRecord& record : calibrations) {
      if (record.target == target && record.request.id == id) return record.request;
    }
    return {};
  }

  absl::Mutex mutex_;
  int64_t predictions_ ABSL_GUARDED_BY(mutex_) = 0, labelled_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cobra::server

#endif  // COBRA_TESTS_SERVER_FAKE_STORE_H_
