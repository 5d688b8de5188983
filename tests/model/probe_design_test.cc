#include "model/predict/target/probe_design.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "graph/builder/net_builder.h"
#include "model/predict/target/operator_group.h"

namespace cobra::predict {
namespace {

graph::Graph Convolutions(int64_t width, int64_t groups) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({1, width, 28, 28});
  for (int i = 0; i < 3; ++i)
    x = b.ReluInPlace(b.Conv2d(x, {.out_channels = width, .kernel_size = 3, .padding = 1, .groups = groups}));
  return std::move(b).Finish({x}).value();
}

graph::Graph Perceptron(int64_t width) {
  graph::NetBuilder b;
  graph::ValueRef x = b.Input({64, width});
  for (int i = 0; i < 3; ++i) x = b.ReluInPlace(b.Linear(x, width));
  return std::move(b).Finish({x}).value();
}

struct Pool {
  void Add(graph::Graph graph) { graphs.push_back(std::move(graph)); }
  std::vector<size_t> Design(size_t count) const {
    std::vector<const graph::Graph*> pointers;
    for (const graph::Graph& graph : graphs) pointers.push_back(&graph);
    return DesignProbe(pointers, count);
  }
  std::vector<graph::Graph> graphs;
};

TEST(ProbeDesign, KindsOfNetworksComeBeforeMoreOfOneKind) {
  Pool pool;
  for (int64_t width : {64, 72, 80, 88, 96, 104}) pool.Add(Convolutions(width, 1));
  pool.Add(Convolutions(96, 96));
  for (int64_t width : {512, 640, 768}) pool.Add(Perceptron(width));
  std::set<OperatorGroup> first;
  for (size_t i : pool.Design(3)) first.insert(OperatorGroupOf(pool.graphs[i], pool.graphs[i].nodes()[0]));
  EXPECT_EQ(first, (std::set<OperatorGroup>{kConvDense, kConvGrouped, kProduct}));
}

TEST(ProbeDesign, OfTwoThatTellAsMuchTheFasterOneIsMeasured) {
  Pool pool;
  pool.Add(Perceptron(8192));
  pool.Add(Perceptron(512));
  EXPECT_EQ(pool.Design(1), std::vector<size_t>{1});
}

TEST(ProbeDesign, TakesEachNetworkOnce) {
  Pool pool;
  for (int i = 0; i < 4; ++i) pool.Add(Perceptron(256));
  const std::vector<size_t> order = pool.Design(10);
  EXPECT_EQ(std::set<size_t>(order.begin(), order.end()).size(), 4U);
  EXPECT_TRUE(Pool().Design(3).empty());
}

}  // namespace
}  // namespace cobra::predict
