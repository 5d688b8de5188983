#include "model/space/models/pruned_cells.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "model/space/architectures/nasbench201_features.h"

namespace cobra::space {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(PrunedCells, EqualGraphsHaveEqualFeatures) {
  const char* cell = "|nor_conv_3x3~0|+|nor_conv_1x1~0|none~1|+|none~0|avg_pool_3x3~1|skip_connect~2|";
  const char* renamed = "|nor_conv_1x1~0|+|nor_conv_3x3~0|none~1|+|none~0|skip_connect~1|avg_pool_3x3~2|";
  const auto cells = MakePrunedCells({cell, renamed});
  ASSERT_TRUE(cells.ok()) << cells.status();
  EXPECT_THAT(cells->distinct.place, ElementsAre(0, 0));
  EXPECT_EQ(*Nasbench201Groups(cell), *Nasbench201Groups(renamed));
}

TEST(PrunedCells, FeaturesOfAKnownCell) {
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

}  // namespace
}  // namespace cobra::space
