// The networks without LibTorch against those with it, on the shipped weights; the kernels of one
// instruction set against those of another; a layer or network alone against the same one among
// others.
#include <cmath>
#include <cstring>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "frontend/nas/reader.h"
#include "gtest/gtest.h"
#include "model/infer/contributions.h"
#include "model/infer/encoder.h"
#include "model/kernels/kernels.h"
#include "model/predict/weights/bundle.h"
#include "model/predict/weights/version.h"
#include "model/predict/work/features.h"
#include "model/text/canonical_text.h"

namespace cobra::infer {
namespace {

using kernels::AllKernels;
using kernels::KernelList;

constexpr char kPretrained[] = COBRA_SOURCE_DIR "/model/pretrained";

std::vector<float> Random(size_t count, uint64_t seed, float spread = 1) {
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// ---- kernels

// Rounded as a processor without fused multiply-add does, or as one that has it.
bool SameBits(const Kernels& a, const Kernels& b) {
  const bool fused_a = std::strcmp(a.name, "base") != 0, fused_b = std::strcmp(b.name, "base") != 0;
#ifdef __FP_FAST_FMAF
  return true;
#else
  return fused_a == fused_b;
#endif
}

void ExpectClose(const std::vector<float>& a, const std::vector<float>& b, bool same_bits, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (same_bits) {
      ASSERT_EQ(a[i], b[i]) << i;
    } else {
      ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::fabs(b[i]))) << i;
    }
  }
}

class KernelsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    const KernelList all = AllKernels();
    if (GetParam() >= all.count) GTEST_SKIP() << "this processor has fewer instruction sets";
    kernels_ = all.kernels[GetParam()];
    best_ = all.kernels[0];
    same_bits_ = SameBits(*kernels_, *best_);
  }

  const Kernels* kernels_ = nullptr;
  const Kernels* best_ = nullptr;
  bool same_bits_ = false;
};
INSTANTIATE_TEST_SUITE_P(All, KernelsTest, testing::Values(0, 1, 2));

TEST_P(KernelsTest, ProductsAreThoseOfADouble) {
  for (int64_t rows : {1, 3, 8, 13, 50}) {
    for (const auto& [depth, columns] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 16}, {24, 96}, {96, 1}, {17, 40}}) {
      const int64_t padded = PaddedWidth(columns);
      const std::vector<float> x = Random(static_cast<size_t>(rows * depth), 1);
      const std::vector<float> panels = Random(static_cast<size_t>(padded * depth), 2);
      const std::vector<float> bias = Random(static_cast<size_t>(padded), 3);
      std::vector<float> y = Random(static_cast<size_t>(rows * padded), 4), best = y;
      const std::vector<float> before = y;
      kernels_->product(x.data(), rows, depth, panels.data(), depth, columns, bias.data(), true, y.data(), padded);
      best_->product(x.data(), rows, depth, panels.data(), depth, columns, bias.data(), true, best.data(), padded);
      ExpectClose(y, best, same_bits_, 1e-5f);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < columns; ++c) {
          double sum = bias[c] + static_cast<double>(before[r * padded + c]);
          for (int64_t k = 0; k < depth; ++k)
            sum += static_cast<double>(x[r * depth + k]) * panels[(c / 16 * depth + k) * 16 + c % 16];
          ASSERT_NEAR(y[r * padded + c], sum, 1e-4) << r << " " << c;
        }
      }
    }
  }
}

TEST_P(KernelsTest, FunctionsAreThoseOfTheStandardLibrary) {
  std::vector<float> x = Random(4096, 5, 3);
  for (size_t i = 0; i < 64; ++i) x[i] = static_cast<float>(i) - 32;
  std::vector<float> y = x, best = x, powers(x.size()), best_powers(x.size());
  kernels_->gelu(y.data(), static_cast<int64_t>(y.size()));
  best_->gelu(best.data(), static_cast<int64_t>(best.size()));
  kernels_->exponentials(x.data(), static_cast<int64_t>(x.size()), powers.data());
  best_->exponentials(x.data(), static_cast<int64_t>(x.size()), best_powers.data());
  ExpectClose(y, best, same_bits_, 1e-5f);
  ExpectClose(powers, best_powers, same_bits_, 1e-5f);
  for (size_t i = 0; i < x.size(); ++i) {
    const double d = x[i];
    ASSERT_NEAR(y[i], 0.5 * d * (1 + std::erf(d / std::sqrt(2.0))), 1e-6 * (1 + std::fabs(d))) << d;
    ASSERT_NEAR(powers[i] / std::exp(d), 1, 1e-6) << d;
  }
}

TEST_P(KernelsTest, RowsAreNormalisedOverTheirWidth) {
  for (int64_t width : {1, 16, 24, 96, 128}) {
    const int64_t stride = PaddedWidth(width), rows = 5;
    std::vector<float> x = Random(static_cast<size_t>(rows * stride), 6, 4);
    const std::vector<float> scale = Random(static_cast<size_t>(stride), 7), shift = Random(scale.size(), 8);
    std::vector<float> y(x.size()), best(x.size());
    kernels_->layer_norm(x.data(), rows, width, stride, scale.data(), shift.data(), y.data());
    best_->layer_norm(x.data(), rows, width, stride, scale.data(), shift.data(), best.data());
    std::vector<float> soft = x, best_soft = x;
    kernels_->softmax(soft.data(), rows, width, stride, 0.5f);
    best_->softmax(best_soft.data(), rows, width, stride, 0.5f);
    for (int64_t r = 0; r < rows; ++r) {
      double mean = 0, variance = 0, sum = 0;
      for (int64_t i = 0; i < width; ++i) mean += x[r * stride + i] / static_cast<double>(width);
      for (int64_t i = 0; i < width; ++i)
        variance += std::pow(x[r * stride + i] - mean, 2) / static_cast<double>(width);
      for (int64_t i = 0; i < width; ++i) sum += std::exp(0.5 * x[r * stride + i]);
      for (int64_t i = 0; i < width; ++i) {
        const int64_t at = r * stride + i;
        if (same_bits_) ASSERT_EQ(y[at], best[at]);
        if (same_bits_) ASSERT_EQ(soft[at], best_soft[at]);
        ASSERT_NEAR(y[at], (x[at] - mean) / std::sqrt(variance + 1e-5) * scale[i] + shift[i], 1e-4);
        ASSERT_NEAR(soft[at], std::exp(0.5 * x[at]) / sum, 1e-6);
      }
    }
  }
}

// ---- networks

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
    return net_.Contribute({layer_of_call, layers, edges, work, features}, spec, 0);
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
