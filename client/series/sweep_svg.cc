#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/series/chart.h"
#include "client/series/sweep_render.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

constexpr int kMostTitle = 80;  // characters

// What a panel shows of a point.
struct Shown {
  double value = 0, low = 0, high = 0;
};
using ShownOf = Shown (*)(const SweepPoint&);

Shown LatencyOf(const SweepPoint& point) {
  const v1::TargetPrediction& p = point.prediction;
  return {p.latency_us() / 1000, p.low_us() / 1000, p.high_us() / 1000};
}
Shown ThroughputOf(const SweepPoint& point) {
  return {point.per_second(), point.low_per_second(), point.high_per_second()};
}

bool IsDrawn(const TargetSweep& target, const SweepPoint& point) {
  const v1::TargetPrediction& p = point.prediction;
  return point.ok() && target.Fits(point) && p.latency_us() > 0 && p.low_us() > 0 && std::isfinite(p.high_us());
}

std::string LegendOf(const TargetSweep& target) {
  std::string text = target.spec.name();
  if (const auto knee = KneeOf(target)) {
    absl::StrAppend(&text, ": knee at batch ", target.points[knee->point].batch, ", ",
                    NumberText(target.points[knee->point].per_second()), " a second",
                    knee->is_guess ? ", a guess" : "");
  }
  if (const auto end = MemoryEndOf(target); end.has_value() && end->estimate.has_value())
    absl::StrAppend(&text, "; memory ends at about batch ", *end->estimate);
  if (std::none_of(target.points.begin(), target.points.end(), [](const SweepPoint& p) { return p.ok(); }))
    absl::StrAppend(&text, ": ", target.points.empty() ? "" : std::string(target.points[0].status.message()));
  return text;
}

std::string PointText(const TargetSweep& target, const SweepPoint& point) {
  const Shown ms = LatencyOf(point);
  return absl::StrCat(target.spec.name(), ", batch ", point.batch, ": ", NumberText(ms.value), " ms (",
                      NumberText(ms.low), " to ", NumberText(ms.high), "), ", NumberText(point.per_second()),
                      " items a second", point.prediction.extrapolating() ? ", extrapolating" : "");
}

ChartCurve CurveOf(const TargetSweep& target, ShownOf shown) {
  ChartCurve curve;
  const std::optional<Knee> knee = KneeOf(target);
  for (const SweepPoint& point : target.points) {
    if (!IsDrawn(target, point)) continue;
    const auto [value, low, high] = shown(point);
    const bool is_knee = knee.has_value() && &point == &target.points[knee->point];
    curve.points.push_back({static_cast<double>(point.batch), value, low, high, PointText(target, point),
                            point.prediction.extrapolating(), is_knee});
  }
  const std::optional<MemoryEnd> end = MemoryEndOf(target);
  if (end.has_value() && end->estimate.has_value()) curve.end = static_cast<double>(*end->estimate);
  curve.end_text = "memory ends";
  return curve;
}

ChartPanel PanelOf(const Sweep& sweep, std::string what, ShownOf shown, bool may_be_linear) {
  ChartPanel panel;
  panel.what = std::move(what);
  panel.empty = "no answered batch fits into memory";
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const TargetSweep& target : sweep.targets) {
    panel.curves.push_back(CurveOf(target, shown));
    for (const ChartPoint& point : panel.curves.back().points) {
      low = std::min(low, point.low);
      high = std::max(high, point.high);
    }
  }
  if (high > 0)
    panel.y = !may_be_linear || NeedsLogAxis(low, high) ? LogAxis(low, high) : ChartAxis{0, high * 1.05, false};
  if (panel.y.has_value() && panel.y->is_log) panel.what += ", logarithmic";
  return panel;
}

}  // namespace

std::string SweepSvg(const Sweep& sweep) {
  Chart chart;
  chart.title = absl::StrCat(sweep.title, ": latency and throughput by batch");
  chart.heading = Shortened(sweep.title, kMostTitle);
  chart.subtitle =
      absl::StrCat("inputs ", absl::StrJoin(sweep.inputs, " "), ", B is the batch; model ", sweep.model_version);
  for (const TargetSweep& target : sweep.targets) chart.legend.push_back(LegendOf(target));
  chart.x = {static_cast<double>(sweep.batches.front()), static_cast<double>(sweep.batches.back())};
  if (chart.x.low == chart.x.high) {  // a single batch, in the middle
    chart.x.low /= 2;
    chart.x.high *= 2;
  }
  chart.x_name = "batch, logarithmic";
  for (const int64_t batch : sweep.batches) chart.x_ticks.emplace_back(batch, absl::StrCat(batch));
  chart.panels = {PanelOf(sweep, "latency in ms", LatencyOf, /*may_be_linear=*/false),
                  PanelOf(sweep, "items per second", ThroughputOf, /*may_be_linear=*/true)};
  chart.notes = {"band: interval of the prediction; hollow points: the model extrapolates",
                 "ring: the knee, the smallest batch with 90 % of the best throughput of those that fit into memory, "
                 "without guesses"};
  return ChartSvg(chart);
}

}  // namespace cobra::client
