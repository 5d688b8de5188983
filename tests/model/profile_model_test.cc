#include "model/predict/adapt/profile_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "graph/builder/net_builder.h"
#include "graph/form/fingerprint.h"
#include "model/predict/adapt/profile_adapter.h"
#include "model/predict/target/device_words.h"

namespace cobra::predict {
namespace {

constexpr size_t kNetworks = 20;

// A device takes a time for arithmetic and one for bytes; networks need both in different shares.
struct Device {
  std::string name;
  double gflops = 10, gb_per_s = 5;

  TargetSpec Sheet() const {
    TargetSpec spec;
    spec.name = spec.device = name;
    spec.kind = "cpu";
    spec.runtime = "ncnn";
    spec.peak_gflops = gflops;
    spec.clock_mhz = 100 * gflops;
    spec.memory_gb_per_s = gb_per_s;
    spec.vector_bits = 128;
    return spec;
  }
  double LogUs(size_t network) const {
    const auto n = static_cast<double>(network);
    return std::log((50 + 40 * n) / gflops + (300 - 12 * n) / gb_per_s);
  }
};

std::vector<Device> Devices(size_t count) {
  std::vector<Device> devices;
  std::mt19937 random(3);
  std::uniform_real_distribution<> factor(-1, 1);
  for (size_t d = 0; d < count; ++d)
    devices.push_back({"Board " + std::to_string(d), 20 * std::exp(factor(random)), 8 * std::exp(factor(random))});
  return devices;
}

class ProfileModelTest : public testing::Test {
 protected:
  ProfileModelTest() : devices_(Devices(24)), model_(Specs(), Reference()) {}

  std::vector<TargetSpec> Specs() const {
    std::vector<TargetSpec> specs;
    for (const Device& device : devices_) specs.push_back(device.Sheet());
    return specs;
  }
  CalibrationProfile::Network Network(size_t number) const {
    CalibrationProfile::Network network;
    for (const Device& device : devices_) network.log_us.push_back(device.LogUs(number));
    return network;
  }
  std::vector<std::vector<double>> Reference() const {
    std::vector<std::vector<double>> reference;
    for (size_t n = 0; n < kNetworks; ++n) reference.push_back(Network(n).log_us);
    return reference;
  }
  std::vector<CalibrationProfile::Sample> Timed(const Device& device, std::vector<size_t> networks) const {
    std::vector<CalibrationProfile::Sample> samples;
    for (const size_t n : networks) samples.push_back({Network(n), device.LogUs(n)});
    return samples;
  }
  // The mean error on what was not timed.
  double ErrorOn(const Device& device, const ProfileModel::Question& question) const {
    double sum = 0;
    for (size_t n = 1; n < kNetworks; n += 2)
      sum += std::fabs(question.Answer(Network(n)).log_us - device.LogUs(n)) / (kNetworks / 2.0);
    return sum;
  }

