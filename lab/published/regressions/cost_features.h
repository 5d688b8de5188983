// Shape and cost features of calls and networks, for linear models and trees. They need no
// measurement.
#ifndef COBRA_LAB_PUBLISHED_REGRESSIONS_COST_FEATURES_H_
#define COBRA_LAB_PUBLISHED_REGRESSIONS_COST_FEATURES_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace cobra::lab {

// Features of the main call of a layer: operator, dimensions, strides, work, bytes, divisibility by
// vector widths. The length is the same for every layer; most are log2(1 + x).
std::vector<double> LayerFeatures(const graph::Graph& layer);
// Totals of a network: operations, bytes, calls; calls, operations and bytes of each family of
// operators; operations of convolutions by kind.
std::vector<double> NetworkFeatures(const graph::Graph& network);
// Floating-point operations (10^6), bytes moved (10^6).
std::vector<double> WorkFeatures(const graph::Graph& graph);

// BRP-NAS's features of a call: its kind as a number from 0 (new kinds are appended to `kinds`),
// and its parameters: dimensions of its first input, its weight and its output, stride, padding,
// dilation, groups; log2(1 + x) / 10.
int KindNumber(const graph::Node& node, std::vector<std::string>* kinds);
std::vector<double> CallParameters(const graph::Graph& graph, int32_t node);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_REGRESSIONS_COST_FEATURES_H_
