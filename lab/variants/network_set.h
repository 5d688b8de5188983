// Measured networks as numbers, the input of predictors of networks (our graph network, PerfSAGE,
// GCNs, lines and trees on totals). Calls with the same canonical text are stored once: a space has
// few different ones.
#ifndef COBRA_LAB_VARIANTS_NETWORK_SET_H_
#define COBRA_LAB_VARIANTS_NETWORK_SET_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/training/rows/dataset.h"

namespace cobra::lab {

// log2(1 + x) of: the last four sizes of the first input, the weight and the output; kernel,
// stride, padding, dilation, groups; multiply-accumulates, FLOPs and bytes read, of weights,
// written; elements of the first tensor given beside the first input; number of inputs.
inline constexpr size_t kCallNumbers = 28;
inline constexpr size_t kCallOutputNumbers = 4, kCallOutputBegin = 8;  // of them: the output's sizes

struct Call {
  int kind = 0;  // index into NetworkSet::kinds
  std::array<float, kCallNumbers> numbers{};
};

struct NetworkSet {
  struct Network {
    std::vector<int32_t> calls;                      // of each node, into NetworkSet::calls
    std::vector<double> log_us;                      // of each node in context, NaN if it was not profiled
    std::vector<std::pair<int32_t, int32_t>> edges;  // data flows from first to second
    std::vector<float> totals;                       // GraphFeatures
    double latency_us = 0, peak_memory_bytes = 0;    // measured; 0: not measured
    double rule_bytes = 0;                           // PeakMemoryBytes
    std::string space, fingerprint;
  };
  std::vector<Network> networks;
  std::vector<Call> calls;
  std::vector<std::string> kinds;  // operators
};
NetworkSet DescribeNetworks(const std::vector<const training::Sample*>& samples);

// Features of a network. For lines: FLOPs, multiply-accumulates, bytes of activations and of
// weights, nodes, edges, each divided by a fixed scale. For trees: their logarithms, the largest
// output, and the number of calls of each kind.
std::vector<double> LinearTotals(const NetworkSet& set, const NetworkSet::Network& network);
std::vector<double> TreeTotals(const NetworkSet& set, const NetworkSet::Network& network);

}  // namespace cobra::lab

#endif  // COBRA_LAB_VARIANTS_NETWORK_SET_H_
