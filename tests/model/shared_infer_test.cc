// The graph network whose states are shared between networks: without LibTorch against with it, and
// the same bits whatever was asked before. Its weights are random: nothing here depends on them.
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/nas/reader.h"
#include "gtest/gtest.h"
#include "model/infer/call_classes.h"
#include "model/infer/encoder.h"
#include "model/infer/shared_contributions.h"
#include "model/net/safetensors.h"
#include "model/net/shared_graph_net.h"
#include "model/predict/predictor.h"
#include "model/predict/weights/bundle.h"
#include "model/predict/work/features.h"
#include "model/text/canonical_text.h"
#include "tests/temporary_directory.h"

namespace cobra::infer {
namespace {

constexpr const char* kCells[] = {
    "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|none~2|",
    "|nor_conv_1x1~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_3x3~1|none~2|",
    "|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_1x1~1|none~2|"};

predict::ModelBundle BundleWithSharedNet() {
  predict::ModelBundle bundle = predict::LoadBundle(COBRA_SOURCE_DIR "/model/pretrained").value();
  torch::manual_seed(5);
  bundle.manifest.net.shared_graph_net = true;
  bundle.manifest.net.graph_layers = 2;
  auto graph_net = std::make_shared<net::SharedGraphNet>(bundle.manifest.net);
  const at::NoGradGuard no_grad;
  for (const auto& parameter : graph_net->named_parameters()) {
    if (parameter.key() == "out.weight" || parameter.key() == "late_out.weight") parameter.value().mul_(20);
    if (parameter.key().find("target") != std::string::npos || parameter.key().find("gain") != std::string::npos)
      parameter.value().normal_(0, 0.02);  // zeros would hide what the target changes
  }
  const at::Tensor vectors = bundle.net->target_vectors.clone();
  auto net = std::make_shared<net::CobraNet>(
      net::NetParts{bundle.net->encoder, bundle.net->layer_head, std::move(graph_net)}, vectors.size(0));
  net->target_vectors.copy_(vectors);
  net->eval();
  bundle.net = std::move(net);
  return bundle;
}

class SharedInferTest : public testing::Test {
 protected:
  SharedInferTest() {
    EXPECT_TRUE(predict::SaveBundle(bundle_, directory_.path()).ok());
    for (const char* cell : kCells)
      graphs_.push_back(nas::ReadArchitecture({absl::StrCat("nasbench201:", cell), {}}, Limits()).value());
  }

  std::shared_ptr<const predict::Predictor> NewPredictor(int64_t cache_bytes = int64_t{64} << 20) const {
    predict::PredictorOptions options;
    options.embedding_cache_bytes = cache_bytes;
    return predict::Predictor::Load(directory_.path(), options).value();
  }

