#include "client/compare/check_report.h"

#include "base/diagnostic.h"
#include "base/user_error.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace cobra::client {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SavedTarget TargetOf(double latency_us, double confidence = 0.95, bool extrapolating = false) {
  SavedTarget target;
  target.target = "cpu";
  target.latency_us = latency_us;
  target.low_us = 0.9 * latency_us;
  target.high_us = 1.1 * latency_us;
  target.confidence = confidence;
  target.extrapolating = extrapolating;
  return target;
}

SavedPrediction Predicted(SavedTarget target, const std::string& fingerprint = "a") {
  SavedPrediction prediction;
  prediction.fingerprint = fingerprint;
  prediction.model_version = "v1";
  prediction.targets = {std::move(target)};
  return prediction;
}

CheckedModel Compared(SavedTarget before, SavedTarget after, const Thresholds& thresholds = {},
                      const Budgets& budgets_ms = {}, const std::string& fingerprint = "b") {
  CompareOptions options;
  options.max_increase = thresholds.allowed();
  const absl::StatusOr<Comparison> comparison =
      Compare(Predicted(std::move(before)), Predicted(std::move(after), fingerprint), options);
  EXPECT_TRUE(comparison.ok()) << comparison.status();
  return ComparedModel(*comparison, thresholds, budgets_ms);
}

CheckReport ReportOf(std::vector<CheckedModel> models) {
  CheckReport report{"old", "new", std::move(models)};
  int n = 0;
  for (CheckedModel& model : report.models) model.name = absl::StrCat("model", ++n);
  return report;
}

std::string VerdictOf(const CheckedModel& model) { return VerdictText(model, model.targets[0]); }

TEST(CheckReportTest, SlowerThanAllowedFails) {
  const CheckedModel model = Compared(TargetOf(1000), TargetOf(1051));
  EXPECT_EQ(VerdictOf(model), "slower than the 5 % allowed");
  EXPECT_EQ(ReportExitCode(ReportOf({model})), 1);
  EXPECT_THAT(ProblemLines(ReportOf({model})), ElementsAre("cpu: 5.1 % slower; at most 5 % is allowed"));
  EXPECT_EQ(ReportExitCode(ReportOf({Compared(TargetOf(1000), TargetOf(1049))})), 0);
  EXPECT_EQ(VerdictOf(Compared(TargetOf(1000), TargetOf(1049))), "within the 5 % allowed");
  EXPECT_EQ(VerdictOf(Compared(TargetOf(1000), TargetOf(900))), "faster");
}

TEST(CheckReportTest, NoiseIsNoFailure) {
  Thresholds thresholds;
  thresholds.max_increase = 0.01;
  thresholds.noise = 0.03;
  const CheckedModel within = Compared(TargetOf(1000), TargetOf(1025), thresholds);
  EXPECT_EQ(VerdictOf(within), "within the noise of 3 %");
  EXPECT_EQ(ReportExitCode(ReportOf({within})), 0);
  EXPECT_EQ(VerdictOf(Compared(TargetOf(1000), TargetOf(975), thresholds)), "within the noise of 3 %");
  EXPECT_EQ(ReportExitCode(ReportOf({Compared(TargetOf(1000), TargetOf(1031), thresholds)})), 1);
  thresholds.max_increase = 0.1;
  EXPECT_EQ(ReportExitCode(ReportOf({Compared(TargetOf(1000), TargetOf(1031), thresholds)})), 0);
}

TEST(CheckReportTest, BudgetsOfOneTargetOrOfAll) {
  EXPECT_THAT(PredictedModel(Predicted(TargetOf(1000)), {}, {{"", 1.0}}).targets[0].problems, IsEmpty());
  const CheckedModel over = PredictedModel(Predicted(TargetOf(1001)), {}, {{"", 1.0}});
  EXPECT_EQ(VerdictOf(over), "over the budget of 1 ms");
  EXPECT_EQ(ReportExitCode(ReportOf({over})), 1);
  EXPECT_THAT(PredictedModel(Predicted(TargetOf(1001)), {}, {{"gpu", 1.0}}).targets[0].problems, IsEmpty());
  EXPECT_EQ(PredictedModel(Predicted(TargetOf(1001)), {}, {{"cpu", 1.0}, {"", 5.0}}).targets[0].budget_ms, 1.0);
}

