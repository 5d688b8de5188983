#include "lab/tables/run/coverage.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/statistics.h"
#include "model/training/rows/metrics.h"

namespace cobra::lab {
namespace {

double LogChoose(int64_t n, int64_t k) {
  return std::lgamma(static_cast<double>(n + 1)) - std::lgamma(static_cast<double>(k + 1)) -
         std::lgamma(static_cast<double>(n - k + 1));
}
double LogBeta(double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); }

double BinomialAtMost(int64_t k, int64_t n, double p) {
  if (k >= n || p <= 0) return 1;
  if (k < 0 || p >= 1) return 0;
  double sum = 0;
  for (int64_t i = 0; i <= k; ++i) {
    sum +=
        std::exp(LogChoose(n, i) + static_cast<double>(i) * std::log(p) + static_cast<double>(n - i) * std::log1p(-p));
  }
  return std::min(1.0, sum);
}

double AtMost(int64_t k, int64_t n, int64_t calibration, double p) {
  if (calibration <= 0) return BinomialAtMost(k, n, p);
  if (k >= n || p <= 0) return 1;
  if (k < 0 || p >= 1) return 0;
  const double m = static_cast<double>(calibration + 1);
  return BetaBinomialAtMost(k, n, m * p, m * (1 - p));
}

}  // namespace

double BetaBinomialAtMost(int64_t k, int64_t n, double a, double b) {
  double sum = 0;
  for (int64_t i = 0; i <= std::min(k, n); ++i) {
    sum +=
        std::exp(LogChoose(n, i) + LogBeta(static_cast<double>(i) + a, static_cast<double>(n - i) + b) - LogBeta(a, b));
  }
  return std::min(1.0, sum);
}

Band ExactBand(int64_t covered, int64_t n, int64_t calibration, double confidence) {
  const double tail = (1 - confidence) / 2;
  // Finds the coverage at which `below` changes from true to false.
  const auto turn = [](auto below) {
    double low = 0, high = 1;
    for (int step = 0; step < 60; ++step) {
      const double middle = (low + high) / 2;
      (below(middle) ? low : high) = middle;
    }
    return (low + high) / 2;
  };
  Band band;
  if (covered > 0) band.low = turn([&](double p) { return 1 - AtMost(covered - 1, n, calibration, p) < tail; });
  if (covered < n) band.high = turn([&](double p) { return AtMost(covered, n, calibration, p) > tail; });
  return band;
}

double ConformalHalfWidth(const std::vector<double>& predicted, const std::vector<double>& measured, double coverage) {
  std::vector<double> scores;
  for (size_t i = 0; i < predicted.size(); ++i) scores.push_back(training::AbsLogError(predicted[i], measured[i]));
  return training::ConformalQuantile(std::move(scores), coverage);
}

std::vector<double> CrossConformalHalfWidths(const std::vector<double>& predicted, const std::vector<double>& measured,
                                             const std::vector<int>& fold, double coverage) {
  std::vector<double> half_width(predicted.size(), 0);
  const int folds = fold.empty() ? 0 : *std::max_element(fold.begin(), fold.end()) + 1;
  for (int f = 0; f < folds; ++f) {
    std::vector<double> scores;
    for (size_t i = 0; i < predicted.size(); ++i) {
      if (fold[i] != f) scores.push_back(training::AbsLogError(predicted[i], measured[i]));
    }
    const double quantile = training::ConformalQuantile(std::move(scores), coverage);
    for (size_t i = 0; i < predicted.size(); ++i) {
      if (fold[i] == f) half_width[i] = quantile;
    }
  }
  return half_width;
}

MetricValues IntervalMetricValues(const std::vector<double>& predicted, const std::vector<double>& measured,
                                  const std::vector<double>& half_width, int64_t calibration) {
  if (predicted.empty()) return {};
  int64_t covered = 0;
  for (size_t i = 0; i < predicted.size(); ++i)
    covered += training::AbsLogError(predicted[i], measured[i]) <= half_width[i];
  const auto n = static_cast<int64_t>(predicted.size());
  const Band band = ExactBand(covered, n, calibration);
  return {{"covered_90", static_cast<double>(covered) / static_cast<double>(n)},
          {"band_low", band.low},
          {"band_high", band.high},
          {"width", training::MedianWidth(half_width)}};
}

TableCell ErrorAndIntervalCell(const std::vector<double>& predicted, const std::vector<double>& measured,
                               const std::vector<double>& half_width, int64_t calibration) {
  TableCell cell;
  cell.figures = ToMetricValues(training::ComputeMetrics(predicted, measured));
  for (auto& figure : IntervalMetricValues(predicted, measured, half_width, calibration))
    cell.figures.push_back(std::move(figure));
  return cell;
}

void AnsweredRows::Append(const AnsweredRows& more) {
  predicted_.insert(predicted_.end(), more.predicted_.begin(), more.predicted_.end());
  measured_.insert(measured_.end(), more.measured_.begin(), more.measured_.end());
  half_width_.insert(half_width_.end(), more.half_width_.begin(), more.half_width_.end());
}

TableCell AnsweredRows::Cell() const {
  TableCell cell;
  cell.figures = ToMetricValues(training::ComputeMetrics(predicted_, measured_));
  if (half_width_.size() == predicted_.size()) {
    for (auto& figure : IntervalMetricValues(predicted_, measured_, half_width_, 0))
      cell.figures.push_back(std::move(figure));
  }
  std::vector<double> errors;
  for (size_t i = 0; i < predicted_.size(); ++i) errors.push_back(std::abs(predicted_[i] / measured_[i] - 1));
  cell.figures.emplace_back("median", Median(std::move(errors)));
  return cell;
}

const std::vector<TableColumn>& ErrorAndIntervalColumns() {
  static const auto* columns = new std::vector<TableColumn>{
      {"mape", "MAPE, %", 100, 2},        {"within_1", "within 1 %"},
      {"within_5", "within 5 %"},         {"within_10", "within 10 %"},
      {"spearman", "Spearman", 1, 3},     {"covered_90", "covered by the 90 % interval, %"},
      {"band_low", "its 95 % band from"}, {"band_high", "to"},
      {"width", "median width, %"}};
  return *columns;
}

std::vector<TableColumn> ErrorIntervalAndCountColumns() {
  std::vector<TableColumn> columns = ErrorAndIntervalColumns();
  columns.push_back({"n", "test rows", 1, 0});
  return columns;
}

std::vector<TableColumn> MedianErrorIntervalAndCountColumns() {
  std::vector<TableColumn> columns = ErrorIntervalAndCountColumns();
  const auto within_10 =
      std::find_if(columns.begin(), columns.end(), [](const TableColumn& c) { return c.figure == "within_10"; });
  columns.insert(within_10 + 1, {"within_25", "within 25 %"});
  columns.insert(columns.begin(), {"median", "median error, %", 100, 1});
  return columns;
}

}  // namespace cobra::lab
