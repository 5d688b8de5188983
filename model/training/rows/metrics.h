#ifndef COBRA_MODEL_TRAINING_ROWS_METRICS_H_
#define COBRA_MODEL_TRAINING_ROWS_METRICS_H_

#include <cstdint>
#include <vector>

namespace cobra::training {

// Errors of a set of predictions; every figure is a fraction.
struct Metrics {
  double mape = 0;
  double within_1 = 0, within_5 = 0, within_10 = 0, within_25 = 0;  // share with |predicted / measured - 1| <= 0.01 ...
  double spearman = 0;
  int64_t n = 0;
};

// REQUIRES: same sizes, measured > 0.
Metrics ComputeMetrics(const std::vector<double>& predicted, const std::vector<double>& measured);

// |log(predicted / measured)|: the error that intervals and their scores are based on.
double AbsLogError(double predicted, double measured);

// Median of high / low - 1 over intervals from predicted / e^half_width to predicted *
// e^half_width; 0 if empty.
double MedianWidth(const std::vector<double>& half_widths);

// The split-conformal quantile: smallest q such that at least ceil((n + 1) * coverage) of the
// scores are <= q; the largest score if n is too small for that.
double ConformalQuantile(std::vector<double> scores, double coverage);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_ROWS_METRICS_H_