  std::vector<Device> devices_;
  ProfileModel model_;
};

TEST_F(ProfileModelTest, FewSamplesSayHowADeviceDiffersFromAll) {
  const Device device{"New", 35, 4};
  const double by_sheet = ErrorOn(device, model_.Ask(device.Sheet(), {}));
  const double three = ErrorOn(device, model_.Ask(device.Sheet(), Timed(device, {0, 8, 18})));
  const double ten = ErrorOn(device, model_.Ask(device.Sheet(), Timed(device, {0, 2, 4, 6, 8, 10, 12, 14, 16, 18})));
  EXPECT_LT(three, 0.1);
  EXPECT_LT(three, by_sheet);
  EXPECT_LE(ten, three);
  EXPECT_LT(ten, 0.04);
}

TEST_F(ProfileModelTest, ADeviceThatWasMeasuredIsItself) {
  for (const size_t d : {0, 7, 23}) {
    const Device& device = devices_[d];
    const ProfileModel::Question known = model_.Ask(device.Sheet(), {});
    EXPECT_LT(ErrorOn(device, known), 1e-6) << device.name;
    EXPECT_EQ(known.Weights()[d], 1) << device.name;
    Device renamed = device;
    renamed.name = "New";
    const ProfileAnswer as_itself = known.Answer(Network(3)),
                        as_another = model_.Ask(renamed.Sheet(), {}).Answer(Network(3));
    EXPECT_LT(as_itself.high - as_itself.low, as_another.high - as_another.low);
    TargetSpec other_cores = device.Sheet();  // of the same name: the little ones
    other_cores.clock_mhz /= 2;
    EXPECT_GT(ErrorOn(device, model_.Ask(other_cores, {})), 0.05);
  }
  // Timings that say otherwise count more.
  Device slower = devices_[7];
  slower.gflops /= 1.5;
  slower.gb_per_s /= 1.5;
  EXPECT_LT(ErrorOn(slower, model_.Ask(devices_[7].Sheet(), Timed(slower, {0, 4, 8, 12, 18}))), 0.05);
}

TEST_F(ProfileModelTest, ADeviceTwiceAsSlowAsAnyIsFound) {
  Device slow = devices_[0];
  slow.name = "Slow";
  slow.gflops /= 8;
  slow.gb_per_s /= 8;
  EXPECT_LT(ErrorOn(slow, model_.Ask(slow.Sheet(), Timed(slow, {2, 10, 18}))), 0.1);
}

TEST_F(ProfileModelTest, IntervalsNarrowWithSamplesAndWidenForUnknownNetworks) {
  const Device device{"New", 12, 9};
  const auto width = [&](const std::vector<CalibrationProfile::Sample>& samples, double variance) {
    CalibrationProfile::Network network = Network(5);
    network.variance = variance;
    const ProfileAnswer answer = model_.Ask(device.Sheet(), samples).Answer(network);
    EXPECT_LE(answer.low, answer.log_us);
    EXPECT_GE(answer.high, answer.log_us);
    return answer.high - answer.low;
  };
  EXPECT_LT(width(Timed(device, {2, 10, 18}), 0), width({}, 0));
  EXPECT_LT(width(Timed(device, {0, 2, 4, 8, 10, 12, 14, 18}), 0), width(Timed(device, {2}), 0));
  EXPECT_GT(width(Timed(device, {2, 10, 18}), 0.04), width(Timed(device, {2, 10, 18}), 0));
}

TEST_F(ProfileModelTest, WithoutADeviceItsTargetHasNoWeight) {
  const Device& device = devices_[7];
  const std::vector<CalibrationProfile::Sample> samples = Timed(device, {1, 6, 11, 16});
  const std::vector<double> with = model_.Ask(device.Sheet(), samples).Weights();
  const std::vector<double> without = model_.Ask(device.Sheet(), samples, device.name).Weights();
  EXPECT_GT(with[7], 0.1);
  EXPECT_EQ(without[7], 0);
}

TEST_F(ProfileModelTest, SamplesThatContradictEachOtherAreAnsweredWithFiniteNumbers) {
  std::vector<CalibrationProfile::Sample> samples = Timed(devices_[0], {4, 4, 4});
  samples[1].measured_log_us += 3;
  samples[2].measured_log_us -= 3;
  const ProfileAnswer answer = model_.Ask(devices_[0].Sheet(), samples).Answer(Network(4));
  EXPECT_TRUE(std::isfinite(answer.log_us));
  EXPECT_TRUE(std::isfinite(answer.low) && std::isfinite(answer.high));
}

TEST_F(ProfileModelTest, HeldOutErrorsAreComparedWithTheirIntervals) {
  const std::vector<double> scores = model_.HeldOutScores(5);
  ASSERT_FALSE(scores.empty());
  for (const double score : scores) EXPECT_TRUE(score >= 0 && std::isfinite(score));
}

// `dropouts`: calls that return their argument, so that the fingerprint is the same.
graph::Graph Perceptron(int64_t width, int dropouts = 0) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({4, width});
  for (int i = 0; i < dropouts; ++i) x = b.Call(graph::Op::dropout, {{"p", 0.5}}, {x});
  for (int i = 0; i < 3; ++i) x = b.ReluInPlace(b.Linear(x, width));
  return std::move(b).Finish({x}).value();
}

class ProfileAdapterTest : public testing::Test {
 protected:
  explicit ProfileAdapterTest(size_t devices = 14) : devices_(Devices(devices)), network_us_(devices) {
    for (size_t d = 0; d < devices; ++d) {
      for (size_t n = 0; n < kNetworks; ++n) {
        // Gaps: not every device has every network.
        if ((d + n) % 7 == 0) continue;
        network_us_[d][Fingerprint(n)] = std::exp(devices_[d].LogUs(n));
      }
    }
  }
  static graph::Graph Graph(size_t number) { return Perceptron(static_cast<int64_t>(8 + 8 * number)); }
  static std::string Fingerprint(size_t number) { return graph::Fingerprint(Graph(number)).ToHex(); }
  // Predictions are a tenth too large.
  ProfileAdapter Make() const {
    std::vector<ProfiledTarget> targets;
    for (size_t d = 0; d < devices_.size(); ++d) targets.push_back({devices_[d].Sheet(), &network_us_[d]});
    return ProfileAdapter(
        targets, [this](const graph::Graph& graph, absl::Span<const size_t> asked, const std::function<bool()>&) {
          ProfileAdapter::Totals totals;
          num_asked_ = asked.size();
          const auto number = static_cast<size_t>(graph.inputs()[0].type.shape[1] - 8) / 8;
          const double dropouts = static_cast<double>(graph.nodes().size()) - kCallsOfPerceptron;
          for (const size_t d : asked) totals.log_us.push_back(devices_[d].LogUs(number) + 0.1 + dropouts);
          totals.half_width = 0.3;
          return totals;
        });
  }
  static constexpr int kCallsOfPerceptron = 6;
  std::vector<Device> devices_;
  std::vector<std::map<std::string, double>> network_us_;
  mutable size_t num_asked_ = 0;
};

// Callers share what is kept: one's network may not be taken for another's.
TEST_F(ProfileAdapterTest, ANetworkOfTheSameFingerprintChangesNoAnswer) {
  const ProfileAdapter adapter = Make();
  const auto peers = adapter.PeersOf(devices_[0].Sheet(), {});
  ASSERT_NE(peers, nullptr);
  constexpr int64_t kWidth = 8 + 8 * (kNetworks + 5);
  const graph::Graph padded = Perceptron(kWidth, 3), plain = Perceptron(kWidth);
  ASSERT_EQ(graph::Fingerprint(padded), graph::Fingerprint(plain));
  const auto slow = adapter.View(*peers, padded), fast = adapter.View(*peers, plain);
  ASSERT_TRUE(slow.ok() && fast.ok());
  EXPECT_NEAR(slow->log_us[0], fast->log_us[0] + 3, 1e-9);
}

TEST_F(ProfileAdapterTest, MeasurementsStandInForPredictions) {
  const ProfileAdapter adapter = Make();
  const auto peers = adapter.PeersOf(devices_[0].Sheet(), {});
  ASSERT_NE(peers, nullptr);
  const auto known = adapter.View(*peers, Graph(3));
  ASSERT_TRUE(known.ok()) << known.status();
  // Two of the fourteen devices did not measure it: what they take follows from the others, nearly.
  EXPECT_GT(known->variance, 0);
  EXPECT_LT(known->variance, 0.005);
  for (size_t d = 0; d < devices_.size(); ++d) {
    const double tolerance = (d + 3) % 7 == 0 ? 0.08 : 1e-9;
    EXPECT_NEAR(known->log_us[d], devices_[d].LogUs(3), tolerance) << d;
  }
  const auto unknown = adapter.View(*peers, Graph(kNetworks + 5));
  ASSERT_TRUE(unknown.ok()) << unknown.status();
  EXPECT_GT(unknown->variance, 0);
  EXPECT_NEAR(unknown->log_us[0], devices_[0].LogUs(kNetworks + 5) + 0.1, 1e-9);
}

class ManyPeersTest : public ProfileAdapterTest {
 protected:
  ManyPeersTest() : ProfileAdapterTest(60) {}
};

TEST_F(ManyPeersTest, AFewAreAskedAndTheOthersFollow) {
  const ProfileAdapter adapter = Make();
  const auto peers = adapter.PeersOf(devices_[0].Sheet(), {});
  ASSERT_NE(peers, nullptr);
  const graph::Graph unknown = Graph(kNetworks);
  const auto all = adapter.View(*peers, unknown);
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_EQ(num_asked_, 60);
  std::vector<double> weights(60, 0.001);
  weights[41] = 0.9;
  const auto few = adapter.View(*peers, unknown, weights);
  ASSERT_TRUE(few.ok()) << few.status();
  EXPECT_LE(num_asked_, 20);
  EXPECT_EQ(few->log_us[41], all->log_us[41]) << "the one that matters is asked";
  for (size_t d = 0; d < 60; ++d) EXPECT_NEAR(few->log_us[d], all->log_us[d], 0.1) << d;
  EXPECT_NEAR(few->variance, all->variance, 1e-9);
  // Whom one asks about a network, others' answers do not replace.
  weights[41] = 0.001;
  weights[2] = 0.9;
  EXPECT_EQ(adapter.View(*peers, unknown, weights)->log_us[2], all->log_us[2]);
  EXPECT_EQ(adapter.View(*peers, unknown)->log_us, all->log_us);
}

TEST(ProfileLandmarksTest, WhatIsKnownStaysAndOneIsEnough) {
  std::vector<std::vector<double>> reference;
  for (double n = 0; n < 8; ++n) reference.push_back({n, n + 1, n + 3 + 0.1 * (static_cast<int>(n) % 3)});
  const ProfileLandmarks landmarks(reference);
  ASSERT_FALSE(landmarks.best().empty());
  EXPECT_EQ(landmarks.best()[0], 2) << "the others follow from each other";
  const double nothing = std::nan("");
  std::vector<double> network = {nothing, 6, nothing};
  landmarks.Fill(&network);
  EXPECT_NEAR(network[0], 5, 0.1);
  EXPECT_EQ(network[1], 6);
  EXPECT_NEAR(network[2], 8.1, 0.2);
}

// All targets alike: nothing tells one from another.
TEST(ProfileLandmarksTest, TargetsMayBeTheSame) {
  const ProfileLandmarks landmarks({{1, 1, 1}, {2, 2, 2}});
  ASSERT_EQ(landmarks.best().size(), 1);
  std::vector<double> network(3, std::nan(""));
  network[landmarks.best()[0]] = 4;
  landmarks.Fill(&network);
  for (const double value : network) EXPECT_NEAR(value, 4, 1);
}

TEST_F(ProfileAdapterTest, AFewMeasurementsLessenTheErrorOfAPrediction) {
  constexpr size_t kFew = kNetworks + 2;
  for (size_t d = 0; d < 3; ++d) network_us_[d][Fingerprint(kFew)] = std::exp(devices_[d].LogUs(kFew));
  const ProfileAdapter adapter = Make();
  const auto peers = adapter.PeersOf(devices_[0].Sheet(), {});
  ASSERT_NE(peers, nullptr);
  const auto few = adapter.View(*peers, Graph(kFew)), none = adapter.View(*peers, Graph(kFew + 1));
  ASSERT_TRUE(few.ok() && none.ok());
  EXPECT_GT(few->variance, 0);
  EXPECT_LT(few->variance, none->variance / 4);
  EXPECT_NEAR(few->log_us[1], devices_[1].LogUs(kFew), 1e-9);
  // Of the prediction's error, a tenth, seven parts in ten are expected elsewhere.
  EXPECT_NEAR(few->log_us[5], devices_[5].LogUs(kFew) + 0.03, 1e-6);
}

TEST_F(ProfileAdapterTest, OnlyTargetsOfOneRuntimeAreCompared) {
  const ProfileAdapter adapter = Make();
  TargetSpec machine = devices_[0].Sheet();
  machine.runtime = "onnxruntime-1.20";
  EXPECT_EQ(adapter.PeersOf(machine, {}), nullptr);
  machine.runtime = "ncnn-20240101";
  ASSERT_NE(adapter.PeersOf(machine, {}), nullptr);
  EXPECT_EQ(adapter.PeersOf(machine, {})->targets.size(), devices_.size());
  EXPECT_EQ(adapter.PeersOf(machine, {devices_[2].name})->targets.size(), devices_.size() - 1);
}

TEST_F(ProfileAdapterTest, AStoredProfileOfAnotherVersionIsRefused) {
  const ProfileAdapter adapter = Make();
  CalibrationProfile profile;
  profile.targets = {"Board 1", "Board of another version"};
  const auto peers = adapter.PeersOf(profile);
  ASSERT_FALSE(peers.ok());
  EXPECT_EQ(peers.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(peers.status().message().find("Board of another version"), std::string::npos);
}

class FewDevicesTest : public ProfileAdapterTest {
 protected:
  FewDevicesTest() : ProfileAdapterTest(6) {}
};

TEST_F(FewDevicesTest, HaveNoPeers) { EXPECT_EQ(Make().PeersOf(devices_[0].Sheet(), {}), nullptr); }

TEST(DeviceWords, NameArchitectureAndCore) {
  const auto architecture = [](const char* kind, const char* device, double bits) {
    TargetSpec spec;
    spec.kind = kind;
    spec.device = device;
    spec.vector_bits = bits;
    return ArchitectureOf(spec);
  };
  EXPECT_EQ(architecture("cpu", "Rockchip RK3588 (Cortex-A76 2.4GHz x 4 + Cortex-A55 1.8GHz x 4)", 128), "arm64");
  EXPECT_EQ(architecture("cpu", "Rockchip RK3288 (Cortex-A17 1.8GHz x 4)", 64), "arm32");
  EXPECT_EQ(architecture("cpu", "AMD EPYC 7742", 256), "x86");
  EXPECT_EQ(architecture("gpu", "Mali-G610 MP4 (RK3588)", 0), "mali");
  EXPECT_EQ(architecture("gpu", "Something Else", 0), "other");
  EXPECT_EQ(CoreOf("Rockchip RK3588 (Cortex-A76 2.4GHz x 4 + Cortex-A55 1.8GHz x 4)"), "a76");
  EXPECT_EQ(CoreOf("Allwinner H6 (Cortex\xe2\x80\x91"
                   "A53)"),
            "a53");
  EXPECT_EQ(CoreOf("Intel Celeron"), "");
}

}  // namespace
}  // namespace cobra::predict
