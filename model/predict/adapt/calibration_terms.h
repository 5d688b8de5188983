// The terms of a calibration (calibration.h): numbers of a call whose weighted sum is the logarithm
// of how much longer it takes on another machine; and the robust ridge regression that finds the
// weights.
#ifndef COBRA_MODEL_PREDICT_ADAPT_CALIBRATION_TERMS_H_
#define COBRA_MODEL_PREDICT_ADAPT_CALIBRATION_TERMS_H_

#include <array>
#include <vector>

#include "graph/graph.h"
#include "model/predict/target/operator_group.h"
#include "model/predict/work/features.h"

namespace cobra::predict {

// A common bias and slope; a bias and a slope of each operator group; each work term and its
// square.
inline constexpr int kGroupTerms = 2 + 2 * kNumOperatorGroups, kCalibrationTerms = kGroupTerms + 2 * kWorkTerms;
using CallTerms = std::array<double, kCalibrationTerms>;

// What the terms need to know of a call, beside its latency.
struct CallKind {
  OperatorGroup group;
  std::array<float, kWorkTerms> log_work;
};
CallKind KindOf(const graph::Graph& graph, int32_t node);

// Widens the ranges by a call's work.
void Include(const std::array<float, kWorkTerms>& log_work, WorkRanges* ranges);

// Beyond the ranges by more than a factor of twelve a term grows no more; a term without a range is
// left out.
CallTerms TermsOf(const CallKind& call, double log_latency, const WorkRanges& ranges);

// What a fit may correct. More terms than the probe supports make a target worse, so they are
// chosen by probes that are held back.
enum class Terms { kNothing, kCommon, kGroups, kWork };

// A layer, or a call within a network.
struct CallRow {
  CallTerms terms;
  double log_ratio = 0;
  double weight = 1;
};

// The weights of the terms: ridge regression with Huber's loss, by reweighting. A probe disturbed
// by other load must not bend the fit.
std::vector<double> SolveRobust(const std::vector<CallRow>& rows, Terms terms);

// Weights that are missing at the end are 0: older calibrations have none for work.
double WeightedSum(const CallTerms& terms, const std::vector<double>& weights);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_CALIBRATION_TERMS_H_
