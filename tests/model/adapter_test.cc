#include "model/predict/adapt/adapter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"
#include "graph/cost/cost.h"
#include "model/predict/adapt/reference_networks.h"
#include "model/predict/target/operator_group.h"

namespace cobra::predict {
namespace {

// A device as it is: arithmetic and bandwidth, and a factor for each operator group that no data
// sheet shows.
struct Device {
  std::string name;
  double gflops = 100, gb_per_s = 20;
  std::array<double, kNumOperatorGroups> factors{1, 1, 1, 1, 1, 1, 1, 1};

  TargetSpec Sheet() const {
    TargetSpec spec;
    spec.name = spec.device = name;
    spec.kind = "cpu";
    spec.runtime = "torch-2.0";
    spec.peak_gflops = gflops;
    spec.memory_gb_per_s = gb_per_s;
    return spec;
  }
  std::vector<double> CallsUs(const graph::Graph& graph) const {
    std::vector<double> us;
    const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
    for (size_t i = 0; i < costs.size(); ++i) {
      const double bytes = static_cast<double>(costs[i].input_bytes + costs[i].output_bytes + costs[i].weight_bytes);
      us.push_back(factors[OperatorGroupOf(graph, graph.nodes()[i])] *
                   (1 + 2e-3 * static_cast<double>(costs[i].macs) / gflops + 1e-3 * bytes / gb_per_s));
    }
    return us;
  }
  double Us(const graph::Graph& graph) const {
    double sum = 0;
    for (const double us : CallsUs(graph)) sum += us;
    return sum;
  }
};

graph::Graph Perceptron(int64_t width) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({64, width});
  for (int i = 0; i < 3; ++i) x = b.ReluInPlace(b.Linear(x, width));
  return std::move(b).Finish({x}).value();
}

class AdapterTest : public testing::Test {
 protected:
  AdapterTest() {
    const auto target = [this](const char* name, double gflops, double gb_per_s, double conv, double product) {
      Device device{name, gflops, gb_per_s};
      device.factors[kConvDense] = conv;
      device.factors[kProduct] = product;
      trained_.push_back(device);
    };
    target("Alpha 1", 50, 10, 1, 1);
    target("Beta 2", 100, 20, 1.3, 0.9);
    target("Gamma 3", 200, 30, 0.8, 1.2);
    target("Delta 4", 300, 60, 1.1, 0.7);
  }

  Adapter MakeAdapter() const {
    std::vector<TargetSpec> specs;
    for (const Device& device : trained_) specs.push_back(device.Sheet());
    return Adapter(specs, [this](const graph::Graph& graph, const std::function<bool()>&) {
      return Adapter::TimesOnTarget([this, &graph](size_t target, const TargetSpec&) {
        return Adapter::CallTimes{trained_[target].CallsUs(graph), 0.1};
      });
    });
  }
  std::vector<size_t> Suggested(const std::vector<const graph::Graph*>& networks, size_t count) const {
    size_t read = 0;
    const auto next = [&]() -> absl::StatusOr<std::optional<graph::Graph>> {
      return read < networks.size() ? std::make_optional(*networks[read++]) : std::nullopt;
    };
    return MakeAdapter().Suggest(Device{"New"}.Sheet(), next, count).value();
  }
  // The first `count` reference networks as timed on `device`.
  static std::vector<store::TimedNetwork> Timed(const Device& device, size_t count) {
    std::vector<store::TimedNetwork> samples;
    for (size_t i = 0; i < count; ++i) {
      const graph::Graph& graph = ReferenceNetworks()[i];
      samples.push_back({"row " + std::to_string(i), graph, device.Us(graph)});
    }
    return samples;
  }
  double Predicted(const Calibration& c, const graph::Graph& graph) const {
    double log_us = 0;
    for (const CalibrationPart& part : c.parts) {
      for (const Device& device : trained_) {
        if (device.name != part.base_target) continue;
        AdaptVector coefficients;
        std::copy_n(part.coefficients.begin(), kGroupTerms, coefficients.begin());
        coefficients[kLaunchTerm] = LaunchCoefficient(part.coefficients);
        log_us += part.weight * LogLatency(ViewOf(ClassesOf(graph), device.CallsUs(graph), 0.1), coefficients);
      }
    }
    return std::exp(log_us);
  }
  // Mean error on the reference networks from the 11th on.
  double Error(const Calibration& c, const Device& device) const {
    double sum = 0, count = 0;
    for (size_t i = 10; i < ReferenceNetworks().size(); ++i, ++count)
      sum += std::fabs(Predicted(c, ReferenceNetworks()[i]) / device.Us(ReferenceNetworks()[i]) - 1);
    return sum / count;
  }

