#include "model/infer/contributions.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::infer {
namespace {

float* RowOf(std::vector<float>& values, int64_t row, int64_t stride) { return values.data() + row * stride; }

}  // namespace

absl::StatusOr<ContributionNet> ContributionNet::Create(const Tensors& tensors, const net::NetConfig& c,
                                                        int64_t num_targets) {
  ContributionNet net;
  net.width_ = c.width;
  net.stride_ = PaddedWidth(c.width);
  net.graph_stride_ = PaddedWidth(c.graph_width);
  net.work_terms_ = c.work_terms;
  net.graph_features_ = c.graph_features;
  net.learned_ = net::kLearnedTargetFeatures;
  COBRA_ASSIGN_OR_RETURN(net.target_vectors_, tensors.TableOf("target_vectors", num_targets, net.learned_));
  COBRA_ASSIGN_OR_RETURN(net.hidden_, tensors.LinearOf("layer_head.hidden", c.width, c.width));
  COBRA_ASSIGN_OR_RETURN(net.target_price_,
                         tensors.LinearOf("layer_head.target", c.target_features, c.width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(net.work_, tensors.LinearOf("layer_head.work", c.work_terms, c.width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(net.hidden2_, tensors.LinearOf("layer_head.hidden2", c.width, c.width));
  COBRA_ASSIGN_OR_RETURN(net.prices_, tensors.LinearOf("layer_head.out", c.width, c.work_terms));
  const int64_t width = c.graph_width;
  COBRA_ASSIGN_OR_RETURN(net.input_, tensors.LinearOf("graph_net.input", c.width, width));
  COBRA_ASSIGN_OR_RETURN(net.alone_, tensors.LinearOf("graph_net.alone", 1, width));
  COBRA_ASSIGN_OR_RETURN(net.target_, tensors.LinearOf("graph_net.target", c.target_features, width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(net.graph_, tensors.LinearOf("graph_net.graph", c.graph_features, width, /*biased=*/false));
  for (int64_t i = 0; i < c.graph_layers; ++i) {
    const std::string name = absl::StrCat("graph_net.convolution", i);
    Convolution convolution;
    COBRA_ASSIGN_OR_RETURN(convolution.norm, tensors.NormOf(name + ".norm", width));
    COBRA_ASSIGN_OR_RETURN(convolution.self, tensors.LinearOf(name + ".self", width, width));
    COBRA_ASSIGN_OR_RETURN(convolution.along, tensors.LinearOf(name + ".along", width, width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.against, tensors.LinearOf(name + ".against", width, width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.global, tensors.LinearOf(name + ".global", width, width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.out, tensors.LinearOf(name + ".out", width, width));
    net.convolutions_.push_back(std::move(convolution));
  }
  COBRA_ASSIGN_OR_RETURN(net.norm_, tensors.NormOf("graph_net.norm", width));
  COBRA_ASSIGN_OR_RETURN(net.out_, tensors.LinearOf("graph_net.out", width, 1));
  return net;
}

// The logarithm of each call's time alone: the sum of its amounts of work times their prices.
std::vector<float> ContributionNet::Alone(const Network& network, const std::vector<float>& embeddings,
                                          const std::vector<float>& target) const {
  const Kernels& kernels = BestKernels();
  const auto calls = static_cast<int64_t>(network.layers.size());
  const int64_t work_stride = PaddedWidth(work_terms_);
  std::vector<float> work = Rows(calls, work_stride), for_target = Rows(1, stride_);
  for (int64_t call = 0; call < calls; ++call) {
    for (int64_t term = 0; term < work_terms_; ++term)
      work[static_cast<size_t>(call * work_stride + term)] =
          std::max(network.work[static_cast<size_t>(call * work_terms_ + term)], 0.0f) / 10;
  }
  target_price_.Apply(target.data(), 1, 0, for_target.data(), stride_);
  std::vector<float> h = Rows(calls, stride_), h2 = Rows(calls, stride_), prices = Rows(calls, work_stride);
  hidden_.Apply(embeddings.data(), calls, stride_, h.data(), stride_);
  work_.Apply(work.data(), calls, work_stride, h.data(), stride_, /*add=*/true);
  for (int64_t call = 0; call < calls; ++call)
    kernels.add_scaled(for_target.data(), 1, stride_, RowOf(h, call, stride_));
  kernels.gelu(h.data(), calls * stride_);
  hidden2_.Apply(h.data(), calls, stride_, h2.data(), stride_);
  kernels.gelu(h2.data(), calls * stride_);
  prices_.Apply(h2.data(), calls, stride_, prices.data(), work_stride);
  std::vector<float> log_us, powers = Rows(1, work_stride);
  log_us.reserve(static_cast<size_t>(calls));
  for (int64_t call = 0; call < calls; ++call) {
    float* terms = RowOf(prices, call, work_stride);
    for (int64_t term = 0; term < work_terms_; ++term)
      terms[term] += network.work[static_cast<size_t>(call * work_terms_ + term)];
    const float most = *std::max_element(terms, terms + work_terms_);
    for (int64_t term = 0; term < work_terms_; ++term) terms[term] -= most;
    kernels.exponentials(terms, work_stride, powers.data());
    float sum = 0;
    for (int64_t term = 0; term < work_terms_; ++term) sum += powers[static_cast<size_t>(term)];
    log_us.push_back(most + std::log(sum));
  }
  return log_us;
}

void ContributionNet::Convolve(const Convolution& convolution, const Network& network, std::vector<float>* h) const {
  const Kernels& kernels = BestKernels();
  const auto calls = static_cast<int64_t>(network.layers.size());
  const int64_t stride = graph_stride_;
  std::vector<float> x = Rows(calls, stride), y = Rows(calls, stride), passed = Rows(calls, stride);
  convolution.norm.Apply(h->data(), calls, stride, x.data());
  convolution.self.Apply(x.data(), calls, stride, y.data(), stride);
  convolution.along.Apply(x.data(), calls, stride, passed.data(), stride);
  for (const auto& [source, destination] : network.edges)
    kernels.add_scaled(RowOf(passed, source, stride), 1, stride, RowOf(y, destination, stride));
  convolution.against.Apply(x.data(), calls, stride, passed.data(), stride);
  for (const auto& [source, destination] : network.edges)
    kernels.add_scaled(RowOf(passed, destination, stride), 1, stride, RowOf(y, source, stride));
  std::vector<float> mean = Rows(1, stride), global = Rows(1, stride);
  for (int64_t call = 0; call < calls; ++call)
    kernels.add_scaled(RowOf(x, call, stride), 1.0f / static_cast<float>(calls), stride, mean.data());
  convolution.global.Apply(mean.data(), 1, stride, global.data(), stride);
  for (int64_t call = 0; call < calls; ++call) kernels.add_scaled(global.data(), 1, stride, RowOf(y, call, stride));
  kernels.gelu(y.data(), calls * stride);
  convolution.out.Apply(y.data(), calls, stride, h->data(), stride, /*add=*/true);
}

NetworkContributions ContributionNet::Contribute(const Network& network, absl::Span<const float> spec_features,
                                                 int64_t target) const {
  const Kernels& kernels = BestKernels();
  const auto calls = static_cast<int64_t>(network.layers.size());
  std::vector<float> of_target(spec_features.begin(), spec_features.end());
  of_target.insert(of_target.end(), target_vectors_.Row(target), target_vectors_.Row(target) + learned_);
  std::vector<float> embeddings = Rows(calls, stride_);
  for (int64_t call = 0; call < calls; ++call)
    std::copy_n(network.layers[static_cast<size_t>(call)], width_, RowOf(embeddings, call, stride_));
  NetworkContributions out;
  out.log_us = Alone(network, embeddings, of_target);

  const int64_t stride = graph_stride_;
  std::vector<float> context = Rows(1, stride), h = Rows(calls, stride), alone = Rows(calls, 1);
  target_.Apply(of_target.data(), 1, 0, context.data(), stride);
  graph_.Apply(network.graph_features.data(), 1, 0, context.data(), stride, /*add=*/true);
  input_.Apply(embeddings.data(), calls, stride_, h.data(), stride);
  for (size_t call = 0; call < out.log_us.size(); ++call) alone[call] = (out.log_us[call] - 4) / 4;
  alone_.Apply(alone.data(), calls, 1, h.data(), stride, /*add=*/true);
  for (int64_t call = 0; call < calls; ++call) kernels.add_scaled(context.data(), 1, stride, RowOf(h, call, stride));
  for (const Convolution& convolution : convolutions_) Convolve(convolution, network, &h);
  norm_.Apply(h.data(), calls, stride, h.data());
  std::vector<float> change = Rows(calls, kLaneFloats);
  out_.Apply(h.data(), calls, stride, change.data(), kLaneFloats);
  for (size_t call = 0; call < out.log_us.size(); ++call) out.log_us[call] += change[call * kLaneFloats];

  double total = 0;
  for (const float log_us : out.log_us) total += std::exp(static_cast<double>(log_us));
  std::vector<float> mean = Rows(1, stride_);
  for (int64_t call = 0; call < calls; ++call) {
    const double share = std::exp(static_cast<double>(out.log_us[static_cast<size_t>(call)])) / total;
    kernels.add_scaled(RowOf(embeddings, call, stride_), static_cast<float>(share), stride_, mean.data());
  }
  out.mean.assign(mean.begin(), mean.begin() + width_);
  return out;
}

}  // namespace cobra::infer
