#include "server/prediction_log.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace cobra::server {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(200);
constexpr size_t kMany = 4096;  // are not kept waiting

}  // namespace

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
  ++flushing_;
  const bool written = mutex_.AwaitWithDeadline(absl::Condition(&idle), deadline);
  --flushing_;
  return written;
}

void PredictionLog::Loop() {
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !pending_.empty() || stop_; };
  const auto hurry = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stop_ || flushing_ > 0 || pending_.size() >= kMany;
  };
  std::vector<store::PredictionRecord> batch;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
      if (!batch.empty()) mutex_.AwaitWithTimeout(absl::Condition(&hurry), kPause);
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
