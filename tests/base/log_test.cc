#include "base/log.h"

#include <string>

#include "base/text/json.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

TEST(LogTest, PlainTextStaysAsItIs) {
  EXPECT_EQ(LogText("target gpu-7 µs: ready, 90 % \"ok\""), "target gpu-7 µs: ready, 90 % \"ok\"");
  EXPECT_EQ(LogText(""), "");
}

TEST(LogTest, WhatATerminalObeysIsEscaped) {
  EXPECT_EQ(LogText("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(LogText("\x1b[2J\x7f"), "\\x1b[2J\\x7f");
  EXPECT_EQ(LogText(absl::string_view("\0x", 2)), "\\x00x");
  EXPECT_EQ(LogText("\xc2\x9b\x31m"), "\\xc2\\x9b1m");  // a control sequence of ISO 8859-1
  EXPECT_EQ(LogText("\\n"), "\\\\n");                   // what was a backslash cannot pass for an escape
}

TEST(LogTest, WhatTurnsOrEndsALineIsEscaped) {
  EXPECT_EQ(LogText("a\xe2\x80\xae."), "a\\xe2\\x80\\xae.");
  EXPECT_EQ(LogText("a\xe2\x80\xa8"), "a\\xe2\\x80\\xa8");
}

TEST(LogTest, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(LogText("\xff\xc3\xa9\xc3"), "\\xffé\\xc3");
  EXPECT_EQ(LogText("\xf5\x80\x80\x80\x80"), "\\xf5\\x80\\x80\\x80\\x80");
}

TEST(LogTest, LongTextIsCut) {
  const std::string text = LogText(std::string(1 << 20, 'x'));
  EXPECT_LT(text.size(), 4100u);
  EXPECT_THAT(text, EndsWith(" ..."));
  EXPECT_EQ(LogText(std::string(4000, 'x')), std::string(4000, 'x'));
  EXPECT_LT(LogText(std::string(1 << 20, '\n')).size(), 4100u);
}

TEST(LogTest, ANameCannotForgeALine) {
  testing::internal::CaptureStderr();
  LogWarning("target x\n2026-01-01T00:00:00.000Z E the store is damaged");
  const std::string written = testing::internal::GetCapturedStderr();
  EXPECT_EQ(written.find('\n'), written.size() - 1);
  EXPECT_THAT(written, HasSubstr(" W target x\\n2026-01-01"));
}

TEST(LogTest, FieldsFollowTheMessage) {
  testing::internal::CaptureStderr();
  LogField fields[] = {{"rpc", "Predict"}, {"ms", 1200.5}, {"caller", "a b=\"c\""}, {"trace", ""}};
  Log(LogLevel::kWarning, "slow request", fields);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              EndsWith(" W slow request rpc=Predict ms=1200.5 caller=\"a b=\\\"c\\\"\" trace=\"\"\n"));
}

TEST(LogTest, ALineCanBeAnObject) {
  testing::internal::CaptureStderr();
  SetLogFormat(LogFormat::kJson);
  Log(LogLevel::kError, "a \"b\"\n\xff", {{"rpc", "Predict"}, {"ms", 7.0}});
  SetLogFormat(LogFormat::kText);
  const auto line = ParseJson<nlohmann::json>(testing::internal::GetCapturedStderr());
  EXPECT_EQ(line["level"], "error");
  EXPECT_EQ(line["message"], "a \"b\"\\n\\xff");
  EXPECT_EQ(line["rpc"], "Predict");
  EXPECT_EQ(line["ms"], 7.0);
  EXPECT_TRUE(line["time"].is_string());
}

}  // namespace
}  // namespace cobra
