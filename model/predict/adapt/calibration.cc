#include "model/predict/adapt/calibration.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "base/text/counted.h"
#include "model/predict/adapt/calibration_terms.h"
#include "model/predict/target/plausibility.h"
#include "model/predict/work/features.h"

namespace cobra::predict {
namespace {

constexpr size_t kFewestNetworks = 8;  // for a mean of their errors

// A network whose calls were timed counts as so many layers, its calls by their shares; a fifth is
// equal for all, so that cheap calls count, too.
constexpr double kLayersOfANetwork = 6, kEqualShare = 0.2;
constexpr double kLeastCallUs = 0.3;  // less is mostly the clock

// A sample and what the terms need of its calls: of a layer's main call, or of each call of a
// network. The fits to eighths of the samples share it.
struct Sample : ComparedMeasurement {
  explicit Sample(const ComparedMeasurement& s) : ComparedMeasurement(s) {
    const graph::Graph& graph = measured.subject.graph;
    if (!is_network()) {
      kinds.push_back(KindOf(graph, MainNode(graph)));
      return;
    }
    const int32_t calls = static_cast<int32_t>(graph.nodes().size());
    for (int32_t i = 0; i < calls; ++i) kinds.push_back(KindOf(graph, i));
  }
  std::vector<CallKind> kinds;
};

void AddRows(const Sample& s, const WorkRanges& ranges, std::vector<CallRow>* rows) {
  if (!s.is_network()) {
    rows->push_back(
        {TermsOf(s.kinds[0], std::log(s.reference_us), ranges), std::log(s.measured_us() / s.reference_us)});
    return;
  }
  const size_t calls = s.node_reference_us.size();
  if (s.measured.node_latency_us.size() != calls) return;
  double predicted = 0, measured = 0;
  for (double us : s.node_reference_us) predicted += us;
  for (double us : s.measured.node_latency_us) measured += us;
  for (size_t i = 0; i < calls; ++i) {
    const double reference_us = s.node_reference_us[i] * s.reference_us / predicted;
    // A profile takes longer than the network by its clocks.
    const double measured_us = s.measured.node_latency_us[i] * s.measured_us() / measured;
    if (reference_us < kLeastCallUs || measured_us < kLeastCallUs) continue;
    rows->push_back({TermsOf(s.kinds[i], std::log(reference_us), ranges), std::log(measured_us / reference_us),
                     kLayersOfANetwork * (measured_us / s.measured_us() + kEqualShare / static_cast<double>(calls))});
  }
}

void IncludeWork(const Sample& s, WorkRanges* ranges) {
  if (!s.is_network()) return Include(s.kinds[0].log_work, ranges);
  if (s.measured.node_latency_us.size() != s.kinds.size()) return;
  for (size_t i = 0; i < s.measured.node_latency_us.size(); ++i) {
    if (s.measured.node_latency_us[i] >= kLeastCallUs) Include(s.kinds[i].log_work, ranges);
  }
}

double NetworkAfterLayers(const Calibration& calibration, const Sample& s) {
  double sum = 0;
  for (size_t i = 0; i < s.node_reference_us.size(); ++i) {
    const double log_latency = std::log(std::max(1e-3, s.node_reference_us[i]));
    sum += std::exp(log_latency + CalibrationLogCorrection(calibration, s.kinds[i], log_latency));
  }
  // The contributions are predicted, the reference was measured: keep the measured level.
  double predicted = 0;
  for (double us : s.node_reference_us) predicted += us;
  return predicted > 0 ? sum * s.reference_us / predicted : s.reference_us;
}

// The scatter above is a median, which does not show a machine that was disturbed while a part of
// the probe was measured: the few networks, or some of the layers. Their mean errors do. Of the
// networks the scale was fitted to one only, so that what the others are off by is what a user's
// network would be.
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

// A machine whose speed differs more from every trained one, or whose layers follow no common law,
// cannot be predicted by a correction.
absl::Status CheckFit(const Calibration& calibration, double scatter, std::vector<double> log_ratios) {
  constexpr double kMostFactor = 300, kMostScatter = 3;
  const double factor = std::exp(UpperMedian(std::move(log_ratios)));
  if (factor > kMostFactor || factor < 1 / kMostFactor) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "probe: its layers take %.2g times as long as on the nearest trained target: is latency_us in microseconds?",
        factor));
  }
  if (scatter <= std::log(kMostScatter)) return CheckErrors(calibration);
  return absl::InvalidArgumentError(absl::StrFormat(
      "probe: its layers scatter by a factor of %.2g around their common speed: measure again when the machine is idle",
      std::exp(scatter)));
}

// A probe of half an hour has as many; an untrusted one must not keep the server busy for long. The
// calls that take most of their networks stay.
constexpr size_t kMostRows = 30000;
void LimitRows(std::vector<CallRow>* rows) {
  if (rows->size() <= kMostRows) return;
  std::nth_element(rows->begin(), rows->begin() + kMostRows, rows->end(),
                   [](const CallRow& a, const CallRow& b) { return a.weight > b.weight; });
  rows->resize(kMostRows);
}

// Fits coefficients and scale to the samples for which `is_used`.
void FitTerms(const std::vector<Sample>& samples, const std::function<bool(size_t)>& is_used, Terms terms,
              Calibration* c) {
  c->work_ranges = {};
  for (size_t i = 0; i < samples.size(); ++i) {
    if (is_used(i)) IncludeWork(samples[i], &c->work_ranges);
  }
  std::vector<CallRow> rows;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (is_used(i)) AddRows(samples[i], c->work_ranges, &rows);
  }
  LimitRows(&rows);
  c->coefficients = SolveRobust(rows, terms);
  c->log_network_scale = 0;
  if (terms == Terms::kNothing) return;
  std::vector<double> scales;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (is_used(i) && samples[i].is_network())
      scales.push_back(std::log(samples[i].measured_us() / NetworkAfterLayers(*c, samples[i])));
  }
  if (!scales.empty()) c->log_network_scale = UpperMedian(std::move(scales));
}

