// Shape and cost features, for lines and trees: what can be read off a call or a network before anything is measured.
#ifndef COBRA_EVALUATION_PUBLISHED_COST_FEATURES_H_
#define COBRA_EVALUATION_PUBLISHED_COST_FEATURES_H_

#include <string>
#include <vector>

#include "graph/graph.h"

namespace cobra::evaluation {

// Of the call of a layer that takes the time: operator, dimensions, strides, work, bytes, how they divide by vector
// widths. As long for every layer; most are log2(1 + x).
std::vector<double> LayerFeatures(const graph::Graph& layer);
// Totals of a network: operations, bytes, calls; calls, operations and bytes of each family of operators; operations of
// convolutions by kind.
std::vector<double> NetworkFeatures(const graph::Graph& network);
// Floating-point operations (10^6), bytes moved (10^6).
std::vector<double> WorkFeatures(const graph::Graph& graph);

// What BRP-NAS describes a call by. The kind as a number from 0 (`kinds` grows by what is new), and its parameters:
// dimensions of its first input, its weight and its output, stride, padding, dilation, groups; log2(1 + x) / 10.
int KindNumber(const graph::Node& node, std::vector<std::string>* kinds);
std::vector<double> CallParameters(const graph::Graph& graph, int32_t node);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_PUBLISHED_COST_FEATURES_H_
