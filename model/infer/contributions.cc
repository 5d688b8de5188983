#include "model/infer/contributions.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::infer {

absl::StatusOr<ContributionNet> ContributionNet::Create(const Tensors& tensors, const net::NetConfig& c,
                                                        int64_t num_targets) {
  ContributionNet net;
  net.width_ = c.width;
  net.stride_ = PaddedWidth(c.width);
  net.graph_stride_ = PaddedWidth(c.graph_width);
  net.work_terms_ = c.work_terms;
  net.graph_features_ = c.graph_features;
  net.learned_ = net::kLearnedTargetFeatures;
  const auto of_target = [&](const std::string& name, int64_t out) {
    return tensors.LinearOf(name, c.target_features, out, /*biased=*/false);
  };
  COBRA_ASSIGN_OR_RETURN(net.target_vectors_, tensors.TableOf("target_vectors", num_targets, net.learned_));
  COBRA_ASSIGN_OR_RETURN(net.hidden_, tensors.LinearOf("layer_head.hidden", c.width, c.width));
  COBRA_ASSIGN_OR_RETURN(net.target_price_, of_target("layer_head.target", c.width));
  COBRA_ASSIGN_OR_RETURN(net.work_, tensors.LinearOf("layer_head.work", c.work_terms, c.width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(net.hidden2_, tensors.LinearOf("layer_head.hidden2", c.width, c.width));
  COBRA_ASSIGN_OR_RETURN(net.prices_, tensors.LinearOf("layer_head.out", c.width, c.work_terms));
  COBRA_ASSIGN_OR_RETURN(net.target_gain_, of_target("layer_head.target_gain", c.width));
  COBRA_ASSIGN_OR_RETURN(net.target_prices_, of_target("layer_head.target_prices", c.work_terms));
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

// Calls whose states are the same, bit for bit, at one depth of the network: a state is computed
// once a class.
struct Classes {
  std::vector<int32_t> of_call;
  std::vector<int32_t> first;  // of each class, its first call

  int64_t size() const { return static_cast<int64_t>(first.size()); }
};

// The neighbours of each call, in the order of the edges: sums of floats depend on their order.
class Neighbors {
 public:
  Neighbors(absl::Span<const std::pair<int32_t, int32_t>> edges, size_t calls, bool along)
      : begin_(calls + 1), neighbors_(edges.size()) {
    const auto to = [along](const std::pair<int32_t, int32_t>& e) { return along ? e.second : e.first; };
    for (const auto& edge : edges) ++begin_[static_cast<size_t>(to(edge)) + 1];
    for (size_t call = 0; call < calls; ++call) begin_[call + 1] += begin_[call];
    std::vector<int32_t> next(begin_.begin(), begin_.end() - 1);
    for (const auto& edge : edges)
      neighbors_[static_cast<size_t>(next[static_cast<size_t>(to(edge))]++)] = along ? edge.first : edge.second;
  }
  absl::Span<const int32_t> Of(int32_t call) const {
    const auto begin = static_cast<size_t>(begin_[static_cast<size_t>(call)]);
    const auto end = static_cast<size_t>(begin_[static_cast<size_t>(call) + 1]);
    return absl::MakeConstSpan(neighbors_).subspan(begin, end - begin);
  }

 private:
  std::vector<int32_t> begin_, neighbors_;
};

// A class for each layer.
Classes ClassesOfLayers(const Network& network) {
  Classes classes;
  classes.of_call.assign(network.layer_of_call.begin(), network.layer_of_call.end());
  classes.first.assign(network.layers.size(), -1);
  for (size_t call = 0; call < classes.of_call.size(); ++call) {
    int32_t& first = classes.first[static_cast<size_t>(classes.of_call[call])];
    if (first < 0) first = static_cast<int32_t>(call);
  }
  return classes;
}

// After a convolution: calls that were alike before it, and so were their neighbours, in their
// order. Each is put into the class of the first call that is like it.
Classes Refine(const Classes& before, const Neighbors& along, const Neighbors& against) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15;
  const size_t calls = before.of_call.size();
  const auto of = [&](int32_t call) { return before.of_call[static_cast<size_t>(call)]; };
  const auto same = [&](absl::Span<const int32_t> a, absl::Span<const int32_t> b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](int32_t x, int32_t y) { return of(x) == of(y); });
  };
  const auto hash = [&](int32_t call) {
    uint64_t sum = static_cast<uint64_t>(of(call));
    for (const int32_t neighbor : along.Of(call)) sum = sum * kFactor + static_cast<uint64_t>(of(neighbor));
    sum = ~sum;
    for (const int32_t neighbor : against.Of(call)) sum = sum * kFactor + static_cast<uint64_t>(of(neighbor));
    return absl::HashOf(sum);
  };
  Classes classes;
  classes.of_call.reserve(calls);
  size_t slots = 16;
  while (slots < 2 * calls) slots *= 2;
  std::vector<int32_t> class_at(slots, -1);
  for (int32_t call = 0; call < static_cast<int32_t>(calls); ++call) {
    size_t slot = hash(call) % slots;
    for (;; slot = (slot + 1) % slots) {
      int32_t& here = class_at[slot];
      if (here < 0) {
        here = static_cast<int32_t>(classes.first.size());
        classes.first.push_back(call);
      }
      const int32_t first = classes.first[static_cast<size_t>(here)];
      if (first == call || (of(first) == of(call) && same(along.Of(first), along.Of(call)) &&
                            same(against.Of(first), against.Of(call)))) {
        classes.of_call.push_back(here);
        break;
      }
    }
  }
  return classes;
}

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

