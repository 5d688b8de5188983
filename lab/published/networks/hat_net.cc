#include "lab/published/networks/hat_net.h"

#include <torch/nn/modules/activation.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

// This header needs the names of torch/types.h.
#include <torch/optim/adam.h>

#include <algorithm>

namespace cobra::lab {
namespace {

constexpr double kNorm[space::kHatFeatures] = {640, 6, 2048, 6, 640, 6, 2048, 6, 6, 2};

at::Tensor ToTensor(const std::vector<space::HatFeatures>& rows) {
  at::Tensor out = at::empty({static_cast<int64_t>(rows.size()), space::kHatFeatures});
  float* value = out.data_ptr<float>();
  for (const space::HatFeatures& row : rows) {
    for (size_t f = 0; f < space::kHatFeatures; ++f) *value++ = static_cast<float>(row[f] / kNorm[f]);
  }
  return out;
}

}  // namespace

HatNetFit FitHatNet(const std::vector<space::HatFeatures>& train, const std::vector<double>& latency_ms,
                    const std::vector<space::HatFeatures>& all, const HatNetOptions& o) {
  namespace nn = torch::nn;
  torch::manual_seed(o.seed);
  nn::Sequential net;
  net->push_back(nn::Linear(space::kHatFeatures, o.width));
  net->push_back(nn::ReLU());
  for (int64_t i = 0; i < o.layers; ++i) {
    net->push_back(nn::Linear(o.width, o.width));
    net->push_back(nn::ReLU());
  }
  net->push_back(nn::Linear(o.width, 1));
  const at::Tensor features = ToTensor(train);
  at::Tensor target = at::empty({features.size(0)});
  for (size_t i = 0; i < latency_ms.size(); ++i)
    target.data_ptr<float>()[i] = static_cast<float>(latency_ms[i] / o.norm_ms);
  torch::optim::Adam optimizer(net->parameters(), torch::optim::AdamOptions(o.learning_rate));
  const int64_t batch = std::min<int64_t>(o.batch, features.size(0));
  for (int64_t step = 0; step < o.steps; ++step) {
    const at::Tensor chosen = at::randperm(features.size(0), at::kLong).narrow(0, 0, batch);
    optimizer.zero_grad();
    at::mse_loss(net->forward(features.index_select(0, chosen)).squeeze(-1), target.index_select(0, chosen)).backward();
    optimizer.step();
  }
  HatNetFit fit;
  for (const at::Tensor& p : net->parameters()) fit.parameters += p.numel();
  at::NoGradGuard no_grad;
  const at::Tensor predicted = net->forward(ToTensor(all)).squeeze(-1).contiguous();
  const double least_ms = 0.1 * *std::min_element(latency_ms.begin(), latency_ms.end());
  for (int64_t i = 0; i < predicted.numel(); ++i)
    fit.latency_ms.push_back(std::max(least_ms, predicted.data_ptr<float>()[i] * o.norm_ms));
  return fit;
}

}  // namespace cobra::lab
