#include "server/lanes/call_metadata.h"

#include <string>

#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::server {
namespace {

using testing::HasSubstr;

Metadata With(std::initializer_list<std::pair<const char*, const char*>> headers) {
  Metadata metadata = {{"user-agent", "grpc-c++"}, {"authorization", "Bearer x"}, {"zebra", "1"}};
  for (const auto& [key, value] : headers) metadata.emplace(key, value);
  return metadata;
}

TEST(LabelsOfTest, AreAnObjectOfNamesAndValues) {
  EXPECT_EQ(*LabelsOf(With({})), nullptr);
  const auto labels = LabelsOf(With({{"cobra-label-team", "search"}, {"cobra-label-run.id", "7 \"x\""}}));
  ASSERT_TRUE(labels.ok()) << labels.status();
  EXPECT_EQ(**labels, R"({"run.id":"7 \"x\"","team":"search"})");
  EXPECT_EQ(**LabelsOf(With({{"cobra-label-team-bin", "\xc3\xa9quipe"}})), R"({"team":"\u00e9quipe"})");
}

TEST(LabelsOfTest, AreBounded) {
  Metadata many = With({});
  std::vector<std::string> keys;
  for (int i = 0; i < 9; ++i) keys.push_back("cobra-label-" + std::to_string(i));
  for (int i = 0; i < 8; ++i) many.emplace(keys[i], "x");
  EXPECT_TRUE(LabelsOf(many).ok());
  many.emplace(keys[8], "x");
  const std::string long_name = "cobra-label-" + std::string(65, 'a'), long_value(257, 'a');
  for (const auto& [metadata, error] :
       {std::make_pair(many, "more than the limit of 8 labels"),
        std::make_pair(With({{long_name.c_str(), "x"}}), "more than the limit of 64"),
        std::make_pair(With({{"cobra-label-a", long_value.c_str()}}), "label \"a\": the value"),
        std::make_pair(With({{"cobra-label-a", "x"}, {"cobra-label-a", "y"}}), "cobra-label-a: is given twice"),
        std::make_pair(With({{"cobra-label-", "x"}}), "is not the name of a label"),
        std::make_pair(With({{"cobra-label-a", "x"}, {"cobra-label-a-bin", "y"}}), "cobra-label-a-bin: is given twice"),
        std::make_pair(With({{"cobra-label-a-bin", "\xff"}}), "is not printable text"),
        std::make_pair(With({{"cobra-label--bin", "x"}}), "is not the name of a label")}) {
    const absl::Status status = LabelsOf(metadata).status();
    EXPECT_THAT(status.message(), HasSubstr(error));
    EXPECT_TRUE(DiagnosticFromStatus(status).has_value());
  }
}

TEST(RequestIdOfTest, IsOneIdOrNone) {
  EXPECT_EQ(*RequestIdOf(With({})), "");
  EXPECT_EQ(*RequestIdOf(With({{"cobra-request-id", "a-B_7.x"}})), "a-B_7.x");
  const std::string longest(64, 'a'), too_long(65, 'a');
  EXPECT_EQ(*RequestIdOf(With({{"cobra-request-id", longest.c_str()}})), longest);
  for (const auto& [metadata, error] :
       {std::make_pair(With({{"cobra-request-id", "a"}, {"cobra-request-id", "b"}}), "is given twice"),
        std::make_pair(With({{"cobra-request-id", ""}}), "letters, digits"),
        std::make_pair(With({{"cobra-request-id", "a b"}}), "letters, digits"),
        std::make_pair(With({{"cobra-request-id", too_long.c_str()}}), "more than the limit of 64")}) {
    const absl::Status status = RequestIdOf(metadata).status();
    EXPECT_THAT(status.message(), HasSubstr(error));
    EXPECT_TRUE(DiagnosticFromStatus(status).has_value());
  }
}

TEST(TraceOfTest, TakesTheW3CsHeader) {
  // The example of the recommendation.
  const auto trace = TraceOf(With({{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}}));
  ASSERT_TRUE(trace.has_value());
  EXPECT_EQ(trace->trace_id, "0af7651916cd43dd8448eb211c80319c");
  EXPECT_EQ(trace->parent_id, "b7ad6b7169203331");
  // A later version may say more.
  EXPECT_TRUE(TraceOf(With({{"traceparent", "cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"}})));
}

TEST(TraceOfTest, IgnoresWhatIsNotValid) {
  EXPECT_FALSE(TraceOf(With({})).has_value());
  for (const char* value : {"", "00", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
                            "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                            "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
                            "00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01"}) {
    EXPECT_FALSE(TraceOf(With({{"traceparent", value}})).has_value()) << value;
  }
}

}  // namespace
}  // namespace cobra::server