  std::vector<Device> trained_;
};

TEST_F(AdapterTest, ReferenceNetworksAreBuiltAndDifferent) {
  EXPECT_EQ(ReferenceNetworks().size(), 16U);
  std::set<int64_t> flops;
  for (const graph::Graph& graph : ReferenceNetworks()) flops.insert(graph::CostOf(graph).flops);
  EXPECT_EQ(flops.size(), 16U);
}

TEST_F(AdapterTest, ADataSheetAloneScalesByWhatItSays) {
  const Device faster{"New", 400, 80}, slower{"New", 40, 8};
  const auto a = MakeAdapter().Adapt(faster.Sheet(), {}), b = MakeAdapter().Adapt(slower.Sheet(), {});
  ASSERT_TRUE(a.ok() && b.ok()) << a.status() << b.status();
  EXPECT_LT(Error(*a, faster), 0.35);
  EXPECT_LT(Error(*b, slower), 0.35);
  EXPECT_GT(a->interval_log, 0.05);
  EXPECT_EQ(a->samples, 0);
}

// Trained targets that are nearly right whenever they are given another's sheet: the interval is as
// narrow.
TEST_F(AdapterTest, TheIntervalIsThatOfTargetsGivenTheSheet) {
  double factor = 1;
  for (Device& device : trained_) device.factors.fill(factor += 0.01);
  std::vector<TargetSpec> specs;
  for (const Device& device : trained_) specs.push_back(device.Sheet());
  const Adapter adapter(specs, [this](const graph::Graph& graph, const std::function<bool()>&) {
    return Adapter::TimesOnTarget([this, &graph](size_t target, const TargetSpec& sheet) {
      Device device = trained_[target];
      device.gflops = sheet.peak_gflops;
      device.gb_per_s = sheet.memory_gb_per_s;
      return Adapter::CallTimes{device.CallsUs(graph), 0.1};
    });
  });
  const auto of_sheets = adapter.Adapt(Device{"New", 150, 25}.Sheet(), {}),
             of_targets = MakeAdapter().Adapt(Device{"New", 150, 25}.Sheet(), {});
  ASSERT_TRUE(of_sheets.ok() && of_targets.ok()) << of_sheets.status() << of_targets.status();
  EXPECT_TRUE(of_sheets->own_specification);
  EXPECT_LT(of_sheets->interval_log, 0.04);
  EXPECT_GT(of_targets->interval_log, 2 * of_sheets->interval_log);
}

TEST_F(AdapterTest, MoreSamplesAreMoreAccurateAndTheirIntervalsNarrower) {
  Device device{"New", 150, 25};
  device.factors = {1.6, 1.6, 2, 1.4, 1.5, 1.6, 1.5, 1.6};
  double last_error = 1, last_interval = 10;
  for (const size_t count : {0, 3, 10}) {
    const auto c = MakeAdapter().Adapt(device.Sheet(), Timed(device, count));
    ASSERT_TRUE(c.ok()) << c.status();
    const double error = Error(*c, device);
    EXPECT_LT(error, last_error) << count;
    EXPECT_LT(c->interval_log, last_interval) << count;
    last_error = error;
    last_interval = c->interval_log;
    if (count > 0) EXPECT_LT(c->sample_mape_after, c->sample_mape_before);
  }
  EXPECT_LT(last_error, 0.05);
}

TEST_F(AdapterTest, OneSampleSetsTheScale) {
  Device device{"New", 100, 20};
  device.factors.fill(3);
  const auto c = MakeAdapter().Adapt(device.Sheet(), Timed(device, 1));
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_LT(Error(*c, device), 0.3);
}

TEST_F(AdapterTest, OneBadSampleOfSixDoesNotBendIt) {
  Device device{"New", 150, 25};
  device.factors.fill(1.5);
  std::vector<store::TimedNetwork> samples = Timed(device, 6);
  const auto clean = MakeAdapter().Adapt(device.Sheet(), samples);
  samples[2].latency_us *= 4;
  const auto bad = MakeAdapter().Adapt(device.Sheet(), samples);
  ASSERT_TRUE(clean.ok() && bad.ok());
  EXPECT_LT(Error(*bad, device), Error(*clean, device) + 0.06);
  EXPECT_GE(bad->interval_log, clean->interval_log);
}

// With five, one bad sample spoils what the others say of each other.
TEST_F(AdapterTest, OneBadSampleOfFiveIsFoundAndNamed) {
  Device same = trained_[1];  // but its name: the data sheet is nearly right, so little speaks for the timings
  same.name = "New";
  for (const double factor : {3.0, 1 / 3.0}) {
    std::vector<store::TimedNetwork> samples = Timed(same, 5);
    samples[4].latency_us *= factor;
    const auto c = MakeAdapter().Adapt(same.Sheet(), samples);
    ASSERT_TRUE(c.ok()) << c.status();
    EXPECT_LT(Error(*c, same), 0.15) << factor;
    ASSERT_EQ(c->doubted.size(), 1) << factor;
    EXPECT_EQ(c->doubted[0].rfind(samples[4].name + ": ", 0), 0) << c->doubted[0];
  }
}

TEST_F(AdapterTest, SamplesThatContradictEachOtherDoLittleHarm) {
  Device same = trained_[1];  // but its name: the data sheet is right
  same.name = "New";
  std::vector<store::TimedNetwork> samples = Timed(same, 8);
  const double factors[] = {2, 0.5, 1, 2, 0.5, 1, 1.8, 0.6};
  for (size_t i = 0; i < samples.size(); ++i) samples[i].latency_us *= factors[i];
  const auto sheet = MakeAdapter().Adapt(same.Sheet(), {}), c = MakeAdapter().Adapt(same.Sheet(), samples);
  ASSERT_TRUE(sheet.ok() && c.ok());
  EXPECT_LT(Error(*c, same), Error(*sheet, same) + 0.12);
  EXPECT_GT(c->interval_log, std::log(1.7));
}

TEST_F(AdapterTest, AMistakenUnitIsRefused) {
  const Device device{"New", 150, 25};
  std::vector<store::TimedNetwork> samples = Timed(device, 5);
  samples[3].latency_us *= 1000;
  const absl::Status one = MakeAdapter().Adapt(device.Sheet(), samples).status();
  EXPECT_TRUE(absl::IsInvalidArgument(one));
  EXPECT_EQ(one.message().substr(0, 6), "row 3:") << one;
  for (store::TimedNetwork& sample : samples) sample.latency_us /= 1000;
  samples[3].latency_us /= 1000;
  EXPECT_TRUE(absl::IsInvalidArgument(MakeAdapter().Adapt(device.Sheet(), samples).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(
      MakeAdapter().Adapt(device.Sheet(), absl::MakeConstSpan(samples).subspan(0, 1)).status()));
}

TEST_F(AdapterTest, DevicesThatAreLeftOutAreNotUsed) {
  const auto c = MakeAdapter().Adapt(trained_[1].Sheet(), {}, {{"Alpha 1", "Beta 2", "Gamma 3"}});
  ASSERT_TRUE(c.ok()) << c.status();
  ASSERT_EQ(c->parts.size() == 1 ? c->parts[0].base_target : c->parts[1].base_target, "Delta 4");
  EXPECT_TRUE(absl::IsFailedPrecondition(
      MakeAdapter().Adapt(trained_[1].Sheet(), {}, {{"Alpha 1", "Beta 2", "Gamma 3", "Delta 4"}}).status()));
}

TEST_F(AdapterTest, AnotherKindOfDeviceBeginsFromWhatThereIs) {
  TargetSpec phone;
  phone.kind = "gpu";
  EXPECT_TRUE(MakeAdapter().Adapt(phone, {}).ok());
}

TEST_F(AdapterTest, WeightsAddUpAndTheSameSamplesGiveTheSame) {
  const Device device{"New", 150, 25};
  const auto a = MakeAdapter().Adapt(device.Sheet(), Timed(device, 5)),
             b = MakeAdapter().Adapt(device.Sheet(), Timed(device, 5));
  ASSERT_TRUE(a.ok() && b.ok());
  double sum = 0;
  for (const CalibrationPart& part : a->parts) sum += part.weight;
  EXPECT_NEAR(sum, 1, 1e-9);
  EXPECT_EQ(CalibrationToJson(*a), CalibrationToJson(*b));
  EXPECT_EQ(CalibrationToJson(*CalibrationFromJson(CalibrationToJson(*a))), CalibrationToJson(*a));
}

TEST_F(AdapterTest, SuggestsMoreThanOneKindOfNetwork) {
  std::vector<graph::Graph> graphs;
  for (const int64_t width : {512, 640, 768, 896}) graphs.push_back(Perceptron(width));
  graphs.push_back(ReferenceNetworks()[0]);
  graphs.push_back(ReferenceNetworks()[1]);
  std::vector<const graph::Graph*> pointers;
  for (const graph::Graph& graph : graphs) pointers.push_back(&graph);
  const std::vector<size_t> order = Suggested(pointers, 3);
  ASSERT_EQ(order.size(), 3U);
  EXPECT_EQ(std::set<size_t>(order.begin(), order.end()).size(), 3U);
  int perceptrons = 0;
  for (const size_t i : order) perceptrons += i < 4;
  EXPECT_GE(perceptrons, 1);
  EXPECT_LE(perceptrons, 2);
  pointers.insert(pointers.end(), {&graphs[1], &graphs[4]});  // under other names
  EXPECT_EQ(Suggested(pointers, 10).size(), 6U);
  EXPECT_TRUE(Suggested({}, 10).empty());
}

TEST_F(AdapterTest, SuggestsWhatStandsForTheOthers) {
  std::vector<graph::Graph> graphs;
  for (const int64_t width : {608, 624, 640, 656, 672}) graphs.push_back(Perceptron(width));
  graphs.push_back(ReferenceNetworks()[13]);  // unlike them, and longer
  std::vector<const graph::Graph*> pointers;
  for (const graph::Graph& graph : graphs) pointers.push_back(&graph);
  const std::vector<size_t> order = Suggested(pointers, 1);
  ASSERT_EQ(order.size(), 1U);
  EXPECT_LT(order[0], 5U);
}

TEST_F(AdapterTest, SuggestingLeavesDevicesOutToo) {
  const auto next = []() -> absl::StatusOr<std::optional<graph::Graph>> { return std::nullopt; };
  const AdaptOptions all{{"Alpha 1", "Beta 2", "Gamma 3", "Delta 4"}};
  EXPECT_TRUE(absl::IsFailedPrecondition(MakeAdapter().Suggest(Device{"New"}.Sheet(), next, 1, all).status()));
}

// A list of a thousand may take gigabytes at once.
TEST_F(AdapterTest, SuggestingKeepsNoNetwork) {
  std::weak_ptr<const std::string> of_last;  // lives as long as the network does
  int read = 0;
  const auto next = [&]() -> absl::StatusOr<std::optional<graph::Graph>> {
    EXPECT_TRUE(of_last.expired());
    if (read == 3) return std::nullopt;
    graph::GraphBuilder builder;
    const graph::ValueRef x = builder.AddInput("x", {{16, 16 << read++}});
    graph::Origin origin;
    origin.file = std::make_shared<const std::string>("net.py");
    of_last = origin.file;
    const int32_t relu = builder.Add(graph::Op::relu, {}, {x}, origin).value();
    return std::move(builder).Build({graph::ValueRef::Node(relu)});
  };
  EXPECT_EQ(MakeAdapter().Suggest(Device{"New"}.Sheet(), next, 10).value().size(), 3U);
}

TEST_F(AdapterTest, SuggestingEndsWhereTheListFailsOrNobodyWaits) {
  const auto fails = []() -> absl::StatusOr<std::optional<graph::Graph>> { return absl::DataLossError("row 1"); };
  EXPECT_TRUE(absl::IsDataLoss(MakeAdapter().Suggest(Device{"New"}.Sheet(), fails, 10).status()));
  const auto endless = []() -> absl::StatusOr<std::optional<graph::Graph>> { return Perceptron(64); };
  int asked = 0;
  const std::function<bool()> cancelled = [&asked] { return ++asked > 1; };
  EXPECT_TRUE(absl::IsCancelled(MakeAdapter().Suggest(Device{"New"}.Sheet(), endless, 10, {{}, cancelled}).status()));
}

TEST_F(AdapterTest, FiveSamplesThatHardlyAgreeStillCount) {
  Device device{"New", 150, 25};
  device.factors.fill(1.7);
  std::vector<store::TimedNetwork> samples = Timed(device, 5);
  const double own[] = {1.3, 0.8, 1.15, 0.75, 1.25};  // what is each network's alone
  for (size_t i = 0; i < samples.size(); ++i) samples[i].latency_us *= own[i];
  const auto sheet = MakeAdapter().Adapt(device.Sheet(), {}), c = MakeAdapter().Adapt(device.Sheet(), samples);
  ASSERT_TRUE(sheet.ok() && c.ok());
  EXPECT_LT(Error(*c, device), 0.6 * Error(*sheet, device));
}

TEST(AdaptTerms, LaunchingIsStoredBehindTheOtherCoefficients) {
  AdaptVector coefficients{};
  coefficients[0] = 0.25;
  coefficients[kLaunchTerm] = -0.5;
  const std::vector<double> stored = StoredCoefficients(coefficients);
  EXPECT_EQ(stored[0], 0.25);
  EXPECT_EQ(LaunchCoefficient(stored), -0.5);
  EXPECT_EQ(LaunchCoefficient({0.25, 0.1}), 0);
  EXPECT_GT(LaunchTerm(std::log(5.0)), 0.8);
  EXPECT_LT(LaunchTerm(std::log(2000.0)), 0.03);
}

TEST(ThatRunAlike, GpusAreExplainedByTheirOwnWayOfComputingFirst) {
  const auto gpu = [](const std::string& runtime, const std::string& precision, const std::string& compile = "eager") {
    TargetSpec spec;
    spec.kind = "gpu";
    spec.runtime = runtime;
    spec.precision = precision;
    spec.compile = compile;
    return spec;
  };
  const std::vector<TargetSpec> known = {gpu("torch-2.5", "tf32-convolutions"), gpu("torch-2.4", "amp-float16"),
                                         gpu("libtorch-2.11", "bfloat16"), gpu("torch-2.9", "bfloat16", "inductor"),
                                         gpu("libtorch-2.11", "float32")};
  std::vector<const TargetSpec*> all;
  for (const TargetSpec& spec : known) all.push_back(&spec);
  using Places = std::vector<size_t>;
  EXPECT_EQ(ThatRunAlike(gpu("torch-2.6", "bfloat16"), all), Places{2});
  EXPECT_EQ(ThatRunAlike(gpu("torch-2.6", "float16", "inductor"), all), Places{3});
  EXPECT_EQ(ThatRunAlike(gpu("torch-2.6", "amp-float16"), all), Places{1});
  EXPECT_EQ(ThatRunAlike(gpu("torch-2.6", "float32"), all), Places{0});
  EXPECT_EQ(ThatRunAlike(gpu("libtorch-2.1", "tf32"), all), Places{4});
  EXPECT_EQ(ThatRunAlike(gpu("ncnn", "float16"), all).size(), known.size());
  const std::vector<const TargetSpec*> casts = {&known[0], &known[1]};  // no tensors in half: next is autocast
  EXPECT_EQ(ThatRunAlike(gpu("torch-2.6", "bfloat16"), casts), Places{1});
}

TEST(SheetDistance, NearDevicesOfTheSameRuntimeAreNear) {
  TargetSpec a;
  a.kind = "cpu";
  a.runtime = "ncnn-1.0";
  a.device = "RK3588 (Cortex-A76 2.4GHz x 4)";
  TargetSpec b = a, c = a, d = a;
  b.device = "Radxa, RK3588, Cortex-A76";
  c.device = "Something Else 9000";
  d.runtime = "torch-2.0";
  EXPECT_LT(SheetDistance(a, b), SheetDistance(a, c));
  EXPECT_LT(SheetDistance(a, c), SheetDistance(c, d));
  TargetSpec later = a, unknown = a;
  later.runtime = "ncnn-1.1";
  unknown.runtime = "ncnn";
  EXPECT_LT(SheetDistance(a, a), SheetDistance(a, later));
  EXPECT_LT(SheetDistance(a, later), SheetDistance(a, d));
  EXPECT_EQ(SheetDistance(a, unknown), SheetDistance(a, a));
  a.peak_gflops = a.memory_gb_per_s = b.peak_gflops = b.memory_gb_per_s = 100;
  c.peak_gflops = c.memory_gb_per_s = 400;
  EXPECT_LT(SheetDistance(a, b), SheetDistance(a, c));
}

// Autocast's target has seen no network without casts: it stands for another half precision as it
// is.
TEST(FilledFrom, HalfPrecisionIsThatOfTheTrainedTarget) {
  TargetSpec machine, trained;
  machine.precision = "float16";
  machine.peak_gflops = 65'000;
  trained.precision = "amp-float16";
  trained.peak_gflops = 71'000;
  trained.memory_gb_per_s = 936;
  const TargetSpec filled = FilledFrom(machine, trained);
  EXPECT_EQ(filled.precision, "amp-float16");
  EXPECT_EQ(filled.peak_gflops, 65'000);
  EXPECT_EQ(filled.memory_gb_per_s, 936);
  machine.precision = "float32";
  EXPECT_EQ(FilledFrom(machine, trained).precision, "float32");
}

// How PyTorch launches kernels no driver for phones says; how half precision computes another half
// precision does.
TEST(SheetDistance, PyTorchOnAGpuIsLikePyTorch) {
  TargetSpec asked;
  asked.kind = "gpu";
  asked.runtime = "torch-2.4";
  asked.precision = "float16";
  asked.peak_gflops = 65'000;
  TargetSpec autocast = asked, vulkan = asked, single = asked;
  autocast.precision = "amp-float16";
  autocast.peak_gflops = 4 * asked.peak_gflops;
  vulkan.runtime = "ncnn";
  single.precision = "float32";
  EXPECT_LT(SheetDistance(asked, autocast), SheetDistance(asked, vulkan));
  autocast.peak_gflops = asked.peak_gflops;
  EXPECT_LT(SheetDistance(asked, autocast), SheetDistance(asked, single));
  EXPECT_LT(SheetDistance(asked, single), SheetDistance(asked, vulkan));
}

}  // namespace
}  // namespace cobra::predict
