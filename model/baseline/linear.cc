#include "model/baseline/linear.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cobra {

std::vector<double> SolveCholesky(std::vector<std::vector<double>> a, std::vector<double> b) {
  const size_t n = b.size();
  for (size_t j = 0; j < n; ++j) {
    for (size_t k = 0; k < j; ++k) a[j][j] -= a[j][k] * a[j][k];
    a[j][j] = std::sqrt(std::max(a[j][j], 1e-12));
    for (size_t i = j + 1; i < n; ++i) {
      for (size_t k = 0; k < j; ++k) a[i][j] -= a[i][k] * a[j][k];
      a[i][j] /= a[j][j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i][k] * b[k];
    b[i] /= a[i][i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k][i] * b[k];
    b[i] /= a[i][i];
  }
  return b;
}

std::vector<double> FitLinear(const FeatureRows& train, const std::vector<double>& latency, const FeatureRows& all, double ridge) {
  const size_t n = train.empty() ? 1 : train[0].size() + 1;
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0));
  std::vector<double> b(n, 0);
  const auto feature = [n](const std::vector<double>& row, size_t i) { return i + 1 == n ? 1.0 : row[i]; };
  for (size_t r = 0; r < train.size(); ++r) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) a[i][j] += feature(train[r], i) * feature(train[r], j);
      b[i] += feature(train[r], i) * latency[r];
    }
  }
  for (size_t i = 0; i + 1 < n; ++i) a[i][i] += ridge * static_cast<double>(train.size());
  const std::vector<double> w = SolveCholesky(std::move(a), std::move(b));
  double least = INFINITY;
  for (double ms : latency) least = std::min(least, ms);
  std::vector<double> predicted;
  for (const auto& row : all) {
    double ms = 0;
    for (size_t i = 0; i < n; ++i) ms += w[i] * feature(row, i);
    predicted.push_back(std::max(ms, 0.1 * least));  // a line may go below zero
  }
  return predicted;
}

std::vector<double> FitRelativeLinear(const FeatureRows& train, const std::vector<double>& latency, const FeatureRows& all, double ridge) {
  const size_t n = train.empty() ? 1 : train[0].size() + 1;
  std::vector<std::vector<double>> a(n, std::vector<double>(n, 0));
  std::vector<double> b(n, 0);
  const auto feature = [n](const std::vector<double>& row, size_t i) { return i + 1 == n ? 1.0 : row[i]; };
  for (size_t r = 0; r < train.size(); ++r) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) a[i][j] += feature(train[r], i) * feature(train[r], j) / (latency[r] * latency[r]);
      b[i] += feature(train[r], i) / latency[r];
    }
  }
  for (size_t i = 0; i < n; ++i) a[i][i] += ridge * a[i][i] + 1e-12;
  const std::vector<double> w = SolveCholesky(std::move(a), std::move(b));
  double least = INFINITY;
  for (double us : latency) least = std::min(least, us);
  std::vector<double> predicted;
  for (const auto& row : all) {
    double us = 0;
    for (size_t i = 0; i < n; ++i) us += w[i] * feature(row, i);
    predicted.push_back(std::max(us, 0.1 * least));
  }
  return predicted;
}

}  // namespace cobra
