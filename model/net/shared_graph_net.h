// A graph network in which most of what is computed of a call depends on its neighbourhood only, so
// that it can be kept from one network to the next: rounds of messages without a global node and
// without the network's totals. What a network is as a whole comes last, and cheaply: as a gain and
// a shift of one hidden layer. graph_net.h has the rest. Includes LibTorch headers.
#ifndef COBRA_MODEL_NET_SHARED_GRAPH_NET_H_
#define COBRA_MODEL_NET_SHARED_GRAPH_NET_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <memory>
#include <vector>

#include "model/net/config.h"
#include "model/net/graph_net.h"

namespace cobra::net {

class SharedGraphNet : public GraphNet {
 public:
  explicit SharedGraphNet(const NetConfig& config);
  using GraphNet::forward;
  at::Tensor forward(const at::Tensor& layers, const at::Tensor& alone, const GraphBatch& batch,
                     const at::Tensor& layer_of_node) override;

 private:
  // By how much the network as a whole changes the logarithms of contributions: [nodes]. nodes:
  // [nodes, graph_width]; local: [nodes], without that.
  at::Tensor WholeChange(const at::Tensor& nodes, const at::Tensor& local, const GraphBatch& batch);

  torch::nn::Linear input_, alone_, target_, run_;
  std::vector<std::shared_ptr<GraphConvolution>> convolutions_;
  torch::nn::LayerNorm norm_;
  torch::nn::Linear target_gain_, out_;
  // What a network is as a whole: its totals, and the means of its calls' states, over the calls
  // and weighted by their shares of the latency.
  torch::nn::Linear totals_, whole_target_, mean_, weighted_, gain_, shift_, late_, late_out_;
};

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_SHARED_GRAPH_NET_H_
