#include "lab/sums/layer_sum.h"

#include <utility>

#include "graph/builder/builder.h"
#include "graph/builder/extract.h"
#include "graph/form/fingerprint.h"
#include "gtest/gtest.h"

namespace cobra::lab {
namespace {

graph::TensorType Float(graph::Shape shape) { return graph::TensorType{std::move(shape), graph::DType::float32}; }

// relu -> view -> relu, of so many numbers.
graph::Graph TwoRelus(int64_t width) {
  graph::GraphBuilder b;
  const graph::ValueRef x = b.AddInput("x", Float({2, width}));
  const int32_t first = *b.Add(graph::Op::relu, {}, {x});
  graph::Attributes dims;
  dims.Set("dim0", int64_t{0});
  dims.Set("dim1", int64_t{1});
  const int32_t view = *b.Add(graph::Op::transpose, dims, {graph::ValueRef::Node(first, 0)});
  const int32_t second = *b.Add(graph::Op::relu, {}, {graph::ValueRef::Node(view, 0)});
  return std::move(b).Build({graph::ValueRef::Node(second, 0)});
}

training::Sample Network(int64_t width, double latency_us, std::vector<double> node_latency_us, double profile_us) {
  training::Sample sample;
  store::SetGraph(TwoRelus(width), &sample.measurement.subject);
  sample.measurement.subject.is_network = true;
  sample.measurement.subject.label = "family";
  sample.measurement.latency.median_us = latency_us;
  sample.node_latency_us = std::move(node_latency_us);
  sample.profile_us = profile_us;
  return sample;
}

// A call of a network, measured alone.
training::Sample Alone(const graph::Graph& network, int32_t node, double latency_us) {
  training::Sample sample;
  store::SetGraph(*graph::ExtractLayer(network, node), &sample.measurement.subject);
  sample.measurement.subject.label = "relu";
  sample.measurement.latency.median_us = latency_us;
  return sample;
}

TEST(LayerSumTest, EveryLayerMeasuredAlone) {
  training::Dataset data;
  data.samples.push_back(Network(64, 100, {50, 10, 40}, 110));  // the profile itself: 55, 11, 44
  data.samples.push_back(Alone(data.samples[0].graph(), 0, 44));
  data.samples.push_back(Alone(data.samples[0].graph(), 2, 33));
  const auto sum = CompareLayerSums(data, {});
  ASSERT_TRUE(sum.ok()) << sum.status();
  const LayerSumRow& row = sum->families.at("family");
  EXPECT_EQ(row.networks, 1);
  EXPECT_DOUBLE_EQ(row.profile_over_measured, 1.1);
  EXPECT_DOUBLE_EQ(row.covered, 1);  // the view is not a layer
  EXPECT_DOUBLE_EQ(row.alone_over_inside, 77.0 / 99);
  EXPECT_EQ(row.complete, 1);
  EXPECT_DOUBLE_EQ(row.sum_over_measured, 0.77);
  EXPECT_NEAR(row.sum.mape, 0.23, 1e-9);
  const PairedCalls& relu = sum->operators.at("relu");
  EXPECT_EQ(relu.calls, 2);
  EXPECT_DOUBLE_EQ(relu.alone_us, 77);
  EXPECT_DOUBLE_EQ(relu.inside_us, 99);
  EXPECT_DOUBLE_EQ(relu.median_ratio, (44.0 / 55 + 33.0 / 44) / 2);
  EXPECT_EQ(sum->families.at("all").networks, 1);
  ASSERT_EQ(sum->sizes.size(), 1u);  // both read and write 512 bytes
  EXPECT_EQ(sum->sizes.begin()->second.calls, 2);
}

TEST(LayerSumTest, WithALayerMissingTheNetworkDoesNotCount) {
  training::Dataset data;
  data.samples.push_back(Network(64, 100, {60, 0, 40}, 100));
  data.samples.push_back(Network(65, 100, {60, 0, 40}, 100));  // none of its layers
  data.samples.push_back(Alone(data.samples[0].graph(), 0, 30));
  const auto sum = CompareLayerSums(data, {});
  ASSERT_TRUE(sum.ok()) << sum.status();
  const LayerSumRow& row = sum->families.at("all");
  EXPECT_EQ(row.networks, 2);
  EXPECT_EQ(row.complete, 0);
  EXPECT_DOUBLE_EQ(row.covered, 0.3);
  EXPECT_DOUBLE_EQ(row.alone_over_inside, 0.5);
}

TEST(LayerSumTest, LayersMeasuredForThisCountFirst) {
  training::Dataset data;
  data.samples.push_back(Network(64, 100, {60, 0, 40}, 100));
  data.samples.push_back(Alone(data.samples[0].graph(), 0, 30));
  const std::vector<training::Sample> more = {Alone(data.samples[0].graph(), 0, 45),
                                              Alone(data.samples[0].graph(), 2, 40)};
  const auto sum = CompareLayerSums(data, more);
  ASSERT_TRUE(sum.ok()) << sum.status();
  EXPECT_EQ(sum->families.at("family").complete, 1);
  EXPECT_DOUBLE_EQ(sum->families.at("family").sum_over_measured, 0.85);
}

TEST(LayerSumTest, WithoutAProfileThereIsNothingToCompare) {
  training::Dataset data;
  data.samples.push_back(Network(64, 100, {}, 0));
  EXPECT_EQ(CompareLayerSums(data, {}).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace cobra::lab
