#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "model/train/dataset.h"

namespace cobra {
namespace {

TEST(Split, HasItsProportionsAndNeverChanges) {
  int count[4] = {};
  for (int i = 0; i < 20000; ++i) ++count[static_cast<int>(SplitOf(absl::StrCat("fingerprint", i)))];
  EXPECT_NEAR(count[static_cast<int>(Split::kTrain)], 14600, 300);
  EXPECT_NEAR(count[static_cast<int>(Split::kValidation)], 1400, 150);
  EXPECT_NEAR(count[static_cast<int>(Split::kInterval)], 2000, 180);
  EXPECT_NEAR(count[static_cast<int>(Split::kTest)], 2000, 180);
  EXPECT_EQ(SplitOf("00000000000000000000000000000000"), SplitOf("00000000000000000000000000000000"));
}

TEST(RepeatabilityFloor, IsTheMedianRelativeDifference) {
  EXPECT_NEAR(RepeatabilityFloor({{100, 100}, {100, 102}, {100, 150}}), 2.0 / 101, 1e-12);
  EXPECT_NEAR(RepeatabilityFloor({{100, 100}, {100, 102}}), 1.0 / 101, 1e-12);
  EXPECT_EQ(RepeatabilityFloor({}), 0);
}

}  // namespace
}  // namespace cobra
