#include "lab/tables/papers/nasbench201_data.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/temporary_directory.h"

namespace cobra::lab {
namespace {

using ::testing::HasSubstr;

const char* const kFolder = COBRA_SOURCE_DIR "/lab/data/nasbench201";

TEST(Nasbench201Data, AllCellsAreDifferentAndEachIsRead) {
  const std::vector<std::string> archs = AllNasbench201();
  EXPECT_EQ(std::set<std::string>(archs.begin(), archs.end()).size(), 15625u);
  const auto cells = space::MakePrunedCells(archs);
  ASSERT_TRUE(cells.ok()) << cells.status();
  EXPECT_EQ(cells->distinct.place.size(), 15625u);
  EXPECT_LT(cells->distinct.first.size(), 12000u);  // many are the same after pruning
  EXPECT_EQ(cells->graphs.size(), static_cast<int64_t>(cells->distinct.first.size()));
  EXPECT_EQ(cells->features.size(), cells->graphs.size());
}

TEST(Nasbench201Data, SplitsAreDisjointAndOfTheRightSize) {
  const auto rows = space::LoadArchRows(std::string(kFolder) + "/latency.csv.xz");
  ASSERT_TRUE(rows.ok()) << rows.status();
  for (const auto& [name, train_rows] :
       {std::make_pair("/split-1.csv", 900u), std::make_pair("/split-2000-1.csv", 2000u)}) {
    const auto split = LoadSpaceSplit(std::string(kFolder) + name, *rows, 0);
    ASSERT_TRUE(split.ok()) << split.status();
    EXPECT_EQ(split->train.index.size(), train_rows);
    EXPECT_EQ(split->validation.index.size(), 100u);
    EXPECT_GT(split->test.index.size(), 11000u);
    std::set<int64_t> all;
    for (const space::SpaceRowSet* set : {&split->train, &split->validation, &split->test}) {
      all.insert(set->index.begin(), set->index.end());
      for (double ms : set->latency_ms) ASSERT_GT(ms, 0);
    }
    EXPECT_EQ(all.size(), train_rows + 100 + split->test.index.size());
  }
}

TEST(Nasbench201Data, ABadSplitNamesFileAndLine) {
  const tests::TemporaryDirectory directory;
  const std::string file = directory.File("split.csv");
  space::ArchRows rows;
  rows.row = {"1", "2"};
  rows.arch = {"a", "b"};
  rows.latency_ms = {{1, 2}};
  ASSERT_TRUE(WriteFileAtomic(file, "row,part\n1,train\n2,test\n").ok());
  EXPECT_THAT(std::string(LoadSpaceSplit(file, rows, 0).status().message()), HasSubstr(file + ": line 3: \"test\""));
  ASSERT_TRUE(WriteFileAtomic(file, "row,part\n3,train\n").ok());
  EXPECT_THAT(std::string(LoadSpaceSplit(file, rows, 0).status().message()), HasSubstr("line 2: row 3"));
}

}  // namespace
}  // namespace cobra::lab
