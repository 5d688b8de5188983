#include "base/text/similar_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace cobra {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(NearestWord, AllowsAThirdOfTheLettersOrAMissingEnd) {
  EXPECT_EQ(NearestWord("predcit", {"graph", "predict"}), "predict");
  EXPECT_EQ(NearestWord("pre", {"graph", "predict"}), "predict");
  EXPECT_EQ(NearestWord("zzz", {"graph", "predict"}), "");
}

TEST(NearestName, AllowsAThirdOfTheLettersAndExchangedNeighbours) {
  EXPECT_EQ(NearestName("cnov", {"conv", "norm"}), "conv");
  EXPECT_EQ(NearestName("in_chanels", {"out_channels", "in_channels"}), "in_channels");
  EXPECT_EQ(NearestName("fea", {"features", "zzz"}), "");  // of a program, a beginning is another name
  EXPECT_EQ(NearestName("x", {"y"}), "");
  EXPECT_EQ(NearestName("conv", {"conv"}), "");
  EXPECT_EQ(NearestName(std::string(1 << 20, 'a'), {"a"}), "");
  EXPECT_EQ(NearestWord("cehck", {"check"}), "check");
  EXPECT_EQ(NearestWord("library", {"limits", "libraries"}), "libraries");
  EXPECT_EQ(NearestWord("entries", {"entry"}), "");
}

TEST(SimilarNames, FewAreAllShown) { EXPECT_EQ(SimilarNames("x", {"a", "b"}), "a, b"); }

TEST(SimilarNames, OfManyThoseWithTheSameParts) {
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) names.push_back(absl::StrCat("cpu-board-", i, "-1t-ncnn"));
  names.push_back("gpu-l4-modal-torch-2.5-eager-train");
  names.push_back("cpu-rk3588-4t-big-ncnn");
  const std::string of_gpu = SimilarNames("gpu-l4", names), of_board = SimilarNames("rk3588-4t", names);
  EXPECT_THAT(of_gpu, StartsWith("gpu-l4-modal-torch-2.5-eager-train, "));
  EXPECT_THAT(of_board, StartsWith("cpu-rk3588-4t-big-ncnn, "));
  EXPECT_THAT(of_board, HasSubstr("(the nearest of 102)"));
  EXPECT_THAT(of_board, Not(HasSubstr("board-99-1t")));
  // Whatever a user types costs no more than a name.
  EXPECT_THAT(SimilarNames(std::string(1 << 20, 'a'), names), HasSubstr("of 102"));
}

}  // namespace
}  // namespace cobra
