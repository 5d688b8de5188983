#include "client/series/batch.h"

#include <string>

#include "base/diagnostic.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string Fault(const absl::Status& status) {
  const Diagnostic diagnostic = DiagnosticFromStatus(status).value_or(Diagnostic());
  EXPECT_EQ(diagnostic.kind, Diagnostic::Kind::kUsage) << status;
  return diagnostic.message;
}

TEST(ParseBatchesTest, SizesRangesAndListsWithDots) {
  EXPECT_THAT(*ParseBatches("1"), ElementsAre(1));
  EXPECT_THAT(*ParseBatches("8, 2,4,2"), ElementsAre(2, 4, 8));
  EXPECT_THAT(*ParseBatches("1..16"), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(*ParseBatches("3..20"), ElementsAre(3, 6, 12, 20));
  EXPECT_THAT(*ParseBatches("1...16"), ElementsAre(1, 2, 4, 8, 16));
  EXPECT_THAT(*ParseBatches("1,2,4,...,32"), ElementsAre(1, 2, 4, 8, 16, 32));
  EXPECT_THAT(*ParseBatches("1,...,4"), ElementsAre(1, 2, 4));
  EXPECT_THAT(*ParseBatches("1,3,...,81"), ElementsAre(1, 3, 9, 27, 81));
  EXPECT_THAT(*ParseBatches("8,16,24,...,50"), ElementsAre(8, 16, 24, 32, 40, 48, 50));
  EXPECT_THAT(*ParseBatches("1..4,6,32..64"), ElementsAre(1, 2, 4, 6, 32, 64));
  EXPECT_THAT(*ParseBatches("1048576"), ElementsAre(1048576));
}

TEST(ParseBatchesTest, WhatIsNoListOfSizesIsRefused) {
  EXPECT_EQ(Fault(ParseBatches("").status()), "--batch : \"\" is not a size");
  EXPECT_EQ(Fault(ParseBatches("1,two").status()), "--batch 1,two: \"two\" is not a size");
  EXPECT_EQ(Fault(ParseBatches("1,,2").status()), "--batch 1,,2: \"\" is not a size");
  EXPECT_EQ(Fault(ParseBatches("nan").status()), "--batch nan: \"nan\" is not a size");
  EXPECT_EQ(Fault(ParseBatches("0").status()), "--batch 0: 0 is not between 1 and 1048576");
  EXPECT_EQ(Fault(ParseBatches("-1").status()), "--batch -1: -1 is not between 1 and 1048576");
  EXPECT_EQ(Fault(ParseBatches("1048577").status()), "--batch 1048577: 1048577 is not between 1 and 1048576");
  EXPECT_EQ(Fault(ParseBatches("99999999999999999999").status()),
            "--batch 99999999999999999999: \"99999999999999999999\" is not a size");
  EXPECT_EQ(Fault(ParseBatches("8..2").status()), "--batch 8..2: 2 is not above 8");
  EXPECT_EQ(Fault(ParseBatches("4,2,...,8").status()), "--batch 4,2,...,8: before \"...\", 2 is not above 4");
  EXPECT_EQ(Fault(ParseBatches("1,...").status()), "--batch 1,...: nothing follows \"...\"");
  EXPECT_EQ(Fault(ParseBatches("...,8").status()), "--batch ...,8: \"...\" follows no size");
  EXPECT_THAT(Fault(ParseBatches("1,2,3,...,1000000").status()), HasSubstr(": more than 256 sizes"));
}

TEST(BatchInputsTest, TheLeadingDimensionOfTheFirstInputAndOfAllThatHaveTheSame) {
  EXPECT_THAT(*BatchInputs({"1x3x224x224"}), ElementsAre("Bx3x224x224"));
  EXPECT_THAT(*BatchInputs({"8x3x8x8", "mask=8x1:bool", "n=16x8", "8:int64", "scalar", "None"}),
              ElementsAre("Bx3x8x8", "mask=Bx1:bool", "n=16x8", "B:int64", "scalar:float32", "None"));
  EXPECT_THAT(*BatchInputs({"1x8", "[1x4, (1x5:int64,)]", "d={\"a\": 1x2, \"b\": 2x1}"}),
              ElementsAre("Bx8", "[Bx4, (Bx5:int64,)]", "d={\"a\": Bx2, \"b\": 2x1}"));
  EXPECT_THAT(*BatchInputs({"input.1=1x3", "x:0=1x2"}), ElementsAre("input.1=Bx3", "x:0=Bx2"));
}

TEST(BatchInputsTest, OneThatSaysWhereTheBatchStandsIsTakenAsItIs) {
  EXPECT_THAT(*BatchInputs({"128xBx512", "1x8"}), ElementsAre("128xBx512", "1x8"));
  EXPECT_THAT(InputsAt({"128xBx512", "B=Bx8", "[3xBx4,B:int64]", "1xBxB"}, 16),
              ElementsAre("128x16x512", "B=16x8", "[3x16x4,16:int64]", "1x16x16"));
  EXPECT_THAT(InputsAt({"{\"B\": 1x3}", "BATCH=1"}, 16), ElementsAre("{\"B\": 1x3}", "BATCH=1"));
}

TEST(BatchInputsTest, ThereMustBeABatch) {
  EXPECT_EQ(Fault(BatchInputs({"[3x8x8, 3x8x8]"}).status()),
            "--input [3x8x8, 3x8x8]: has no leading dimension that could be the batch");
  EXPECT_EQ(Fault(BatchInputs({"scalar", "1x2"}).status()),
            "--input scalar: has no leading dimension that could be the batch");
  EXPECT_THAT(Fault(BatchInputs({"1x3xq"}).status()), HasSubstr("1x3xq"));
}

}  // namespace
}  // namespace cobra::client
