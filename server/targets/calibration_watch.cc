#include "server/targets/calibration_watch.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/log.h"
#include "base/status_macros.h"
#include "store/sql/sql.h"

namespace cobra::server {

CalibrationWatch::CalibrationWatch(const CalibrationWatchOptions& options,
                                   std::unique_ptr<store::ChangeListener> listener,
                                   std::function<absl::Status()> refresh, Metrics* metrics)
    : options_(options),
      listener_(std::move(listener)),
      refresh_(std::move(refresh)),
      metrics_(metrics),
      pause_(options.first_pause),
      thread_([this] { Loop(); }) {}

CalibrationWatch::~CalibrationWatch() {
  Close();
  thread_.join();
}

void CalibrationWatch::Close() {
  {
    absl::MutexLock lock(&mutex_);
    closed_ = true;
  }
  listener_->Cancel();
}

bool CalibrationWatch::WaitClosed(absl::Time deadline) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithDeadline(absl::Condition(&ended_), deadline);
}

bool CalibrationWatch::Sleep(absl::Duration time) {
  absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&closed_), time);
}

void CalibrationWatch::Loop() {
  while (!Sleep(absl::ZeroDuration())) {
    const absl::Status status = Follow();
    metrics_->SetListening(false);
    if (absl::IsCancelled(status)) continue;
    const bool is_store_lost = store::IsStoreLost(status);
    metrics_->SetStoreLost(is_store_lost);
    if (is_store_lost) {
      losses_.Error(absl::StrCat("the store is lost: ", status.message()));
    } else {
      failures_.Warning(
          absl::StrCat("notifications of other servers' calibrations are unavailable, retrying: ", status.message()));
    }
    lost_ = true;
    Sleep(pause_);
    pause_ = std::min(2 * pause_, options_.last_pause);
  }
  absl::MutexLock lock(&mutex_);
  ended_ = true;
}

// Until something fails.
absl::Status CalibrationWatch::Follow() {
  COBRA_RETURN_IF_ERROR(listener_->Connect(absl::Now() + options_.connect_time));
  while (true) {
    COBRA_RETURN_IF_ERROR(refresh_());
    metrics_->SetListening(true);
    metrics_->SetStoreLost(false);
    pause_ = options_.first_pause;
    if (std::exchange(lost_, false)) LogInfo("notifications of other servers' calibrations are available again");
    COBRA_RETURN_IF_ERROR(listener_->Wait(absl::Now() + options_.read_anyway).status());
  }
}

}  // namespace cobra::server
