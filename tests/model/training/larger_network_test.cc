#include "model/training/rows/larger_network.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "graph/builder/builder.h"
#include "graph/builder/net_builder.h"
#include "graph/cost/cost.h"

namespace cobra::training {
namespace {

using graph::ValueRef;
using Ints = std::vector<int64_t>;

graph::Graph SmallNet(int64_t batch) {
  graph::NetBuilder net;
  ValueRef x = net.Input({batch, 3, 16, 16});
  x = net.Conv2d(x, {.out_channels = 8, .kernel_size = 3, .padding = 1});
  x = net.Relu(net.BatchNorm2d(x));
  return std::move(net).Finish({x}).value();
}

TEST(TwiceTheBatch, IsTheGraphThatTheReaderWouldMake) {
  const auto twice = WithTwiceTheBatch(SmallNet(3));
  ASSERT_TRUE(twice.has_value());
  const graph::Graph read = SmallNet(6);
  ASSERT_EQ(twice->nodes().size(), read.nodes().size());
  for (size_t i = 0; i < read.nodes().size(); ++i) EXPECT_EQ(twice->nodes()[i].outputs, read.nodes()[i].outputs) << i;
  EXPECT_EQ(graph::CostOf(*twice).macs, 2 * graph::CostOf(SmallNet(3)).macs);
}

// x: [2, 6, 4] -> a call with sizes of its own.
std::optional<graph::Graph> TwiceOf(graph::Op op, graph::Attributes attributes) {
  graph::GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{2, 6, 4}, graph::DType::float32});
  const auto call = b.Add(op, std::move(attributes), {x});
  EXPECT_TRUE(call.ok()) << call.status();
  return WithTwiceTheBatch(std::move(b).Build({ValueRef::Node(*call)}));
}

TEST(TwiceTheBatch, SizesOfViewsFollow) {
  const auto flat = TwiceOf(graph::Op::reshape, {{"shape", Ints{2, 24}}});
  ASSERT_TRUE(flat.has_value());
  EXPECT_EQ(flat->nodes()[0].outputs[0].shape, (graph::Shape{4, 24}));
  const auto heads = TwiceOf(graph::Op::reshape, {{"shape", Ints{4, 3, 4}}});
  ASSERT_TRUE(heads.has_value());
  EXPECT_EQ(heads->nodes()[0].outputs[0].shape, (graph::Shape{8, 3, 4}));
}

TEST(TwiceTheBatch, WhatIsNotSeenThroughIsNotGuessed) {
  // The batch is summed away, so nothing behind it grows.
  EXPECT_FALSE(TwiceOf(graph::Op::sum, {{"dim", Ints{0}}, {"keepdim", false}}).has_value());
  graph::GraphBuilder b;
  const ValueRef x = b.AddInput("x", {{2, 4}, graph::DType::float32});
  const ValueRef y = b.AddInput("y", {{3, 4}, graph::DType::float32});
  const auto call = b.Add(graph::Op::matmul, {}, {x, b.AddParameter("w", {{4, 4}, graph::DType::float32})});
  EXPECT_FALSE(WithTwiceTheBatch(std::move(b).Build({ValueRef::Node(*call), y})).has_value()) << "two batches";
}

TEST(PerceptronsByWidth, AreOneNetworkWithMoreWorkEach) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 20; ++i) {
    const std::vector<graph::Graph> by_width = PerceptronsByWidth(&random);
    ASSERT_GE(by_width.size(), 3U);
    for (size_t k = 1; k < by_width.size(); ++k) {
      EXPECT_EQ(by_width[k].nodes().size(), by_width[0].nodes().size());
      EXPECT_GE(graph::CostOf(by_width[k]).macs, 4 * graph::CostOf(by_width[k - 1]).macs);
    }
  }
}

}  // namespace
}  // namespace cobra::training
