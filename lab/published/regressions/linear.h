// Linear regression on plain features.
#ifndef COBRA_LAB_PUBLISHED_REGRESSIONS_LINEAR_H_
#define COBRA_LAB_PUBLISHED_REGRESSIONS_LINEAR_H_

#include <vector>

namespace cobra::lab {

using FeatureRows = std::vector<std::vector<double>>;  // of equal length

// Least squares on the latency (any unit), with a ridge of `ridge` times the rows on all
// coefficients but the constant. Returns the same unit for each of `all`, at least a tenth of the
// least training latency, because a line may be below zero.
std::vector<double> FitLinear(const FeatureRows& train, const std::vector<double>& latency, const FeatureRows& all,
                              double ridge = 1e-6);

// The same for the relative error, so that a row of 1 ms has the same weight as one of 1 s: least
// squares of w . features / latency - 1, with a constant.
std::vector<double> FitRelativeLinear(const FeatureRows& train, const std::vector<double>& latency,
                                      const FeatureRows& all, double ridge = 1e-9);

// Solves a x = b, a symmetric and positive definite.
std::vector<double> SolveCholesky(std::vector<std::vector<double>> a, std::vector<double> b);

}  // namespace cobra::lab

#endif  // COBRA_LAB_PUBLISHED_REGRESSIONS_LINEAR_H_
