#include "model/infer/shared_contributions.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace cobra::infer {
namespace {

// Of CallState::values and Neighbourhood::values.
enum Part { kState = 0, kOwn = 1, kAlong = 2, kAgainst = 3, kLate = 1 };

const float* PartOf(const std::vector<float>& values, Part part, int64_t stride) {
  return values.data() + part * stride;
}

}  // namespace

absl::StatusOr<SharedContributionNet> SharedContributionNet::Create(const Tensors& tensors, const net::NetConfig& c,
                                                                    int64_t num_targets) {
  SharedContributionNet net;
  const int64_t width = c.graph_width;
  net.width_ = c.width;
  net.stride_ = PaddedWidth(width);
  const auto linear = [&](const std::string& name, int64_t in, bool biased = true, int64_t out = 0) {
    return tensors.LinearOf("graph_net." + name, in, out > 0 ? out : width, biased);
  };
  const auto of_target = [&](const std::string& name) { return linear(name, c.target_features, /*biased=*/false); };
  COBRA_ASSIGN_OR_RETURN(net.target_vectors_,
                         tensors.TableOf("target_vectors", num_targets, net::kLearnedTargetFeatures));
  COBRA_ASSIGN_OR_RETURN(net.prices_, LayerPrices::Create(tensors, c));
  COBRA_ASSIGN_OR_RETURN(net.input_, linear("input", c.width));
  COBRA_ASSIGN_OR_RETURN(net.alone_, linear("alone", 1));
  COBRA_ASSIGN_OR_RETURN(net.target_, of_target("target"));
  COBRA_ASSIGN_OR_RETURN(net.run_, linear("run", c.target_features, /*biased=*/true, 1));
  for (int64_t i = 0; i < c.graph_layers; ++i) {
    const std::string name = absl::StrCat("convolution", i);
    Convolution convolution;
    COBRA_ASSIGN_OR_RETURN(convolution.norm, tensors.NormOf(absl::StrCat("graph_net.", name, ".norm"), width));
    COBRA_ASSIGN_OR_RETURN(convolution.self, linear(name + ".self", width));
    COBRA_ASSIGN_OR_RETURN(convolution.along, linear(name + ".along", width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.against, linear(name + ".against", width, /*biased=*/false));
    COBRA_ASSIGN_OR_RETURN(convolution.out, linear(name + ".out", width));
    COBRA_ASSIGN_OR_RETURN(convolution.target_gain, of_target(name + ".target_gain"));
    net.convolutions_.push_back(std::move(convolution));
  }
  COBRA_ASSIGN_OR_RETURN(net.norm_, tensors.NormOf("graph_net.norm", width));
  COBRA_ASSIGN_OR_RETURN(net.out_gain_, of_target("target_gain"));
  COBRA_ASSIGN_OR_RETURN(net.out_, linear("out", width, /*biased=*/true, 1));
  COBRA_ASSIGN_OR_RETURN(net.totals_, linear("totals", c.graph_features));
  COBRA_ASSIGN_OR_RETURN(net.whole_target_, of_target("whole_target"));
  COBRA_ASSIGN_OR_RETURN(net.mean_, linear("mean", width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(net.weighted_, linear("weighted", width, /*biased=*/false));
  COBRA_ASSIGN_OR_RETURN(net.gain_, linear("gain", width));
  COBRA_ASSIGN_OR_RETURN(net.shift_, linear("shift", width));
  COBRA_ASSIGN_OR_RETURN(net.late_, linear("late", width));
  COBRA_ASSIGN_OR_RETURN(net.late_out_, linear("late_out", width, /*biased=*/false, 1));
  return net;
}

SharedTargetTerms SharedContributionNet::TermsOf(absl::Span<const float> spec_features, int64_t target) const {
  SharedTargetTerms terms;
  terms.features.assign(spec_features.begin(), spec_features.end());
  const float* const learned = target_vectors_.Row(target);
  terms.features.insert(terms.features.end(), learned, learned + net::kLearnedTargetFeatures);
  const float* const features = terms.features.data();
  terms.prices = prices_.TermsOf(terms.features);
  terms.context = Rows(1, stride_);
  target_.Apply(features, 1, 0, terms.context.data(), stride_);
  terms.whole = Rows(1, stride_);
  whole_target_.Apply(features, 1, 0, terms.whole.data(), stride_);
  for (const Convolution& convolution : convolutions_)
    terms.norms.push_back(convolution.norm.Times(Gains(convolution.target_gain, terms.features, stride_)));
  terms.last_norm = norm_.Times(Gains(out_gain_, terms.features, stride_));
  std::vector<float> log_run = Rows(1, kLaneFloats);
  run_.Apply(features, 1, 0, log_run.data(), kLaneFloats);
  terms.run_us = std::exp(net::kRunUnit * static_cast<double>(log_run[0]));
  return terms;
}

std::vector<CallState> SharedContributionNet::Before(absl::Span<const float* const> layers,
                                                     absl::Span<const float> work,
                                                     const SharedTargetTerms& target) const {
  const auto rows = static_cast<int64_t>(layers.size());
  const std::vector<float> embeddings = PaddedRows(layers, width_);
  const std::vector<float> log_us = prices_.LogUs(embeddings, work, target.prices);
  std::vector<float> states = Rows(rows, stride_), alone = Rows(rows, 1);
  input_.Apply(embeddings.data(), rows, PaddedWidth(width_), states.data(), stride_);
  for (size_t row = 0; row < alone.size(); ++row) alone[row] = (log_us[row] - 4) / 4;
  alone_.Apply(alone.data(), rows, 1, states.data(), stride_, /*add=*/true);
  for (int64_t row = 0; row < rows; ++row)
    BestKernels().add_scaled(target.context.data(), 1, stride_, RowOf(states, row, stride_));
  return WithMessages(0, states, log_us, target);
}

std::vector<CallState> SharedContributionNet::WithMessages(int round, const std::vector<float>& states,
                                                           absl::Span<const float> log_us_alone,
                                                           const SharedTargetTerms& target) const {
  const Convolution& convolution = convolutions_[static_cast<size_t>(round)];
  const auto rows = static_cast<int64_t>(log_us_alone.size());
  std::vector<float> x = Rows(rows, stride_), own = x, along = x, against = x;
  target.norms[static_cast<size_t>(round)].Apply(states.data(), rows, stride_, x.data());
  convolution.self.Apply(x.data(), rows, stride_, own.data(), stride_);
  convolution.along.Apply(x.data(), rows, stride_, along.data(), stride_);
  convolution.against.Apply(x.data(), rows, stride_, against.data(), stride_);
  std::vector<CallState> calls(log_us_alone.size());
  for (int64_t row = 0; row < rows; ++row) {
    CallState& call = calls[static_cast<size_t>(row)];
    call.log_us_alone = log_us_alone[static_cast<size_t>(row)];
    call.values.reserve(static_cast<size_t>(4 * stride_));
    for (const std::vector<float>* part :
         std::initializer_list<const std::vector<float>*>{&states, &own, &along, &against})
      call.values.insert(call.values.end(), RowOf(*part, row, stride_), RowOf(*part, row, stride_) + stride_);
  }
  return calls;
}

std::vector<float> SharedContributionNet::StatesAfter(int round, absl::Span<const CallAmongNeighbours> calls) const {
  const Kernels& kernels = BestKernels();
  const auto rows = static_cast<int64_t>(calls.size());
  std::vector<float> states = Rows(rows, stride_), hidden = Rows(rows, stride_);
  for (int64_t row = 0; row < rows; ++row) {
    const CallAmongNeighbours& call = calls[static_cast<size_t>(row)];
    std::copy_n(PartOf(call.call->values, kState, stride_), stride_, RowOf(states, row, stride_));
    float* const sum = RowOf(hidden, row, stride_);
    std::copy_n(PartOf(call.call->values, kOwn, stride_), stride_, sum);
    for (const CallState* source : call.sources)
      kernels.add_scaled(PartOf(source->values, kAlong, stride_), 1, stride_, sum);
    for (const CallState* reader : call.readers)
      kernels.add_scaled(PartOf(reader->values, kAgainst, stride_), 1, stride_, sum);
  }
  kernels.gelu(hidden.data(), rows * stride_);
  convolutions_[static_cast<size_t>(round)].out.Apply(hidden.data(), rows, stride_, states.data(), stride_,
                                                      /*add=*/true);
  return states;
}

std::vector<CallState> SharedContributionNet::After(int round, absl::Span<const CallAmongNeighbours> calls,
                                                    const SharedTargetTerms& target) const {
  std::vector<float> log_us_alone;
  for (const CallAmongNeighbours& call : calls) log_us_alone.push_back(call.call->log_us_alone);
  return WithMessages(round + 1, StatesAfter(round, calls), log_us_alone, target);
}

std::vector<Neighbourhood> SharedContributionNet::AfterLast(absl::Span<const CallAmongNeighbours> calls,
                                                            const SharedTargetTerms& target) const {
  const auto rows = static_cast<int64_t>(calls.size());
  std::vector<float> states = StatesAfter(rounds() - 1, calls);
  target.last_norm.Apply(states.data(), rows, stride_, states.data());
  std::vector<float> change = Rows(rows, kLaneFloats), late = Rows(rows, stride_);
  out_.Apply(states.data(), rows, stride_, change.data(), kLaneFloats);
  late_.Apply(states.data(), rows, stride_, late.data(), stride_);
  std::vector<Neighbourhood> made(calls.size());
  for (int64_t row = 0; row < rows; ++row) {
    Neighbourhood& of_call = made[static_cast<size_t>(row)];
    of_call.log_us_alone = calls[static_cast<size_t>(row)].call->log_us_alone;
    of_call.log_us = of_call.log_us_alone + change[static_cast<size_t>(row * kLaneFloats)];
    of_call.values.reserve(static_cast<size_t>(2 * stride_));
    of_call.values.insert(of_call.values.end(), RowOf(states, row, stride_), RowOf(states, row, stride_) + stride_);
    of_call.values.insert(of_call.values.end(), RowOf(late, row, stride_), RowOf(late, row, stride_) + stride_);
  }
  return made;
}

std::vector<float> SharedContributionNet::WholeChanges(const SharedNetwork& network, const std::vector<int32_t>& counts,
                                                       const SharedTargetTerms& target) const {
  const Kernels& kernels = BestKernels();
  const auto rows = static_cast<int64_t>(counts.size());
  std::vector<double> us;
  double total = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    us.push_back(counts[i] * std::exp(static_cast<double>(network.neighbourhoods[i]->log_us)));
    total += us.back();
  }
  std::vector<float> mean = Rows(1, stride_), weighted = Rows(1, stride_);
  const auto calls = static_cast<double>(network.layer_of_call.size());
  for (size_t i = 0; i < counts.size(); ++i) {
    const float* const state = PartOf(network.neighbourhoods[i]->values, kState, stride_);
    kernels.add_scaled(state, static_cast<float>(counts[i] / calls), stride_, mean.data());
    kernels.add_scaled(state, static_cast<float>(us[i] / total), stride_, weighted.data());
  }
  std::vector<float> whole = target.whole, gain = Rows(1, stride_), shift = Rows(1, stride_);
  totals_.Apply(network.graph_features.data(), 1, 0, whole.data(), stride_, /*add=*/true);
  mean_.Apply(mean.data(), 1, 0, whole.data(), stride_, /*add=*/true);
  weighted_.Apply(weighted.data(), 1, 0, whole.data(), stride_, /*add=*/true);
  kernels.gelu(whole.data(), stride_);
  gain_.Apply(whole.data(), 1, 0, gain.data(), stride_);
  shift_.Apply(whole.data(), 1, 0, shift.data(), stride_);
  std::vector<float> hidden = Rows(rows, stride_), changes = Rows(rows, kLaneFloats);
  for (int64_t row = 0; row < rows; ++row)
    kernels.gated(PartOf(network.neighbourhoods[static_cast<size_t>(row)]->values, kLate, stride_), gain.data(),
                  shift.data(), stride_, RowOf(hidden, row, stride_));
  kernels.gelu(hidden.data(), rows * stride_);
  late_out_.Apply(hidden.data(), rows, stride_, changes.data(), kLaneFloats);
  std::vector<float> of_each;
  of_each.reserve(counts.size());
  for (int64_t row = 0; row < rows; ++row) of_each.push_back(changes[static_cast<size_t>(row * kLaneFloats)]);
  return of_each;
}

NetworkContributions SharedContributionNet::Contribute(const SharedNetwork& network,
                                                       const SharedTargetTerms& target) const {
  std::vector<int32_t> counts(network.neighbourhoods.size());
  for (const int32_t neighbourhood : network.neighbourhood_of_call) ++counts[static_cast<size_t>(neighbourhood)];
  const std::vector<float> changes = WholeChanges(network, counts, target);
  NetworkContributions out;
  out.log_us.reserve(network.layer_of_call.size());
  out.log_us_alone.reserve(network.layer_of_call.size());
  for (const int32_t of_call : network.neighbourhood_of_call) {
    const Neighbourhood& neighbourhood = *network.neighbourhoods[static_cast<size_t>(of_call)];
    out.log_us_alone.push_back(neighbourhood.log_us_alone);
    out.log_us.push_back(neighbourhood.log_us + changes[static_cast<size_t>(of_call)]);
  }
  AddRun(network.layer_of_call, network.layers, width_, target.run_us, &out);
  return out;
}

}  // namespace cobra::infer
