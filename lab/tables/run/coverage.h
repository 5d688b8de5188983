// How good intervals are: the share of test items inside, the exact band of what was observed, the
// width. (A 90 % interval that covers 99 % is as wrong as one that covers 80 %.) Also conformal
// intervals from the errors on items that were not trained on.
#ifndef COBRA_LAB_TABLES_RUN_COVERAGE_H_
#define COBRA_LAB_TABLES_RUN_COVERAGE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lab/tables/run/table.h"

namespace cobra::lab {

struct Band {
  double low = 0, high = 1;
};

// The range of coverages that are compatible with `covered` of `n` test items inside: for each of
// them, the probability of at least as many items inside, and that of at most as many, is at least
// (1 - confidence) / 2. For an interval calibrated on `calibration` other items the number inside
// is beta-binomial with parameters (m + 1) p and (m + 1) (1 - p) (Vovk, "Conditional validity of
// inductive conformal predictors", 2012); 0: a fixed interval, for which it is binomial and the
// range is that of Clopper and Pearson. REQUIRES: 0 <= covered <= n, n > 0.
Band ExactBand(int64_t covered, int64_t n, int64_t calibration, double confidence = 0.95);

// Probability of at most `k` of `n` inside, beta-binomial with parameters a and b.
double BetaBinomialAtMost(int64_t k, int64_t n, double a, double b);

// Half-widths, in log-latency, of the intervals of `coverage` around each item's prediction: the
// conformal quantile of |log(measured / predicted)| over `calibration`, for every item the same.
double ConformalHalfWidth(const std::vector<double>& predicted, const std::vector<double>& measured,
                          double coverage = 0.9);

// The same for items that were each predicted by the fit of the other folds: an item's half-width
// comes from the items of the other folds (cross-conformal; Vovk, 2015). `fold` of each item.
std::vector<double> CrossConformalHalfWidths(const std::vector<double>& predicted, const std::vector<double>& measured,
                                             const std::vector<int>& fold, double coverage = 0.9);

// covered_90, band_low, band_high (fractions) and width (median of high / low - 1) of the intervals
// predicted * exp(+-half_width). `calibration`: number of items that determined each half-width.
MetricValues IntervalMetricValues(const std::vector<double>& predicted, const std::vector<double>& measured,
                                  const std::vector<double>& half_width, int64_t calibration);
// A cell with the errors too.
TableCell ErrorAndIntervalCell(const std::vector<double>& predicted, const std::vector<double>& measured,
                               const std::vector<double>& half_width, int64_t calibration);
// Rows that a method answered, those of a group together.
class AnsweredRows {
 public:
  // `half_width`: of the interval, in log-latency.
  void Add(double predicted, double measured, double half_width) {
    AddWithoutInterval(predicted, measured);
    half_width_.push_back(half_width);
  }
  // Of a method that has no intervals.
  void AddWithoutInterval(double predicted, double measured) {
    predicted_.push_back(predicted);
    measured_.push_back(measured);
  }
  void Append(const AnsweredRows& more);
  bool empty() const { return predicted_.empty(); }
  const std::vector<double>& predicted() const { return predicted_; }
  const std::vector<double>& measured() const { return measured_; }
  const std::vector<double>& half_width() const { return half_width_; }  // empty of a method that has no intervals
  // Errors, "median" too; and, if all rows have one, figures of intervals that other rows
  // determined.
  TableCell Cell() const;

 private:
  std::vector<double> predicted_, measured_, half_width_;
};
// A table's rows: by group, by method.
using AnswersOfGroups = std::map<std::pair<std::string, std::string>, AnsweredRows>;

// The columns of a table of predictions with intervals: errors, rank correlation, then those of
// IntervalMetricValues.
const std::vector<TableColumn>& ErrorAndIntervalColumns();
// And the number of test rows: of a table whose groups differ in it.
std::vector<TableColumn> ErrorIntervalAndCountColumns();
// And the median error, and the share within 25 %: of tables whose errors are large.
std::vector<TableColumn> MedianErrorIntervalAndCountColumns();

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_COVERAGE_H_
