#include "base/text/limit_message.h"

#include "gtest/gtest.h"

namespace cobra {
namespace {

TEST(LimitMessageTest, NamesWhatIsTooMuchAndTheLimit) {
  EXPECT_EQ(LimitMessage("the program", 3'000'000, "steps"), "the program: more than the limit of 3,000,000 steps");
  EXPECT_EQ(LimitMessage("graph", 70'000, 60'000, "calls"), "graph: 70,000 calls, more than the limit of 60,000");
  EXPECT_EQ(LimitMessage("", 65, 64, "targets"), "65 targets, more than the limit of 64");
  EXPECT_EQ(LimitMessage("", 65'537, 65'536, "bytes"), "65,537 bytes, more than the limit of 65,536");
  EXPECT_EQ(LimitMessage("", 0, "files"), "more than the limit of 0 files");
}

TEST(LimitMessageTest, RoundNumbersOfBytesHaveALargerUnit) {
  EXPECT_EQ(LimitMessage("a.py", int64_t{16} << 20, "bytes"), "a.py: more than the limit of 16 MiB");
  EXPECT_EQ(LimitMessage("", int64_t{1} << 40, "bytes"), "more than the limit of 1 TiB");
  EXPECT_EQ(LimitMessage("", int64_t{5} << 50, "bytes"), "more than the limit of 5,120 TiB");
  EXPECT_EQ(LimitMessage("", (64 << 10) + 1, "bytes"), "more than the limit of 65,537 bytes");
  EXPECT_EQ(LimitMessage("", 0, "bytes"), "more than the limit of 0 bytes");
}

}  // namespace
}  // namespace cobra
