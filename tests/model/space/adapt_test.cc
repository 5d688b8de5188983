// A device that is a sum over operations, and one that lies between known ones, from ten of their
// latencies.
#include "model/space/devices/adapt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "model/space/architectures/space.h"
#include "model/space/devices/adapt_width.h"
#include "model/training/rows/metrics.h"

namespace cobra::space {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kOperations[] = {"none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"};

// Random cells, and devices that price their operations: a constant and a price for each of the
// five.
struct World {
  explicit World(int cells) {
    std::mt19937 random(7);
    const auto operation = [&] { return kOperations[random() % 5]; };
    for (int c = 0; c < cells; ++c) {
      rows.row.push_back(std::to_string(c));
      rows.line.push_back(c + 2);
      std::string arch =
          "|" + std::string(operation()) + "~0|+|" + operation() + "~0|" + operation() + "~1|+|" + operation() + "~0|";
      rows.arch.push_back(arch + operation() + "~1|" + operation() + "~2|");
    }
    features = *MakeSpaceMatrix(**FindSpace("nasbench201"), rows, "cells.csv");
  }

  void Add(const std::string& name, double constant, const std::vector<double>& prices, double noise) {
    std::mt19937 random(static_cast<unsigned>(rows.devices.size()));
    std::normal_distribution<double> normal;
    rows.devices.push_back(name);
    std::vector<double> ms;
    for (int64_t r = 0; r < features.size(); ++r) {
      double sum = constant;
      for (int64_t o = 0; o < 5; ++o) sum += prices[static_cast<size_t>(o)] * features.costs[r][o].item<double>();
      ms.push_back(sum * std::exp(noise * normal(random)));
    }
    rows.latency_ms.push_back(std::move(ms));
  }

  KnownDevices Known(const std::vector<size_t>& columns) const {
    std::vector<int64_t> all(static_cast<size_t>(features.size()));
    std::iota(all.begin(), all.end(), int64_t{0});
    return *KnownDevices::Fit(features, rows, columns, all, {});
  }

  ArchRows rows;
  SpaceMatrix features;
};

class AdaptTest : public ::testing::Test {
 protected:
  AdaptTest() : world_(400) {
    world_.Add("gpu", 5, {0.1, 0.2, 0.5, 0.6, 0.5}, 0.01);
    world_.Add("cpu", 1, {0.2, 0.1, 1, 6, 1}, 0.02);
    world_.Add("phone", 2, {0.1, 0.1, 1, 9, 3}, 0.05);
    world_.Add("new cpu", 0.6, {0.12, 0.06, 0.6, 3.6, 0.6}, 0.01);
    world_.Add("accelerator", 0.1, {0, 0, 3, 4, 0.01}, 0);
  }

  // Of all cells but the samples, which are the first `samples`.
  training::Metrics Adapt(size_t column, int64_t samples) {
    const Adapter adapter(world_.Known({0, 1, 2}), DeviceSpec{});
    const AdaptRows rows = adapter.Prepare(world_.features);
    const std::vector<double>& ms = world_.rows.latency_ms[column];
    const AdaptedDevice device =
        adapter.Fit(rows.Select(at::arange(0, samples, at::kLong)), {ms.begin(), ms.begin() + samples});
    return training::ComputeMetrics(device.LatencyMs(rows.Select(at::arange(samples, 400, at::kLong))),
                                    {ms.begin() + samples, ms.end()});
  }

