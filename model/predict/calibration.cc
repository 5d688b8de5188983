#include "model/predict/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "model/predict/features.h"
#include "model/predict/plausibility.h"

namespace cobra::predict {
namespace {

// Operators that other machines speed up or slow down together.
enum Group { kConvDense, kConvPointwise, kConvGrouped, kProduct, kNorm, kPool, kElementwise, kOther, kNumGroups };

bool HasOneByOneKernel(const graph::Graph& graph, const graph::Node& node) {
  if (node.inputs.size() < 2 || node.inputs[1].is_none()) return false;
  const graph::Shape& weight = graph.TypeOf(node.inputs[1]).shape;
  return std::all_of(weight.begin() + std::min<size_t>(2, weight.size()), weight.end(),
                     [](int64_t d) { return d == 1; });
}

Group GroupOf(const graph::Graph& graph, const graph::Node& node) {
  const absl::string_view name = graph::OpName(node.op);
  if (absl::StartsWith(name, "conv")) {
    if (node.attributes.Int("groups", 1) > 1) return kConvGrouped;
    return HasOneByOneKernel(graph, node) ? kConvPointwise : kConvDense;
  }
  if (graph::GetOpInfo(node.op).cost_class == graph::CostClass::kCompute) return kProduct;
  if (graph::GetOpInfo(node.op).cost_class == graph::CostClass::kView) return kOther;
  if (absl::EndsWith(name, "_norm")) return kNorm;
  if (absl::StrContains(name, "pool")) return kPool;
  return kElementwise;
}

constexpr int kCoefficients = 2 + 2 * kNumGroups;

std::array<double, kCoefficients> Features(Group group, double log_latency) {
  std::array<double, kCoefficients> f{};
  const double x = (log_latency - 4) / 4;
  f[0] = 1;
  f[1] = x;
  f[2 + 2 * group] = 1;
  f[3 + 2 * group] = x;
  return f;
}

// Solves the ridge normal equations by Cholesky decomposition; the penalties make the matrix positive definite.
std::vector<double> SolveRidge(const std::vector<std::array<double, kCoefficients>>& rows, const std::vector<double>& y,
                               const std::vector<double>& weights) {
  constexpr int n = kCoefficients;
  double a[n][n] = {}, b[n] = {};
  // The penalties count as probes: one on the common slope, three on each group's terms, almost none on the bias.
  for (int i = 0; i < n; ++i) a[i][i] = i == 0 ? 1e-3 : i == 1 ? 1.0 : 3.0;
  for (size_t r = 0; r < rows.size(); ++r) {
    for (int i = 0; i < n; ++i) {
      b[i] += weights[r] * rows[r][i] * y[r];
      for (int j = 0; j < n; ++j) a[i][j] += weights[r] * rows[r][i] * rows[r][j];
    }
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) {
      double s = a[i][j];
      for (int k = 0; k < j; ++k) s -= a[i][k] * a[j][k];
      a[i][j] = i == j ? std::sqrt(s) : s / a[j][j];
    }
  }
  std::vector<double> x(n);
  for (int i = 0; i < n; ++i) {
    double s = b[i];
    for (int k = 0; k < i; ++k) s -= a[i][k] * x[k];
    x[i] = s / a[i][i];
  }
  for (int i = n - 1; i >= 0; --i) {
    double s = x[i];
    for (int k = i + 1; k < n; ++k) s -= a[k][i] * x[k];
    x[i] = s / a[i][i];
  }
  return x;
}

double Dot(const std::array<double, kCoefficients>& row, const std::vector<double>& coefficients) {
  double sum = 0;
  for (int i = 0; i < kCoefficients; ++i) sum += row[i] * coefficients[i];
  return sum;
}

// Ridge regression with Huber's loss, by reweighting: a probe disturbed by other load must not bend the fit.
std::vector<double> SolveRobust(const std::vector<std::array<double, kCoefficients>>& rows,
                                const std::vector<double>& y) {
  constexpr double kHuber = 0.05;  // larger than the scatter of undisturbed probes
  constexpr int kRounds = 30;
  std::vector<double> weights(rows.size(), 1.0), coefficients;
  for (int round = 0; round < kRounds; ++round) {
    coefficients = SolveRidge(rows, y, weights);
    for (size_t r = 0; r < rows.size(); ++r) {
      const double residual = std::fabs(y[r] - Dot(rows[r], coefficients));
      weights[r] = residual <= kHuber ? 1 : kHuber / residual;
    }
  }
  return coefficients;
}

double NetworkAfterLayers(const Calibration& calibration, const CalibrationSample& s) {
  double sum = 0;
  for (size_t i = 0; i < s.node_reference_us.size(); ++i) {
    const double log_latency = std::log(std::max(1e-3, s.node_reference_us[i]));
    sum +=
        std::exp(log_latency + CalibrationLogCorrection(calibration, *s.graph, static_cast<int32_t>(i), log_latency));
  }
  // The contributions are predicted, the reference was measured: keep the measured level.
  double predicted = 0;
  for (double us : s.node_reference_us) predicted += us;
  return predicted > 0 ? sum * s.reference_us / predicted : s.reference_us;
}

// The scatter above is a median, which does not show a machine that was disturbed while a part of the probe was
// measured: the few networks, or some of the layers. Their mean errors do. Of the networks the scale was fitted to one
// only, so that what the others are off by is what a user's network would be.
absl::Status CheckErrors(const Calibration& calibration) {
  constexpr double kMostError = 0.5;
  const double layers = calibration.probe_layer_mape_after, networks = calibration.probe_network_mape_after;
  const bool layers_got_worse = layers > kMostError && layers > calibration.probe_layer_mape_before;
  if (networks <= kMostError && !layers_got_worse) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("probe: after the calibration its networks are off by %.1f %%, its layers by %.1f %% (before it "
                      "by %.1f %%), more "
                      "than %.0f %%: the machine was busy; leave it alone and measure again (cobra-client calibrate)",
                      100 * networks, 100 * layers, 100 * calibration.probe_layer_mape_before, 100 * kMostError));
}

