#include "server/lanes/held_bytes.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

constexpr size_t kPart = HeldBytes::kLeastBytes;

// Some bytes are asked for, and are not kept.
absl::Status Check(HeldBytes* held, const std::string& caller) { return held->Hold(caller, kPart).status(); }

TEST(HeldBytesTest, ACallerWithTooMuchIsRefusedUntilItHasLess) {
  HeldBytes held("requests that wait", "try again later", /*max_bytes=*/10 * kPart, /*max_bytes_of_caller=*/2 * kPart);
  HeldBytes::Part first = held.Hold("a", kPart).value();
  EXPECT_TRUE(Check(&held, "a").ok());
  HeldBytes::Part second = held.Hold("a", kPart).value();
  const absl::Status refused = Check(&held, "a");
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_EQ(refused.message(), "this client's requests that wait: more than the limit of 8 KiB; try again later");
  EXPECT_TRUE(Check(&held, "b").ok());
  HeldBytes::Part moved = std::move(second);
  EXPECT_FALSE(Check(&held, "a").ok());
  { const HeldBytes::Part ended = std::move(moved); }
  EXPECT_TRUE(Check(&held, "a").ok());
}

TEST(HeldBytesTest, WhereAllHaveTooMuchTheGreedyAreRefused) {
  HeldBytes held("replies", "read them", /*max_bytes=*/6 * kPart, /*max_bytes_of_caller=*/5 * kPart);
  std::vector<HeldBytes::Part> parts;
  for (int i = 0; i < 4; ++i) parts.push_back(held.Hold("greedy", kPart).value());
  parts.push_back(held.Hold("modest", kPart).value());
  EXPECT_TRUE(Check(&held, "greedy").ok());
  parts.push_back(held.Hold("another", kPart).value());
  EXPECT_THAT(Check(&held, "greedy").message(), HasSubstr("the server's replies: more than the limit of 24 KiB"));
  EXPECT_TRUE(Check(&held, "modest").ok());
  EXPECT_TRUE(Check(&held, "new").ok());
}

TEST(HeldBytesTest, LittleIsNotCounted) {
  HeldBytes held("replies", "read them", /*max_bytes=*/kPart, /*max_bytes_of_caller=*/kPart);
  std::vector<HeldBytes::Part> parts;
  for (int i = 0; i < 10; ++i) parts.push_back(held.Hold("a", kPart - 1).value());
  EXPECT_TRUE(Check(&held, "a").ok());
}

TEST(HeldBytesTest, ManyCallersWithLittleEachDoNotPassTheTotal) {
  HeldBytes held("replies", "read them", /*max_bytes=*/10 * kPart, /*max_bytes_of_caller=*/8 * kPart);
  std::vector<HeldBytes::Part> parts;
  for (int i = 0; i < 15; ++i) parts.push_back(held.Hold("caller " + std::to_string(i), kPart).value());
  const absl::Status refused = Check(&held, "one more");
  EXPECT_TRUE(absl::IsResourceExhausted(refused));
  EXPECT_THAT(std::string(refused.message()), HasSubstr("the server's replies"));
  parts.pop_back();
  EXPECT_TRUE(Check(&held, "one more").ok());
  parts.clear();
  EXPECT_TRUE(held.Hold("large", 100 * kPart).ok());  // a part that is larger than all may go through alone
}

}  // namespace
}  // namespace cobra::server
