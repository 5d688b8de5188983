#include "model/predict/adapt/calibration.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <utility>

#include "graph/builder/builder.h"

namespace cobra::predict {
namespace {

graph::Graph ReluLayer(int64_t n) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{n}, graph::DType::float32});
  const int32_t relu = b.Add(graph::Op::relu, {}, {x}).value();
  return std::move(b).Build({graph::ValueRef::Node(relu)});
}

graph::Graph LinearLayer(int64_t n) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", {{1, n}, graph::DType::float32});
  const graph::ValueRef w = b.AddParameter("w", {{n, n}, graph::DType::float32});
  const int32_t linear = b.Add(graph::Op::linear, {}, {x, w, graph::ValueRef::None()}).value();
  return std::move(b).Build({graph::ValueRef::Node(linear)});
}

ComparedMeasurement Compared(graph::Graph graph, bool is_network, double measured_us, double reference_us) {
  ComparedMeasurement compared;
  store::SetGraph(std::move(graph), &compared.measured.subject);
  compared.measured.subject.is_network = is_network;
  compared.measured.latency.median_us = measured_us;
  compared.reference_us = reference_us;
  if (is_network) compared.node_reference_us = {reference_us};
  return compared;
}

// 20 relus that take `relu_factor`, 20 linears that take `linear_factor` times as long as on the
// reference machine, with 2 % of noise.
struct Probe {
  Probe(double relu_factor, double linear_factor) {
    std::mt19937 random(7);
    std::normal_distribution<double> noise(0, 0.02);
    for (int i = 0; i < 20; ++i) {
      Add(ReluLayer(100 + 50 * i), 5 * std::exp(0.3 * i), relu_factor * std::exp(noise(random)));
      Add(LinearLayer(100 + 50 * i), 8 * std::exp(0.3 * i), linear_factor * std::exp(noise(random)));
    }
  }
  void Add(graph::Graph graph, double reference_us, double factor) {
    samples.push_back(Compared(std::move(graph), false, reference_us * factor, reference_us));
  }
  std::vector<ComparedMeasurement> samples;
};

double FactorOf(const Calibration& c, const graph::Graph& g, double us) {
  return std::exp(CalibrationLogCorrection(c, KindOf(g, 0), std::log(us)));
}

TEST(Calibration, RecoversADifferentFactorPerOperatorGroup) {
  const Probe probe(1.5, 3.0);
  const auto c = FitCalibration(probe.samples);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_NEAR(FactorOf(*c, ReluLayer(400), 100), 1.5, 0.15);
  EXPECT_NEAR(FactorOf(*c, LinearLayer(400), 100), 3.0, 0.3);
  EXPECT_GT(c->probe_layer_mape_before, 0.3);
  EXPECT_LT(c->probe_layer_mape_after, 0.06);
}

TEST(Calibration, TheSameMachineIsLeftAlone) {
  const Probe probe(1.0, 1.0);
  const auto c = FitCalibration(probe.samples);
  ASSERT_TRUE(c.ok());
  EXPECT_NEAR(FactorOf(*c, ReluLayer(400), 100), 1.0, 0.02);
  EXPECT_LT(c->interval_log, 0.05);
}

TEST(Calibration, ADisturbedProbeDoesNotBendTheFit) {
  Probe probe(1.5, 3.0);
  probe.samples[3].measured.latency.median_us *= 3;
  probe.samples[10].measured.latency.median_us *= 2.5;
  const auto c = FitCalibration(probe.samples);
  ASSERT_TRUE(c.ok());
  EXPECT_NEAR(FactorOf(*c, ReluLayer(400), 100), 1.5, 0.15);
  EXPECT_NEAR(FactorOf(*c, LinearLayer(400), 100), 3.0, 0.3);
}

TEST(Calibration, NetworksSetOneScale) {
  Probe probe(1.0, 1.0);
  probe.samples.push_back(Compared(LinearLayer(512), true, 1200, 1000));
  const auto c = FitCalibration(probe.samples);
  ASSERT_TRUE(c.ok());
  EXPECT_NEAR(std::exp(c->log_network_scale), 1.2, 0.03);
}

