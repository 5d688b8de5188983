#include "server/predict/hot_requests.h"

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "absl/time/clock.h"
#include "gtest/gtest.h"
#include "server/predict/single_flight.h"

namespace cobra::server {
namespace {

TEST(HotRequestsTest, FindsWhatIsAskedMostAmongMany) {
  HotRequests hot;
  // Of 200,000 requests every fourth is one of ten; the others come once each.
  for (uint64_t i = 0; i < 200'000; ++i) {
    const uint64_t request = i % 4 == 0 ? (i / 4) % 10 : 1000 + i;
    hot.Asked({request, request}, [&] { return "request " + std::to_string(request); });
  }
  std::vector<std::string> hottest = hot.Hottest();
  EXPECT_LE(hottest.size(), HotRequests::kMost);
  ASSERT_GE(hottest.size(), 10u);
  hottest.resize(10);
  std::sort(hottest.begin(), hottest.end());
  for (int i = 0; i < 10; ++i) EXPECT_EQ(hottest[i], "request " + std::to_string(i));
}

TEST(HotRequestsTest, KeepsNothingLarge) {
  HotRequests hot;
  for (int i = 0; i < 1000; ++i) hot.Asked({1, 1}, [] { return std::string(HotRequests::kMaxBytes + 1, 'x'); });
  EXPECT_TRUE(hot.Hottest().empty());
}

TEST(HotRequestsTest, AllTogetherAreBounded) {
  HotRequests hot;
  for (uint64_t i = 0; i < 5000; ++i) hot.Asked({i, i}, [] { return std::string(HotRequests::kMaxBytes, 'x'); });
  size_t bytes = 0;
  for (const std::string& request : hot.Hottest()) bytes += request.size();
  EXPECT_GT(bytes, HotRequests::kMaxAllBytes / 2);
  EXPECT_LE(bytes, HotRequests::kMaxAllBytes);
}

TEST(SingleFlightTest, OneComputesAndTheOthersWait) {
  SingleFlight flight;
  const auto never = [] { return false; };
  ASSERT_TRUE(flight.Begin({1, 1}, never));
  EXPECT_TRUE(flight.Begin({2, 2}, never));  // something else
  std::atomic<bool> waiting{true};
  std::thread other([&] {
    EXPECT_FALSE(flight.Begin({1, 1}, never));
    waiting = false;
  });
  absl::SleepFor(absl::Milliseconds(50));
  EXPECT_TRUE(waiting);
  flight.End({1, 1});
  other.join();
  EXPECT_TRUE(flight.Begin({1, 1}, never));
}

TEST(SingleFlightTest, WhoeverIsStoppedWaitsNoLonger) {
  SingleFlight flight;
  ASSERT_TRUE(flight.Begin({1, 1}, [] { return false; }));
  EXPECT_FALSE(flight.Begin({1, 1}, [] { return true; }));
}

}  // namespace
}  // namespace cobra::server
