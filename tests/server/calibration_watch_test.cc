#include "server/targets/calibration_watch.h"

#include <atomic>
#include <functional>
#include <memory>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "store/sql/sql.h"

namespace cobra::server {
namespace {

// A database that is in the test's hand.
class FakeListener : public store::ChangeListener {
 public:
  absl::Status Connect(absl::Time) override {
    absl::MutexLock lock(&mutex_);
    if (cancelled_) return absl::CancelledError("cancelled");
    if (!up_) return absl::UnavailableError("the database is away");
    ++connections_;
    return absl::OkStatus();
  }
  absl::StatusOr<bool> Wait(absl::Time deadline) override {
    absl::MutexLock lock(&mutex_);
    const auto any = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) { return cancelled_ || !up_ || changes_ > 0; };
    mutex_.AwaitWithDeadline(absl::Condition(&any), deadline);
    if (cancelled_) return absl::CancelledError("cancelled");
    if (!up_) return absl::UnavailableError("the connection is lost");
    if (changes_ == 0) return false;
    --changes_;
    return true;
  }
  void Cancel() override {
    absl::MutexLock lock(&mutex_);
    cancelled_ = true;
  }

  void SetUp(bool up) {
    absl::MutexLock lock(&mutex_);
    up_ = up;
  }
  void Change() {
    absl::MutexLock lock(&mutex_);
    ++changes_;
  }
  int connections() {
    absl::MutexLock lock(&mutex_);
    return connections_;
  }

 private:
  absl::Mutex mutex_;
  bool up_ ABSL_GUARDED_BY(mutex_) = true;
  bool cancelled_ ABSL_GUARDED_BY(mutex_) = false;
  int changes_ ABSL_GUARDED_BY(mutex_) = 0;
  int connections_ ABSL_GUARDED_BY(mutex_) = 0;
};

class CalibrationWatchTest : public testing::Test {
 protected:
  CalibrationWatchTest() {
    auto listener = std::make_unique<FakeListener>();
    listener_ = listener.get();
    CalibrationWatchOptions options;
    options.first_pause = options.last_pause = absl::Milliseconds(1);
    options.read_anyway = absl::InfiniteDuration();
    watch_ = std::make_unique<CalibrationWatch>(
        options, std::move(listener), [this] { return Refresh(); }, &metrics_);
  }

  absl::Status Refresh() {
    if (lost_) return store::MarkStoreLost(absl::UnavailableError("the file was removed"));
    if (fail_) return absl::UnavailableError("the database restarts");
    ++refreshed_;
    return absl::OkStatus();
  }

  static void WaitUntil(const std::function<bool()>& condition) {
    while (!condition()) absl::SleepFor(absl::Milliseconds(1));
  }

  double Gauge(const std::string& name) {
    for (const auto& collectable : metrics_.collectables()) {
      for (const prometheus::MetricFamily& family : collectable->Collect()) {
        if (family.name == name) return family.metric[0].gauge.value;
      }
    }
    return -1;
  }
  double Listening() { return Gauge("cobra_calibrations_listening"); }
  double StoreLost() { return Gauge("cobra_store_lost"); }

  Metrics metrics_;
  std::atomic<int> refreshed_{0};
  std::atomic<bool> fail_{false}, lost_{false};
  FakeListener* listener_ = nullptr;
  std::unique_ptr<CalibrationWatch> watch_;
};

TEST_F(CalibrationWatchTest, ReadsOnceConnectedAndAtEveryChange) {
  WaitUntil([this] { return refreshed_ == 1; });
  listener_->Change();
  WaitUntil([this] { return refreshed_ == 2; });
  WaitUntil([this] { return Listening() == 1; });
  EXPECT_EQ(listener_->connections(), 1);
}

TEST_F(CalibrationWatchTest, ConnectsAndReadsAgainAfterALoss) {
  WaitUntil([this] { return refreshed_ == 1; });
  listener_->SetUp(false);
  WaitUntil([this] { return Listening() == 0; });
  listener_->SetUp(true);
  WaitUntil([this] { return refreshed_ == 2; });
  WaitUntil([this] { return Listening() == 1; });
  EXPECT_EQ(listener_->connections(), 2);
}

TEST_F(CalibrationWatchTest, ReadsUntilItSucceeds) {
  WaitUntil([this] { return refreshed_ == 1; });
  fail_ = true;
  listener_->Change();
  WaitUntil([this] { return Listening() == 0; });
  fail_ = false;
  WaitUntil([this] { return refreshed_ == 2; });
}

TEST_F(CalibrationWatchTest, SaysThatTheStoreIsLostUntilItIsBack) {
  WaitUntil([this] { return refreshed_ == 1; });
  EXPECT_EQ(StoreLost(), 0);
  fail_ = true;
  listener_->Change();
  WaitUntil([this] { return Listening() == 0; });
  EXPECT_EQ(StoreLost(), 0);  // a database that is away is not lost
  lost_ = true;
  WaitUntil([this] { return StoreLost() == 1; });
  lost_ = fail_ = false;
  WaitUntil([this] { return StoreLost() == 0; });
  WaitUntil([this] { return Listening() == 1; });
}

TEST_F(CalibrationWatchTest, ClosesAtOnce) {
  WaitUntil([this] { return refreshed_ == 1; });
  EXPECT_FALSE(watch_->WaitClosed(absl::Now()));
  watch_->Close();
  EXPECT_TRUE(watch_->WaitClosed(absl::Now() + absl::Seconds(60)));
}

}  // namespace
}  // namespace cobra::server
