// What the pictures of charts share: colours, axes.
#ifndef COBRA_CLIENT_CHART_H_
#define COBRA_CLIENT_CHART_H_

#include <string>
#include <vector>

namespace cobra::client {

// Classes: text, paper, soft, title, grid, axis; line, band, hollow, ring, end; f0 to f7 and s0 to s7, the colours of
// curves as fill and as stroke. Dark where the reader's page is.
extern const char kChartStyle[];

std::string NumberText(double value);

// From numbers to pixels, from `at_low` to `at_high`.
struct Axis {
  double low = 1, high = 1, at_low = 0, at_high = 0;
  bool is_log = true;

  double At(double value) const;
};

// 1, 2 and 5 times powers of ten; of more than five decades the powers alone. On a linear axis, which begins at 0,
// about six round numbers.
std::vector<double> Ticks(const Axis& axis);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_CHART_H_
