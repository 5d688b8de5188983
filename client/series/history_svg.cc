#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "client/series/chart.h"
#include "client/series/history.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

constexpr int kMostLabel = 10;  // characters of a commit

double Ms(double us) { return us / 1000; }

// The range of the first `shown` curves.
ChartAxis RangeOf(const History& history, size_t shown) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (size_t i = 0; i < shown; ++i) {
    for (const HistoryPoint& point : history.series[i].points) {
      low = std::min(low, Ms(point.prediction.low_us()));
      if (std::isfinite(point.prediction.high_us())) high = std::max(high, Ms(point.prediction.high_us()));
    }
  }
  if (!(high > low)) {  // nothing, or one number
    low = std::isfinite(low) ? 0.5 * low : 0;
    high = high > 0 ? 1.5 * high : 1;
  }
  if (low > 0 && NeedsLogAxis(low, high)) return LogAxis(low, high);
  return {std::max(0.0, low - 0.1 * (high - low)), high + 0.1 * (high - low), false};
}

}  // namespace

std::string HistorySvg(const History& history) {
  const size_t shown = std::min(history.series.size(), kMostCurves);
  Chart chart;
  chart.title = absl::StrCat("latency by ", history.by);
  chart.heading = absl::StrCat("Latency by ", history.by);
  chart.x = {0, std::max(1.0, static_cast<double>(history.order.size()) - 1), false};
  chart.x_name = history.by;
  chart.label_room = 74;
  std::map<std::string, double> place;
  for (const std::string& at : history.order) {
    const double x = place.emplace(at, static_cast<double>(place.size())).first->second;
    chart.x_ticks.emplace_back(x, Shortened(at, kMostLabel));
  }
  ChartPanel& panel = chart.panels.emplace_back();
  panel.what = "latency in ms";
  panel.height = 280;
  panel.y = RangeOf(history, shown);
  for (size_t i = 0; i < shown; ++i) {
    const HistorySeries& series = history.series[i];
    chart.legend.push_back(absl::StrCat(series.model, series.model.empty() ? "" : " on ", series.target));
    ChartCurve& curve = panel.curves.emplace_back();
    for (const HistoryPoint& point : series.points) {
      const v1::StoredPrediction& p = point.prediction;
      ChartPoint& drawn = curve.points.emplace_back();
      drawn.x = place.at(point.at);
      drawn.value = Ms(p.latency_us());
      drawn.low = Ms(p.low_us());
      drawn.high = std::isfinite(p.high_us()) ? Ms(p.high_us()) : panel.y->high;
      drawn.is_guess = p.extrapolating();
      drawn.has_line = point.other_weights;
      drawn.hint = absl::StrCat(history.by, " ", point.at, ", ", p.time(), ": ", NumberText(Ms(p.latency_us())),
                                " ms (", NumberText(Ms(p.low_us())), " to ", NumberText(Ms(p.high_us())), "), weights ",
                                p.model_version());
    }
  }
  if (history.series.size() > shown)
    chart.below_legend = absl::StrCat(history.series.size() - shown, " more are not shown: --target, --label");
  chart.notes = {
      "band: interval of the prediction; hollow points: the model extrapolates; dashed: other weights answer"};
  return ChartSvg(chart);
}

}  // namespace cobra::client
