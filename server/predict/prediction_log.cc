#include "server/predict/prediction_log.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/bytes/heap_bytes.h"
#include "base/text/counted.h"

namespace cobra::server {
namespace {

constexpr absl::Duration kPause = absl::Milliseconds(200);
constexpr size_t kMany = 4096;  // are not kept waiting
constexpr double kRowsPerSecond = 200, kMostRows = 10'000;
constexpr size_t kMostCallers = 4096;

int64_t BytesOf(const store::PredictionRecord& record) {
  return static_cast<int64_t>(sizeof(record)) + HeapBytes(record.fingerprint) + HeapBytes(record.target) +
         HeapBytes(record.model_version) + HeapBytes(record.labels_json);
}

}  // namespace

PredictionLog::PredictionLog(store::Store* store, Metrics* metrics, int64_t max_pending_bytes)
    : store_(store), metrics_(metrics), max_pending_bytes_(max_pending_bytes), thread_([this] { Loop(); }) {}

PredictionLog::~PredictionLog() {
  {
    absl::MutexLock lock(&mutex_);
    stop_ = true;
  }
  thread_.join();
}

void PredictionLog::Append(store::PredictionRecord record, const std::string& caller) {
  const int64_t bytes = BytesOf(record);
  absl::MutexLock lock(&mutex_);
  int64_t& of_caller = bytes_of_caller_[caller];
  if (pending_bytes_ + bytes > max_pending_bytes_ || of_caller + bytes > max_pending_bytes_ / 2) {
    metrics_->StoreDropped("predictions", 1);
    return;
  }
  of_caller += bytes;
  pending_bytes_ += bytes;
  pending_.push_back(std::move(record));
}

bool PredictionLog::Admits(int64_t rows, const std::string& caller) {
  const absl::Time now = absl::Now();
  absl::MutexLock lock(&mutex_);
  if (allowances_.size() > kMostCallers) allowances_.clear();
  Allowance& allowance = allowances_.try_emplace(caller, Allowance{kMostRows, now}).first->second;
  allowance.rows = std::min(kMostRows, allowance.rows + kRowsPerSecond * absl::ToDoubleSeconds(now - allowance.since));
  allowance.since = now;
  const bool admits = allowance.rows >= static_cast<double>(rows);
  if (admits) {
    allowance.rows -= static_cast<double>(rows);
  } else {
    metrics_->StoreDropped("predictions", rows);
  }
  return admits;
}

bool PredictionLog::Flush(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  const auto is_written = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return pending_.empty() && !writing_; };
  const auto ended = [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return is_written() || lost_; };
  ++flushing_;
  mutex_.AwaitWithDeadline(absl::Condition(&ended), deadline);
  --flushing_;
  return is_written();
}

// Before what has come since. What they take of the room counts for no caller.
bool PredictionLog::PutBack(std::vector<store::PredictionRecord>* batch) {
  absl::MutexLock lock(&mutex_);
  if (stop_) return false;
  for (const store::PredictionRecord& record : *batch) pending_bytes_ += BytesOf(record);
  batch->insert(batch->end(), std::make_move_iterator(pending_.begin()), std::make_move_iterator(pending_.end()));
  pending_.swap(*batch);
  return true;
}

void PredictionLog::Loop() {
  const auto work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return !pending_.empty() || stop_; };
  const auto hurry = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return stop_ || flushing_ > 0 || pending_.size() >= kMany;
  };
  std::vector<store::PredictionRecord> batch;
  bool has_written = false, is_refused = false;
  while (true) {
    {
      absl::MutexLock lock(&mutex_);
      writing_ = false;
      if (is_refused) {
        mutex_.AwaitWithTimeout(absl::Condition(&stop_), kPause);
      } else if (has_written) {
        mutex_.AwaitWithTimeout(absl::Condition(&hurry), kPause);
      }
      mutex_.Await(absl::Condition(&work));
      if (pending_.empty()) return;
      batch.clear();
      batch.swap(pending_);
      pending_bytes_ = 0;
      bytes_of_caller_.clear();
      writing_ = true;
    }
    const absl::Status status = store_->AppendPredictions(batch);
    has_written = true;
    const size_t size = batch.size();
    is_refused = absl::IsUnavailable(status) && PutBack(&batch);
    {
      absl::MutexLock lock(&mutex_);
      lost_ = store::IsStoreLost(status);
    }
    metrics_->StoreWritten("predictions", status.ok(), static_cast<int64_t>(size));
    if (!status.ok())
      failures_.Error(absl::StrCat(is_refused ? "wait to be stored: " : "not stored: ", Counted(size, "prediction"),
                                   ": ", status.message()));
  }
}

}  // namespace cobra::server
