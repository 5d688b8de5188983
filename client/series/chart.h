// Charts: SVG pictures that need no other file, with panels of curves over one horizontal axis.
// Each curve has its interval as a band. Dark where the reader's page is.
#ifndef COBRA_CLIENT_SERIES_CHART_H_
#define COBRA_CLIENT_SERIES_CHART_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace cobra::client {

// Each has a different colour.
inline constexpr size_t kMostCurves = 8;

// From `low` to `high`, which it has to be below. On a logarithmic axis both are above 0.
struct ChartAxis {
  double low = 1, high = 1;
  bool is_log = true;
};
// With room for what is at its ends.
ChartAxis LogAxis(double low, double high);
// Whether a linear axis would put the lower of two curves on its end.
bool NeedsLogAxis(double low, double high);

struct ChartPoint {
  double x = 0, value = 0, low = 0, high = 0;
  std::string hint;       // shown under the pointer
  bool is_guess = false;  // hollow
  bool has_ring = false;
  bool has_line = false;  // dashed, from the top to the bottom of the panel
};

struct ChartCurve {
  std::vector<ChartPoint> points;
  std::optional<double> end;  // where on the horizontal axis a dashed line in its colour stands
  std::string end_text;       // beside that line
};

struct ChartPanel {
  std::string what;            // above it: "latency in ms"
  double height = 250;         // pixels
  std::optional<ChartAxis> y;  // nothing: there is nothing to draw, as `empty` says
  std::string empty;
  std::vector<ChartCurve> curves;  // at most kMostCurves
};

struct Chart {
  std::string title;    // what the picture is to programs that read it aloud
  std::string heading;  // this and all below: one line each
  std::string subtitle;
  std::vector<std::string> legend;  // of each curve
  std::string below_legend;
  ChartAxis x;
  std::string x_name;
  std::vector<std::pair<double, std::string>> x_ticks;
  double label_room = 30;  // pixels between the middles of two labels of ticks; others are left out
  std::vector<ChartPanel> panels;
  std::vector<std::string> notes;  // at the end
};

std::string ChartSvg(const Chart& chart);

// As charts show a number: at most four digits, or all before the point.
std::string NumberText(double value);

}  // namespace cobra::client

#endif  // COBRA_CLIENT_SERIES_CHART_H_
