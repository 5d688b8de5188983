#include "lab/variants/net_variants.h"

#include <torch/types.h>

#include "model/net/rows.h"

namespace cobra::lab {
namespace {
namespace nn = torch::nn;

class DirectLayerHead : public net::LayerHead {
 public:
  explicit DirectLayerHead(const net::NetConfig& c)
      : hidden_(c.width, c.width),
        target_(nn::LinearOptions(c.target_features, c.width).bias(false)),
        hidden2_(c.width, c.width),
        out_(c.width, 1) {
    register_module("hidden", hidden_);
    register_module("target", target_);
    register_module("hidden2", hidden2_);
    register_module("out", out_);
    at::NoGradGuard no_grad;
    constexpr double kMiddle = 4;  // e^4 us: a typical layer
    out_->bias.fill_(kMiddle);
  }

  at::Tensor forward(const at::Tensor& layers, const at::Tensor& /*work*/, const at::Tensor& target,
                     const net::RowsOfCalls& rows) override {
    const at::Tensor h = net::TakeRows(hidden_(layers), rows.layer) + net::TakeRows(target_(target), rows.target);
    return out_(at::gelu(hidden2_(at::gelu(h)))).squeeze(-1);
  }

 private:
  nn::Linear hidden_, target_, hidden2_, out_;
};

class MeanGraphNet : public net::GlobalGraphNet {
 public:
  using net::GlobalGraphNet::GlobalGraphNet;

 private:
  at::Tensor LogContributions(const at::Tensor& nodes, const at::Tensor& /*alone*/, const net::GraphBatch& b) override {
    constexpr double kMiddle = 8;  // e^8 us: the middle of layers and networks in logarithms
    const at::Tensor nodes_per_graph = net::NodesPerGraph(b, nodes);
    const at::Tensor mean =
        at::zeros({b.graph_features.size(0), nodes.size(1)}, nodes.options()).index_add(0, b.graph_of_node, nodes) /
        nodes_per_graph.unsqueeze(1);
    return (out_(mean).squeeze(-1) + kMiddle - nodes_per_graph.log()).index_select(0, b.graph_of_node);
  }
};

struct UnconditionedNet : public net::CobraNet {
  using net::CobraNet::CobraNet;
  at::Tensor TargetFeatures(const at::Tensor& spec, const at::Tensor& index) const override {
    return net::CobraNet::TargetFeatures(spec, index) * 0;
  }
};

}  // namespace

std::shared_ptr<net::CobraNet> MakeNetWithoutPrices(const net::NetConfig& config, int64_t num_targets) {
  return std::make_shared<net::CobraNet>(
      net::NetParts{std::make_shared<net::Encoder>(config), std::make_shared<DirectLayerHead>(config),
                    std::make_shared<net::GlobalGraphNet>(config)},
      num_targets);
}

std::shared_ptr<net::CobraNet> MakeNetOfMeans(const net::NetConfig& config, int64_t num_targets) {
  return std::make_shared<net::CobraNet>(
      net::NetParts{std::make_shared<net::Encoder>(config), std::make_shared<net::PriceHead>(config),
                    std::make_shared<MeanGraphNet>(config)},
      num_targets);
}

at::Tensor TotalLoss(const training::Batch& batch, const training::Outputs& outputs) {
  return training::LogLatencyLoss(outputs.log_total, batch.log_latency).mean();
}

std::shared_ptr<net::CobraNet> MakeNetWithoutTarget(const net::NetConfig& config, int64_t num_targets) {
  return std::make_shared<UnconditionedNet>(config, num_targets);
}

}  // namespace cobra::lab
