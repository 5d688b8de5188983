// COBRA's encoder as published (section 3; appendix A.1.1): BERT's token and position embeddings,
// pre-norm attention blocks, the mean over the tokens, a head for the log-latency and a linear map
// to the vocabulary for masked pieces. Includes LibTorch headers.
//
// Details that the paper does not give follow BERT: GELU, weights from N(0, 0.02), learned
// positions, [CLS] and [SEP]. One deviation: tokens are padded to the longest of a batch instead of
// to 600, attention masks the padding, and the mean is over actual tokens.
#ifndef COBRA_LAB_PUBLISHED_COBRA_COBRA_PUBLISHED_H_
#define COBRA_LAB_PUBLISHED_COBRA_COBRA_PUBLISHED_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/dropout.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lab/published/cobra/published_config.h"

namespace cobra::lab {

class PublishedBlock : public torch::nn::Module {
 public:
  explicit PublishedBlock(const PublishedEncoderConfig& config);
  // x: [batch, tokens, width]; bias: [batch, 1, 1, tokens], 0, or far below where padded.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& bias);

 private:
  const int64_t heads_;
  torch::nn::LayerNorm norm1_, norm2_;
  torch::nn::Linear qkv_, out_, up_, down_;
  torch::nn::Dropout dropout_;
};

class PublishedNet : public torch::nn::Module {
 public:
  PublishedNet(const PublishedEncoderConfig& config, int64_t vocabulary_size);
  // ids: int64 [batch, tokens]; keep: [batch, tokens], 1 or 0 where padded. Returns [batch, tokens,
  // width].
  at::Tensor Tokens(const at::Tensor& ids, const at::Tensor& keep);
  // The layer's representation, which the graph network reads: [batch, width].
  static at::Tensor Pool(const at::Tensor& tokens, const at::Tensor& keep);
  at::Tensor LogLatency(const at::Tensor& pooled);  // [batch]: natural, microseconds
  // Sets the initial prediction: the mean of the training rows
  void CentreLatency(double log_latency);
  at::Tensor PieceScores(const at::Tensor& tokens);  // [n, width] -> [n, vocabulary]

 private:
  torch::nn::Embedding token_, position_;
  std::vector<std::shared_ptr<PublishedBlock>> blocks_;
  torch::nn::LayerNorm norm_;
  torch::nn::Dropout dropout_;
  torch::nn::Linear hidden_, latency_, pieces_;
};

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_COBRA_COBRA_PUBLISHED_H_
