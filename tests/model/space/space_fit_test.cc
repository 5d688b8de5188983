// Our networks over graphs of operations: what they may depend on, and that they learn.
#include "model/space/models/space_fit.h"

#include <torch/optim/adamw.h>

#include <cmath>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "model/space/models/fused_adamw.h"
#include "model/space/models/gaussian_process.h"
#include "model/training/optimizer.h"

namespace cobra::space {
namespace {

constexpr int kKinds = 4;

// A chain of operations, and one with a branch.
std::vector<OpGraph> SomeGraphs() {
  return {{{0, 1, 2, 3}, {{0, 1}, {1, 2}, {2, 3}}},
          {{0, 2, 1, 3, 1}, {{0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 4}, {4, 3}}}};
}

// The same graph with node i named order[i].
OpGraph Renamed(const OpGraph& graph, const std::vector<int>& order) {
  OpGraph renamed;
  renamed.kind.resize(graph.kind.size());
  for (size_t i = 0; i < graph.kind.size(); ++i) renamed.kind[static_cast<size_t>(order[i])] = graph.kind[i];
  for (const auto& [from, to] : graph.edges)
    renamed.edges.emplace_back(order[static_cast<size_t>(from)], order[static_cast<size_t>(to)]);
  return renamed;
}

AdditiveNetOptions SmallNet() {
  AdditiveNetOptions options;
  options.kinds = kKinds;
  options.width = 16;
  options.layers = 2;
  return options;
}

TEST(AdditiveNet, DoesNotDependOnTheNamesOfNodesNorOnPadding) {
  at::manual_seed(1);
  AdditiveNet net(SmallNet());
  const std::vector<OpGraph> graphs = SomeGraphs();
  const at::Tensor together = net.LogLatency(MakeDense(graphs, kKinds));
  const at::Tensor alone = net.LogLatency(MakeDense({graphs[0]}, kKinds));
  EXPECT_NEAR(together[0].item<double>(), alone[0].item<double>(), 1e-5);
  const at::Tensor renamed = net.LogLatency(MakeDense({Renamed(graphs[1], {3, 1, 4, 0, 2})}, kKinds));
  EXPECT_NEAR(together[1].item<double>(), renamed[0].item<double>(), 1e-5);
}

// Latency of a graph: 1 + kinds of its nodes + edges.
std::pair<DenseGraphs, SpaceRowSet> Task() {
  std::vector<OpGraph> graphs;
  SpaceRowSet rows;
  for (int i = 0; i < 64; ++i) {
    OpGraph graph{{0, 1 + i % 3, 1 + i / 3 % 3, 1 + i / 9 % 3}, {{0, 1}}};
    if (i % 2 == 0) graph.edges.emplace_back(1, 2);
    if (i % 4 < 2) graph.edges.emplace_back(2, 3);
    double ms = 1 + static_cast<double>(graph.edges.size());
    for (int kind : graph.kind) ms += kind;
    rows.index.push_back(i);
    rows.latency_ms.push_back(ms);
    graphs.push_back(std::move(graph));
  }
  return {MakeDense(graphs, kKinds), rows};
}

double MeanError(const std::vector<double>& predicted, const std::vector<double>& measured) {
  double sum = 0;
  for (size_t i = 0; i < measured.size(); ++i) sum += std::abs(predicted[i] / measured[i] - 1);
  return sum / static_cast<double>(measured.size());
}

TEST(AdditiveEnsemble, LearnsASumAndIsTheSameFromTheSameSeed) {
  const auto [graphs, rows] = Task();
  AdditiveFitOptions options;
  options.net = SmallNet();
  options.networks = 2;
  options.epochs = 120;
  options.batch = 8;
  const AdditiveEnsemble ensemble(graphs, rows, options);
  const std::vector<double> predicted = ensemble.LatencyMs(graphs);
  EXPECT_LT(MeanError(predicted, rows.latency_ms), 0.03);
  EXPECT_EQ(predicted, FitAdditive(graphs, rows, options));
  options.seed = 2;
  EXPECT_NE(predicted, FitAdditive(graphs, rows, options));
}

TEST(FusedAdamW, MovesAsLibTorchDoes) {
  at::manual_seed(3);
  const at::Tensor start = at::randn({7, 5});
  const at::Tensor ours = start.clone().set_requires_grad(true), theirs = start.clone().set_requires_grad(true);
  FusedAdamW fused({ours}, {1e-2, 1e-1, 0.9, 0.98});
  torch::optim::AdamW reference = training::MakeOptimizer({theirs}, 1e-2, 1e-1);
  for (int step = 0; step < 20; ++step) {
    ((ours - 1).square() * (step + 1)).sum().backward();
    fused.Step();
    reference.zero_grad();
    ((theirs - 1).square() * (step + 1)).sum().backward();
    reference.step();
  }
  EXPECT_LT((ours - theirs).abs().max().item<double>(), 1e-5);
  EXPECT_GT((ours - start).abs().max().item<double>(), 0.1);
}

// y = (1 + a + b * b)^2 on a grid, where one row is wrong.
TEST(GaussianProcess, FitsACurveThroughAnOutlier) {
  std::vector<std::vector<std::vector<double>>> features;
  std::vector<double> latency;
  for (int a = 0; a < 8; ++a) {
    for (int b = 0; b < 8; ++b) {
      features.push_back({{a / 8.0}, {b / 8.0}});
      latency.push_back(std::pow(1 + a / 8.0 + b * b / 64.0, 2));
    }
  }
  const std::vector<double> truth = latency;
  latency[27] *= 1.5;
  const GaussianProcessFeatures all = MakeGaussianProcessFeatures(features, 0, 1);
  const GaussianProcess process(all, latency, GaussianProcessOptions());
  const std::vector<double> predicted = process.Predict(all);
  EXPECT_LT(MeanError(predicted, truth), 0.02);
  EXPECT_LT(std::abs(predicted[27] / truth[27] - 1), 0.1);
}

}  // namespace
}  // namespace cobra::space
