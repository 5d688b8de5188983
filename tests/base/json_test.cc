#include "base/text/json.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace cobra {
namespace {

using nlohmann::json;

std::string Nested(int depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(ParseJson, ReadsWhatTheParserReads) {
  const json j = ParseJson<json>(R"({"a": [1, {"b": "]}\"{["}], "c": null})");
  ASSERT_TRUE(j.is_object());
  EXPECT_EQ(j["a"][1]["b"], "]}\"{[");
  EXPECT_TRUE(ParseJson<json>("{").is_discarded());
  EXPECT_TRUE(ParseJson<json>("").is_discarded());
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_FALSE(ParseJson<json>(Nested(32)).is_discarded());
  EXPECT_TRUE(ParseJson<json>(Nested(33)).is_discarded());
  EXPECT_TRUE(ParseJson<json>(Nested(1'000'000)).is_discarded());
  EXPECT_EQ(OutlineOfJson(Nested(33)).fault, "its nesting: more than the limit of 32 levels");
}

TEST(ParseJson, RefusesTooManyValues) {
  JsonLimits limits;
  limits.max_values = 10;
  EXPECT_FALSE(ParseJson<json>("[1,2,3,4,5,6,7,8,9,10]", limits).is_discarded());
  EXPECT_TRUE(ParseJson<json>("[1,2,3,4,5,6,7,8,9,10,11]", limits).is_discarded());
  EXPECT_TRUE(OutlineOfJson("[1,2,3,4,5,6,7,8,9,10,11]", limits).limit);
}

}  // namespace
}  // namespace cobra