// A machine whose speed differs more from every trained one, or whose layers follow no common law, cannot be predicted
// by a correction.
absl::Status CheckFit(const Calibration& calibration, std::vector<double> log_ratios) {
  constexpr double kMostFactor = 300, kMostScatter = 3;
  const double factor = std::exp(UpperMedian(std::move(log_ratios)));
  if (factor > kMostFactor || factor < 1 / kMostFactor) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "probe: its layers take %.2g times as long as on the nearest trained target: is latency_us in microseconds?",
        factor));
  }
  if (calibration.interval_log <= std::log(kMostScatter)) return CheckErrors(calibration);
  return absl::InvalidArgumentError(absl::StrFormat(
      "probe: its layers scatter by a factor of %.2g around their common speed: measure again when the machine is idle",
      std::exp(calibration.interval_log)));
}

}  // namespace

double CalibrationLogCorrection(const Calibration& calibration, const graph::Graph& graph, int32_t node,
                                double log_latency) {
  if (calibration.coefficients.size() != kCoefficients) return 0;
  const auto f = Features(GroupOf(graph, graph.nodes()[node]), log_latency);
  return Dot(f, calibration.coefficients);
}

absl::StatusOr<Calibration> FitCalibration(const std::vector<CalibrationSample>& samples) {
  std::vector<std::array<double, kCoefficients>> rows;
  std::vector<double> ratios;
  double before = 0;
  for (const CalibrationSample& s : samples) {
    if (s.is_network) continue;
    const graph::Node& node = s.graph->nodes()[MainNode(*s.graph)];
    rows.push_back(Features(GroupOf(*s.graph, node), std::log(s.reference_us)));
    ratios.push_back(std::log(s.measured_us / s.reference_us));
    before += std::fabs(s.reference_us / s.measured_us - 1);
  }
  if (rows.size() < kMinProbeLayers) {
    return absl::InvalidArgumentError(
        absl::StrCat("probe: ", rows.size(), " layers were measured, calibration needs at least ", kMinProbeLayers));
  }
  Calibration c;
  c.coefficients = SolveRobust(rows, ratios);
  double after = 0;
  std::vector<double> left;
  for (size_t r = 0; r < rows.size(); ++r) {
    const double fit = Dot(rows[r], c.coefficients);
    after += std::fabs(std::exp(fit - ratios[r]) - 1);
    left.push_back(std::fabs(fit - ratios[r]));
  }
  c.probe_layer_mape_before = before / static_cast<double>(rows.size());
  c.probe_layer_mape_after = after / static_cast<double>(rows.size());

  std::vector<double> scales;
  for (const CalibrationSample& s : samples) {
    if (s.is_network) scales.push_back(std::log(s.measured_us / NetworkAfterLayers(c, s)));
  }
  if (!scales.empty()) {
    std::sort(scales.begin(), scales.end());
    c.log_network_scale = UpperMedian(scales);
    for (double scale : scales) {
      c.probe_network_mape_after +=
          std::fabs(std::exp(c.log_network_scale - scale) - 1) / static_cast<double>(scales.size());
      left.push_back(std::fabs(scale - c.log_network_scale));
    }
  }
  // The adapted target is trusted less by the scatter that the correction leaves. This is the 90 % half-width of a
  // normal distribution, estimated from the median, which single disturbed probes do not change.
  constexpr double kNineTenthsByMedian = 1.645 / 0.6745;
  c.interval_log = kNineTenthsByMedian * UpperMedian(std::move(left));
  COBRA_RETURN_IF_ERROR(CheckFit(c, ratios));
  return c;
}

}  // namespace cobra::predict
