#include "client/series/chart.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "report/markup.h"

namespace cobra::client {

// Colours that are distinct for colour-blind readers; of each pair the second one is for a dark
// page.
const char kChartStyle[] = R"(<style>
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

std::string NumberText(double value) {
  return value >= 1e4 && value < 1e9 ? absl::StrFormat("%.0f", value) : absl::StrFormat("%.4g", value);
}

double Axis::At(double value) const {
  const double share = is_log ? std::log(value / low) / std::log(high / low) : (value - low) / (high - low);
  return at_low + share * (at_high - at_low);
}

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
  const double rough = (axis.high - axis.low) / 6;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  const double step = rough <= decade       ? decade
                      : rough <= 2 * decade ? 2 * decade
                      : rough <= 5 * decade ? 5 * decade
                                            : 10 * decade;
  for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high; tick += step) ticks.push_back(tick);
  return ticks;
}

void Canvas::Text(double x, double y, absl::string_view anchor, absl::string_view style, absl::string_view text) {
  absl::StrAppendFormat(&body_, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" class=\"%s\">%s</text>\n", x, y, anchor,
                        style, report::MarkupText(text));
}

void Canvas::Line(double x1, double y1, double x2, double y2, absl::string_view style) {
  absl::StrAppendFormat(&body_, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" class=\"%s\"/>\n", x1, y1, x2,
                        y2, style);
}

void Canvas::Legend(double x, double y, size_t color, absl::string_view text) {
  absl::StrAppendFormat(&body_, "<rect x=\"%.1f\" y=\"%.1f\" width=\"14\" height=\"10\" class=\"f%d\"/>\n", x, y - 9,
                        color);
  Text(x + 20, y, "start", "", text);
}

void Canvas::Curve(absl::string_view line, absl::string_view band, size_t color) {
  absl::StrAppendFormat(&body_, "<polygon points=\"%s\" class=\"band f%d\"/>\n", band, color);
  absl::StrAppendFormat(&body_, "<polyline points=\"%s\" class=\"line s%d\"/>\n", line, color);
}

void Canvas::Point(double x, double y, bool hollow, size_t color, absl::string_view hint) {
  absl::StrAppendFormat(&body_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.5\" class=\"%s%d\"><title>%s</title></circle>\n",
                        x, y, hollow ? "hollow s" : "f", color, report::MarkupText(hint));
}

void Canvas::Ring(double x, double y, size_t color) {
  absl::StrAppendFormat(&body_, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"8\" class=\"ring s%d\"/>\n", x, y, color);
}

std::string Canvas::Picture(double width, double height, absl::string_view title) const {
  return absl::StrCat("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 ",
                      absl::StrFormat("%g %g", width, height), "\" width=\"", width, "\" height=\"", height,
                      "\" role=\"img\">\n<title>", report::MarkupText(title), "</title>\n", kChartStyle,
                      "<rect class=\"paper\" width=\"", width, "\" height=\"", height, "\"/>\n", body_, "</svg>\n");
}

}  // namespace cobra::client
