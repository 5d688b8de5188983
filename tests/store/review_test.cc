#include "store/queue/review.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace cobra::store {
namespace {

// 'a': accepted, 'h': held, in the order of the rows.
std::string Reviewed(bool one_worker, std::vector<ReviewedMeasurement> rows) {
  Review(one_worker, &rows);
  std::string states;
  for (const ReviewedMeasurement& row : rows) states += row.held.empty() ? 'a' : 'h';
  return states;
}

TEST(ReviewTest, TheFirstOneCountsUnlessItIsDoubted) {
  EXPECT_EQ(Reviewed(false, {{10, "w"}}), "a");
  EXPECT_EQ(Reviewed(true, {{10, "w", "too much"}}), "h");
}

TEST(ReviewTest, WhatContradictsAnEarlierOneIsHeld) {
  EXPECT_EQ(Reviewed(false, {{10, "w"}, {30, "v"}}), "ah");
  EXPECT_EQ(Reviewed(false, {{10, "w"}, {12, "w"}}), "aa");
}

TEST(ReviewTest, ADoubtedOneDoesNotStandInTheWayOfOthers) {
  EXPECT_EQ(Reviewed(false, {{100, "w", "too much"}, {1, "v"}}), "ha");
}

TEST(ReviewTest, AgreementOfTwoWorkersOverrulesTheModelAndTheFirstOne) {
  EXPECT_EQ(Reviewed(false, {{100, "w", "too much"}, {110, "v", "too much"}}), "aa");
  EXPECT_EQ(Reviewed(false, {{1, "w"}, {100, "v", "too much"}, {110, "u", "too much"}}), "haa");
}

TEST(ReviewTest, OneWorkerAgreesWithItselfOnlyIfThereIsNoOther) {
  const std::vector<ReviewedMeasurement> twice = {{100, "w", "too much"}, {110, "w", "too much"}};
  EXPECT_EQ(Reviewed(false, twice), "hh");
  EXPECT_EQ(Reviewed(true, twice), "aa");
}

TEST(ReviewTest, TheReasonNamesBoth) {
  std::vector<ReviewedMeasurement> rows = {{10, "w"}, {30, "v"}};
  Review(false, &rows);
  EXPECT_EQ(rows[1].held, "30 us contradicts another measurement of it, 10 us");
}

}  // namespace
}  // namespace cobra::store
