// A line through plain features, by least squares.
#ifndef COBRA_EVALUATION_PUBLISHED_LINEAR_H_
#define COBRA_EVALUATION_PUBLISHED_LINEAR_H_

#include <vector>

namespace cobra::evaluation {

using FeatureRows = std::vector<std::vector<double>>;  // of equal length

// Of the latency (any unit) with a ridge of `ridge` times the rows on all but the constant; the same unit for each of
// `all`. What falls below a tenth of the least latency seen is raised to it: a line may go below zero.
std::vector<double> FitLinear(const FeatureRows& train, const std::vector<double>& latency, const FeatureRows& all,
                              double ridge = 1e-6);

// The same of the relative error, so that a row of 1 ms counts as much as one of 1 s: least squares of w . features /
// latency - 1, with a constant.
std::vector<double> FitRelativeLinear(const FeatureRows& train, const std::vector<double>& latency,
                                      const FeatureRows& all, double ridge = 1e-9);

// Solves a x = b, a symmetric and positive definite.
std::vector<double> SolveCholesky(std::vector<std::vector<double>> a, std::vector<double> b);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_PUBLISHED_LINEAR_H_
