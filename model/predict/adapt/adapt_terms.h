// What an adaptation to a new device (adapter.h) may change in a trained target: the group terms of
// a calibration (calibration_terms.h), so that both are stored and served as the same coefficients,
// and a term for launching. Launching depends on the host and says nothing about the device: two
// hosts with an L40S differ by a factor of two and a half in programs of 20 us, and by a tenth in
// those of 2 ms.
#ifndef COBRA_MODEL_PREDICT_ADAPT_ADAPT_TERMS_H_
#define COBRA_MODEL_PREDICT_ADAPT_ADAPT_TERMS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "graph/graph.h"
#include "model/predict/adapt/calibration_terms.h"
#include "model/predict/target/operator_group.h"
#include "model/predict/target/small_matrix.h"

namespace cobra::predict {

inline constexpr int kAdaptTerms = kGroupTerms + 1, kLaunchTerm = kGroupTerms;
using AdaptVector = SmallVector<kAdaptTerms>;
using AdaptMatrix = SmallMatrix<kAdaptTerms>;

// Of a positive definite matrix: its inverse, and the logarithm of its determinant.
struct Inverse {
  AdaptMatrix inverse;
  double log_determinant = 0;
};
Inverse InverseOf(const AdaptMatrix& matrix);

// The calls of a network in classes: an operator group and a size by work, whatever the target.
struct CallClass {
  OperatorGroup group = kOther;
  int size = 0;
};
struct CallClasses {
  std::vector<int32_t> of_call;  // index into `classes`
  std::vector<CallClass> classes;
};
CallClasses ClassesOf(const graph::Graph& graph);

// What a target takes for a network, by classes of calls.
struct NetworkView {
  struct Calls {
    OperatorGroup group = kOther;
    double us = 0, x = 0;  // their time, and the mean feature of calibration_terms.h, weighted by time
  };
  std::vector<Calls> classes;  // in the order of CallClasses
  double us = 0;
  double half_width = 0;  // of the interval, in log-latency
};
NetworkView ViewOf(const CallClasses& classes, absl::Span<const double> node_us, double half_width);

// The term of launching, of a call with this time: near 1 where launching is all of it, near 0
// where it hardly counts.
double LaunchTerm(double log_us);
// As a calibration stores them: behind the weights of the terms of work, which are 0, that of
// launching.
std::vector<double> StoredCoefficients(const AdaptVector& coefficients);
// That of launching; 0 if there is none.
double LaunchCoefficient(const std::vector<double>& stored);

AdaptVector TermsOf(const NetworkView::Calls& calls);
// The logarithm of the latency with these coefficients, and its derivative: the terms by their
// shares of the time.
double LogLatency(const NetworkView& view, const AdaptVector& coefficients);
AdaptVector SharesOf(const NetworkView& view, const AdaptVector& coefficients);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_ADAPT_TERMS_H_
