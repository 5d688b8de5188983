#include "model/space/nasbench201_data.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/space/nasbench201_features.h"
#include "tests/temporary_directory.h"

namespace cobra::space {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kFolder = COBRA_SOURCE_DIR "/data/tables/nasbench201";

TEST(Nasbench201Data, AllCellsAreDifferentAndEachIsRead) {
  const std::vector<std::string> archs = AllNasbench201();
  EXPECT_EQ(std::set<std::string>(archs.begin(), archs.end()).size(), 15625u);
  const auto cells = MakePrunedCells(archs);
  ASSERT_TRUE(cells.ok()) << cells.status();
  EXPECT_EQ(cells->distinct.place.size(), 15625u);
  EXPECT_LT(cells->distinct.first.size(), 12000u);  // many are the same after pruning
  EXPECT_EQ(cells->graphs.size(), static_cast<int64_t>(cells->distinct.first.size()));
  EXPECT_EQ(cells->features.size(), cells->graphs.size());
}

TEST(Nasbench201Data, EqualGraphsHaveEqualFeatures) {
  const char* cell = "|nor_conv_3x3~0|+|nor_conv_1x1~0|none~1|+|none~0|avg_pool_3x3~1|skip_connect~2|";
  const char* renamed = "|nor_conv_1x1~0|+|nor_conv_3x3~0|none~1|+|none~0|skip_connect~1|avg_pool_3x3~2|";
  const auto cells = MakePrunedCells({cell, renamed});
  ASSERT_TRUE(cells.ok()) << cells.status();
  EXPECT_THAT(cells->distinct.place, ElementsAre(0, 0));
  EXPECT_EQ(*Nasbench201Groups(cell), *Nasbench201Groups(renamed));
}

TEST(Nasbench201Data, FeaturesOfAKnownCell) {
  // 0 -3x3-> 1 -skip-> 3 and 0 -pool-> 3
  const auto groups = Nasbench201Groups("|nor_conv_3x3~0|+|none~0|none~1|+|avg_pool_3x3~0|skip_connect~1|none~2|");
  ASSERT_TRUE(groups.ok()) << groups.status();
  ASSERT_EQ(groups->size(), 7u);
  EXPECT_THAT((*groups)[0], ElementsAre(1, 0, 1, 1));  // skip, 1x1, 3x3, pool
  EXPECT_EQ((*groups)[1][2], 1);                       // the path of a 3x3
  EXPECT_EQ((*groups)[1][3], 1);                       // the path of a pooling
  EXPECT_THAT((*groups)[2],
              ElementsAre(0, 1, 2, 2, 0, 1));  // terms of nodes 1 to 3, readers of 0 to 2: node 1 goes by the name of 2
  EXPECT_THAT((*groups)[3], ElementsAre(0, 1, 1, DoubleNear(4.001, 1e-9), 1, 2));
  EXPECT_THAT((*groups)[4],
              ElementsAre(0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0));  // 3x3 and pooling first, the skip after one
  EXPECT_EQ((*groups)[5][3 * 4 + 1], 1);                         // 3x3, skip
  EXPECT_EQ((*groups)[5][4], 1);                                 // pooling
  EXPECT_THAT((*groups)[6], ElementsAre(1));
}

TEST(Nasbench201Data, SplitsAreDisjointAndOfTheRightSize) {
  const auto rows = LoadArchRows(std::string(kFolder) + "/latency.csv.gz");
  ASSERT_TRUE(rows.ok()) << rows.status();
  for (const auto& [name, train_rows] :
       {std::make_pair("/split-1.csv", 900u), std::make_pair("/split-2000-1.csv", 2000u)}) {
    const auto split = LoadSpaceSplit(std::string(kFolder) + name, *rows, 0);
    ASSERT_TRUE(split.ok()) << split.status();
    EXPECT_EQ(split->train.index.size(), train_rows);
    EXPECT_EQ(split->validation.index.size(), 100u);
    EXPECT_GT(split->test.index.size(), 11000u);
    std::set<int64_t> all;
    for (const SpaceRowSet* set : {&split->train, &split->validation, &split->test}) {
      all.insert(set->index.begin(), set->index.end());
      for (double ms : set->latency_ms) ASSERT_GT(ms, 0);
    }
    EXPECT_EQ(all.size(), train_rows + 100 + split->test.index.size());
  }
}

TEST(Nasbench201Data, ABadSplitNamesFileAndLine) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory.File("split.csv");
  ArchRows rows;
  rows.row = {"1", "2"};
  rows.arch = {"a", "b"};
  rows.latency_ms = {{1, 2}};
  ASSERT_TRUE(WriteFileAtomic(file, "row,part\n1,train\n2,test\n").ok());
  EXPECT_THAT(std::string(LoadSpaceSplit(file, rows, 0).status().message()), HasSubstr(file + ": line 3: \"test\""));
  ASSERT_TRUE(WriteFileAtomic(file, "row,part\n3,train\n").ok());
  EXPECT_THAT(std::string(LoadSpaceSplit(file, rows, 0).status().message()), HasSubstr("line 2: row 3"));
}

}  // namespace
}  // namespace cobra::space
