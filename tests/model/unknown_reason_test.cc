#include "model/predict/price/unknown_reason.h"

#include "gtest/gtest.h"

namespace cobra::predict {
namespace {

size_t Find(const std::vector<text::RawToken>& raw, absl::string_view word, int occurrence) {
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i].word == word && occurrence-- == 0) return i;
  }
  ADD_FAILURE() << "no " << word;
  return 0;
}

std::string Outside(absl::string_view text, absl::string_view word, int occurrence = 0) {
  const std::vector<text::RawToken> raw = text::SplitText(text);
  return DescribeOutside(raw, Find(raw, word, occurrence), 65, 2, 16);
}

TEST(UnknownReasonTest, SaysWhichDimensionOfWhichTensor) {
  const char* const einsum =
      "einsum(operands=1x2x8:float32,operands=1x2x65:float32,equation='abc,abd->acd')->1x8x65:float32";
  EXPECT_EQ(Outside(einsum, "operands#2", 1), "einsum: dimension 2 of operands, number 2 is 65; measured from 2 to 16");
  EXPECT_EQ(Outside(einsum, "out#2"), "einsum: dimension 2 of the result is 65; measured from 2 to 16");
  EXPECT_EQ(Outside("relu(input=1x65:float32)->1x65:float32", "input#1"),
            "relu: dimension 1 of input is 65; measured from 2 to 16");
}

TEST(UnknownReasonTest, SaysWhichAttribute) {
  const char* const conv =
      "conv2d(input=1x3x8x8:float32,weight=4x3x1x1:float32,stride=[65,1],groups=1)->1x4x1x8:float32";
  EXPECT_EQ(Outside(conv, "stride#0"), "conv2d: stride[0] is 65; measured from 2 to 16");
  EXPECT_EQ(Outside(conv, "groups#0"), "conv2d: groups is 65; measured from 2 to 16");
}

TEST(UnknownReasonTest, SaysWhichWord) {
  const std::vector<text::RawToken> raw = text::SplitText("relu(input=1x65:int64)->1x65:int64");
  EXPECT_EQ(DescribeUnknownWord(raw, 0), "relu was never measured");
  EXPECT_EQ(DescribeUnknownWord(raw, Find(raw, "input:int64", 0)), "relu with input of type int64 was never measured");
}

}  // namespace
}  // namespace cobra::predict
