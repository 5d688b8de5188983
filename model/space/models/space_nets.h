// Networks over the operation graphs of a search space. Includes LibTorch headers.
#ifndef COBRA_MODEL_SPACE_MODELS_SPACE_NETS_H_
#define COBRA_MODEL_SPACE_MODELS_SPACE_NETS_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <memory>
#include <vector>

#include "model/space/architectures/dense_graphs.h"

namespace cobra::space {

class SpaceNet : public torch::nn::Module {
 public:
  // [graphs]: log of the latency over the mean latency of the training rows.
  virtual at::Tensor LogLatency(const DenseGraphs& graphs) = 0;
};

struct AdditiveNetOptions {
  int64_t kinds = 0;  // numbers a node in DenseGraphs::kinds
  int64_t width = 128, layers = 4;
};

// Our network: messages along and against the data flow and through a global node. Every node
// predicts its own contribution; their sum is the prediction. Variants of it are in lab/variants/.
class AdditiveNet : public SpaceNet {
 public:
  explicit AdditiveNet(const AdditiveNetOptions& options) : AdditiveNet(options, AllMessages()) {}
  at::Tensor LogLatency(const DenseGraphs& graphs) override;

 protected:
  // A kind of message: what every node receives, [graphs, nodes or 1, width], given all nodes,
  // [graphs, nodes, width].
  struct Message {
    const char* name;  // of `weights` among the parameters of a layer
    at::Tensor (*receive)(const DenseGraphs& graphs, const at::Tensor& nodes, torch::nn::Linear& weights);
  };
  static const std::vector<Message>& AllMessages();  // along, against, global
  AdditiveNet(const AdditiveNetOptions& options, std::vector<Message> messages);

 private:
  // The last step of LogLatency; nodes: [graphs, nodes, width], not normalised.
  virtual at::Tensor ReadOut(const at::Tensor& nodes, const DenseGraphs& graphs);

  struct Layer {
    torch::nn::LayerNorm norm{nullptr};
    torch::nn::Linear self{nullptr}, out{nullptr};
    std::vector<torch::nn::Linear> messages;  // the weights of each of messages_
  };
  const std::vector<Message> messages_;
  torch::nn::Linear input_;
  std::vector<Layer> layers_;

 protected:
  torch::nn::LayerNorm norm_;
  torch::nn::Linear out_;  // [..., width] -> [..., 1]
};

}  // namespace cobra::space

#endif  // COBRA_MODEL_SPACE_MODELS_SPACE_NETS_H_
