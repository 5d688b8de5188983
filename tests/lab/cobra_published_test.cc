#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "lab/published/cobra/call_gcn.h"
#include "lab/published/cobra/cobra_published_fit.h"
#include "lab/published/cobra/published_config.h"

namespace cobra::lab {
namespace {

std::string Config(const std::string& name) {
  return absl::StrCat(COBRA_SOURCE_DIR, "/lab/published/configs/", name, ".json");
}

int64_t Parameters(const torch::nn::Module& module) {
  int64_t n = 0;
  for (const at::Tensor& p : module.parameters()) n += p.numel();
  return n;
}

TEST(PublishedNet, HasThePublishedSizes) {
  const auto config = LoadEncoderConfig(Config("published/cobra_encoder"));
  ASSERT_TRUE(config.ok()) << config.status();
  constexpr int64_t kVocabulary = 30522, kWidth = 512;
  // Embeddings; four blocks of attention (4 maps), feed-forward (2 maps) and two norms; a last
  // norm; the head 512 -> 256 -> 1; the map to the vocabulary.
  const int64_t block = 6 * (kWidth * kWidth + kWidth) + 4 * kWidth;
  const int64_t expected = (kVocabulary + 600) * kWidth + 4 * block + 2 * kWidth + (kWidth * 256 + 256) + (256 + 1) +
                           (kWidth * kVocabulary + kVocabulary);
  EXPECT_EQ(Parameters(PublishedNet(*config, kVocabulary)), expected);
}

TEST(PublishedConfigs, AllAreReadAndKeepThePublishedSizes) {
  for (const char* folder : {"published", "cpu", "quick"}) {
    const auto encoder = LoadEncoderConfig(Config(absl::StrCat(folder, "/cobra_encoder")));
    ASSERT_TRUE(encoder.ok()) << encoder.status();
    for (const auto& [name, width] :
         {std::pair<const char*, int64_t>{"cobra_gcn", 395}, {"brp_nas", 520}, {"brp_nas_plus_plus", 250}}) {
      const auto gcn = LoadGcnConfig(Config(absl::StrCat(folder, "/", name)));
      ASSERT_TRUE(gcn.ok()) << gcn.status();
      EXPECT_EQ(gcn->layers, 4);
      if (std::string(folder) != "quick") EXPECT_EQ(gcn->width, width);
    }
    if (std::string(folder) == "quick") continue;
    EXPECT_EQ(encoder->layers, 4);
    EXPECT_EQ(encoder->width, 512);
    EXPECT_EQ(encoder->heads, 16);
    EXPECT_EQ(encoder->max_tokens, 600);
  }
}

TEST(PublishedConfigs, AWrongKeyIsNamed) {
  const std::string path = testing::TempDir() + "/config.json";
  ASSERT_TRUE(WriteFileAtomic(path, R"({"widht": 512})").ok());
  const absl::Status status = LoadEncoderConfig(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("widht"), absl::string_view::npos) << status;
}

TEST(DrawMask, TakesAboutItsShareAndNeverTheEnds) {
  PublishedTokens tokens;
  tokens.ids.assign(20002, 7);
  tokens.is_parameter.assign(20002, 0);
  for (size_t t = 0; t < tokens.is_parameter.size(); t += 4) tokens.is_parameter[t] = 1;
  const std::vector<size_t> all = DrawMask(tokens, 0.1, false, 5), parameters = DrawMask(tokens, 0.1, true, 5);
  EXPECT_NEAR(static_cast<double>(all.size()), 2000, 200);
  EXPECT_NEAR(static_cast<double>(parameters.size()), 500, 100);
  EXPECT_GT(all.front(), 0u);
  EXPECT_LT(all.back(), 20001u);
  for (size_t t : parameters) EXPECT_EQ(tokens.is_parameter[t], 1);
  EXPECT_EQ(DrawMask(tokens, 0.1, false, 5), all);
}

// Latency follows from two numbers of the call: a small net learns it, and pre-training with the
// latency makes masked numbers easier to guess than a uniform draw.
TEST(PublishedTrainer, LearnsAFewRows) {
  std::string pieces = "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nrelu\n(\n)\n=\n,\ninput\nlatency\n.\n";
  for (int i = 0; i < 10; ++i) absl::StrAppend(&pieces, i, "\n##", i, "\n");
  const auto vocabulary = WordPieceVocabulary::FromText(pieces);
  ASSERT_TRUE(vocabulary.ok()) << vocabulary.status();
  std::vector<PublishedExample> rows;
  for (int a = 1; a < 8; ++a) {
    for (int b = 1; b < 8; ++b) rows.push_back({absl::StrCat("relu(input=(", a, ",", b, "))"), 10.0 * a * b});
  }
  PublishedEncoderConfig config;
  config.layers = 1, config.width = config.feed_forward = 32, config.heads = 4, config.max_tokens = 40,
  config.latency_hidden = 32, config.dropout = 0;
  config.batch = 16, config.epochs = 10, config.fine_tune_epochs = 80, config.stall = 100, config.rate_decay = 0.99,
  config.learning_rate = 5e-3;
  const PublishedTrainer trainer(*vocabulary, config);
  const std::string checkpoint = testing::TempDir() + "/published";
  for (const char* phase : {".pre", ".fine"}) std::remove((checkpoint + phase).c_str());
  const auto fit = trainer.Fit(rows, rows, rows, /*append_latency=*/true, 1, checkpoint);
  ASSERT_TRUE(fit.ok()) << fit.status();
  EXPECT_EQ(fit->epochs, 10);
  EXPECT_GT(fit->perplexity, 1);
  EXPECT_LT(fit->perplexity, pieces.size());
  std::vector<std::string> texts;
  for (const PublishedExample& row : rows) texts.push_back(row.text);
  const std::vector<double> us = trainer.Predict(*fit->net, texts);
  double error = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    error += std::abs(us[i] / rows[i].latency_us - 1) / static_cast<double>(rows.size());
  EXPECT_LT(error, 0.2);
  // What was finished is not trained again: the checkpoints say how far it was.
  const auto again = trainer.Fit(rows, rows, rows, true, 1, checkpoint);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(trainer.Predict(*again->net, texts), us);
  const at::Tensor embeddings = trainer.Embed(*fit->net, texts);
  EXPECT_EQ(embeddings.size(0), static_cast<int64_t>(rows.size()));
  EXPECT_EQ(embeddings.size(1), 32);
}

// Chains of two kinds of calls.
CallGraphs Chains() {
  CallGraphs graphs;
  graphs.rows = at::eye(2);
  for (int64_t a = 1; a < 7; ++a) {
    for (int64_t b = 1; b < 7; ++b) {
      CallGraphs::Network network;
      network.row_of_call.assign(static_cast<size_t>(a), 0);
      network.row_of_call.insert(network.row_of_call.end(), static_cast<size_t>(b), 1);
      for (int32_t i = 0; i + 1 < a + b; ++i) network.edges.emplace_back(i, i + 1);
      graphs.networks.push_back(network);
    }
  }
  return graphs;
}

TEST(CallGcn, ABatchIsItsNetworksSideBySide) {
  const CallGraphs graphs = Chains();
  const CallBatch batch = MakeCallBatch(graphs, {0, 1});  // of 2 and of 3 calls
  EXPECT_EQ(batch.features.size(0), 5);
  EXPECT_EQ(batch.network_of_call.sum().item<int64_t>(), 3);
  EXPECT_EQ(batch.sources.numel(), 3);
  EXPECT_EQ(batch.sources[1].item<int64_t>(), 2);  // the second network begins behind the first
  for (const bool global_node : {false, true}) {
    CallGcnConfig config;
    config.width = 8;
    config.global_node = config.layer_norm = global_node;
    torch::manual_seed(1);
    CallGcn net(config, 2);
    net.eval();
    const at::Tensor both = net.Latency(batch), alone = net.Latency(MakeCallBatch(graphs, {1}));
    EXPECT_NEAR(both[1].item<double>(), alone[0].item<double>(), 1e-5);
  }
}

TEST(CallGcn, HasThePublishedSizes) {
  CallGcnConfig config;  // COBRA's: 4 x 395 over embeddings of 512
  EXPECT_EQ(Parameters(CallGcn(config, 512)), (512 + 1) * 395 + 3 * (395 + 1) * 395 + 395 + 1);
}

TEST(CallGcn, LearnsWhatCallsTake) {
  const CallGraphs graphs = Chains();
  NetworkRows rows;
  for (size_t i = 0; i < graphs.networks.size(); ++i) {
    rows.index.push_back(i);
    rows.latency_us.push_back(100 * static_cast<double>(i / 6 + 1) + 300 * static_cast<double>(i % 6 + 1));
  }
  CallGcnConfig config;
  config.width = 32, config.global_node = true, config.layer_norm = true, config.batch = 6, config.epochs = 60,
  config.dropout = 0;
  const CallGcnFit fit = FitCallGcn(graphs, rows, rows, config, 1);
  ASSERT_EQ(fit.latency_us.size(), rows.index.size());
  double error = 0;
  for (size_t i = 0; i < rows.index.size(); ++i)
    error += std::abs(fit.latency_us[i] / rows.latency_us[i] - 1) / static_cast<double>(rows.index.size());
  EXPECT_LT(error, 0.1);
}

}  // namespace
}  // namespace cobra::lab
