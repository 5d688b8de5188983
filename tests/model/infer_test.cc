// The networks without LibTorch against those with it, on the shipped weights; a layer or network
// alone against the same one among others.
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "frontend/nas/reader.h"
#include "gtest/gtest.h"
#include "model/infer/contributions.h"
#include "model/infer/encoder.h"
#include "model/predict/weights/bundle.h"
#include "model/predict/weights/version.h"
#include "model/predict/work/features.h"
#include "model/text/canonical_text.h"

namespace cobra::infer {
namespace {

constexpr char kPretrained[] = COBRA_SOURCE_DIR "/model/pretrained";

class InferTest : public testing::Test {
 protected:
  InferTest() {
    for (const char* cell : {"|nor_conv_3x3~0|+|nor_conv_3x3~0|avg_pool_3x3~1|+|skip_connect~0|nor_conv_3x3~1|none~2|",
                             "|nor_conv_1x1~0|+|none~0|skip_connect~1|+|avg_pool_3x3~0|nor_conv_3x3~1|none~2|"}) {
      nas::ArchitectureRequest request;
      request.architecture = absl::StrCat("nasbench201:", cell);
      graphs_.push_back(nas::ReadArchitecture(request, Limits()).value());
    }
    for (const graph::Graph& graph : graphs_) {
      for (int32_t i = 0; i < static_cast<int32_t>(graph.nodes().size()); ++i)
        tokens_.push_back(bundle_.vocabulary.Encode(text::SplitText(text::CanonicalText(graph, i))));
    }
  }

  std::vector<const std::vector<text::Token>*> Texts() const {
    std::vector<const std::vector<text::Token>*> texts;
    for (const auto& tokens : tokens_) texts.push_back(&tokens);
    return texts;
  }

  // `shared`: calls with equal embeddings and work are calls of one layer, as where a network
  // repeats it.
  NetworkContributions Contribute(const graph::Graph& graph, const float* embeddings, bool shared = false) const {
    const auto width = static_cast<size_t>(encoder_.width());
    std::map<std::string, int32_t> known;  // by the bytes of both
    std::vector<int32_t> layer_of_call;
    std::vector<const float*> layers;
    std::vector<float> work;
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      const float* const row = embeddings + i * width;
      const auto terms = predict::LogWork(graph, static_cast<int32_t>(i));
      std::string bytes(reinterpret_cast<const char*>(row), width * sizeof(float));
      bytes.append(reinterpret_cast<const char*>(terms.data()), sizeof(terms));
      const auto [layer, is_new] = known.try_emplace(bytes, static_cast<int32_t>(layers.size()));
      layer_of_call.push_back(shared ? layer->second : static_cast<int32_t>(i));
      if (shared && !is_new) continue;
      layers.push_back(row);
      work.insert(work.end(), terms.begin(), terms.end());
    }
    const auto edges = predict::GraphEdges(graph);
    const auto features = predict::GraphFeatures(graph);
    const auto spec = predict::TargetSpecFeatures(bundle_.manifest.targets[0].spec);
    const TargetTerms target = net_.TermsOf(spec, 0);
    const std::vector<PricedLayer> made = net_.Price(layers, work, target);
    std::vector<const PricedLayer*> priced;
    for (const PricedLayer& layer : made) priced.push_back(&layer);
    return net_.Contribute({layer_of_call, layers, priced, edges, features}, target);
  }

  const predict::ModelBundle bundle_ = predict::LoadBundle(kPretrained).value();
  const std::string file_ = predict::ReadVersion(kPretrained).value().tensors;
  const Tensors tensors_ = Tensors::Parse(file_).value();
  const Encoder encoder_ = Encoder::Create(tensors_, bundle_.manifest.net).value();
  const ContributionNet net_ =
      ContributionNet::Create(tensors_, bundle_.manifest.net, static_cast<int64_t>(bundle_.manifest.targets.size()))
          .value();
  std::vector<graph::Graph> graphs_;
  std::vector<std::vector<text::Token>> tokens_;  // of all calls of all graphs
};

TEST_F(InferTest, EmbeddingsAreLibTorchs) {
  at::InferenceMode inference;
  const std::vector<float> ours = encoder_.Encode(Texts());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const at::Tensor theirs = bundle_.net->encoder->forward(net::PackTokens({&tokens_[i]})).contiguous();
    for (int64_t k = 0; k < encoder_.width(); ++k)
      ASSERT_NEAR(ours[i * static_cast<size_t>(encoder_.width()) + static_cast<size_t>(k)], theirs.data_ptr<float>()[k],
                  2e-5)
          << i;
  }
}