// Ten networks of a relu and a linear layer, which take 1.5 and 3 times as long inside of networks,
// somewhat less alone.
TEST(Calibration, LearnsFromTheProfilesOfNetworks) {
  Probe probe(1.4, 2.6);
  for (int i = 0; i < 10; ++i) {
    graph::GraphBuilder b;
    const int64_t n = 256 + 64 * i;
    const graph::ValueRef x = b.AddInput("x", {{1, n}, graph::DType::float32});
    const graph::ValueRef w = b.AddParameter("w", {{n, n}, graph::DType::float32});
    const int32_t linear = b.Add(graph::Op::linear, {}, {x, w, graph::ValueRef::None()}).value();
    const int32_t relu = b.Add(graph::Op::relu, {}, {graph::ValueRef::Node(linear)}).value();
    const double linear_us = 100 + 40 * i, relu_us = 300 - 20 * i;
    ComparedMeasurement sample = Compared(std::move(b).Build({graph::ValueRef::Node(relu)}), true,
                                          3 * linear_us + 1.5 * relu_us, linear_us + relu_us);
    sample.node_reference_us = {linear_us, relu_us};
    sample.measured.node_latency_us = {3 * linear_us, 1.5 * relu_us};
    sample.half_width = 0.1;
    probe.samples.push_back(std::move(sample));
  }
  const auto c = FitCalibration(probe.samples);
  ASSERT_TRUE(c.ok()) << c.status();
  const double scale = std::exp(c->log_network_scale);
  EXPECT_NEAR(scale * FactorOf(*c, LinearLayer(400), 200), 3.0, 0.3);
  EXPECT_NEAR(scale * FactorOf(*c, ReluLayer(400), 200), 1.5, 0.2);
  EXPECT_LT(c->probe_network_mape_after, 0.05);
  EXPECT_LT(c->held_back_error, 0.3);
}

// Errors without a pattern: terms that follow them would be wrong on what they have not seen.
TEST(Calibration, NoiseIsNotLearned) {
  Probe probe(1.0, 1.0);
  std::mt19937 random(11);
  std::normal_distribution<double> noise(0, 0.3);
  for (ComparedMeasurement& sample : probe.samples) sample.measured.latency.median_us *= std::exp(noise(random));
  const auto c = FitCalibration(probe.samples);
  ASSERT_TRUE(c.ok()) << c.status();
  EXPECT_NEAR(FactorOf(*c, ReluLayer(400), 100), FactorOf(*c, LinearLayer(400), 1000), 0.1);
}

// The layers agree, so that the scatter says nothing: the machine became busy when the networks
// were measured.
TEST(Calibration, IsRefusedIfItsNetworksAreOff) {
  Probe probe(1.0, 1.0);
  for (const double measured_us : {1000.0, 1100.0, 1400.0})
    probe.samples.push_back(Compared(LinearLayer(512), true, measured_us, 1000));
  EXPECT_TRUE(FitCalibration(probe.samples).ok());
  probe.samples[probe.samples.size() - 2].measured.latency.median_us = 5000;
  probe.samples[probe.samples.size() - 1].measured.latency.median_us = 6000;
  const absl::Status status = FitCalibration(probe.samples).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("its networks are off by 13"), absl::string_view::npos) << status;
  EXPECT_NE(status.message().find("leave it alone and measure again"), absl::string_view::npos) << status;
}

TEST(Calibration, RefusesAProbeOfAFewLayers) {
  Probe probe(1, 1);
  probe.samples.resize(5);
  EXPECT_EQ(FitCalibration(probe.samples).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Calibration, SurvivesJson) {
  Probe probe(1.5, 3.0);
  Calibration c = FitCalibration(probe.samples).value();
  c.machine.name = "this-machine";
  c.base_target = "cpu";
  const auto back = CalibrationFromJson(CalibrationToJson(c));
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(back->machine.name, "this-machine");
  EXPECT_EQ(back->coefficients, c.coefficients);
  EXPECT_FALSE(CalibrationFromJson("{").ok());
  EXPECT_FALSE(CalibrationFromJson("{\"machine\":{\"name\":3}}").ok());
}

}  // namespace
}  // namespace cobra::predict
