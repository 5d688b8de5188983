#include "model/training/evaluation/confidence_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "model/predict/predictor.h"
#include "model/predict/price/prediction_interval.h"
#include "model/training/rows/dataset.h"
#include "model/training/trainer.h"

namespace cobra::training {
namespace {

TEST(ConfidenceCheck, EveryRowIsOnOneSide) {
  const auto data = LoadMeasurements(COBRA_SOURCE_DIR "/data/public/kernelbench/gpu-a10-modal-torch-2.5-eager-train");
  ASSERT_TRUE(data.ok()) << data.status();
  const auto check = CheckConfidence(COBRA_SOURCE_DIR "/model/pretrained", *data, Split::kTest);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->layers.sure + check->layers.others, 0);
  EXPECT_EQ(static_cast<size_t>(check->networks.sure + check->networks.others),
            RowsOf(*data, Split::kTest, true).size());
  // Each row as a user is answered.
  EXPECT_EQ(check->rows.size(), RowsOf(*data, Split::kTest, true).size());
  for (const AnsweredRow& row : check->rows) {
    EXPECT_EQ(row.kind, "network");
    EXPECT_LT(row.low_us, row.predicted_us) << row.label;
    EXPECT_LE(row.confidence, predict::ProbabilityWithinFactor(std::log(row.high_us / row.predicted_us)) + 1e-9);
  }
  EXPECT_EQ(absl::c_count(AnsweredRowsToCsv(*check), '\n'), 1 + static_cast<int>(check->rows.size()));
}

// Rows that the shipped weights are sure of, on tables that have others too; and of all together,
// the probability of the factor is right.
TEST(ConfidenceCheck, ErrorsAreSmallerWhereAVersionIsSure) {
  double probability = 0, within = 0, rows = 0;
  for (const char* table : {"measurements/cpu-xeon-emeraldrapids-1t-ncnn", "public/neusight/gpu-l4-torch-2.1"}) {
    const auto data = LoadMeasurements(absl::StrCat(COBRA_SOURCE_DIR "/data/", table));
    ASSERT_TRUE(data.ok()) << data.status();
    const auto check = CheckConfidence(COBRA_SOURCE_DIR "/model/pretrained", *data, Split::kTest);
    ASSERT_TRUE(check.ok()) << check.status();
    const ErrorsByConfidence& layers = check->layers;
    EXPECT_GT(layers.sure, 10) << table;
    EXPECT_GT(layers.others, 10) << table;
    EXPECT_LT(layers.median_of_sure, layers.median_of_others * 2 / 3) << ConfidenceCheckToTable(*check);
    for (const AnsweredRow& row : check->rows) {
      probability += row.confidence;
      within += std::fabs(std::log(row.predicted_us / row.measured_us)) <= std::log(predict::kConfidentFactor);
      ++rows;
    }
  }
  EXPECT_NEAR(probability / rows, within / rows, 0.1);
}

TEST(ConfidenceCheck, ConfidenceIsWhatTheIntervalSaysOfTheFactor) {
  const double factor = std::log(predict::kConfidentFactor);
  EXPECT_NEAR(predict::ProbabilityWithinFactor(factor), 0.9, 1e-12);
  EXPECT_NEAR(predict::ProbabilityWithinFactor(factor / 2), 0.99, 1e-12);
  EXPECT_EQ(predict::ProbabilityWithinFactor(0), 1);
  predict::LatencyPrediction p;
  p.latency_us = 100, p.low_us = 100 / predict::kConfidentFactor, p.high_us = 120;  // the further end counts
  for (const auto& [known_share, confidence] : {std::pair{1.0, 0.9}, {0.5, 0.9}, {0.25, 0.45}, {0.0, 0.0}}) {
    p.known_share = known_share;
    predict::SetConfidence(&p);
    EXPECT_NEAR(p.confidence, confidence, 1e-12) << known_share;
  }
}

// Of a network of which a tenth is unknown the interval is narrow; it claims no coverage all the
// same.
TEST(ConfidenceCheck, AGuessIsNeverSure) {
  predict::LatencyPrediction p;
  p.latency_us = 100, p.low_us = 99, p.high_us = 101, p.known_share = 0.88;
  predict::SetConfidence(&p);
  EXPECT_GT(p.confidence, 0.999);
  p.extrapolating = true;
  predict::SetConfidence(&p);
  EXPECT_EQ(p.confidence, predict::kMostOfGuess);
  EXPECT_LT(predict::kMostOfGuess, kSure);
  p.high_us = 300;
  predict::SetConfidence(&p);
  EXPECT_LT(p.confidence, 0.6);
}

TEST(ConfidenceCheck, SaysHowManyTimesLessTheErrorIs) {
  ConfidenceCheck check;
  check.networks = {120, 33, 0.041, 0.097};
  EXPECT_EQ(ConfidenceCheckToTable(check),
            "networks: 120 with a confidence of 0.9 or more, median error 4.1 %; 33 others, 9.7 %; ratio 0.42\n");
  check.networks.floor = 0.1;
  EXPECT_THAT(ConfidenceCheckToTable(check),
              testing::HasSubstr("ratio 0.42; measurements themselves differ by 10.0 %\n"));
  check.networks = {0, 33, 0, 0.097};
  EXPECT_EQ(ConfidenceCheckToTable(check), "networks: 0 with a confidence of 0.9 or more; 33 others, 9.7 %\n");
  check.networks = {120, 0, 0.041, 0};
  EXPECT_THAT(ConfidenceCheckToTable(check), testing::HasSubstr("0 others\n"));
}

// Limits by data sheets divide a network's time among its calls; they hardly change how long it
// takes.
TEST(Served, AnswersAreThoseThatWereEvaluated) {
  const std::string model = COBRA_SOURCE_DIR "/model/pretrained";
  const auto predictor = predict::Predictor::Load(model).value();
  const auto data = LoadMeasurements(COBRA_SOURCE_DIR "/data/public/timm/gpu-rtx-3090-amp-float16-torch-1.13");
  ASSERT_TRUE(data.ok()) << data.status();
  const int target = TargetOf(model, *data).value();
  std::vector<const Sample*> rows = RowsOf(*data, Split::kTest, true), some;
  for (size_t i = 0; i < rows.size(); i += 25) some.push_back(rows[i]);
  ASSERT_GT(some.size(), 8U);
  const auto evaluated = PredictSamples(model, some, target);
  ASSERT_TRUE(evaluated.ok()) << evaluated.status();
  for (size_t i = 0; i < some.size(); ++i) {
    const auto served = predictor->Predict(some[i]->graph(), data->target.name);
    ASSERT_TRUE(served.ok()) << served.status();
    EXPECT_NEAR(served->latency_us / evaluated->latency_us[i], 1, 0.01) << some[i]->label();
  }
}

}  // namespace
}  // namespace cobra::training
