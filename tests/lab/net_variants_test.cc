#include "lab/variants/net_variants.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <memory>
#include <vector>

#include "lab/variants/pretrain.h"

namespace cobra::lab {
namespace {

net::NetConfig SmallConfig() {
  net::NetConfig config;
  config.vocabulary_size = 5;
  config.value_features = text::kNumValueFeatures;
  config.target_features = 2 + net::kLearnedTargetFeatures;
  config.graph_features = 3;
  config.work_terms = 4;
  config.width = config.graph_width = 8;
  config.heads = 2;
  config.feed_forward = 16;
  return config;
}

// A chain of three calls, and one call alone.
net::GraphBatch SomeGraphs() {
  net::GraphBatch batch;
  batch.sources = at::tensor(std::vector<int64_t>{0, 1}, at::kLong);
  batch.destinations = at::tensor(std::vector<int64_t>{1, 2}, at::kLong);
  batch.graph_of_node = at::tensor(std::vector<int64_t>{0, 0, 0, 1}, at::kLong);
  batch.graph_features = at::randn({2, SmallConfig().graph_features});
  batch.target_features = at::randn({2, SmallConfig().target_features});
  return batch;
}

using MakeNet = std::shared_ptr<net::CobraNet> (*)(const net::NetConfig&, int64_t);

std::shared_ptr<net::CobraNet> MakeOurs(const net::NetConfig& config, int64_t num_targets) {
  return std::make_shared<net::CobraNet>(config, num_targets);
}

// Log-latencies of three layers alone, with little work and with much.
bool SeesWork(MakeNet make_net) {
  at::manual_seed(1);
  const auto net = make_net(SmallConfig(), 1);
  const at::Tensor layers = at::randn({3, SmallConfig().width}), target = at::randn({3, SmallConfig().target_features});
  const at::Tensor work = at::ones({3, SmallConfig().work_terms});
  return !net->layer_head->forward(layers, work, target, {})
              .equal(net->layer_head->forward(layers, work * 9, target, {}));
}

TEST(NetVariants, WithoutPricesWorkIsNotSeen) {
  EXPECT_TRUE(SeesWork(MakeOurs));
  EXPECT_FALSE(SeesWork(MakeNetWithoutPrices));
}

// Whether the calls of the chain have different contributions.
bool HasContributions(MakeNet make_net) {
  at::manual_seed(1);
  const auto net = make_net(SmallConfig(), 1);
  const net::GraphBatch batch = SomeGraphs();
  const at::Tensor log_us = net->graph_net->forward(at::randn({4, SmallConfig().width}), at::randn({4}), batch);
  return !log_us[0].equal(log_us[1]);
}

TEST(NetVariants, OfMeansAllCallsHaveTheSameShare) {
  EXPECT_TRUE(HasContributions(MakeOurs));
  EXPECT_FALSE(HasContributions(MakeNetOfMeans));
}

bool SeesTarget(MakeNet make_net) {
  const at::Tensor spec = at::ones({1, 2}), index = at::zeros({1}, at::kLong);
  return make_net(SmallConfig(), 1)->TargetFeatures(spec, index).abs().sum().item<double>() > 0;
}

TEST(NetVariants, WithoutTargetItsFeaturesAreZero) {
  EXPECT_TRUE(SeesTarget(MakeOurs));
  EXPECT_FALSE(SeesTarget(MakeNetWithoutTarget));
}

TEST(Pretraining, MovesTheEncoderAndAddsAWord) {
  const training::TrainingParts parts = PretrainedParts(/*epochs=*/2, /*append_latency=*/true);
  ASSERT_EQ(parts.more_words.size(), 1u);
  predict::ModelBundle bundle;
  bundle.vocabulary.Add(parts.more_words[0]);
  const int32_t word = bundle.vocabulary.Add("input#0");
  bundle.manifest.net = SmallConfig();
  at::manual_seed(1);
  bundle.net = MakeOurs(bundle.manifest.net, 1);
  const std::vector<text::Token> call = {{word, true, 64}, {word, true, 128}, {word, true, 3}, {word, true, 7}};
  const training::TrainOptions options;
  const std::vector<const std::vector<text::Token>*> calls(8, &call);
  const at::Tensor before = bundle.net->encoder->parameters()[0].detach().clone(),
                   other = bundle.net->graph_net->parameters()[0].detach().clone();
  parts.before_first_epoch({bundle, options, calls, std::vector<double>(calls.size(), 10)});
  EXPECT_FALSE(bundle.net->encoder->parameters()[0].equal(before));
  EXPECT_TRUE(bundle.net->graph_net->parameters()[0].equal(other));
}

}  // namespace
}  // namespace cobra::lab
