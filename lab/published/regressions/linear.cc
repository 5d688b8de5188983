#include "lab/published/regressions/linear.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace cobra::lab {

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

namespace {

double Feature(const std::vector<double>& row, size_t i) { return i < row.size() ? row[i] : 1.0; }

// The normal equations of least squares, a w = b, each row divided by its scale; the last weight is
// the constant's.
struct NormalEquations {
  std::vector<std::vector<double>> a;
  std::vector<double> b;
};

NormalEquations Normal(const FeatureRows& train, const std::vector<double>& latency, const std::vector<double>& scale) {
  const size_t n = train.empty() ? 1 : train[0].size() + 1;
  NormalEquations equations{std::vector<std::vector<double>>(n, std::vector<double>(n, 0)), std::vector<double>(n, 0)};
  for (size_t r = 0; r < train.size(); ++r) {
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j <= i; ++j) {
        equations.a[i][j] += Feature(train[r], i) * Feature(train[r], j) / (scale[r] * scale[r]);
      }
      equations.b[i] += Feature(train[r], i) * (latency[r] / scale[r]) / scale[r];
    }
  }
  return equations;
}

// A line may be negative: no prediction is below a tenth of the least latency.
std::vector<double> Line(const std::vector<double>& weights, const FeatureRows& rows,
                         const std::vector<double>& latency) {
  double least = INFINITY;
  for (double value : latency) least = std::min(least, value);
  std::vector<double> predicted;
  for (const auto& row : rows) {
    double value = 0;
    for (size_t i = 0; i < weights.size(); ++i) value += weights[i] * Feature(row, i);
    predicted.push_back(std::max(value, 0.1 * least));
  }
  return predicted;
}

}  // namespace

std::vector<double> FitLinear(const FeatureRows& train, const std::vector<double>& latency, const FeatureRows& all,
                              double ridge) {
  NormalEquations equations = Normal(train, latency, std::vector<double>(train.size(), 1.0));
  for (size_t i = 0; i + 1 < equations.b.size(); ++i) equations.a[i][i] += ridge * static_cast<double>(train.size());
  return Line(SolveCholesky(std::move(equations.a), std::move(equations.b)), all, latency);
}

std::vector<double> FitRelativeLinear(const FeatureRows& train, const std::vector<double>& latency,
                                      const FeatureRows& all, double ridge) {
  NormalEquations equations = Normal(train, latency, latency);
  for (size_t i = 0; i < equations.b.size(); ++i) equations.a[i][i] += ridge * equations.a[i][i] + 1e-12;
  return Line(SolveCholesky(std::move(equations.a), std::move(equations.b)), all, latency);
}

}  // namespace cobra::lab