// By how much a target multiplies each feature.
std::vector<float> Gains(const Linear& gain, const std::vector<float>& target, int64_t stride) {
  std::vector<float> gains = Rows(1, stride);
  gain.Apply(target.data(), 1, 0, gains.data(), stride);
  for (float& g : gains) g += 1;
  return gains;
}

}  // namespace

struct ContributionNet::States {
  Neighbors along, against;
  Classes classes;
  UnsetRows h;  // a row a class
};

TargetTerms ContributionNet::TermsOf(absl::Span<const float> spec_features, int64_t target) const {
  TargetTerms terms;
  terms.features.assign(spec_features.begin(), spec_features.end());
  terms.features.insert(terms.features.end(), target_vectors_.Row(target), target_vectors_.Row(target) + learned_);
  const float* const features = terms.features.data();
  const int64_t work_stride = PaddedWidth(work_terms_);
  terms.price_context = Rows(1, stride_);
  target_price_.Apply(features, 1, 0, terms.price_context.data(), stride_);
  terms.price_gains = Gains(target_gain_, terms.features, stride_);
  terms.price_changes = Rows(1, work_stride);
  target_prices_.Apply(features, 1, 0, terms.price_changes.data(), work_stride);
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

// The logarithm of each layer's time alone: the sum of its amounts of work times their prices.
std::vector<float> ContributionNet::LogUsAlone(const std::vector<float>& embeddings, absl::Span<const float> log_work,
                                               const TargetTerms& target) const {
  const Kernels& kernels = BestKernels();
  const auto rows = static_cast<int64_t>(embeddings.size()) / stride_;
  const int64_t work_stride = PaddedWidth(work_terms_);
  const auto work_of = [&](int64_t row, int64_t term) {
    return log_work[static_cast<size_t>(row * work_terms_ + term)];
  };
  std::vector<float> work = Rows(rows, work_stride);
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t term = 0; term < work_terms_; ++term)
      work[static_cast<size_t>(row * work_stride + term)] = std::max(work_of(row, term), 0.0f) / 10;
  }
  std::vector<float> h = Rows(rows, stride_), h2 = Rows(rows, stride_), prices = Rows(rows, work_stride);
  hidden_.Apply(embeddings.data(), rows, stride_, h.data(), stride_);
  work_.Apply(work.data(), rows, work_stride, h.data(), stride_, /*add=*/true);
  for (int64_t row = 0; row < rows; ++row)
    kernels.add_scaled(target.price_context.data(), 1, stride_, RowOf(h, row, stride_));
  kernels.gelu(h.data(), rows * stride_);
  hidden2_.Apply(h.data(), rows, stride_, h2.data(), stride_);
  kernels.gelu(h2.data(), rows * stride_);
  for (int64_t row = 0; row < rows; ++row) {
    float* const values = RowOf(h2, row, stride_);
    for (int64_t i = 0; i < stride_; ++i) values[i] *= target.price_gains[static_cast<size_t>(i)];
  }
  prices_.Apply(h2.data(), rows, stride_, prices.data(), work_stride);
  std::vector<float> log_us, powers = Rows(1, work_stride);
  log_us.reserve(static_cast<size_t>(rows));
  for (int64_t row = 0; row < rows; ++row) {
    float* terms = RowOf(prices, row, work_stride);
    for (int64_t term = 0; term < work_terms_; ++term)
      terms[term] += target.price_changes[static_cast<size_t>(term)] + work_of(row, term);
    const float most = *std::max_element(terms, terms + work_terms_);
    for (int64_t term = 0; term < work_terms_; ++term) terms[term] -= most;
    kernels.exponentials(terms, work_stride, powers.data());
    float sum = 0;
    for (int64_t term = 0; term < work_terms_; ++term) sum += powers[static_cast<size_t>(term)];
    log_us.push_back(most + std::log(sum));
  }
  return log_us;
}

std::vector<PricedLayer> ContributionNet::Price(absl::Span<const float* const> layers, absl::Span<const float> work,
                                                const TargetTerms& target) const {
  const auto rows = static_cast<int64_t>(layers.size());
  std::vector<float> embeddings = Rows(rows, stride_);
  for (int64_t row = 0; row < rows; ++row)
    std::copy_n(layers[static_cast<size_t>(row)], width_, RowOf(embeddings, row, stride_));
  const std::vector<float> log_us = LogUsAlone(embeddings, work, target);
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
  const Classes before = std::move(states->classes);
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
                ClassesOfLayers(network), UnsetRows(static_cast<int64_t>(network.layers.size()), graph_stride_)};
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
  std::vector<double> us;
  us.reserve(calls);
  double total = 0;
  for (size_t call = 0; call < calls; ++call) {
    out.log_us_alone.push_back(network.priced[static_cast<size_t>(network.layer_of_call[call])]->log_us);
    out.log_us.push_back(out.log_us_alone.back() +
                         change[static_cast<size_t>(states.classes.of_call[call] * kLaneFloats)]);
    us.push_back(std::exp(static_cast<double>(out.log_us.back())));
    total += us.back();
  }
  const auto with_run = static_cast<float>(std::log1p(target.run_us / total));
  std::vector<float> embeddings = Rows(layers, stride_), mean = Rows(1, stride_);
  for (int64_t row = 0; row < layers; ++row)
    std::copy_n(network.layers[static_cast<size_t>(row)], width_, RowOf(embeddings, row, stride_));
  for (size_t call = 0; call < calls; ++call) {
    const double share = us[call] / total;
    kernels.add_scaled(RowOf(embeddings, network.layer_of_call[call], stride_), static_cast<float>(share), stride_,
                       mean.data());
    out.log_us[call] += with_run;
  }
  out.mean.assign(mean.begin(), mean.begin() + width_);
  return out;
}

}  // namespace cobra::infer
