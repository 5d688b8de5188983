// The published network: its sizes, and what it may and may not depend on.
#include "lab/published/networks/gcn.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lab/published/regressions/boosted_trees.h"
#include "lab/published/regressions/linear.h"

namespace cobra::lab {
namespace {

constexpr int kKinds = 3;

space::OpGraph Chain() { return {{0, 1, 2}, {{0, 1}, {1, 2}}}; }
space::OpGraph Loose() { return {{0, 1, 2}, {}}; }
space::OpGraph Backwards() { return {{0, 1, 2}, {{1, 0}, {2, 1}}}; }

GcnOptions Small() {
  GcnOptions options;
  options.kinds = kKinds;
  options.width = 16;
  return options;
}

// What one network says of each graph.
std::vector<double> Latencies(const std::vector<space::OpGraph>& graphs, const GcnOptions& options) {
  at::manual_seed(5);
  at::NoGradGuard no_grad;
  Gcn net(options);
  net.eval();
  const at::Tensor latency = net.Latency(MakeGcnGraphs(space::MakeDense(graphs, kKinds), options)).to(at::kDouble);
  return {latency.data_ptr<double>(), latency.data_ptr<double>() + latency.numel()};
}

TEST(Gcn, IsAsLargeAsPublished) {
  GcnOptions options;
  options.kinds = 5;  // with the global node 6
  const int64_t first = 6 * 600 + 600, block = 600 * 600 + 600, norm = 2 * 600, out = 601;
  EXPECT_EQ(space::ParametersOf(Gcn(options)), first + 3 * block + 4 * norm + out);
}

TEST(Gcn, DoesNotDependOnTheNamesOfNodes) {
  const space::OpGraph renamed{{2, 0, 1}, {{1, 2}, {2, 0}}};
  const std::vector<double> latencies = Latencies({Chain(), renamed}, Small());
  EXPECT_NEAR(latencies[0], latencies[1], 1e-5);
}

TEST(Gcn, SeesWhichWayDataFlows) {
  const std::vector<double> latencies = Latencies({Chain(), Backwards(), Loose()}, Small());
  EXPECT_GT(std::abs(latencies[0] - latencies[1]), 1e-4);
  EXPECT_GT(std::abs(latencies[0] - latencies[2]), 1e-4);
}

TEST(Gcn, WithAnIdentityForAdjacencyEveryGraphIsTheSame) {
  GcnOptions options = Small();
  options.identity_adjacency = true;
  const space::OpGraph other{{2, 2, 1}, {{0, 1}}};
  const std::vector<double> latencies = Latencies({Chain(), Loose(), other}, options);
  EXPECT_NEAR(latencies[0], latencies[1], 1e-6);
  EXPECT_NEAR(latencies[0], latencies[2], 1e-6);
}

TEST(Gcn, RandomFeaturesIgnoreOperations) {
  GcnOptions options = Small();
  options.random_features = true;
  const GcnGraphs graphs = MakeGcnGraphs(space::MakeDense({Chain(), Chain()}, kKinds), options);
  EXPECT_FALSE(graphs.features[0].equal(graphs.features[1]));
  EXPECT_TRUE(graphs.adjacency[0].equal(graphs.adjacency[1]));
}

TEST(Gcn, LearnsToTellGraphsApart) {
  const space::DenseGraphs graphs = space::MakeDense({Chain(), Loose(), Backwards()}, kKinds);
  space::SpaceRowSet rows;
  for (int i = 0; i < 30; ++i) {
    rows.index.push_back(i % 3);
    rows.latency_ms.push_back(1 + i % 3);
  }
  GcnFitOptions options;
  options.net = Small();
  options.batch = 3;
  options.epochs = 80;
  options.learning_rate = 4e-3;
  const GcnFit fit = FitGcn(graphs, rows, rows, options);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(fit.latency_ms[i], 1 + static_cast<double>(i), 0.1);
  EXPECT_LE(fit.epochs, 80);
  EXPECT_EQ(fit.latency_ms, FitGcn(graphs, rows, rows, options).latency_ms);
}

// latency = 1 + 2 a + [b > 2] * 4
struct Rows {
  FeatureRows features;
  std::vector<double> latency;
};
Rows SomeRows() {
  Rows rows;
  for (int a = 0; a < 10; ++a) {
    for (int b = 0; b < 5; ++b) {
      rows.features.push_back({static_cast<double>(a), static_cast<double>(b)});
      rows.latency.push_back(1 + 2 * a + (b > 2 ? 4 : 0));
    }
  }
  return rows;
}

TEST(BoostedTrees, FindsAStepAndIsTheSameFromTheSameSeed) {
  const Rows rows = SomeRows();
  TreeOptions options;
  options.trees = 300;
  options.learning_rate = 0.1;
  options.columns = 1;  // of two; one alone cannot say where they work together
  const auto predicted = FitTrees(rows.features, rows.latency, rows.features, options);
  ASSERT_TRUE(predicted.ok()) << predicted.status();
  double error = 0;
  for (size_t i = 0; i < rows.latency.size(); ++i) error += std::abs((*predicted)[i] / rows.latency[i] - 1);
  EXPECT_LT(error / static_cast<double>(rows.latency.size()), 0.1);
  EXPECT_EQ(*predicted, *FitTrees(rows.features, rows.latency, rows.features, options));
}

TEST(FitLinear, FindsALineAndStaysAboveZero) {
  FeatureRows features;
  std::vector<double> latency;
  for (int a = 0; a < 10; ++a) {
    features.push_back({static_cast<double>(a), static_cast<double>(a * a)});
    latency.push_back(3 + 2.0 * a);
  }
  const std::vector<double> predicted = FitLinear(features, latency, {{20, 0}, {-10, 0}});
  EXPECT_NEAR(predicted[0], 43, 0.1);
  EXPECT_NEAR(predicted[1], 0.3, 1e-6);  // a tenth of the least
}

}  // namespace
}  // namespace cobra::lab
