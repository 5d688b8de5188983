#include "proto/label.h"

#include <string>

#include "base/diagnostic.h"
#include "gtest/gtest.h"

namespace cobra::proto {
namespace {

TEST(LabelTest, WhatGrpcTakesIsALabel) {
  for (const std::string& name : {std::string("team"), std::string("a-b_c.9"), std::string(64, 'a')}) {
    EXPECT_TRUE(CheckLabel(name, "search, 2nd try = \"x\"").ok()) << name;
  }
  EXPECT_TRUE(CheckLabel("team", "").ok());
  EXPECT_TRUE(CheckLabel("team", std::string(256, '~')).ok());
  EXPECT_TRUE(CheckLabel("team", "s\xc3\xbc\xc3\x9f").ok());
}

TEST(LabelTest, OtherLettersTravelAsBinaryData) {
  const auto [key, value] = LabelMetadata("team", "\xc3\xa9quipe");
  EXPECT_EQ(key, "cobra-label-team-bin");
  EXPECT_EQ(value, "\xc3\xa9quipe");
  EXPECT_EQ(LabelName("team-bin"), "team");
  EXPECT_EQ(LabelMetadata("team", "search").first, "cobra-label-team");
  EXPECT_EQ(LabelName("team"), "team");
}

TEST(LabelTest, OtherNamesAndValuesAreRefused) {
  for (const std::string& name :
       {std::string(), std::string("Team"), std::string("a b"), std::string("\xc3\xa4"), std::string("a\x01"),
        std::string("a\0b", 3), std::string("x-bin"), std::string(65, 'a')}) {
    const absl::Status status = CheckLabel(name, "x");
    ASSERT_TRUE(DiagnosticFromStatus(status).has_value()) << name;
    EXPECT_FALSE(DiagnosticFromStatus(status)->hint.empty()) << name;
  }
  EXPECT_EQ(DiagnosticFromStatus(CheckLabel("gr\xc3\xb6\xc3\x9f\x65", "x"))->message,
            "label \"gr\xc3\xb6\xc3\x9f\x65\": is not the name of a label");
  for (const std::string& value :
       {std::string("a\nb"), std::string("s\xc3"), std::string("\xc2\x85"), std::string("\xe2\x80\xae"),
        std::string("\x7f"), std::string("a\0b", 3), std::string(257, 'a')}) {
    EXPECT_TRUE(DiagnosticFromStatus(CheckLabel("team", value)).has_value()) << value;
  }
}

}  // namespace
}  // namespace cobra::proto
