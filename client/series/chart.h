// What the pictures of charts share: colours, axes.
#ifndef COBRA_CLIENT_SERIES_CHART_H_
#define COBRA_CLIENT_SERIES_CHART_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace cobra::client {

// Classes: text, paper, soft, title, grid, axis; line, band, hollow, ring, end; f0 to f7 and s0 to
// s7, the colours of curves as fill and as stroke. Dark where the reader's page is.
extern const char kChartStyle[];

std::string NumberText(double value);

// From numbers to pixels, from `at_low` to `at_high`.
struct Axis {
  double low = 1, high = 1, at_low = 0, at_high = 0;
  bool is_log = true;

  double At(double value) const;
};

// 1, 2 and 5 times powers of ten; of more than five decades the powers alone. On a linear axis
// about six round numbers.
std::vector<double> Ticks(const Axis& axis);

// What is drawn, in pixels of a picture that scales as a whole. `style`: classes of kChartStyle.
class Canvas {
 public:
  void Text(double x, double y, absl::string_view anchor, absl::string_view style, absl::string_view text);
  void Line(double x1, double y1, double x2, double y2, absl::string_view style);
  // A line of the legend: the square of curve `color`, and the text beside it.
  void Legend(double x, double y, size_t color, absl::string_view text);
  // A curve and its interval; points are "x,y " each, those of `band` once around.
  void Curve(absl::string_view line, absl::string_view band, size_t color);
  // `hint` is shown under the pointer.
  void Point(double x, double y, bool hollow, size_t color, absl::string_view hint);
  void Ring(double x, double y, size_t color);
  // The whole SVG.
  std::string Picture(double width, double height, absl::string_view title) const;

 private:
  std::string body_;
};

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_CHART_H_
