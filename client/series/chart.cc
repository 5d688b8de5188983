#include "client/series/chart.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/string_view.h"
#include "client/terminal/text_table.h"
#include "report/markup.h"

namespace cobra::client {
namespace {

// In pixels of the picture, which scales as a whole.
constexpr double kWidth = 800, kLeft = 76, kRight = 20, kPanelGap = 66, kLineHeight = 18;
constexpr double kPad = 14;     // between the panel's sides and the first and last point
constexpr int kMostText = 104;  // characters in a line

// Colours that are distinct for colour-blind readers; of each pair the second one is for a dark
// page.
constexpr char kChartStyle[] = R"(<style>
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

// From numbers to pixels, from `at_low` to `at_high`.
struct Scale {
  ChartAxis axis;
  double at_low = 0, at_high = 0;

  double At(double value) const {
    const auto& [low, high, is_log] = axis;
    const double share = is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
    return at_low + share * (at_high - at_low);
  }
};

// 1, 2 and 5 times powers of ten; of more than five decades only the powers. On a linear axis
// about six round numbers.
std::vector<double> Ticks(const ChartAxis& axis) {
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
  const double rough = (axis.high - axis.low) / 6;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  const double step = rough <= decade       ? decade
                      : rough <= 2 * decade ? 2 * decade
                      : rough <= 5 * decade ? 5 * decade
                                            : 10 * decade;
  for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high; tick += step) ticks.push_back(tick);
  return ticks;
}

// What is drawn; `style`: classes of kChartStyle.
class Picture {
 public:
  explicit Picture(const Chart& chart) : chart_(chart), x_{chart.x, kLeft + kPad, kWidth - kRight - kPad} {}

  std::string Draw() {
    Heading();
    for (const ChartPanel& panel : chart_.panels) Panel(panel);
    y_ -= 6;
    for (const std::string& note : chart_.notes) {
      Text(kLeft, y_, "start", "soft", note);
      y_ += kLineHeight;
    }
    y_ -= 2;
    return absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
                        absl::StrFormat("%g %g", kWidth, y_), "\" width=\"", kWidth, "\" height=\"", y_,
                        "\" role=\"img\">\n<title>", report::MarkupText(chart_.title), "</title>\n", kChartStyle,
                        "<rect class=\"paper\" width=\"", kWidth, "\" height=\"", y_, "\"/>\n", body_, "</svg>\n");
  }

 private:
  void Text(double x, double y, absl::string_view anchor, absl::string_view style, absl::string_view text) {
    absl::StrAppendFormat(&body_, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y,
                          anchor, style, report::MarkupText(text));
  }

  void Line(double x1, double y1, double x2, double y2, absl::string_view style) {
    absl::StrAppendFormat(&body_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2,
                          y2, style);
  }

  void Circle(double x, double y, double radius, absl::string_view style, absl::string_view hint) {
    const std::string title =
        hint.empty() ? "/>" : absl::StrCat("><title>", report::MarkupText(hint), "</title></circle>");
    absl::StrAppendFormat(&body_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" class=\"%s\"%s\n", x, y, radius, style,
                          title);
  }

  void Heading() {
    Text(kLeft, y_ += 30, "start", "title", Shortened(chart_.heading, kMostText));
    if (!chart_.subtitle.empty()) {
      Text(kLeft, y_ += kLineHeight, "start", "soft", Shortened(chart_.subtitle, kMostText));
      y_ += 6;
    }
    for (size_t color = 0; color < chart_.legend.size(); ++color) {
      y_ += kLineHeight;
      absl::StrAppendFormat(&body_, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\" class=\"f%d\"/>\n", kLeft,
                            y_ - 9, color);
      Text(kLeft + 20, y_, "start", "", Shortened(chart_.legend[color], kMostText));
    }
    if (!chart_.below_legend.empty()) Text(kLeft, y_ += kLineHeight, "start", "soft", chart_.below_legend);
    y_ += 40;
  }

  void Panel(const ChartPanel& panel) {
    const double top = y_, bottom = y_ + panel.height;
    Text(kLeft, top - 10, "start", "", panel.what);
    if (panel.y.has_value()) {
      const Scale y{*panel.y, bottom, top};
      for (const double tick : Ticks(*panel.y)) {
        Line(kLeft, y.At(tick), kWidth - kRight, y.At(tick), "grid");
        Text(kLeft - 8, y.At(tick) + 4, "end", "soft", NumberText(tick));
      }
      for (size_t color = 0; color < panel.curves.size(); ++color) Curve(panel.curves[color], y, color);
    } else {
      Text(kWidth / 2, (top + bottom) / 2, "middle", "soft", panel.empty);
    }
    HorizontalAxis(bottom);
    y_ = bottom + kPanelGap;
  }

  void HorizontalAxis(double bottom) {
    Line(kLeft, bottom, kWidth - kRight, bottom, "axis");
    double last = -chart_.label_room;
    for (const auto& [value, label] : chart_.x_ticks) {
      const double x = x_.At(value);
      Line(x, bottom, x, bottom + 4, "axis");
      if (x - last < chart_.label_room) continue;
      Text(x, bottom + 18, "middle", "soft", label);
      last = x;
    }
    Text((kLeft + kWidth - kRight) / 2, bottom + 36, "middle", "soft", chart_.x_name);
  }

  void Curve(const ChartCurve& curve, const Scale& y, size_t color) {
    std::string line, upper, lower;
    for (const ChartPoint& point : curve.points) {
      const double x = x_.At(point.x);
      absl::StrAppendFormat(&line, "%.1f,%.1f ", x, y.At(point.value));
      absl::StrAppendFormat(&upper, "%.1f,%.1f ", x, y.At(point.high));
      lower = absl::StrCat(absl::StrFormat("%.1f,%.1f ", x, y.At(point.low)), lower);
    }
    absl::StrAppendFormat(&body_, "<polygon points=\"%s%s\" class=\"band f%d\"/>\n", upper, lower, color);
    absl::StrAppendFormat(&body_, "<polyline points=\"%s\" class=\"line s%d\"/>\n", line, color);
    for (const ChartPoint& point : curve.points) {
      const double x = x_.At(point.x), at = y.At(point.value);
      Circle(x, at, 3.5, absl::StrCat(point.is_guess ? "hollow s" : "f", color), point.hint);
      if (point.has_line) Line(x, y.at_high, x, y.at_low, "end axis");
      if (point.has_ring) Circle(x, at, 8, absl::StrCat("ring s", color), "");
    }
    if (!curve.end.has_value() || *curve.end < x_.axis.low || *curve.end > x_.axis.high) return;
    const double x = x_.At(*curve.end);
    Line(x, y.at_high, x, y.at_low, absl::StrCat("end s", color));
    Text(x - 5, y.at_high + 12, "end", "soft", curve.end_text);
  }

  const Chart& chart_;
  const Scale x_;
  double y_ = 0;  // what is drawn ends here
  std::string body_;
};

}  // namespace

ChartAxis LogAxis(double low, double high) { return {low / 1.15, high * 1.15, true}; }

bool NeedsLogAxis(double low, double high) { return high / low > 40; }

std::string ChartSvg(const Chart& chart) { return Picture(chart).Draw(); }

std::string NumberText(double value) {
  return value >= 1e4 && value < 1e9 ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.4g", value);
}

}  // namespace cobra::client