TEST_F(InferTest, ALayerIsTheSameInAnyCompany) {
  const std::vector<float> together = encoder_.Encode(Texts());
  const auto width = static_cast<size_t>(encoder_.width());
  for (size_t i = 0; i < tokens_.size(); ++i) {
    const std::vector<float> alone = encoder_.Encode({&tokens_[i]});
    ASSERT_EQ(0, std::memcmp(alone.data(), &together[i * width], width * sizeof(float))) << i;
  }
}

TEST_F(InferTest, ContributionsAreLibTorchs) {
  at::InferenceMode inference;
  const std::vector<float> embeddings = encoder_.Encode(Texts());
  size_t first = 0;
  for (const graph::Graph& graph : graphs_) {
    const auto calls = static_cast<int64_t>(graph.nodes().size());
    const float* rows = &embeddings[first * static_cast<size_t>(encoder_.width())];
    const NetworkContributions ours = Contribute(graph, rows);
    const at::Tensor layers = at::from_blob(const_cast<float*>(rows), {calls, encoder_.width()});
    const graph::Graph* graphs[] = {&graph};
    const int targets[] = {0};
    const net::GraphBatch batch = predict::CollateGraphs(bundle_, graphs, targets);
    const at::Tensor alone = bundle_.net->layer_head->forward(layers, batch.work, predict::TargetRows(bundle_, {0}),
                                                              {at::Tensor(), batch.graph_of_node});
    const at::Tensor theirs = bundle_.net->graph_net->forward(layers, alone, batch).contiguous();
    const at::Tensor mean = net::ShareWeightedMean(layers, theirs, batch).contiguous();
    for (int64_t i = 0; i < calls; ++i)
      ASSERT_NEAR(ours.log_us[static_cast<size_t>(i)], theirs.data_ptr<float>()[i], 2e-5) << i;
    for (int64_t i = 0; i < encoder_.width(); ++i)
      ASSERT_NEAR(ours.mean[static_cast<size_t>(i)], mean.data_ptr<float>()[i], 1e-5);
    first += static_cast<size_t>(calls);
  }
}

TEST_F(InferTest, SharedStatesChangeNoBit) {
  const std::vector<float> embeddings = encoder_.Encode(Texts());
  size_t first = 0;
  for (const graph::Graph& graph : graphs_) {
    const float* rows = &embeddings[first * static_cast<size_t>(encoder_.width())];
    const NetworkContributions alone = Contribute(graph, rows), together = Contribute(graph, rows, /*shared=*/true);
    EXPECT_EQ(alone.log_us, together.log_us);
    EXPECT_EQ(alone.mean, together.mean);
    first += graph.nodes().size();
  }
}

TEST_F(InferTest, ALayerIsPricedTheSameInAnyCompany) {
  const std::vector<float> embeddings = encoder_.Encode(Texts());
  const auto width = static_cast<size_t>(encoder_.width());
  const TargetTerms target = net_.TermsOf(predict::TargetSpecFeatures(bundle_.manifest.targets[0].spec), 0);
  std::vector<const float*> layers;
  std::vector<float> work;
  for (const graph::Graph& graph : graphs_) {
    for (size_t i = 0; i < graph.nodes().size(); ++i) {
      layers.push_back(&embeddings[layers.size() * width]);
      const auto terms = predict::LogWork(graph, static_cast<int32_t>(i));
      work.insert(work.end(), terms.begin(), terms.end());
    }
  }
  const std::vector<PricedLayer> together = net_.Price(layers, work, target);
  for (size_t i = 0; i < layers.size(); ++i) {
    const auto own = absl::MakeConstSpan(work).subspan(i * predict::kWorkTerms, predict::kWorkTerms);
    const std::vector<PricedLayer> alone = net_.Price({layers[i]}, own, target);
    EXPECT_EQ(alone[0].log_us, together[i].log_us) << i;
    EXPECT_EQ(alone[0].state, together[i].state) << i;
  }
}

TEST_F(InferTest, MissingTensorsAreNamed) {
  net::NetConfig other = bundle_.manifest.net;
  other.width = 48;
  const auto encoder = Encoder::Create(tensors_, other);
  EXPECT_EQ(encoder.status().code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(encoder.status().message().find("encoder.token.weight"), absl::string_view::npos) << encoder.status();
  other = bundle_.manifest.net;
  other.encoder_layers = 3;
  EXPECT_NE(Encoder::Create(tensors_, other).status().message().find("block2"), absl::string_view::npos);
}

}  // namespace
}  // namespace cobra::infer
