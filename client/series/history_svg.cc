#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "client/series/chart.h"
#include "client/series/history.h"
#include "client/series/sweep_render.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

// In pixels of the picture, which scales as a whole.
constexpr double kWidth = 800, kLeft = 76, kRight = 20, kPanelHeight = 280, kLineHeight = 18, kPad = 14;
constexpr double kLabelRoom = 74;                // between the middles of two labels of the axis of commits
constexpr int kMostLabel = 10, kMostLine = 104;  // characters

double Ms(double us) { return us / 1000; }

class HistoryPicture {
 public:
  explicit HistoryPicture(const History& history) : history_(history) {
    shown_ = std::min(history.series.size(), kMostCurves);
    for (size_t i = 0; i < history.order.size(); ++i) place_[history.order[i]] = static_cast<double>(i);
    x_ = {0, std::max(1.0, static_cast<double>(history.order.size()) - 1), kLeft + kPad, kWidth - kRight - kPad, false};
  }

  std::string Draw() {
    Heading();
    const double top = y_, bottom = y_ + kPanelHeight;
    canvas_.Text(kLeft, top - 10, "start", "", "latency in ms");
    SetRange(top, bottom);
    for (const double tick : Ticks(ms_)) {
      canvas_.Line(kLeft, ms_.At(tick), kWidth - kRight, ms_.At(tick), "grid");
      canvas_.Text(kLeft - 8, ms_.At(tick) + 4, "end", "soft", NumberText(tick));
    }
    for (size_t i = 0; i < shown_; ++i) Curve(history_.series[i], i, top, bottom);
    CommitAxis(bottom);
    canvas_.Text(
        kLeft, bottom + 58, "start", "soft",
        "band: interval of the prediction; hollow points: the model extrapolates; dashed: other weights answer");
    y_ = bottom + 72;
    return canvas_.Picture(kWidth, y_, absl::StrCat("latency by ", history_.by));
  }

 private:
  void Heading() {
    canvas_.Text(kLeft, y_ += 30, "start", "title", Shortened(absl::StrCat("Latency by ", history_.by), kMostLine));
    for (size_t i = 0; i < shown_; ++i) {
      const HistorySeries& series = history_.series[i];
      y_ += kLineHeight;
      const std::string model = series.model.empty() ? "" : absl::StrCat(series.model, " on ");
      canvas_.Legend(kLeft, y_, i, Shortened(absl::StrCat(model, series.target), kMostLine));
    }
    if (history_.series.size() > shown_) {
      canvas_.Text(kLeft, y_ += kLineHeight, "start", "soft",
                   absl::StrCat(history_.series.size() - shown_, " more are not shown: --target, --label"));
    }
    y_ += 40;
  }

  void SetRange(double top, double bottom) {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (size_t i = 0; i < shown_; ++i) {
      for (const HistoryPoint& point : history_.series[i].points) {
        low = std::min(low, Ms(point.prediction.low_us()));
        if (std::isfinite(point.prediction.high_us())) high = std::max(high, Ms(point.prediction.high_us()));
      }
    }
    if (!(high > low)) {  // nothing, or one number
      low = std::isfinite(low) ? 0.5 * low : 0;
      high = high > 0 ? 1.5 * high : 1;
    }
    constexpr double kMostOfLinear = 40;  // above, the lower of two curves would lie on the axis
    ms_ = low > 0 && high / low > kMostOfLinear
              ? Axis{low / 1.15, high * 1.15, bottom, top}
              : Axis{std::max(0.0, low - 0.1 * (high - low)), high + 0.1 * (high - low), bottom, top, false};
  }

  double X(const HistoryPoint& point) const { return x_.At(place_.at(point.at)); }

  void Curve(const HistorySeries& series, size_t color, double top, double bottom) {
    std::string line, upper, lower;
    for (const HistoryPoint& point : series.points) {
      const v1::StoredPrediction& p = point.prediction;
      const double high = std::isfinite(p.high_us()) ? Ms(p.high_us()) : ms_.high;
      absl::StrAppendFormat(&line, "%.1f,%.1f ", X(point), ms_.At(Ms(p.latency_us())));
      absl::StrAppendFormat(&upper, "%.1f,%.1f ", X(point), ms_.At(high));
      lower = absl::StrCat(absl::StrFormat("%.1f,%.1f ", X(point), ms_.At(Ms(p.low_us()))), lower);
    }
    canvas_.Curve(line, absl::StrCat(upper, lower), color);
    for (const HistoryPoint& point : series.points) {
      const v1::StoredPrediction& p = point.prediction;
      canvas_.Point(X(point), ms_.At(Ms(p.latency_us())), p.extrapolating(), color,
                    absl::StrCat(history_.by, " ", point.at, ", ", p.time(), ": ", NumberText(Ms(p.latency_us())),
                                 " ms (", NumberText(Ms(p.low_us())), " to ", NumberText(Ms(p.high_us())),
                                 "), weights ", p.model_version()));
      if (point.other_weights) canvas_.Line(X(point), top, X(point), bottom, "end axis");
    }
  }

  void CommitAxis(double bottom) {
    canvas_.Line(kLeft, bottom, kWidth - kRight, bottom, "axis");
    double last = -kLabelRoom;
    for (const std::string& at : history_.order) {
      const double x = x_.At(place_.at(at));
      canvas_.Line(x, bottom, x, bottom + 4, "axis");
      if (x - last < kLabelRoom) continue;
      canvas_.Text(x, bottom + 18, "middle", "soft", Shortened(at, kMostLabel));
      last = x;
    }
    canvas_.Text((kLeft + kWidth - kRight) / 2, bottom + 36, "middle", "soft", history_.by);
  }

  const History& history_;
  size_t shown_ = 0;  // series
  std::map<std::string, double> place_;
  Axis x_, ms_;
  double y_ = 0;  // what is drawn ends here
  Canvas canvas_;
};

}  // namespace

std::string HistorySvg(const History& history) { return HistoryPicture(history).Draw(); }

}  // namespace cobra::client
