// The graph network over layer embeddings (COBRA, section 3, equation 1), conditioned on the
// target. Messages go along the data flow and against it with separate weights. Instead of pooling
// to one number, every node predicts its own contribution in the network; the contributions add up
// to the latency, so that the breakdown is the prediction. The time that a target takes for any
// run, however small the network (entering a compiled graph, the first launch on a GPU), is divided
// among the calls by their shares. A version has one of two forms (NetConfig::shared_graph_net):
// the one in this file, or shared_graph_net.h. Includes LibTorch headers.
#ifndef COBRA_MODEL_NET_GRAPH_NET_H_
#define COBRA_MODEL_NET_GRAPH_NET_H_

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <vector>

#include "model/net/config.h"

namespace cobra::net {

// Several networks side by side; nodes are numbered through all of them.
struct GraphBatch {
  at::Tensor sources, destinations;  // int64 [edges]: data flows from source to destination
  at::Tensor graph_of_node;          // int64 [nodes], ascending
  at::Tensor graph_features;         // [graphs, graph_features]
  at::Tensor target_features;        // [graphs, target_features]
  at::Tensor work;                   // [nodes, work terms], model/predict/work/features.h
};

// A round of messages; with a global node, each network's calls hear their mean as well.
class GraphConvolution : public torch::nn::Module {
 public:
  GraphConvolution(int64_t width, int64_t target_features, bool has_global_node);
  at::Tensor forward(const at::Tensor& h, const GraphBatch& batch);

 private:
  torch::nn::LayerNorm norm_;
  torch::nn::Linear self_, along_, against_, global_, out_, target_gain_;
};

class GraphNet : public torch::nn::Module {
 public:
  // layers: [vectors, width] from the encoder; alone: [nodes] log-latency of each layer alone
  // (LayerHead); layer_of_node: int64 [nodes]; undefined: each node has its own vector. Returns
  // [nodes]: log of the contribution of each node in its network, microseconds.
  virtual at::Tensor forward(const at::Tensor& layers, const at::Tensor& alone, const GraphBatch& batch,
                             const at::Tensor& layer_of_node) = 0;
  at::Tensor forward(const at::Tensor& layers, const at::Tensor& alone, const GraphBatch& batch) {
    return forward(layers, alone, batch, {});
  }
};

// Each round of messages has one through a global node, too (Yue et al.), and what a network is as
// a whole is part of every node's first state.
class GlobalGraphNet : public GraphNet {
 public:
  explicit GlobalGraphNet(const NetConfig& config);
  using GraphNet::forward;
  at::Tensor forward(const at::Tensor& layers, const at::Tensor& alone, const GraphBatch& batch,
                     const at::Tensor& layer_of_node) override;

 private:
  // The last step of `forward`; nodes: [nodes, graph_width], normalised. A variant in lab/variants/
  // has another.
  virtual at::Tensor LogContributions(const at::Tensor& nodes, const at::Tensor& alone, const GraphBatch& batch);

  torch::nn::Linear input_, alone_, target_, graph_, run_;
  std::vector<std::shared_ptr<GraphConvolution>> convolutions_;
  torch::nn::LayerNorm norm_;

 protected:
  torch::nn::Linear out_;  // [nodes, graph_width] -> [nodes, 1]
  torch::nn::Linear target_gain_;
};

// Adds a run's own time to the contributions of its calls, by their shares: logarithms, [nodes].
// `log_run`: [graphs], in units of kRunUnit.
at::Tensor WithRun(const at::Tensor& log_contributions, const at::Tensor& log_run, const GraphBatch& batch);

// How many nodes each network has: [graphs], of the type of `like`.
at::Tensor NodesPerGraph(const GraphBatch& batch, const at::Tensor& like);

// Over the nodes of each network: [nodes, width] -> [graphs, width].
at::Tensor MeanOfNodes(const at::Tensor& nodes, const GraphBatch& batch);

// Sums contributions per network: log contributions [nodes] -> latency_us [graphs].
at::Tensor SumContributions(const at::Tensor& log_contributions, const GraphBatch& batch);

// The layers of each network by their shares of its latency: [nodes, width] -> [graphs, width].
at::Tensor ShareWeightedMean(const at::Tensor& layers, const at::Tensor& log_contributions, const GraphBatch& b);

}  // namespace cobra::net

#endif  // COBRA_MODEL_NET_GRAPH_NET_H_