TEST(CheckReportTest, WhatDoesNotFitKeepsNoBudget) {
  SavedTarget target = TargetOf(1000);
  target.lacks_memory = "needs 30 GB of 24 GB";
  const CheckedModel kept = PredictedModel(Predicted(target), {}, {{"", 5.0}});
  EXPECT_EQ(VerdictOf(kept), "needs 30 GB of 24 GB");
  EXPECT_EQ(ReportExitCode(ReportOf({kept})), 1);
  EXPECT_THAT(ProblemLines(ReportOf({kept})), ElementsAre("does not fit: cpu needs 30 GB of 24 GB of memory"));
  // Without a budget nothing is checked; it is reported all the same.
  const CheckedModel predicted = PredictedModel(Predicted(target), {}, {});
  EXPECT_EQ(ReportExitCode(ReportOf({predicted})), 0);
  EXPECT_EQ(VerdictOf(predicted), "needs 30 GB of 24 GB");
}

TEST(CheckReportTest, AGuessIsCalledOne) {
  EXPECT_EQ(VerdictOf(PredictedModel(Predicted(TargetOf(1000, 0.4, true)), {}, {})), "a guess");
  Thresholds accepting;
  accepting.min_confidence = 0;
  EXPECT_EQ(VerdictOf(Compared(TargetOf(1000), TargetOf(900, 0.4, true), accepting)), "faster, a guess");
}

TEST(CheckReportTest, BothTheChangeAndTheBudgetAreReported) {
  const CheckedModel model = Compared(TargetOf(1000), TargetOf(2000), {}, {{"", 1.5}});
  EXPECT_EQ(VerdictOf(model), "slower than the 5 % allowed, over the budget of 1.5 ms");
  EXPECT_EQ(ProblemLines(ReportOf({model})).size(), 2u);
}

TEST(CheckReportTest, AnUntrustedPredictionGivesNoVerdict) {
  const CheckedModel unsure = Compared(TargetOf(1000), TargetOf(2000, 0.4, true));
  EXPECT_EQ(ReportExitCode(ReportOf({unsure})), 5);
  EXPECT_THAT(VerdictOf(unsure), HasSubstr("too little is known"));
  Thresholds accepting;
  accepting.min_confidence = 0;
  EXPECT_EQ(ReportExitCode(ReportOf({Compared(TargetOf(1000), TargetOf(2000, 0.4, true), accepting)})), 1);
  Thresholds strict;
  strict.min_confidence = 0.99;
  const CheckedModel wide = Compared(TargetOf(1000), TargetOf(1000), strict);
  EXPECT_EQ(ReportExitCode(ReportOf({wide})), 5);
  EXPECT_THAT(VerdictOf(wide), HasSubstr("confidence too low"));
  // An interval can be narrow although the model extrapolates; without a threshold it gives no
  // verdict all the same.
  EXPECT_EQ(ReportExitCode(ReportOf({Compared(TargetOf(1000), TargetOf(2000, 0.95, true))})), 5);
  // Nothing is checked: nothing is untrusted.
  EXPECT_EQ(ReportExitCode(ReportOf({PredictedModel(Predicted(TargetOf(1, 0.1, true)), {}, {})})), 0);
}

// The latency of a network that nobody changed has not changed, however little the predictor knows
// it.
TEST(CheckReportTest, TheSameNetworkNeedsNoConfidence) {
  const CheckedModel same = Compared(TargetOf(1000, 0.2, true), TargetOf(1000, 0.2, true), {}, {}, "a");
  EXPECT_EQ(VerdictOf(same), "same network");
  EXPECT_EQ(ReportExitCode(ReportOf({same})), 0);
  const CheckedModel budget = Compared(TargetOf(1000, 0.2, true), TargetOf(1000, 0.2, true), {}, {{"", 5}}, "a");
  EXPECT_EQ(ReportExitCode(ReportOf({budget})), 5);
}

TEST(CheckReportTest, AModelThatCannotBeReadDecidesTheCode) {
  CheckedModel unreadable;
  unreadable.status = CheckedModel::Status::kUnreadable;
  unreadable.error = UserError(Diagnostic::Kind::kSyntaxError, "invalid syntax");
  const CheckReport report = ReportOf({Compared(TargetOf(1000), TargetOf(2000)), unreadable});
  EXPECT_EQ(ReportExitCode(report), 6);
  EXPECT_THAT(ProblemLines(report), ElementsAre("model1: cpu: 100.0 % slower; at most 5 % is allowed",
                                                "model2: syntax error: invalid syntax"));
}

}  // namespace
}  // namespace cobra::client
