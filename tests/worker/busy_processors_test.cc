#include "worker/machine/busy_processors.h"

#include <chrono>

#include "gtest/gtest.h"

namespace cobra::worker {
namespace {

constexpr char kStat[] =
    "cpu  500 0 100 9000 50 10 20 30 7 0\n"
    "cpu0 100 10 50 4000 20 5 10 15 3 0\n"
    "cpu1 200 0 50 5000 30 5 10 15 4 0\n"
    "cpu10 900 0 0 0 0 0 0 0 0 0\n"
    "intr 1 2 3\n";

TEST(BusyProcessorsTest, IdleTimeAndWhatWaitsForDisksIsNotBusy) {
  EXPECT_DOUBLE_EQ(BusySeconds(kStat, {0}, 100), 1.9);  // with nice, interrupts and steal
  EXPECT_DOUBLE_EQ(BusySeconds(kStat, {0, 1}, 100), 4.7);
  EXPECT_DOUBLE_EQ(BusySeconds(kStat, {10}, 100), 9);
  EXPECT_DOUBLE_EQ(BusySeconds(kStat, {2}, 100), 0);
  EXPECT_DOUBLE_EQ(BusySeconds("", {0}, 100), 0);
}

TEST(BusyProcessorsTest, ProcessorsThatAreFreeMayBeBusy) {
  const BusyProcessors busy;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  double sum = 0;
  while (std::chrono::steady_clock::now() < end) sum += 1;
  EXPECT_GT(sum, 0);
  const double with_all_free = busy.Others(0);
  EXPECT_GE(with_all_free, 0);
  EXPECT_GE(busy.Others(1 << 20), with_all_free);
}

}  // namespace
}  // namespace cobra::worker
