#include "model/training/rows/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/statistics.h"

namespace cobra::training {
namespace {

// Ranks from 0; equal values share their mean rank.
std::vector<double> Ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t j = i;
    while (j < order.size() && values[order[j]] == values[order[i]]) ++j;
    for (size_t k = i; k < j; ++k) ranks[order[k]] = (static_cast<double>(i) + static_cast<double>(j - 1)) / 2;
    i = j;
  }
  return ranks;
}

double Pearson(const std::vector<double>& a, const std::vector<double>& b) {
  const double n = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / n,
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / n;
  double ab = 0, aa = 0, bb = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa > 0 && bb > 0 ? ab / std::sqrt(aa * bb) : 0;
}

}  // namespace

Metrics ComputeMetrics(const std::vector<double>& predicted, const std::vector<double>& measured) {
  Metrics m;
  m.n = static_cast<int64_t>(predicted.size());
  if (m.n == 0) return m;
  for (size_t i = 0; i < predicted.size(); ++i) {
    const double error = std::fabs(predicted[i] / measured[i] - 1);
    m.mape += error;
    m.within_1 += error <= 0.01;
    m.within_5 += error <= 0.05;
    m.within_10 += error <= 0.10;
    m.within_25 += error <= 0.25;
  }
  const double n = static_cast<double>(m.n);
  for (double* figure : {&m.mape, &m.within_1, &m.within_5, &m.within_10, &m.within_25}) *figure /= n;
  m.spearman = Pearson(Ranks(predicted), Ranks(measured));
  return m;
}

double AbsLogError(double predicted, double measured) { return std::fabs(std::log(predicted / measured)); }

double MedianWidth(const std::vector<double>& half_widths) {
  std::vector<double> widths;
  for (double half : half_widths) widths.push_back(std::expm1(2 * half));
  return UpperMedian(std::move(widths));
}

double ConformalQuantile(std::vector<double> scores, double coverage) {
  if (scores.empty()) return 0;
  std::sort(scores.begin(), scores.end());
  const auto rank = static_cast<size_t>(std::ceil((static_cast<double>(scores.size()) + 1) * coverage));
  return scores[std::min(rank, scores.size()) - 1];
}

}  // namespace cobra::training
