#include "model/fit/confidence_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model/fit/dataset.h"
#include "model/fit/evaluate.h"
#include "model/fit/trainer.h"
#include "model/predict/predictor.h"

namespace cobra::fit {
namespace {

TEST(ConfidenceCheck, EveryRowIsOnOneSide) {
  const auto data = LoadMeasurements(COBRA_SOURCE_DIR "/data/public/kernelbench/gpu-a10-modal-torch-2.5-eager-train");
  ASSERT_TRUE(data.ok()) << data.status();
  const auto check = CheckConfidence(COBRA_SOURCE_DIR "/model/pretrained", *data, Split::kTest);
  ASSERT_TRUE(check.ok()) << check.status();
  EXPECT_EQ(check->layers.sure + check->layers.others, 0);
  EXPECT_EQ(static_cast<size_t>(check->networks.sure + check->networks.others),
            RowsOf(*data, Split::kTest, true).size());
  EXPECT_GT(check->networks.median_of_sure, 0);
}

TEST(ConfidenceCheck, SaysHowManyTimesLessTheErrorIs) {
  ConfidenceCheck check;
  check.networks = {120, 33, 0.041, 0.097};
  EXPECT_EQ(ConfidenceCheckToTable(check),
            "networks: 120 with a confidence of 0.9 or more, median error 4.1 %; 33 others, 9.7 %; ratio 0.42\n");
  check.networks = {120, 0, 0.041, 0};
  EXPECT_THAT(ConfidenceCheckToTable(check), testing::HasSubstr("0 others\n"));
}

// Limits by data sheets divide a network's time among its calls; they hardly change how long it takes.
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
    const auto served = predictor->Predict(some[i]->graph, data->target.name);
    ASSERT_TRUE(served.ok()) << served.status();
    EXPECT_NEAR(served->latency_us / evaluated->latency_us[i], 1, 0.01) << some[i]->label();
  }
}

}  // namespace
}  // namespace cobra::fit
