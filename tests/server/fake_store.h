#ifndef COBRA_TESTS_SERVER_FAKE_STORE_H_
#define COBRA_TESTS_SERVER_FAKE_STORE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/synchronization/notification.h"
#include "store/store.h"

namespace cobra::server {

// Keeps everything in memory; can be slow or broken.
class FakeStore : public store::Store {
 public:
  absl::Notification* block_writes_until = nullptr;
  bool fail_writes = false;

  absl::Status AppendPredictions(absl::Span<const store::PredictionRecord> records) override {
    if (block_writes_until != nullptr) block_writes_until->WaitForNotification();
    if (fail_writes) return absl::UnavailableError("disk full");
    absl::MutexLock lock(&mutex_);
    predictions_ += static_cast<int64_t>(records.size());
    return absl::OkStatus();
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
    calibrations[record.target] = record;
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<store::CalibrationRecord>> LatestCalibrations() override {
    absl::MutexLock lock(&mutex_);
    std::vector<store::CalibrationRecord> latest;
    for (const auto& [name, record] : calibrations) latest.push_back(record);
    return latest;
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

  std::map<std::string, store::CalibrationRecord> calibrations;
  std::vector<store::StoredMeasurement> measurements;

 private:
  absl::Mutex mutex_;
  int64_t predictions_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace cobra::server

#endif  // COBRA_TESTS_SERVER_FAKE_STORE_H_
