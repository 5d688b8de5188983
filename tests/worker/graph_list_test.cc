#include "worker/run/graph_list.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "gmock/gmock.h"
#include "graph/form/fingerprint.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::worker {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kRelu[] =
    R"({"inputs":[{"name":"x0","shape":[1,8],"dtype":"float32"}],"ops":[{"op":"relu","inputs":["in:0"],"attrs":{},"out":[[1,8]]}],"params":0,"param_shapes":{},"output":[0],"macs":0,"peak_memory_bytes":64})";

absl::StatusOr<GraphList> Read(const std::string& text) {
  const tests::TemporaryDirectory directory;
  const std::string path = directory.File("list.jsonl");
  EXPECT_TRUE(WriteFileAtomic(path, text).ok());
  return ReadGraphList(path);
}

TEST(GraphListTest, ReadsWhatSampleWrites) {
  SamplerOptions options;
  options.seed = 7;
  const auto lines = CandidateLines("paper-layers", 100, 5, options);
  ASSERT_TRUE(lines.ok()) << lines.status();
  const auto list = Read(*lines);
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->seed, 7u);
  ASSERT_EQ(list->spaces.size(), 1u);
  const SpaceCount& space = list->spaces[0];
  EXPECT_EQ(space.space, "paper-layers");
  EXPECT_EQ(space.count, static_cast<int64_t>(space.indices.size()));
  ASSERT_GT(space.count, 0);
  const auto drawn = (*MakeSampler("paper-layers", options))->At(space.indices[0]);
  const auto read = space.sampler->At(space.indices[0]);
  ASSERT_TRUE(drawn.ok() && read.ok());
  EXPECT_EQ(graph::Fingerprint(read->graph), graph::Fingerprint(drawn->graph));
  EXPECT_EQ(read->label, drawn->label);
}

TEST(GraphListTest, ASeriesMeasuresTheIndicesOfTheList) {
  const auto list =
      Read(absl::StrCat(R"({"space":"a","index":40,"graph":)", kRelu, "}\n", R"({"space":"a","index":7,"graph":)",
                        kRelu, "}\n", R"({"space":"b","index":3,"graph":)", kRelu, "}\n"));
  ASSERT_TRUE(list.ok()) << list.status();
  ASSERT_EQ(list->spaces.size(), 2u);
  EXPECT_THAT(list->spaces[0].indices, ElementsAre(40, 7));
  CampaignOptions options;
  options.spaces = list->spaces;
  std::vector<std::string> planned;
  for (const Task& task : PlanTasks(options))
    planned.push_back(absl::StrCat(options.spaces[task.space].space, task.index));
  EXPECT_THAT(planned, ::testing::UnorderedElementsAre("a40", "a7", "b3"));
}

TEST(GraphListTest, AGraphAloneIsEnough) {
  const auto list = Read(absl::StrCat(R"({"graph":)", kRelu, "}\n"));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->spaces[0].space, "asked");
  const auto sample = list->spaces[0].sampler->At(1);
  ASSERT_TRUE(sample.ok());
  EXPECT_EQ(sample->label, "relu");
  EXPECT_FALSE(sample->is_network);
}

TEST(GraphListTest, RecordsMeasuredTwiceAreOneSubject) {
  const std::string record = absl::StrCat(R"("space":"a","index":4,"graph":)", kRelu, "}\n");
  const auto list =
      Read(absl::StrCat(R"({"kind":"session","seed":9})", "\n", R"({"kind":"record","repeat":0,)", record,
                        R"({"kind":"canary","conv_us":1})", "\n", R"({"kind":"record","repeat":1,)", record));
  ASSERT_TRUE(list.ok()) << list.status();
  EXPECT_EQ(list->seed, 9u);
  EXPECT_THAT(list->spaces[0].indices, ElementsAre(4));
}

TEST(GraphListTest, ErrorsNameTheLine) {
  const std::string good = absl::StrCat(R"({"space":"a","index":1,"graph":)", kRelu, "}\n");
  EXPECT_THAT(Read(good + "{").status().message(), HasSubstr("list.jsonl:2: "));
  EXPECT_THAT(Read(good + "{}").status().message(), HasSubstr("list.jsonl:2: has no \"graph\""));
  EXPECT_THAT(Read(good + good).status().message(), HasSubstr("list.jsonl:2: a/1 occurs twice"));
  EXPECT_THAT(Read(good + R"({"graph":{"ops":[{"op":"no_such_op"}]}})").status().message(),
              HasSubstr("list.jsonl:2: "));
  EXPECT_THAT(
      Read(absl::StrCat(R"({"seed":1,"graph":)", kRelu, "}\n", R"({"seed":2,"graph":)", kRelu, "}")).status().message(),
      HasSubstr("list.jsonl:2: seed 2, but 1 above"));
  EXPECT_THAT(Read("").status().message(), HasSubstr("has no graph"));
}

}  // namespace
}  // namespace cobra::worker
