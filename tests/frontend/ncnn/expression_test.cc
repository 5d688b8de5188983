// Sizes as expressions: ncnn's numbers, and what it reads but nobody may mean.
#include "frontend/ncnn/expression.h"

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::ncnn {
namespace {

using testing::HasSubstr;

// Of inputs of 3 x 4 x 5 and 7.
std::string ValuesOf(const std::string& text) {
  const std::vector<graph::Shape> blobs{{3, 4, 5}, {7}};
  const absl::StatusOr<std::vector<int64_t>> values = EvaluateSizes(text, blobs);
  return values.ok() ? absl::StrJoin(*values, ",") : absl::StrCat("error: ", values.status().message());
}

TEST(NcnnExpression, SizesOfInputs) {
  EXPECT_EQ(ValuesOf("0w,0h,0d,0c,1w,1h,1d,1c"), "5,4,1,3,7,1,1,1");
  EXPECT_EQ(ValuesOf("-1,*(0h,2),+(1w,0c)"), "-1,8,10");
  EXPECT_EQ(ValuesOf("max(0w,1w),min(0w,1w),-(0w,1w)"), "7,5,-2");
}

TEST(NcnnExpression, WholeNumbersAndRealOnes) {
  EXPECT_EQ(ValuesOf("//(7,2),//(-7,2),//(7.5,2),//(-7,2.0)"), "3,-3,3,-3");
  EXPECT_EQ(ValuesOf("/(7,2),*(/(7,2),2),//(-7.5,2)"), "3,7,-4");
  EXPECT_EQ(ValuesOf("3.0,3.9,-3.9,1e2"), "3,3,-3,100");
  EXPECT_EQ(ValuesOf("trunc(-2.5),ceil(2.1),floor(-2.1),round(2.5)"), "-2,3,-3,3");
  EXPECT_EQ(ValuesOf("sqrt(16),square(-3),abs(-3),neg(3),sign(-0.5),pow(2,5)"), "4,9,3,-3,-1,32");
  EXPECT_EQ(ValuesOf("fmod(-7,3),remainder(-7,3),and(6,3),or(6,3),xor(6,3),lshift(3,2),rshift(-8,1)"),
            "-1,2,2,7,5,12,-4");
}

TEST(NcnnExpression, WhatIsNoExpressionIsAnError) {
  EXPECT_THAT(ValuesOf(""), HasSubstr("\"\" is not a number"));
  EXPECT_THAT(ValuesOf("1,"), HasSubstr("\"\" is not a number"));
  EXPECT_THAT(ValuesOf("2w"), HasSubstr("there is no input 2"));
  EXPECT_THAT(ValuesOf("0n"), HasSubstr("batch"));
  // ncnn takes the digits in front, and operators without parentheses.
  EXPECT_THAT(ValuesOf("0h//2"), HasSubstr("\"0h//2\" is not a number"));
  EXPECT_THAT(ValuesOf("+,1,2"), HasSubstr("\"+\" is not a number"));
  EXPECT_THAT(ValuesOf("+(1)"), HasSubstr("+ takes 2 numbers, here are 1"));
  EXPECT_THAT(ValuesOf("+(1,2"), HasSubstr("not closed"));
  EXPECT_THAT(ValuesOf("+(1,2))"), HasSubstr("\")\" does not belong there"));
  EXPECT_THAT(ValuesOf("(1)"), HasSubstr("\"\" is not an operator"));
  EXPECT_THAT(ValuesOf("cube(3)"), HasSubstr("\"cube\" is not an operator"));
  EXPECT_THAT(ValuesOf("logaddexp(1,2)"), HasSubstr("logaddexp"));
  EXPECT_THAT(ValuesOf(std::string(256, '1')), HasSubstr("256 characters"));
  EXPECT_THAT(ValuesOf(absl::StrCat(std::string(127, '('), std::string(127, ')'))), HasSubstr("error"));
}

TEST(NcnnExpression, NumbersBeyond32BitsAreErrors) {
  const int64_t most = std::numeric_limits<int32_t>::max();
  EXPECT_EQ(ValuesOf(absl::StrCat(most, ",-(", -most, ",1)")), "2147483647,-2147483648");
  EXPECT_THAT(ValuesOf(absl::StrCat("+(", most, ",1)")), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("neg(-(-2147483647,1))"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("//(-(-2147483647,1),-1)"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("*(65536,65536)"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("exp(100)"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("log(0)"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("sqrt(-1)"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("/(1,0)"), HasSubstr("beyond 32 bits"));
  EXPECT_THAT(ValuesOf("//(1,0)"), HasSubstr("division by zero"));
  EXPECT_THAT(ValuesOf("lshift(1,32)"), HasSubstr("a shift by 32"));
  EXPECT_THAT(ValuesOf("and(1.5,1)"), HasSubstr("whole numbers"));
}

}  // namespace
}  // namespace cobra::ncnn
