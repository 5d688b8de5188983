#include "model/predict/adapt/adapt_terms.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "graph/cost/cost.h"
#include "model/predict/target/rough_time.h"

namespace cobra::predict {
namespace {

// Calls are put into classes of similar size.
constexpr double kSizesUs[] = {5, 60, 700};

int SizeOf(const graph::NodeCost& cost) {
  const double us = RoughUs(cost);
  int size = 0;
  for (const double bound : kSizesUs) size += us > bound;
  return size;
}

}  // namespace

Inverse InverseOf(const AdaptMatrix& matrix) {
  constexpr size_t n = kAdaptTerms;
  AdaptMatrix lower{}, inverse_of_lower{};
  Inverse result{};
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = matrix[i][j];
      for (size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      lower[i][j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / lower[j][j];
    }
    result.log_determinant += 2 * std::log(lower[i][i]);
  }
  for (size_t column = 0; column < n; ++column) {
    for (size_t i = column; i < n; ++i) {
      double sum = i == column ? 1 : 0;
      for (size_t k = column; k < i; ++k) sum -= lower[i][k] * inverse_of_lower[k][column];
      inverse_of_lower[i][column] = sum / lower[i][i];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (size_t k = i; k < n; ++k) sum += inverse_of_lower[k][i] * inverse_of_lower[k][j];
      result.inverse[i][j] = result.inverse[j][i] = sum;
    }
  }
  return result;
}

CallClasses ClassesOf(const graph::Graph& graph) {
  CallClasses classes;
  std::map<std::pair<int, int>, int32_t> known;
  const std::vector<graph::NodeCost> costs = graph::NodeCosts(graph);
  for (size_t i = 0; i < costs.size(); ++i) {
    const CallClass of_call{OperatorGroupOf(graph, graph.nodes()[i]), SizeOf(costs[i])};
    const auto [found, is_new] =
        known.try_emplace({of_call.group, of_call.size}, static_cast<int32_t>(classes.classes.size()));
    if (is_new) classes.classes.push_back(of_call);
    classes.of_call.push_back(found->second);
  }
  return classes;
}

NetworkView ViewOf(const CallClasses& classes, absl::Span<const double> node_us, double half_width) {
  NetworkView view;
  view.half_width = half_width;
  for (const CallClass& c : classes.classes) view.classes.push_back({c.group, 0, 0});
  for (size_t i = 0; i < node_us.size(); ++i) {
    NetworkView::Calls& calls = view.classes[static_cast<size_t>(classes.of_call[i])];
    const double us = std::max(node_us[i], 1e-6);
    calls.x += us * (std::log(us) - 4) / 4;
    calls.us += us;
    view.us += us;
  }
  for (NetworkView::Calls& calls : view.classes) calls.x /= calls.us;
  return view;
}

double LaunchTerm(double log_us) {
  constexpr double kLaunchUs = 40;
  return 1 / (1 + std::exp(log_us) / kLaunchUs);
}

std::vector<double> StoredCoefficients(const AdaptVector& coefficients) {
  std::vector<double> stored(coefficients.begin(), coefficients.begin() + kGroupTerms);
  stored.resize(kCalibrationTerms);
  stored.push_back(coefficients[kLaunchTerm]);
  return stored;
}

double LaunchCoefficient(const std::vector<double>& stored) {
  return stored.size() > kCalibrationTerms ? stored[kCalibrationTerms] : 0;
}

AdaptVector TermsOf(const NetworkView::Calls& calls) {
  AdaptVector terms{};
  terms[0] = 1;
  terms[1] = calls.x;
  terms[2 + 2 * static_cast<size_t>(calls.group)] = 1;
  terms[3 + 2 * static_cast<size_t>(calls.group)] = calls.x;
  terms[kLaunchTerm] = LaunchTerm(4 * calls.x + 4);
  return terms;
}

double LogLatency(const NetworkView& view, const AdaptVector& coefficients) {
  double us = 0;
  for (const NetworkView::Calls& calls : view.classes) us += calls.us * std::exp(Dot(TermsOf(calls), coefficients));
  return std::log(us);
}

AdaptVector SharesOf(const NetworkView& view, const AdaptVector& coefficients) {
  AdaptVector shares{};
  double total = 0;
  for (const NetworkView::Calls& calls : view.classes) {
    const AdaptVector terms = TermsOf(calls);
    const double us = calls.us * std::exp(Dot(terms, coefficients));
    total += us;
    for (size_t i = 0; i < terms.size(); ++i) shares[i] += us * terms[i];
  }
  for (double& share : shares) share /= total;
  return shares;
}

}  // namespace cobra::predict
