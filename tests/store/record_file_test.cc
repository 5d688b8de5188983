#include "store/record_file.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::store {
namespace {

using ::testing::HasSubstr;

constexpr absl::string_view kSmall = R"({"inputs":[{"shape":[1,8]}],"ops":[{"op":"relu","inputs":["in:0"]}]})";
constexpr absl::string_view kLarge = R"({"inputs":[{"shape":[1,9]}],"ops":[{"op":"relu","inputs":["in:0"]}]})";

class RecordFileTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = absl::StrCat(testing::TempDir(), "/", testing::UnitTest::GetInstance()->current_test_info()->name());
    for (const char* folder : {"/graphs", "/cpu-x-1t"}) ASSERT_TRUE(MakeDirectories(root_ + folder).ok());
    Write("graphs/layers.jsonl", absl::StrCat(R"({"label":"relu","graph":)", kSmall, "}\n"));
    Write("graphs/networks.jsonl", absl::StrCat(R"({"label":"net","graph":)", kLarge, "}\n"));
  }
  void Write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(WriteFileAtomic(root_ + "/" + name, text).ok());
  }
  absl::StatusOr<std::string> Read(const std::string& text, const std::string& name = "layers.jsonl") {
    Write("cpu-x-1t/" + name, text);
    return ReadRecordFile(root_ + "/cpu-x-1t/" + name);
  }
  std::string Failure(const std::string& text) { return std::string(Read(text).status().message()); }

  std::string root_;
};

std::string Named(absl::string_view graph) {
  return absl::StrCat(R"({"kind":"record","latency_us":5.5,"graph_id":")", GraphId(graph), "\"}\n");
}
std::string Full(absl::string_view graph) {
  return absl::StrCat(R"({"kind":"record","latency_us":5.5,"graph":)", graph, "}\n");
}

// data/measurements/pack_records.py computes the same.
TEST_F(RecordFileTest, TheIdOfAGraphIsAPrefixOfItsSha256) { EXPECT_EQ(GraphId("{}"), "44136fa355b3"); }

TEST_F(RecordFileTest, ARecordGetsTheGraphThatItNames) {
  const std::string session = "{\"kind\":\"session\", \"seed\": 7}\n";
  // The second is in the other file of graphs.
  EXPECT_EQ(Read(absl::StrCat(session, Named(kSmall), Named(kLarge), Named(kSmall))).value(),
            absl::StrCat(session, Full(kSmall), Full(kLarge), Full(kSmall)));
  EXPECT_EQ(Read(Named(kSmall), "selected-layers.jsonl").value(), Full(kSmall));
  Write("cpu-x-1t/layers.jsonl.gz", Gzip(Named(kSmall)));
  EXPECT_EQ(ReadRecordFile(root_ + "/cpu-x-1t/layers.jsonl.gz").value(), Full(kSmall));
}

// Lines of cobra-worker, CSV, what is not a record at all: their readers have the better messages.
TEST_F(RecordFileTest, OtherLinesStayAsTheyAre) {
  const std::string text = absl::StrCat(Full(kLarge), "outcome,latency_us\n{\"graph_id\": cut\n\n[\"graph_id\"]\n{}");
  EXPECT_EQ(Read(text).value(), text);
  EXPECT_EQ(Read("").value(), "");
}

TEST_F(RecordFileTest, AMissingGraphIsNamedWithItsLine) {
  const std::string unknown = Failure(Named(kSmall) + Named("{}"));
  EXPECT_THAT(unknown, HasSubstr("cpu-x-1t/layers.jsonl:2: graph_id \"44136fa355b3\": no file in "));
  EXPECT_THAT(unknown, HasSubstr("/graphs has this graph"));
  EXPECT_THAT(Failure(R"({"graph_id":"44136f"})"), HasSubstr(R"(layers.jsonl:1: graph_id "44136f": is not 12)"));
  EXPECT_THAT(Failure(R"({"graph_id":7})"), HasSubstr("layers.jsonl:1: graph_id 7: is not 12"));
  EXPECT_THAT(Failure(R"({"graph_id":"44136fa355b3","graph":{}})"), HasSubstr("layers.jsonl:1: has both"));
  Write("graphs/networks.jsonl", "{\"name\":\"a\"}\n");
  EXPECT_THAT(Failure(Named("{}")), HasSubstr("networks.jsonl:1: has no \"graph\""));
}

TEST_F(RecordFileTest, NumbersInAProfileBecomeNames) {
  const std::string names = "{\"kind\":\"names\",\"names\":[\"conv\",\"relu\"]}\n";
  EXPECT_EQ(Read(names + R"({"profile":[[1,2.5,[0,1]],[0,3,[2]],["own",1,[]]]})").value(),
            "\n"
            R"({"profile":[["relu",2.5,[0,1]],["conv",3,[2]],["own",1,[]]]})");
  EXPECT_THAT(Failure(names + R"({"profile":[[2,2.5,[0]]]})"), HasSubstr("layers.jsonl:2: profile: no line \"names\""));
  EXPECT_THAT(Failure(R"({"kind":"names","names":5})"), HasSubstr("layers.jsonl:1: \"names\" is not a list"));
}

}  // namespace
}  // namespace cobra::store
