#include "server/prediction_log.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cobra::server {

PredictionLog::PredictionLog(store::Store* store, Metrics* metrics, size_t max_pending)
    : store_(store), metrics_(metrics), max_pending_(max_pending), thread_([this] { Loop(); }) {}

PredictionLog::~PredictionLog() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void PredictionLog::Append(store::PredictionRecord record) {
  absl::MutexLock lock(&mutex_);
  if (pending_.size() >= max_pending_) {
    metrics_->StoreDropped("predictions", 1);
    return;
  }
  pending_.push_back(std::move(record));
}

bool PredictionLog::Flush(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto idle = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return pending_.empty() && !writing_; };
  return mutex_.AwaitWithDeadline(absl::Condition(&idle), deadline);
}

void PredictionLog::Loop() {
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !pending_.empty() || stop_; };
  std::vector<store::PredictionRecord> batch;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
      mutex_.Await(absl::Condition(&work));
      if (pending_.empty()) return;
      batch.clear();
      batch.swap(pending_);
      writing_ = true;
    }
    const absl::Status status = store_->AppendPredictions(batch);
    metrics_->StoreWritten("predictions", status.ok(), static_cast<int64_t>(batch.size()));
    if (!status.ok()) failures_.Error(absl::StrCat(batch.size(), " predictions were not stored: ", status.message()));
  }
}

}  // namespace cobra::server