  const predict::ModelBundle bundle_ = BundleWithSharedNet();
  const tests::TemporaryDirectory directory_;
  std::vector<graph::Graph> graphs_;
};

TEST_F(SharedInferTest, ContributionsAreLibTorchs) {
  at::InferenceMode inference;
  const std::string file = net::SaveTensors(*bundle_.net);
  const Tensors tensors = Tensors::Parse(file).value();
  const auto targets = static_cast<int64_t>(bundle_.manifest.targets.size());
  const SharedContributionNet net = SharedContributionNet::Create(tensors, bundle_.manifest.net, targets).value();
  for (const graph::Graph& graph : graphs_) {
    std::vector<std::vector<text::Token>> tokens;
    std::vector<float> work;
    std::vector<int32_t> each;
    for (int32_t i = 0; i < static_cast<int32_t>(graph.nodes().size()); ++i) {
      tokens.push_back(bundle_.vocabulary.Encode(text::SplitText(text::CanonicalText(graph, i))));
      const auto terms = predict::LogWork(graph, i);
      work.insert(work.end(), terms.begin(), terms.end());
      each.push_back(i);
    }
    std::vector<const std::vector<text::Token>*> texts;
    for (const auto& one : tokens) texts.push_back(&one);
    const at::Tensor layers = net::EncodeTexts(*bundle_.net->encoder, texts).contiguous();
    std::vector<const float*> rows;
    for (const int32_t i : each) rows.push_back(layers.data_ptr<float>() + i * layers.size(1));

    const auto spec = predict::TargetSpecFeatures(bundle_.manifest.targets[3].spec);
    const SharedTargetTerms target = net.TermsOf(spec, 3);
    const auto edges = predict::GraphEdges(graph);
    const Neighbors along(edges, each.size(), /*along=*/true), against(edges, each.size(), /*along=*/false);
    std::vector<CallState> states = net.Before(rows, work, target);
    const auto among = [&] {
      std::vector<CallAmongNeighbours> calls;
      for (const int32_t i : each) {
        CallAmongNeighbours& call = calls.emplace_back();
        call.call = &states[static_cast<size_t>(i)];
        for (const int32_t source : along.Of(i)) call.sources.push_back(&states[static_cast<size_t>(source)]);
        for (const int32_t reader : against.Of(i)) call.readers.push_back(&states[static_cast<size_t>(reader)]);
      }
      return calls;
    };
    states = net.After(0, among(), target);
    const std::vector<Neighbourhood> made = net.AfterLast(among(), target);
    std::vector<const Neighbourhood*> neighbourhoods;
    for (const Neighbourhood& one : made) neighbourhoods.push_back(&one);
    const auto features = predict::GraphFeatures(graph);
    const NetworkContributions ours = net.Contribute({each, rows, each, neighbourhoods, features}, target);

    const graph::Graph* graphs[] = {&graph};
    const int indices[] = {3};
    const net::GraphBatch batch = predict::CollateGraphs(bundle_, graphs, indices);
    const at::Tensor alone = bundle_.net->layer_head->forward(layers, batch.work, predict::TargetRows(bundle_, {3}),
                                                              {at::Tensor(), batch.graph_of_node});
    const at::Tensor theirs = bundle_.net->graph_net->forward(layers, alone, batch).contiguous();
    const at::Tensor mean = net::ShareWeightedMean(layers, theirs, batch).contiguous();
    for (size_t i = 0; i < each.size(); ++i) ASSERT_NEAR(ours.log_us[i], theirs.data_ptr<float>()[i], 2e-5) << i;
    for (size_t i = 0; i < ours.mean.size(); ++i) ASSERT_NEAR(ours.mean[i], mean.data_ptr<float>()[i], 1e-5);
    float most = 0;
    for (size_t i = 0; i < each.size(); ++i) most = std::max(most, std::abs(ours.log_us[i] - ours.log_us_alone[i]));
    EXPECT_GT(most, 0.05);  // the test's weights change something
  }
}

TEST_F(SharedInferTest, WhatWasAskedBeforeChangesNoBit) {
  const auto warm = NewPredictor(), tiny = NewPredictor(/*cache_bytes=*/1 << 12);
  for (const predict::TargetInfo& target : {warm->targets()[0], warm->targets()[40]}) {
    for (const graph::Graph& graph : graphs_) (void)warm->Predict(graph, target.spec.name);
    for (const graph::Graph& graph : graphs_) {
      const auto cold = NewPredictor()->Predict(graph, target.spec.name).value();
      for (const auto& predictor : {warm, tiny}) {
        const auto again = predictor->Predict(graph, target.spec.name).value();
        EXPECT_EQ(again.latency_us, cold.latency_us);
        EXPECT_EQ(again.low_us, cold.low_us);
        EXPECT_EQ(again.node_latency_us, cold.node_latency_us);
      }
    }
  }
  EXPECT_NE(warm->Predict(graphs_[0], warm->targets()[0].spec.name)->latency_us,
            warm->Predict(graphs_[2], warm->targets()[0].spec.name)->latency_us);
}

}  // namespace
}  // namespace cobra::infer
