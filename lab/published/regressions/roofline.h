// Sums over a network's kernels that are linear in their work: the additive roofline, and the same
// with operators fused by rules (nn-Meter: Zhang et al., 2021, MobiSys, section 4). A model that
// does not clearly beat them has learned nothing about graphs.
#ifndef COBRA_LAB_PUBLISHED_REGRESSIONS_ROOFLINE_H_
#define COBRA_LAB_PUBLISHED_REGRESSIONS_ROOFLINE_H_

#include <vector>

#include "graph/graph.h"
#include "lab/published/regressions/linear.h"

namespace cobra::lab {

// For each of 13 kinds of operators: calls, multiply-accumulates (10^6), activation bytes and
// weight bytes (10^6).
std::vector<double> RooflineFeatures(const graph::Graph& network);

// The same after fusion: a norm, an activation or an addition that reads what one convolution,
// product or fused kernel made for it alone belongs to that kernel. It adds no call, no work and no
// memory traffic but that of its other inputs.
std::vector<double> FusedRooflineFeatures(const graph::Graph& network);

// Microseconds of all calls, each limited by arithmetic or by memory: what the data sheet promises.
double SheetRooflineUs(const graph::Graph& network, double peak_gflops, double memory_gb_per_s);

// Non-negative least squares on the relative error: weights >= 0 that minimise sum (w . features /
// latency - 1)^2 over `train`. Returns the latency's unit for each of `all`.
std::vector<double> FitRelativeNonNegative(const FeatureRows& train, const std::vector<double>& latency,
                                           const FeatureRows& all);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_REGRESSIONS_ROOFLINE_H_