  World world_;
};

TEST_F(AdaptTest, ThreeSamplesFindTheDeviceThatIsAlike) {
  const training::Metrics m = Adapt(3, 3);
  EXPECT_LT(m.mape, 0.05);
  EXPECT_GT(m.spearman, 0.98);
}

TEST_F(AdaptTest, TenSamplesFindPricesThatNoKnownDeviceHas) {
  const training::Metrics m = Adapt(4, 10);
  EXPECT_GT(m.spearman, 0.98);
  EXPECT_GT(m.within_10, 0.7);
}

TEST_F(AdaptTest, MoreSamplesAreNotWorse) { EXPECT_LT(Adapt(4, 20).mape, Adapt(4, 3).mape); }

TEST_F(AdaptTest, IntervalsHoldWhatTheyPromise) {
  const std::vector<size_t> known = {0, 1, 2, 3};
  std::vector<int64_t> all(400);
  std::iota(all.begin(), all.end(), int64_t{0});
  const KnownDevices devices = world_.Known(known);
  const AdaptWidths widths = CalibrateWidths(devices, world_.features, world_.rows, all, {}, 2);
  ASSERT_THAT(widths, SizeIs(4));
  const double of_three = widths.at(3).HalfWidth(0.1, 1, 0), of_five = widths.at(5).HalfWidth(0.1, 1, 0),
               of_four = WidthOf(widths, 4).HalfWidth(0.1, 1, 0);
  EXPECT_TRUE(std::min(of_three, of_five) < of_four && of_four < std::max(of_three, of_five)) << of_four;
  EXPECT_EQ(WidthOf(widths, 100).factor, widths.at(20).factor);
  EXPECT_EQ(WidthOf(widths, 1).factor, widths.at(3).factor);
  const Adapter adapter(devices, DeviceSpec{});
  const AdaptRows rows = adapter.Prepare(world_.features);
  const std::vector<double>& ms = world_.rows.latency_ms[4];
  const AdaptedDevice device = adapter.Fit(rows.Select(at::arange(0, 10, at::kLong)), {ms.begin(), ms.begin() + 10});
  int inside = 0;
  const std::vector<AdaptedLatency> predicted = device.Predict(rows, WidthOf(widths, 10));
  const std::vector<double> plain = device.LatencyMs(rows);
  for (size_t r = 10; r < 400; ++r) {
    inside += predicted[r].low_ms <= ms[r] && ms[r] <= predicted[r].high_ms ? 1 : 0;
    EXPECT_DOUBLE_EQ(predicted[r].latency_ms, plain[r]);
  }
  EXPECT_GT(inside, 390 * 0.7);
}

// A device that is as loud as one of five known ones: what ten of its samples say of each other
// counts.
TEST_F(AdaptTest, ALoudDeviceHasWideIntervals) {
  world_.Add("loud", 2, {0.1, 0.1, 1, 9, 3}, 0.6);
  world_.Add("new loud", 1, {0.1, 0.1, 1, 5, 2}, 0.6);
  std::vector<int64_t> all(400);
  std::iota(all.begin(), all.end(), int64_t{0});
  const KnownDevices devices = world_.Known({0, 1, 2, 3, 5});
  const AdaptWidth width = WidthOf(CalibrateWidths(devices, world_.features, world_.rows, all, {}, 2), 10);
  const Adapter adapter(devices, DeviceSpec{});
  const AdaptRows rows = adapter.Prepare(world_.features);
  const std::vector<double>& ms = world_.rows.latency_ms[6];
  const AdaptedDevice device = adapter.Fit(rows.Select(at::arange(0, 10, at::kLong)), {ms.begin(), ms.begin() + 10});
  EXPECT_GT(device.own_half_width(), 0.4);
  int inside = 0;
  const std::vector<AdaptedLatency> predicted = device.Predict(rows, width);
  for (size_t r = 10; r < 400; ++r) inside += predicted[r].low_ms <= ms[r] && ms[r] <= predicted[r].high_ms ? 1 : 0;
  EXPECT_GT(inside, 390 * 0.75);
}

TEST(AdaptWidthTest, IsAtLeastAPartOfTheSamplesOwn) {
  AdaptWidth width{2, 0.1, 0, 1, 0.5};
  EXPECT_DOUBLE_EQ(width.HalfWidth(0.3, 1, 0.1), 0.2);
  EXPECT_DOUBLE_EQ(width.HalfWidth(0.3, 1, 0.8), 0.8);
}

// One known device launches layers, the other moves values; the new one multiplies where its memory
// lets it.
TEST(RooflineTest, ThreeSamplesFindAnAcceleratorThatNoKnownDeviceIsLike) {
  constexpr const char* kBlocks[] = {"k3_e1",    "k3_e1_g2", "k3_e3", "k3_e6", "k5_e1",
                                     "k5_e1_g2", "k5_e3",    "k5_e6", "skip"};
  constexpr int kRows = 300, kSamples = 3;
  std::mt19937 random(3);
  ArchRows rows;
  for (int r = 0; r < kRows; ++r) {
    rows.row.push_back(std::to_string(r));
    rows.line.push_back(r + 2);
    std::string arch = kBlocks[random() % 9];
    for (int place = 1; place < 22; ++place) arch += std::string(" ") + kBlocks[random() % 9];
    rows.arch.push_back(std::move(arch));
  }
  const SpaceMatrix features = *MakeSpaceMatrix(**FindSpace("fbnet"), rows, "fbnet.csv");
  const auto column = [](const at::Tensor& of, double constant) {
    const at::Tensor ms = (of + constant).contiguous();
    return std::vector<double>(ms.data_ptr<double>(), ms.data_ptr<double>() + ms.numel());
  };
  rows.devices = {"launches", "moves"};
  rows.latency_ms = {column(features.costs.select(1, 3), 5), column(features.costs.select(1, 2), 1)};
  const std::vector<double> ms = column(features.rooflines.select(1, 4), 0);
  std::vector<int64_t> all(kRows);
  std::iota(all.begin(), all.end(), int64_t{0});
  const KnownDevices known = *KnownDevices::Fit(features, rows, {0, 1}, all, {});
  const auto error = [&](const std::string& kind) {
    DeviceSpec target;
    target.kind = kind;
    const Adapter adapter(known, target);
    const AdaptRows prepared = adapter.Prepare(features);
    const AdaptedDevice device =
        adapter.Fit(prepared.Select(at::arange(0, kSamples, at::kLong)), {ms.begin(), ms.begin() + kSamples});
    return training::ComputeMetrics(device.LatencyMs(prepared), ms).mape;
  };
  EXPECT_LT(error("accelerator"), 0.06);
  EXPECT_LT(error("accelerator"), error("gpu"));  // of a GPU it is less likely beforehand
}

TEST_F(AdaptTest, ChoosesRowsThatDiffer) {
  const Adapter adapter(world_.Known({0, 1, 2}), DeviceSpec{});
  const AdaptRows rows = adapter.Prepare(world_.features);
  const std::vector<int64_t> chosen = adapter.Choose(rows, 5);
  ASSERT_THAT(chosen, SizeIs(5));
  for (size_t i = 0; i < 5; ++i) {
    for (size_t j = 0; j < i; ++j)
      EXPECT_NE(world_.rows.arch[static_cast<size_t>(chosen[i])], world_.rows.arch[static_cast<size_t>(chosen[j])]);
  }
}

TEST_F(AdaptTest, LeavesTheFamilyOut) {
  world_.rows.devices[0] = "1080ti_32";
  world_.rows.devices[1] = "1080ti_1";
  DeviceSpec target;
  target.name = "1080ti_256";
  EXPECT_THAT(OtherFamilies(world_.Known({0, 1, 2}), target), ElementsAre(2));
}

TEST(SpaceTest, CountsWhatRuns) {
  const std::string arch = "|nor_conv_3x3~0|+|none~0|none~1|+|skip_connect~0|nor_conv_1x1~1|avg_pool_3x3~2|";
  EXPECT_THAT((*FindSpace("nasbench201"))->Features(arch)->costs, ElementsAre(2, 1, 1, 1, 1));
  EXPECT_THAT((*FindSpace("nasbench201-pruned"))->Features(arch)->costs, ElementsAre(0, 1, 1, 1, 0));
}

TEST(SpaceTest, FbnetAndOfaCountMultiplications) {
  std::string fbnet = "k3_e1";
  for (int i = 1; i < 22; ++i) fbnet += " skip";
  const SpaceFeatures f = *(*FindSpace("fbnet"))->Features(fbnet);
  EXPECT_THAT(f.choices, SizeIs(198));
  EXPECT_EQ(f.costs[3], 1);
  EXPECT_EQ(f.costs[6], 6);  // the first block of every further stage changes the channels
  EXPECT_NEAR(f.costs[1], 16 * 9 * 32 * 32 / 1e6, 1e-9);
  const std::string ks = "ks:3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 e:3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 ";
  const SpaceFeatures small = *(*FindSpace("ofa"))->Features(ks + "d:2 2 2 2 2 r:128"),
                      large = *(*FindSpace("ofa"))->Features(ks + "d:4 4 4 4 4 r:224");
  EXPECT_EQ(small.costs[3], 10);
  EXPECT_EQ(large.costs[3], 20);
  EXPECT_GT(large.rooflines[0], 4 * small.rooflines[0]);
  for (const SpaceFeatures& features : {f, small, large}) {
    EXPECT_NEAR(features.rooflines[0], features.costs[0] + features.costs[1], 1e-9);
    // Of three prices of depthwise convolutions, each with three of moving values that only add to
    // the time.
    ASSERT_THAT(features.rooflines, SizeIs(9));
    for (size_t i = 0; i < 9; ++i) {
      if (i % 3 > 0) EXPECT_GT(features.rooflines[i], features.rooflines[i - 1]);
    }
    EXPECT_NEAR(features.rooflines[3], features.costs[0], 1e-9);
    EXPECT_NEAR(features.rooflines[6], features.costs[0] + 3 * features.costs[1], 1e-9);
  }
  EXPECT_EQ((*FindSpace("ofa"))->Graph(ks + "d:2 2 2 2 2 r:128")->kind.size(), 11u);
}

TEST(SpaceTest, ErrorsNameTheFileTheLineAndTheString) {
  ArchRows rows;
  rows.row = {"0"};
  rows.line = {7};
  rows.arch = {"k3_e1 k9_e9"};
  const absl::Status status = MakeSpaceMatrix(**FindSpace("fbnet"), rows, "my.csv").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("my.csv: line 7: "));
  EXPECT_THAT(std::string(status.message()), HasSubstr("is not a block of FBNet"));
  EXPECT_THAT(std::string(FindSpace("fbnets").status().message()),
              HasSubstr("fbnets: unknown space; this build fits measurements"));
}

TEST(DeviceSpecTest, ReadsJson) {
  const absl::StatusOr<DeviceSpec> spec = DeviceSpecFromJson(R"({"kind":"gpu","batch":32,"cores":3584})");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->batch, 32);
  EXPECT_THAT(std::string(DeviceSpecFromJson(R"({"kind":"toaster"})").status().message()),
              HasSubstr("toaster: no kind of device"));
  EXPECT_THAT(std::string(DeviceSpecFromJson(R"({"bacth":1})").status().message()),
              HasSubstr("bacth: 1: not understood"));
}

}  // namespace
}  // namespace cobra::space
