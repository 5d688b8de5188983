#include "base/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "base/diagnostic.h"

namespace cobra {
namespace {

using testing::HasSubstr;

TEST(NamesTest, HaveLettersDigitsAndThreeMarks) {
  for (const char* name : {"a", "pi-4", "this-machine", "Jetson_Orin.2", "7"}) EXPECT_TRUE(IsApiName(name)) << name;
  for (const char* name : {"", "a b", "a/b", "a\nb", "ä", "a\"b", "*"}) EXPECT_FALSE(IsApiName(name)) << name;
  EXPECT_TRUE(IsApiName(kThisMachine));
}

TEST(NamesTest, AreBounded) {
  EXPECT_TRUE(CheckApiName("worker", std::string(kMaxNameLetters, 'a')).ok());
  const absl::Status longer = CheckApiName("worker", std::string(kMaxNameLetters + 1, 'a'));
  EXPECT_THAT(longer.message(), HasSubstr("201 letters"));
  EXPECT_TRUE(CheckApiName("origin", "abcd", 4).ok());
  EXPECT_FALSE(CheckApiName("origin", "abcde", 4).ok());
}

TEST(NamesTest, ErrorsSayWhichNameIsWrong) {
  const std::optional<Diagnostic> empty = DiagnosticFromStatus(CheckApiName("target", ""));
  const std::optional<Diagnostic> space = DiagnosticFromStatus(CheckApiName("target", "a b\n"));
  ASSERT_TRUE(empty.has_value() && space.has_value());
  EXPECT_EQ(empty->message, "target: is empty");
  EXPECT_THAT(space->message, HasSubstr(R"(target "a b\n": may have letters)"));
  EXPECT_EQ(space->kind, Diagnostic::Kind::kUsage);
}

TEST(NamesTest, IdsOfTasks) {
  const std::string id = "0123456789abcdef0123456789abcdef";
  EXPECT_TRUE(IsTaskId(id));
  EXPECT_FALSE(IsTaskId(id.substr(1)));
  EXPECT_FALSE(IsTaskId(id + "0"));
  EXPECT_FALSE(IsTaskId("0123456789ABCDEF0123456789abcdef"));
  EXPECT_FALSE(IsTaskId("../3456789abcdef0123456789abcdef"));
}

}  // namespace
}  // namespace cobra
