#include "base/throttled_log.h"

#include <algorithm>
#include <string>

#include "absl/time/clock.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(ThrottledLogTest, SaysHowManyWereLeftOut) {
  ThrottledLog log(absl::Milliseconds(200));
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1000; ++i) log.Error("the disk is full");
  absl::SleepFor(absl::Milliseconds(250));
  log.Error("the disk is full");
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 100);  // a slow machine may take several periods
  EXPECT_THAT(text, testing::HasSubstr(" E the disk is full\n"));
  EXPECT_THAT(text, testing::HasSubstr(" similar messages were suppressed)\n"));
}

}  // namespace
}  // namespace cobra
