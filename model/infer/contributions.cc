#include "model/infer/contributions.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "model/infer/call_classes.h"

namespace cobra::infer {

absl::StatusOr<ContributionNet> ContributionNet::Create(const Tensors& tensors, const net::NetConfig& c,
                                                        int64_t num_targets) {
  ContributionNet net;
  net.width_ = c.width;
  net.stride_ = PaddedWidth(c.width);
  net.graph_stride_ = PaddedWidth(c.graph_width);
  net.graph_features_ = c.graph_features;
  net.learned_ = net::kLearnedTargetFeatures;
  const auto of_target = [&](const std::string& name, int64_t out) {
    return tensors.LinearOf(name, c.target_features, out, /*biased=*/false);
  };
  COBRA_ASSIGN_OR_RETURN(net.target_vectors_, tensors.TableOf("target_vectors", num_targets, net.learned_));
  COBRA_ASSIGN_OR_RETURN(net.prices_, LayerPrices::Create(tensors, c));
  const int64_t width = c.graph_width;
  COBRA_ASSIGN_OR_RETURN(net.input_, tensors.LinearOf("graph_net.input", c.width, width));
  COBRA_ASSIGN_OR_RETURN(net.alone_, tensors.LinearOf("graph_net.alone", 1, width));
  COBRA_ASSIGN_OR_RETURN(net.target_, of_target("graph_net.target", width));
  COBRA_ASSIGN_OR_RETURN(net.graph_, tensors.LinearOf("graph_net.graph", c.graph_features, width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(net.run_, tensors.LinearOf("graph_net.run", c.target_features, 1));
  for (int64_t i = 0; i < c.graph_layers; ++i) {
    const std::string name = absl::StrCat("graph_net.convolution", i);
    Convolution convolution;
    COBRA_ASSIGN_OR_RETURN(convolution.norm, tensors.NormOf(name + ".norm", width));
    COBRA_ASSIGN_OR_RETURN(convolution.self, tensors.LinearOf(name + ".self", width, width));
    COBRA_ASSIGN_OR_RETURN(convolution.along, tensors.LinearOf(name + ".along", width, width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.against, tensors.LinearOf(name + ".against", width, width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.global, tensors.LinearOf(name + ".global", width, width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.out, tensors.LinearOf(name + ".out", width, width));
    COBRA_ASSIGN_OR_RETURN(convolution.target_gain, of_target(name + ".target_gain", width));
    net.convolutions_.push_back(std::move(convolution));
  }
  COBRA_ASSIGN_OR_RETURN(net.norm_, tensors.NormOf("graph_net.norm", width));
  COBRA_ASSIGN_OR_RETURN(net.out_, tensors.LinearOf("graph_net.out", width, 1));
  COBRA_ASSIGN_OR_RETURN(net.out_gain_, of_target("graph_net.target_gain", width));
  return net;
}

namespace {

// Rows that are written before they are read.
class UnsetRows {
 public:
  UnsetRows(int64_t rows, int64_t stride) : stride_(stride), values_(new float[static_cast<size_t>(rows * stride)]) {}
  float* data() const { return values_.get(); }
  float* Row(int64_t row) const { return values_.get() + row * stride_; }

 private:
  int64_t stride_;
  std::unique_ptr<float[]> values_;
};

}  // namespace

struct ContributionNet::States {
  Neighbors along, against;
  CallClasses classes;
  UnsetRows h;  // a row a class
};

TargetTerms ContributionNet::TermsOf(absl::Span<const float> spec_features, int64_t target) const {
  TargetTerms terms;
  terms.features.assign(spec_features.begin(), spec_features.end());
  terms.features.insert(terms.features.end(), target_vectors_.Row(target), target_vectors_.Row(target) + learned_);
  const float* const features = terms.features.data();
  terms.prices = prices_.TermsOf(terms.features);
  terms.context = Rows(1, graph_stride_);
  target_.Apply(features, 1, 0, terms.context.data(), graph_stride_);
  for (const Convolution& convolution : convolutions_)
    terms.norms.push_back(convolution.norm.Times(Gains(convolution.target_gain, terms.features, graph_stride_)));
  terms.last_norm = norm_.Times(Gains(out_gain_, terms.features, graph_stride_));
  std::vector<float> log_run = Rows(1, kLaneFloats);
  run_.Apply(features, 1, 0, log_run.data(), kLaneFloats);
  terms.run_us = std::exp(net::kRunUnit * static_cast<double>(log_run[0]));
  return terms;
}

std::vector<PricedLayer> ContributionNet::Price(absl::Span<const float* const> layers, absl::Span<const float> work,
                                                const TargetTerms& target) const {
  const auto rows = static_cast<int64_t>(layers.size());
  const std::vector<float> embeddings = PaddedRows(layers, width_);
  const std::vector<float> log_us = prices_.LogUs(embeddings, work, target.prices);
  std::vector<float> states = Rows(rows, graph_stride_), alone = Rows(rows, 1);
  input_.Apply(embeddings.data(), rows, stride_, states.data(), graph_stride_);
  for (size_t row = 0; row < alone.size(); ++row) alone[row] = (log_us[row] - 4) / 4;
  alone_.Apply(alone.data(), rows, 1, states.data(), graph_stride_, /*add=*/true);
  std::vector<PricedLayer> priced;
  priced.reserve(layers.size());
  for (int64_t row = 0; row < rows; ++row) {
    const float* const state = RowOf(states, row, graph_stride_);
    priced.push_back({log_us[static_cast<size_t>(row)], std::vector<float>(state, state + graph_stride_)});
  }
  return priced;
}

void ContributionNet::Convolve(const Convolution& convolution, const Norm& norm, States* states) const {
  const Kernels& kernels = BestKernels();
  const int64_t stride = graph_stride_;
  const CallClasses before = std::move(states->classes);
  const auto class_of = [&before](int32_t call) { return before.of_call[static_cast<size_t>(call)]; };
  const UnsetRows x(before.size(), stride), own(before.size(), stride), along(before.size(), stride),
      against(before.size(), stride);
  norm.Apply(states->h.data(), before.size(), stride, x.data());
  convolution.self.Apply(x.data(), before.size(), stride, own.data(), stride);
  convolution.along.Apply(x.data(), before.size(), stride, along.data(), stride);
  convolution.against.Apply(x.data(), before.size(), stride, against.data(), stride);
  std::vector<float> mean = Rows(1, stride), global = Rows(1, stride);
  const auto calls = static_cast<int32_t>(before.of_call.size());
  for (int32_t call = 0; call < calls; ++call)
    kernels.add_scaled(x.Row(class_of(call)), 1.0f / static_cast<float>(calls), stride, mean.data());
  convolution.global.Apply(mean.data(), 1, stride, global.data(), stride);

  states->classes = Refine(before, states->along, states->against);
  const int64_t after = states->classes.size();
  const UnsetRows y(after, stride);
  UnsetRows h(after, stride);
  for (int64_t row = 0; row < after; ++row) {
    const int32_t call = states->classes.first[static_cast<size_t>(row)];
    float* const sum = y.Row(row);
    std::copy_n(states->h.Row(class_of(call)), stride, h.Row(row));
    std::copy_n(own.Row(class_of(call)), stride, sum);
    for (const int32_t source : states->along.Of(call)) kernels.add_scaled(along.Row(class_of(source)), 1, stride, sum);
    for (const int32_t reader : states->against.Of(call))
      kernels.add_scaled(against.Row(class_of(reader)), 1, stride, sum);
    kernels.add_scaled(global.data(), 1, stride, sum);
  }
  kernels.gelu(y.data(), after * stride);
  convolution.out.Apply(y.data(), after, stride, h.data(), stride, /*add=*/true);
  states->h = std::move(h);
}

NetworkContributions ContributionNet::Contribute(const Network& network, const TargetTerms& target) const {
  const Kernels& kernels = BestKernels();
  const size_t calls = network.layer_of_call.size();
  States states{Neighbors(network.edges, calls, /*along=*/true), Neighbors(network.edges, calls, /*along=*/false),
                ClassesOfLayers(network.layer_of_call, network.layers.size()),
                UnsetRows(static_cast<int64_t>(network.layers.size()), graph_stride_)};
  const int64_t stride = graph_stride_, layers = states.classes.size();
  std::vector<float> context = target.context;
  graph_.Apply(network.graph_features.data(), 1, 0, context.data(), stride, /*add=*/true);
  for (int64_t row = 0; row < layers; ++row) {
    std::copy_n(network.priced[static_cast<size_t>(row)]->state.data(), stride, states.h.Row(row));
    kernels.add_scaled(context.data(), 1, stride, states.h.Row(row));
  }
  for (size_t i = 0; i < convolutions_.size(); ++i) Convolve(convolutions_[i], target.norms[i], &states);
  target.last_norm.Apply(states.h.data(), states.classes.size(), stride, states.h.data());
  std::vector<float> change = Rows(states.classes.size(), kLaneFloats);
  out_.Apply(states.h.data(), states.classes.size(), stride, change.data(), kLaneFloats);

  NetworkContributions out;
  out.log_us.reserve(calls);
  out.log_us_alone.reserve(calls);
  for (size_t call = 0; call < calls; ++call) {
    out.log_us_alone.push_back(network.priced[static_cast<size_t>(network.layer_of_call[call])]->log_us);
    out.log_us.push_back(out.log_us_alone.back() +
                         change[static_cast<size_t>(states.classes.of_call[call] * kLaneFloats)]);
  }
  AddRun(network.layer_of_call, network.layers, width_, target.run_us, &out);
  return out;
}

void AddRun(absl::Span<const int32_t> layer_of_call, absl::Span<const float* const> layers, int64_t width,
            double run_us, NetworkContributions* contributions) {
  std::vector<double> us;
  us.reserve(layer_of_call.size());
  double total = 0;
  for (const float log_us : contributions->log_us) {
    us.push_back(std::exp(static_cast<double>(log_us)));
    total += us.back();
  }
  const auto with_run = static_cast<float>(std::log1p(run_us / total));
  const int64_t stride = PaddedWidth(width);
  const std::vector<float> embeddings = PaddedRows(layers, width);
  std::vector<float> mean = Rows(1, stride);
  for (size_t call = 0; call < layer_of_call.size(); ++call) {
    const double share = us[call] / total;
    BestKernels().add_scaled(RowOf(embeddings, layer_of_call[call], stride), static_cast<float>(share), stride,
                             mean.data());
    contributions->log_us[call] += with_run;
  }
  contributions->mean.assign(mean.begin(), mean.begin() + width);
}

}  // namespace cobra::infer
