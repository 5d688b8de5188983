#include "store/sql/change_listener.h"

#include <signal.h>

#include <memory>
#include <thread>

#include "absl/cleanup/cleanup.h"
#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "store/sql/sql.h"
#include "store/store.h"
#include "tests/store/databases.h"

namespace cobra::store {
namespace {

// Far more than anything takes.
absl::Time Soon() { return absl::Now() + absl::Seconds(60); }

CalibrationRecord Calibration() { return {absl::FromUnixSeconds(1000), "this-machine", "sha", "{}", "{}"}; }

class ChangeListenerTest : public DatabaseTest {
 protected:
  void SetUp() override {
    DatabaseTest::SetUp();
    if (IsSkipped()) return;
    store_ = *OpenStore(location_);
    listener_ = Listen();
  }

  std::unique_ptr<ChangeListener> Listen() {
    ListenerOptions options;
    options.look_period = absl::Milliseconds(10);
    options.silence = silence_;
    std::unique_ptr<ChangeListener> listener = MakeChangeListener(location_, options);
    const absl::Status connected = listener->Connect(Soon());
    EXPECT_TRUE(connected.ok()) << connected;
    return listener;
  }

  bool Hears(ChangeListener& listener) {
    const absl::StatusOr<bool> heard = listener.Wait(Soon());
    EXPECT_TRUE(heard.ok()) << heard.status();
    return heard.ok() && *heard;
  }
  // A moment that is long enough for what was committed already.
  bool HearsNothing(ChangeListener& listener) {
    const absl::StatusOr<bool> heard = listener.Wait(absl::Now() + absl::Milliseconds(300));
    EXPECT_TRUE(heard.ok()) << heard.status();
    return heard.ok() && !*heard;
  }

  absl::Duration silence_ = absl::Seconds(10);
  std::unique_ptr<Store> store_;
  std::unique_ptr<ChangeListener> listener_;
};
COBRA_ON_EVERY_DATABASE(ChangeListenerTest);

TEST_P(ChangeListenerTest, HearsNewAndWithdrawnCalibrations) {
  std::unique_ptr<ChangeListener> other = Listen();
  ASSERT_TRUE(store_->AppendCalibration(Calibration()).ok());
  EXPECT_TRUE(Hears(*listener_));
  EXPECT_TRUE(Hears(*other));
  EXPECT_TRUE(HearsNothing(*listener_));
  const int64_t version = store_->LatestCalibrations()->at(0).version;
  ASSERT_TRUE(store_->WithdrawCalibration("this-machine", version).ok());
  EXPECT_TRUE(Hears(*listener_));
}

TEST_P(ChangeListenerTest, HearsAChangeWhileItWaits) {
  std::thread changer([this] {
    absl::SleepFor(absl::Milliseconds(100));
    EXPECT_TRUE(store_->AppendCalibration(Calibration()).ok());
  });
  EXPECT_TRUE(Hears(*listener_));
  changer.join();
}

TEST_P(ChangeListenerTest, DoesNotHearPredictionsNorWhatWasRolledBack) {
  const PredictionRecord prediction{absl::Now(), "00ff", "cpu", "v1", 12.5, 10, 15, 0.9, true, 3};
  ASSERT_TRUE(store_->AppendPredictions({prediction}).ok());
  EXPECT_TRUE(absl::IsNotFound(store_->WithdrawCalibration("this-machine", 1)));
  auto database = OpenDatabase(location_);
  ASSERT_TRUE(database.ok()) << database.status();
  const absl::Status rolled_back = (*database)->Transaction([](SqlSession& session) {
    EXPECT_TRUE(session.NotifyListeners().ok());
    return absl::AbortedError("on second thoughts");
  });
  EXPECT_TRUE(absl::IsAborted(rolled_back)) << rolled_back;
  EXPECT_TRUE(HearsNothing(*listener_));
}

TEST_P(ChangeListenerTest, TheStampTellsStatesApart) {
  const std::string empty = *store_->CalibrationStamp();
  ASSERT_TRUE(store_->AppendCalibration(Calibration()).ok());
  const std::string one = *store_->CalibrationStamp();
  EXPECT_NE(one, empty);
  EXPECT_EQ(*(*OpenStore(location_))->CalibrationStamp(), one);
  ASSERT_TRUE(store_->WithdrawCalibration("this-machine", store_->LatestCalibrations()->at(0).version).ok());
  EXPECT_NE(*store_->CalibrationStamp(), one);
  EXPECT_NE(*store_->CalibrationStamp(), empty);
}

TEST_P(ChangeListenerTest, CancelEndsAWaitAndAllLaterOnes) {
  std::thread canceller([this] {
    absl::SleepFor(absl::Milliseconds(50));
    listener_->Cancel();
  });
  EXPECT_TRUE(absl::IsCancelled(listener_->Wait(absl::InfiniteFuture()).status()));
  canceller.join();
  EXPECT_TRUE(absl::IsCancelled(listener_->Wait(absl::InfiniteFuture()).status()));
  EXPECT_TRUE(absl::IsCancelled(listener_->Connect(absl::InfiniteFuture())));
}

TEST_P(ChangeListenerTest, ARestartIsNoticedAndItCanConnectAgain) {
  if (!IsPostgresTest()) GTEST_SKIP() << "SQLite has no server";
  ASSERT_TRUE(Server().Stop("fast").ok());
  EXPECT_TRUE(absl::IsUnavailable(listener_->Wait(Soon()).status()));
  EXPECT_TRUE(absl::IsUnavailable(listener_->Connect(Soon())));
  ASSERT_TRUE(Server().Start().ok());
  ASSERT_TRUE(listener_->Connect(Soon()).ok());
  ASSERT_TRUE(store_->AppendCalibration(Calibration()).ok());
  EXPECT_TRUE(Hears(*listener_));
}

TEST_P(ChangeListenerTest, AServerThatFallsSilentIsGivenUp) {
  if (!IsPostgresTest()) GTEST_SKIP() << "SQLite has no server";
  silence_ = absl::Milliseconds(100);
  listener_ = Listen();
  EXPECT_TRUE(HearsNothing(*listener_));  // it is asked three times, and answers
  int64_t pid = 0;
  const auto find = [&](SqlSession& session) -> absl::Status {
    const auto rows = session.Query(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'cobra-listener' AND datname = "
        "current_database() ORDER BY backend_start DESC");
    if (rows.ok()) pid = rows->at(0).Int(0);
    return rows.status();
  };
  ASSERT_TRUE((*OpenDatabase(location_))->Transaction(find).ok());
  ASSERT_GT(pid, 1);
  ASSERT_EQ(kill(static_cast<pid_t>(pid), SIGSTOP), 0);
  const absl::Cleanup thaw = [pid] { kill(static_cast<pid_t>(pid), SIGCONT); };
  const absl::Status status = listener_->Wait(Soon()).status();
  EXPECT_TRUE(absl::IsUnavailable(status)) << status;
}

}  // namespace
}  // namespace cobra::store
