#include "model/space/models/hat_space.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"

namespace cobra::space {
namespace {

struct Made {
  std::vector<HatFeatures> features;
  std::vector<double> order, latency_ms;
};

// Latencies of a law, 1 % of noise, 25 % slower from row 100 to row 250.
Made MakeRows(int rows, bool drifting) {
  std::mt19937 random(3);
  std::normal_distribution<double> noise(0, 0.01);
  const auto pick = [&](double a, double b, int steps) {
    return a + (b - a) * static_cast<double>(random() % static_cast<unsigned>(steps)) / (steps - 1);
  };
  Made made;
  for (int i = 0; i < rows; ++i) {
    const HatFeatures f = {pick(512, 640, 2),   6,
                           pick(512, 3072, 20), pick(2, 8, 10),
                           pick(512, 640, 2),   pick(1, 6, 6),
                           pick(512, 3072, 20), pick(2, 8, 10),
                           pick(2, 8, 10),      pick(1, 3, 10)};
    const double state = drifting && i >= 100 && i < 250 ? 1.25 : 1;
    made.features.push_back(f);
    made.order.push_back(i);
    made.latency_ms.push_back((5 + 0.01 * f[0] + f[5] * (20 + 0.002 * f[6] + 2 * f[9])) * state *
                              std::exp(noise(random)));
  }
  return made;
}

// Every fourth row is asked for, the others are learned.
double ErrorOf(const Made& made, bool number_rows, HatModel* kept = nullptr) {
  Made train, test;
  for (size_t i = 0; i < made.features.size(); ++i) {
    Made& part = i % 4 == 0 ? test : train;
    part.features.push_back(made.features[i]);
    part.order.push_back(number_rows ? made.order[i] : static_cast<double>((i * 7919) % 4001));
    part.latency_ms.push_back(made.latency_ms[i]);
  }
  const auto model = HatModel::Fit(train.features, train.order, train.latency_ms);
  EXPECT_TRUE(model.ok()) << model.status();
  const std::vector<double> predicted = model->Predict(test.features, test.order);
  double error = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    error += std::fabs(predicted[i] / test.latency_ms[i] - 1) / static_cast<double>(predicted.size());
  if (kept != nullptr) *kept = *model;
  return error;
}

TEST(HatModel, FindsTheDevicesStateInTheOrderOfMeasuring) {
  HatModel model;
  EXPECT_LT(ErrorOf(MakeRows(600, true), true, &model), 0.015);
  EXPECT_GT(model.nearest(), 0);
  EXPECT_LT(model.half_width(), 0.03);
  EXPECT_GT(ErrorOf(MakeRows(600, true), false), 0.03);
}

TEST(HatModel, LeavesTheOrderAloneWhereItTellsNothing) {
  HatModel model;
  EXPECT_LT(ErrorOf(MakeRows(600, false), true, &model), 0.012);
  EXPECT_EQ(model.nearest(), 0);
}

// Rows without a number, and numbers far beyond the rows learned, have the state of most.
TEST(HatModel, PredictsRowsThatNobodyMeasures) {
  const Made made = MakeRows(600, true);
  const auto model = HatModel::Fit(made.features, made.order, made.latency_ms);
  ASSERT_TRUE(model.ok());
  const std::vector<HatFeatures> one = {made.features[0]};
  const double without = model->Predict(one, {})[0];
  EXPECT_NEAR(without / made.latency_ms[0], 1, 0.06);
  EXPECT_EQ(model->Predict(one, {1e6})[0], without);
  EXPECT_EQ(model->Predict(one, {std::nan("")})[0], without);
  EXPECT_GT(model->Predict(one, {170})[0], 1.15 * without);
}

TEST(HatModel, IsTheSameAfterJson) {
  const Made made = MakeRows(200, true);
  const auto model = HatModel::Fit(made.features, made.order, made.latency_ms);
  ASSERT_TRUE(model.ok());
  const auto read = HatModel::FromJson(model->ToJson());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->Predict(made.features, made.order), model->Predict(made.features, made.order));
  EXPECT_EQ(read->half_width(), model->half_width());
  EXPECT_FALSE(HatModel::FromJson("[]").ok());
  EXPECT_FALSE(HatModel::FromJson(R"({"coefficients":[1]})").ok());
  EXPECT_FALSE(HatModel::Fit({}, {}, {}).ok());
}

TEST(LoadHatRows, NamesFileAndLine) {
  const std::string path = absl::StrCat(testing::TempDir(), "/hat_", getpid(), ".csv");
  std::string header = "row";
  for (absl::string_view name : HatFeatureNames()) absl::StrAppend(&header, ",", name);
  ASSERT_TRUE(
      WriteFileAtomic(
          path,
          header + ",latency_ms\n0,640,6,2048,6,512,4,1920,2.5,5.5,1.5,130\n1,640,6,2048,6,512,4,1920,2.5,5.5,1.5,\n")
          .ok());
  const auto rows = LoadHatRows(path);
  ASSERT_TRUE(rows.ok()) << rows.status();
  EXPECT_EQ(rows->size(), 2u);
  EXPECT_EQ(rows->devices, std::vector<std::string>{"latency_ms"});
  EXPECT_EQ(rows->features[1][8], 5.5);
  EXPECT_EQ(rows->order[1], 1);
  EXPECT_TRUE(std::isnan(rows->latency_ms[0][1]));
  ASSERT_TRUE(WriteFileAtomic(path, header + "\n0,640,6,2048,6,512,four,1920,2.5,5.5,1.5\n").ok());
  EXPECT_EQ(LoadHatRows(path).status().message(),
            absl::StrCat(path, ": line 2: decoder_layer_num \"four\": is not a positive number"));
  ASSERT_TRUE(WriteFileAtomic(path, "row,arch\n").ok());
  EXPECT_EQ(LoadHatRows(path).status().message(),
            absl::StrCat(path, ": line 1: the header has no column encoder_embed_dim"));
}

}  // namespace
}  // namespace cobra::space
