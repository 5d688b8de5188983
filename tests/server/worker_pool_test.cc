#include "server/worker_pool.h"

#include <atomic>
#include <memory>

#include "absl/synchronization/notification.h"
#include "gtest/gtest.h"

namespace cobra::server {
namespace {

TEST(WorkerPoolTest, RunsWhatItAccepts) {
  std::atomic<int> ran{0};
  {
    WorkerPool pool(2, 100, nullptr);
    for (int i = 0; i < 100; ++i) ASSERT_TRUE(pool.Submit([&ran] { ++ran; }).ok());
  }
  EXPECT_EQ(ran, 100);
}

TEST(WorkerPoolTest, FullQueueTurnsAway) {
  absl::Notification started, go;
  WorkerPool pool(1, 2, nullptr);
  ASSERT_TRUE(pool.Submit([&] {
                    started.Notify();
                    go.WaitForNotification();
                  })
                  .ok());
  started.WaitForNotification();
  EXPECT_TRUE(pool.Submit([] {}).ok());
  EXPECT_TRUE(pool.Submit([] {}).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(pool.Submit([] {})));
  go.Notify();
  EXPECT_TRUE(pool.WaitIdle(absl::Seconds(10)));
  EXPECT_TRUE(pool.Submit([] {}).ok());
}

TEST(WorkerPoolTest, ClosedPoolFinishesButTakesNothingNew) {
  absl::Notification started, go;
  std::atomic<int> ran{0};
  WorkerPool pool(1, 10, nullptr);
  ASSERT_TRUE(pool.Submit([&] {
                    started.Notify();
                    go.WaitForNotification();
                    ++ran;
                  })
                  .ok());
  ASSERT_TRUE(pool.Submit([&] { ++ran; }).ok());
  started.WaitForNotification();
  pool.Close();
  EXPECT_TRUE(absl::IsUnavailable(pool.Submit([] {})));
  EXPECT_FALSE(pool.WaitIdle(absl::Milliseconds(1)));
  go.Notify();
  EXPECT_TRUE(pool.WaitIdle(absl::Seconds(10)));
  EXPECT_EQ(ran, 2);
}

}  // namespace
}  // namespace cobra::server
