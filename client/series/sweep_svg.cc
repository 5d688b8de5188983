#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "client/series/chart.h"
#include "client/series/sweep_render.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

// In pixels of the picture, which scales as a whole.
constexpr double kWidth = 800, kLeft = 76, kRight = 20, kPanelHeight = 250, kPanelGap = 66, kLineHeight = 18;
constexpr double kTickRoom = 30;                 // between the middles of two labels of the batch axis
constexpr double kPad = 14;                      // between the panel's sides and the first and last batch
constexpr int kMostTitle = 80, kMostLine = 104;  // characters

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

class SweepPicture {
 public:
  explicit SweepPicture(const Sweep& sweep) : sweep_(sweep) {
    x_ = {static_cast<double>(sweep.batches.front()), static_cast<double>(sweep.batches.back()), kLeft + kPad,
          kWidth - kRight - kPad};
    if (x_.low == x_.high) {  // a single batch, in the middle
      x_.low /= 2;
      x_.high *= 2;
    }
  }

  std::string Draw() {
    Heading();
    Panel("latency in ms", LatencyOf, /*may_be_linear=*/false);
    Panel("items per second", ThroughputOf, /*may_be_linear=*/true);
    canvas_.Text(kLeft, y_ - 6, "start", "soft",
                 "band: interval of the prediction; hollow points: the model extrapolates");
    canvas_.Text(kLeft, y_ - 6 + kLineHeight, "start", "soft",
                 "ring: the knee, the smallest batch with 90 % of the best throughput of those that fit into memory, "
                 "without guesses");
    y_ += kLineHeight + 10;
    return canvas_.Picture(kWidth, y_, absl::StrCat(sweep_.title, ": latency and throughput by batch"));
  }

 private:
  void Heading() {
    canvas_.Text(kLeft, y_ += 30, "start", "title", Shortened(sweep_.title, kMostTitle));
    canvas_.Text(kLeft, y_ += kLineHeight, "start", "soft",
                 Shortened(absl::StrCat("inputs ", absl::StrJoin(sweep_.inputs, " "), ", B is the batch; model ",
                                        sweep_.model_version),
                           kMostLine));
    y_ += 6;
    for (size_t i = 0; i < sweep_.targets.size(); ++i) {
      y_ += kLineHeight;
      canvas_.Legend(kLeft, y_, i, Shortened(LegendOf(sweep_.targets[i]), kMostLine));
    }
    y_ += 40;
  }

  static std::string LegendOf(const TargetSweep& target) {
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

  // The range of all that is drawn; nothing if nothing is.
  std::optional<Axis> RangeOf(ShownOf shown, bool may_be_linear) const {
    double low = std::numeric_limits<double>::infinity(), high = 0;
    for (const TargetSweep& target : sweep_.targets) {
      for (const SweepPoint& point : target.points) {
        if (!IsDrawn(target, point)) continue;
        low = std::min(low, shown(point).low);
        high = std::max(high, shown(point).high);
      }
    }
    if (high <= 0) return std::nullopt;
    constexpr double kMostOfLinear = 40;  // above, the lower of two lines would lie on the axis
    const bool is_log = !may_be_linear || high / low > kMostOfLinear;
    return is_log ? Axis{low / 1.15, high * 1.15} : Axis{0, high * 1.05, 0, 0, false};
  }

  void Panel(absl::string_view what, ShownOf shown, bool may_be_linear) {
    const double top = y_, bottom = y_ + kPanelHeight;
    std::optional<Axis> y = RangeOf(shown, may_be_linear);
    canvas_.Text(kLeft, top - 10, "start", "", absl::StrCat(what, y.has_value() && y->is_log ? ", logarithmic" : ""));
    if (y.has_value()) {
      y->at_low = bottom;
      y->at_high = top;
      for (const double tick : Ticks(*y)) {
        canvas_.Line(kLeft, y->At(tick), kWidth - kRight, y->At(tick), "grid");
        canvas_.Text(kLeft - 8, y->At(tick) + 4, "end", "soft", NumberText(tick));
      }
      for (size_t i = 0; i < sweep_.targets.size(); ++i) Curve(sweep_.targets[i], shown, *y, i);
    } else {
      canvas_.Text(kWidth / 2, (top + bottom) / 2, "middle", "soft", "no batch was answered that fits into memory");
    }
    BatchAxis(bottom);
    y_ = bottom + kPanelGap;
  }

  void BatchAxis(double bottom) {
    canvas_.Line(kLeft, bottom, kWidth - kRight, bottom, "axis");
    double last = -kTickRoom;
    for (const int64_t batch : sweep_.batches) {
      const double x = x_.At(static_cast<double>(batch));
      canvas_.Line(x, bottom, x, bottom + 4, "axis");
      if (x - last < kTickRoom) continue;
      canvas_.Text(x, bottom + 18, "middle", "soft", absl::StrCat(batch));
      last = x;
    }
    canvas_.Text((kLeft + kWidth - kRight) / 2, bottom + 36, "middle", "soft", "batch, logarithmic");
  }

  void Curve(const TargetSweep& target, ShownOf shown, const Axis& y, size_t color) {
    std::vector<const SweepPoint*> drawn;
    for (const SweepPoint& point : target.points) {
      if (IsDrawn(target, point)) drawn.push_back(&point);
    }
    std::string line, upper, lower;
    for (const SweepPoint* point : drawn) {
      const double x = x_.At(static_cast<double>(point->batch));
      absl::StrAppendFormat(&line, "%.1f,%.1f ", x, y.At(shown(*point).value));
      absl::StrAppendFormat(&upper, "%.1f,%.1f ", x, y.At(shown(*point).high));
      lower = absl::StrCat(absl::StrFormat("%.1f,%.1f ", x, y.At(shown(*point).low)), lower);
    }
    canvas_.Curve(line, absl::StrCat(upper, lower), color);
    const std::optional<Knee> knee = KneeOf(target);
    for (const SweepPoint* point : drawn) {
      const double x = x_.At(static_cast<double>(point->batch)), at = y.At(shown(*point).value);
      canvas_.Point(x, at, point->prediction.extrapolating(), color, PointText(target, *point));
      if (knee.has_value() && point == &target.points[knee->point]) canvas_.Ring(x, at, color);
    }
    const std::optional<MemoryEnd> end = MemoryEndOf(target);
    if (!end.has_value() || !end->estimate.has_value()) return;
    const auto batch = static_cast<double>(*end->estimate);
    if (batch < x_.low || batch > x_.high) return;
    canvas_.Line(x_.At(batch), y.at_high, x_.At(batch), y.at_low, absl::StrCat("end s", color));
    canvas_.Text(x_.At(batch) - 5, y.at_high + 12, "end", "soft", "memory ends");
  }

  static std::string PointText(const TargetSweep& target, const SweepPoint& point) {
    const Shown ms = LatencyOf(point);
    return absl::StrCat(target.spec.name(), ", batch ", point.batch, ": ", NumberText(ms.value), " ms (",
                        NumberText(ms.low), " to ", NumberText(ms.high), "), ", NumberText(point.per_second()),
                        " items a second", point.prediction.extrapolating() ? ", extrapolating" : "");
  }

  const Sweep& sweep_;
  Axis x_;
  double y_ = 0;  // what is drawn ends here
  Canvas canvas_;
};

}  // namespace

std::string SweepSvg(const Sweep& sweep) { return SweepPicture(sweep).Draw(); }

}  // namespace cobra::client
