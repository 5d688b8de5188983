#include "lab/variants/network_set.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/container/flat_hash_map.h"
#include "graph/cost/cost.h"
#include "model/predict/work/features.h"
#include "model/text/canonical_text.h"

namespace cobra::lab {
namespace {

float Log2(double x) { return static_cast<float>(std::log2(1 + std::max(0.0, x))); }

// The last four sizes, 1 for each missing one; 0 if there is no tensor.
void AppendSizes(const graph::TensorType* type, std::vector<double>* out) {
  double sizes[4] = {0, 0, 0, 0};
  if (type != nullptr) {
    std::fill(sizes, sizes + 4, 1);
    const size_t rank = type->shape.size();
    for (size_t i = 0; i < std::min<size_t>(4, rank); ++i)
      sizes[3 - i] = static_cast<double>(type->shape[rank - 1 - i]);
  }
  out->insert(out->end(), sizes, sizes + 4);
}

// A list of one or two sizes, as two numbers; (0, 0) if it is absent.
void AppendPair(const graph::Node& node, absl::string_view name, std::vector<double>* out) {
  const std::vector<int64_t> values = node.attributes.Ints(name);
  out->push_back(values.empty() ? 0 : static_cast<double>(values.front()));
  out->push_back(values.empty() ? 0 : static_cast<double>(values.back()));
}

Call DescribeCall(const graph::Graph& graph, int32_t index, const graph::NodeCost& cost) {
  const graph::Node& node = graph.nodes()[static_cast<size_t>(index)];
  const graph::TensorType *first = nullptr, *weight = nullptr, *second = nullptr;
  int inputs = 0;
  for (const graph::ValueRef& ref : node.inputs) {
    if (ref.is_none()) continue;
    ++inputs;
    const graph::TensorType& type = graph.TypeOf(ref);
    if (first == nullptr) {
      first = &type;
    } else if (second == nullptr) {
      second = &type;
    }
    if (weight == nullptr &&
        (ref.kind == graph::ValueRef::Kind::kParameter || ref.kind == graph::ValueRef::Kind::kBuffer))
      weight = &type;
  }
  std::vector<double> numbers;
  AppendSizes(first, &numbers);
  AppendSizes(weight, &numbers);
  AppendSizes(node.outputs.empty() ? nullptr : &node.outputs[0], &numbers);
  for (absl::string_view name : {"kernel_size", "stride", "padding", "dilation"}) AppendPair(node, name, &numbers);
  for (double x : {static_cast<double>(node.attributes.Int("groups", 0)), static_cast<double>(cost.macs),
                   static_cast<double>(cost.flops), static_cast<double>(cost.input_bytes),
                   static_cast<double>(cost.weight_bytes), static_cast<double>(cost.output_bytes),
                   second == nullptr ? 0 : static_cast<double>(second->num_elements()), static_cast<double>(inputs)}) {
    numbers.push_back(x);
  }
  Call call;
  for (size_t i = 0; i < kCallNumbers; ++i) call.numbers[i] = Log2(numbers[i]);
  return call;
}

struct Totals {
  double flops = 0, macs = 0, activations = 0, weights = 0, largest = 0;
};
Totals TotalsOf(const NetworkSet& set, const NetworkSet::Network& network) {
  Totals t;
  for (int32_t c : network.calls) {
    const auto& numbers = set.calls[static_cast<size_t>(c)].numbers;
    const auto number = [&](size_t i) { return std::exp2(static_cast<double>(numbers[i])) - 1; };
    t.macs += number(21);
    t.flops += number(22);
    t.activations += number(23) + number(25);
    t.weights += number(24);
    t.largest = std::max(t.largest, number(25));
  }
  return t;
}

}  // namespace

NetworkSet DescribeNetworks(const std::vector<const training::Sample*>& samples) {
  NetworkSet set;
  absl::flat_hash_map<std::string, int32_t> call_of_text;
  absl::flat_hash_map<std::string, int> kind_of_name;
  for (const training::Sample* sample : samples) {
    NetworkSet::Network& network = set.networks.emplace_back();
    const std::vector<graph::NodeCost> costs = graph::NodeCosts(sample->graph());
    const auto nodes = static_cast<int32_t>(sample->graph().nodes().size());
    for (int32_t i = 0; i < nodes; ++i) {
      const auto [call, is_new] =
          call_of_text.try_emplace(text::CanonicalText(sample->graph(), i), static_cast<int32_t>(set.calls.size()));
      if (is_new) {
        const std::string name(graph::OpName(sample->graph().nodes()[static_cast<size_t>(i)].op));
        const auto [kind, new_kind] = kind_of_name.try_emplace(name, static_cast<int>(set.kinds.size()));
        if (new_kind) set.kinds.push_back(name);
        set.calls.push_back(DescribeCall(sample->graph(), i, costs[static_cast<size_t>(i)]));
        set.calls.back().kind = kind->second;
      }
      network.calls.push_back(call->second);
      const bool profiled = static_cast<size_t>(i) < sample->node_latency_us.size();
      network.log_us.push_back(profiled ? std::log(std::max(0.05, sample->node_latency_us[static_cast<size_t>(i)]))
                                        : std::numeric_limits<double>::quiet_NaN());
    }
    network.edges = predict::GraphEdges(sample->graph());
    const auto totals = predict::GraphFeatures(sample->graph());
    network.totals.assign(totals.begin(), totals.end());
    network.latency_us = sample->latency_us();
    network.peak_memory_bytes = static_cast<double>(sample->peak_memory_bytes());
    network.rule_bytes = static_cast<double>(graph::PeakMemoryBytes(sample->graph()));
    network.space = sample->space();
    network.fingerprint = sample->fingerprint();
  }
  return set;
}

std::vector<double> LinearTotals(const NetworkSet& set, const NetworkSet::Network& network) {
  const Totals t = TotalsOf(set, network);
  return {t.flops / 1e9,
          t.macs / 1e9,
          t.activations / 1e7,
          t.weights / 1e7,
          static_cast<double>(network.calls.size()) / 1e2,
          static_cast<double>(network.edges.size()) / 1e2};
}

std::vector<double> TreeTotals(const NetworkSet& set, const NetworkSet::Network& network) {
  const Totals t = TotalsOf(set, network);
  std::vector<double> features;
  for (double x : {t.flops, t.macs, t.activations, t.weights, t.largest, static_cast<double>(network.calls.size()),
                   static_cast<double>(network.edges.size())}) {
    features.push_back(std::log1p(x));
  }
  std::vector<double> count(set.kinds.size(), 0);
  for (int32_t c : network.calls) count[static_cast<size_t>(set.calls[static_cast<size_t>(c)].kind)] += 1;
  features.insert(features.end(), count.begin(), count.end());
  return features;
}

}  // namespace cobra::lab