// What the calibration is off by, in log-latency.
double ErrorOf(const Calibration& c, const Sample& s) {
  if (s.is_network()) return std::fabs(std::log(s.measured_us() / NetworkAfterLayers(c, s)) - c.log_network_scale);
  return std::fabs(CalibrationLogCorrection(c, s.kinds[0], std::log(s.reference_us)) -
                   std::log(s.measured_us() / s.reference_us));
}

// The errors of samples that a fit has not seen, eighth by eighth.
struct HeldBack {
  std::vector<double> layers, networks;
  std::vector<double> of_width;  // of the networks' errors, in half-widths of the trained target's intervals
  // Networks count if there are enough for a mean.
  double Score() const {
    const auto mean = [](const std::vector<double>& v) {
      return v.empty() ? 0 : std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
    };
    return networks.size() < kFewestNetworks ? mean(layers) : mean(networks) + mean(layers) / 4;
  }
};

HeldBack HoldBack(const std::vector<Sample>& samples, Terms terms) {
  constexpr size_t kFolds = 8;
  HeldBack held;
  for (size_t fold = 0; fold < kFolds; ++fold) {
    Calibration c;
    FitTerms(
        samples, [&](size_t i) { return i % kFolds != fold; }, terms, &c);
    for (size_t i = fold; i < samples.size(); i += kFolds) {
      const double error = std::min(1.0, ErrorOf(c, samples[i]));
      (samples[i].is_network() ? held.networks : held.layers).push_back(error);
      if (samples[i].is_network() && samples[i].half_width > 0) held.of_width.push_back(error / samples[i].half_width);
    }
  }
  return held;
}

// 90 % half-width of a normal distribution, estimated from the median, which single disturbed
// probes do not change.
double NineTenths(std::vector<double> errors) {
  constexpr double kNineTenthsByMedian = 1.645 / 0.6745;
  return kNineTenthsByMedian * UpperMedian(std::move(errors));
}

// How much wider or narrower than its base's the intervals of the adapted target are: as nine of
// ten networks that were held back need it, by their median, since the last of a few is whatever a
// neighbour did to it. Without enough networks the base's intervals stay, wider by the scatter that
// the correction leaves.
void SetInterval(const HeldBack& held, double scatter, Calibration* c) {
  constexpr double kLeastWidth = 0.01, kLeastScale = 0.1;  // no machine repeats itself exactly
  if (held.of_width.size() < kFewestNetworks) {
    c->interval_log = std::max(scatter, kLeastWidth);
  } else {
    c->interval_scale = std::max(NineTenths(held.of_width), kLeastScale);
  }
}

}  // namespace

double CalibrationLogCorrection(const Calibration& calibration, const CallKind& call, double log_latency) {
  if (calibration.coefficients.empty()) return 0;
  return WeightedSum(TermsOf(call, log_latency, calibration.work_ranges), calibration.coefficients);
}

absl::StatusOr<Calibration> FitCalibration(absl::Span<const ComparedMeasurement> of_probe) {
  const std::vector<Sample> samples(of_probe.begin(), of_probe.end());
  std::vector<double> ratios;
  size_t networks = 0;
  for (const Sample& s : samples) {
    networks += s.is_network();
    if (!s.is_network()) ratios.push_back(std::log(s.measured_us() / s.reference_us));
  }
  if (ratios.size() < kMinProbeLayers) {
    return absl::InvalidArgumentError(absl::StrCat("probe: ", Counted(ratios.size(), "measured layer"),
                                                   ", calibration needs at least ", kMinProbeLayers));
  }
  std::vector<Terms> choices = {Terms::kCommon, Terms::kGroups, Terms::kWork};
  if (networks >= kFewestNetworks) choices.insert(choices.begin(), Terms::kNothing);
  Terms best = choices[0];
  HeldBack held = HoldBack(samples, best);
  for (size_t i = 1; i < choices.size(); ++i) {
    HeldBack other = HoldBack(samples, choices[i]);
    if (other.Score() >= held.Score()) continue;
    best = choices[i];
    held = std::move(other);
  }
  Calibration c;
  FitTerms(
      samples, [](size_t) { return true; }, best, &c);
  c.held_back_error = held.Score();
  std::vector<double> left;
  for (const Sample& s : samples) {
    left.push_back(ErrorOf(c, s));
    if (s.is_network()) {
      const double after = NetworkAfterLayers(c, s) * std::exp(c.log_network_scale);
      c.probe_network_mape_after += std::fabs(after / s.measured_us() - 1) / static_cast<double>(networks);
    } else {
      const double n = static_cast<double>(ratios.size()), ratio = std::log(s.measured_us() / s.reference_us);
      const double correction = CalibrationLogCorrection(c, s.kinds[0], std::log(s.reference_us));
      c.probe_layer_mape_before += std::fabs(s.reference_us / s.measured_us() - 1) / n;
      c.probe_layer_mape_after += std::fabs(std::exp(correction - ratio) - 1) / n;
    }
  }
  const double scatter = NineTenths(std::move(left));
  SetInterval(held, scatter, &c);
  COBRA_RETURN_IF_ERROR(CheckFit(c, scatter, ratios));
  return c;
}

}  // namespace cobra::predict
