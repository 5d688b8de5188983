// Networks over the operation graphs of a search space. Shows LibTorch.
#ifndef COBRA_MODEL_SPACE_SPACE_NETS_H_
#define COBRA_MODEL_SPACE_SPACE_NETS_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <memory>
#include <vector>

#include "model/space/dense_graphs.h"

namespace cobra::space {

class SpaceNet : public torch::nn::Module {
 public:
  // [graphs]: log of the latency over the mean latency of the training rows.
  virtual at::Tensor LogLatency(const DenseGraphs& graphs) = 0;
};

// Ours: messages along and against the data flow and through the whole graph; every node predicts its own contribution,
// which add up.
struct AdditiveNetOptions {
  int64_t kinds = 0;  // numbers a node in DenseGraphs::kinds
  int64_t width = 128, layers = 4;
  bool along = true, against = true, global = true;  // which messages there are (ablations)
  bool additive = true;  // otherwise the nodes' features are added and one number is read off the sum
};
class AdditiveNet : public SpaceNet {
 public:
  explicit AdditiveNet(const AdditiveNetOptions& options);
  at::Tensor LogLatency(const DenseGraphs& graphs) override;

 private:
  struct Layer {
    torch::nn::LayerNorm norm{nullptr};
    torch::nn::Linear self{nullptr}, along{nullptr}, against{nullptr}, global{nullptr}, out{nullptr};
  };
  const AdditiveNetOptions options_;
  torch::nn::Linear input_;
  std::vector<Layer> layers_;
  torch::nn::LayerNorm norm_;
  torch::nn::Linear out_;
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_SPACE_NETS_H_
