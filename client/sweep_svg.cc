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
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "base/utf8.h"
#include "base/without_escapes.h"
#include "client/sweep_render.h"
#include "client/text_table.h"

namespace cobra::client {
namespace {

// In pixels of the picture, which scales as a whole.
constexpr double kWidth = 800, kLeft = 76, kRight = 20, kPanelHeight = 250, kPanelGap = 66, kLineHeight = 18;
constexpr double kTickRoom = 30;                 // between the middles of two labels of the batch axis
constexpr double kPad = 14;                      // between the panel's sides and the first and last batch
constexpr int kMostTitle = 80, kMostLine = 104;  // characters

// Colours that are distinct for colour-blind readers; of each pair the second one is for a dark page.
constexpr char kStyle[] = R"(<style>
text{font:13px system-ui,sans-serif;fill:#1f2328}
.paper{fill:#fff}.soft{fill:#59636e}.title{font-size:16px;font-weight:600}
.grid{stroke:#d1d9e0}.axis{stroke:#59636e}
.line{fill:none;stroke-width:2}.band{stroke:none;opacity:.16}.hollow{fill:#fff}.ring{fill:none;stroke-width:2}
.end{stroke-width:1.5;stroke-dasharray:5 4}
.f0{fill:#0072b2}.f1{fill:#d55e00}.f2{fill:#007a5a}.f3{fill:#a33a86}.f4{fill:#8a6500}.f5{fill:#555}.f6{fill:#4040c0}.f7{fill:#a01c3c}
.s0{stroke:#0072b2}.s1{stroke:#d55e00}.s2{stroke:#007a5a}.s3{stroke:#a33a86}.s4{stroke:#8a6500}.s5{stroke:#555}.s6{stroke:#4040c0}.s7{stroke:#a01c3c}
@media (prefers-color-scheme:dark){
text{fill:#f0f6fc}.paper,.hollow{fill:#0d1117}.soft{fill:#9198a1}.grid{stroke:#2f353d}.axis{stroke:#9198a1}.band{opacity:.26}
.f0{fill:#56b4e9}.f1{fill:#ff9e4a}.f2{fill:#3fd0a0}.f3{fill:#f0a0d8}.f4{fill:#e6c34a}.f5{fill:#bbb}.f6{fill:#a0a0ff}.f7{fill:#ff8fa8}
.s0{stroke:#56b4e9}.s1{stroke:#ff9e4a}.s2{stroke:#3fd0a0}.s3{stroke:#f0a0d8}.s4{stroke:#e6c34a}.s5{stroke:#bbb}.s6{stroke:#a0a0ff}.s7{stroke:#ff8fa8}
}
</style>
)";

std::string XmlText(absl::string_view text) {
  return absl::StrReplaceAll(WithoutEscapes(ReplaceInvalidUtf8(text)),
                             {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

std::string NumberText(double value) {
  return value >= 1e4 && value < 1e9 ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.4g", value);
}

// From numbers to pixels, from `at_low` to `at_high`.
struct Axis {
  double low = 1, high = 1, at_low = 0, at_high = 0;
  bool is_log = true;

  double At(double value) const {
    const double share = is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return at_low + share * (at_high - at_low);
  }
};

// 1, 2 and 5 times powers of ten; of more than five decades the powers alone. On a linear axis about six round numbers.
std::vector<double> Ticks(const Axis& axis) {
  std::vector<double> ticks;
  if (axis.is_log) {
    const bool is_wide = axis.high / axis.low > 1e5;
    for (double decade = std::pow(10, std::floor(std::log10(axis.low))); decade <= axis.high; decade *= 10) {
      for (const double digit : {1, 2, 5}) {
        if (digit * decade >= axis.low && digit * decade <= axis.high && (digit == 1 || !is_wide))
          ticks.push_back(digit * decade);
      }
    }
    return ticks;
  }
  const double rough = axis.high / 6;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  const double step = rough <= decade       ? decade
                      : rough <= 2 * decade ? 2 * decade
                      : rough <= 5 * decade ? 5 * decade
                                            : 10 * decade;
  for (double tick = 0; tick <= axis.high; tick += step) ticks.push_back(tick);
  return ticks;
}

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
    Text(kLeft, y_ - 6, "start", "soft", "band: interval of the prediction; hollow points: the model extrapolates");
    Text(kLeft, y_ - 6 + kLineHeight, "start", "soft",
         "ring: the knee, the smallest batch with 90 % of the best throughput of those that fit into memory");
    y_ += kLineHeight + 10;
    const std::string size = absl::StrFormat("%g %g", kWidth, y_);
    return absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ", size, "\" width=\"", kWidth,
                        "\" height=\"", y_, "\" role=\"img\">\n<title>", XmlText(sweep_.title),
                        ": latency and throughput by batch</title>\n", kStyle, "<rect class=\"paper\" width=\"", kWidth,
                        "\" height=\"", y_, "\"/>\n", body_, "</svg>\n");
  }

 private:
  void Text(double x, double y, absl::string_view anchor, absl::string_view style, absl::string_view text) {
    absl::StrAppendFormat(&body_, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y,
                          anchor, style, XmlText(text));
  }
  void Line(double x1, double y1, double x2, double y2, absl::string_view style) {
    absl::StrAppendFormat(&body_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2,
                          y2, style);
  }

  void Heading() {
    Text(kLeft, y_ += 30, "start", "title", Shortened(sweep_.title, kMostTitle));
    Text(kLeft, y_ += kLineHeight, "start", "soft",
         Shortened(absl::StrCat("inputs ", absl::StrJoin(sweep_.inputs, " "), ", B is the batch; model ",
                                sweep_.model_version),
                   kMostLine));
    y_ += 6;
    for (size_t i = 0; i < sweep_.targets.size(); ++i) {
      y_ += kLineHeight;
      absl::StrAppendFormat(&body_, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\" class=\"f%d\"/>\n", kLeft,
                            y_ - 9, i);
      Text(kLeft + 20, y_, "start", "", Shortened(LegendOf(sweep_.targets[i]), kMostLine));
    }
    y_ += 40;
  }

  static std::string LegendOf(const TargetSweep& target) {
    std::string text = target.spec.name();
    if (const auto knee = KneeOf(target)) {
      absl::StrAppend(&text, ": knee at batch ", target.points[knee->point].batch, ", ",
                      NumberText(target.points[knee->point].per_second()), " a second");
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
    Text(kLeft, top - 10, "start", "", absl::StrCat(what, y.has_value() && y->is_log ? ", logarithmic" : ""));
    if (y.has_value()) {
      y->at_low = bottom;
      y->at_high = top;
      for (const double tick : Ticks(*y)) {
        Line(kLeft, y->At(tick), kWidth - kRight, y->At(tick), "grid");
        Text(kLeft - 8, y->At(tick) + 4, "end", "soft", NumberText(tick));
      }
      for (size_t i = 0; i < sweep_.targets.size(); ++i) Curve(sweep_.targets[i], shown, *y, i);
    } else {
      Text(kWidth / 2, (top + bottom) / 2, "middle", "soft", "no batch was answered that fits into memory");
    }
    BatchAxis(bottom);
    y_ = bottom + kPanelGap;
  }

  void BatchAxis(double bottom) {
    Line(kLeft, bottom, kWidth - kRight, bottom, "axis");
    double last = -kTickRoom;
    for (const int64_t batch : sweep_.batches) {
      const double x = x_.At(static_cast<double>(batch));
      Line(x, bottom, x, bottom + 4, "axis");
      if (x - last < kTickRoom) continue;
      Text(x, bottom + 18, "middle", "soft", absl::StrCat(batch));
      last = x;
    }
    Text((kLeft + kWidth - kRight) / 2, bottom + 36, "middle", "soft", "batch, logarithmic");
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
    absl::StrAppendFormat(&body_, "<polygon points=\"%s%s\" class=\"band f%d\"/>\n", upper, lower, color);
    absl::StrAppendFormat(&body_, "<polyline points=\"%s\" class=\"line s%d\"/>\n", line, color);
    const std::optional<Knee> knee = KneeOf(target);
    for (const SweepPoint* point : drawn) {
      const double x = x_.At(static_cast<double>(point->batch)), at = y.At(shown(*point).value);
      const bool is_guess = point->prediction.extrapolating();
      absl::StrAppendFormat(&body_,
                            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" class=\"%s%d\"><title>%s</title></circle>\n", x,
                            at, is_guess ? "hollow s" : "f", color, XmlText(PointText(target, *point)));
      if (knee.has_value() && point == &target.points[knee->point])
        absl::StrAppendFormat(&body_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" class=\"ring s%d\"/>\n", x, at, color);
    }
    const std::optional<MemoryEnd> end = MemoryEndOf(target);
    if (!end.has_value() || !end->estimate.has_value()) return;
    const auto batch = static_cast<double>(*end->estimate);
    if (batch < x_.low || batch > x_.high) return;
    Line(x_.At(batch), y.at_high, x_.At(batch), y.at_low, absl::StrCat("end s", color));
    Text(x_.At(batch) - 5, y.at_high + 12, "end", "soft", "memory ends");
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
  std::string body_;
};

}  // namespace

std::string SweepSvg(const Sweep& sweep) { return SweepPicture(sweep).Draw(); }

}  // namespace cobra::client
