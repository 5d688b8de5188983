#include "lab/replay/active_report.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "nlohmann/json.hpp"

namespace cobra::lab {
namespace {

using nlohmann::json;

double MeanOf(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// "12.3 (11.9 to 12.8)"; for a single value "12.3".
std::string WithSpread(const std::vector<double>& values, const char* format_digits) {
  const auto digits = [&](double v) {
    return *format_digits == '1' ? absl::StrFormat("%.1f", v) : absl::StrFormat("%.2f", v);
  };
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  if (values.size() == 1) return digits(values[0]);
  return absl::StrCat(digits(MeanOf(values)), " (", digits(*low), " to ", digits(*high), ")");
}

// The curves of one strategy, one for each seed.
std::vector<std::vector<const ReplayCurve*>> ByStrategy(const ActiveTable& table) {
  std::vector<std::vector<const ReplayCurve*>> groups;
  for (const ReplayCurve& curve : table.curves) {
    if (groups.empty() || groups.back()[0]->strategy != curve.strategy) groups.emplace_back();
    groups.back().push_back(&curve);
  }
  return groups;
}

std::vector<double> AtRound(const std::vector<const ReplayCurve*>& curves, size_t round, double ReplayPoint::*figure) {
  std::vector<double> values;
  for (const ReplayCurve* curve : curves) values.push_back(curve->points[round].*figure);
  return values;
}

void AppendErrors(const ActiveTable& table, const char* title, double ReplayPoint::*figure, std::string* out) {
  const auto groups = ByStrategy(table);
  absl::StrAppend(out, "\n| ", title, ", % |");
  for (const ReplayPoint& p : table.curves[0].points) absl::StrAppendFormat(out, " %.0f s |", p.seconds);
  absl::StrAppend(out, "\n|---|");
  for (size_t r = 0; r < table.curves[0].points.size(); ++r) absl::StrAppend(out, "---|");
  absl::StrAppend(out, "\n");
  for (const auto& curves : groups) {
    absl::StrAppend(out, "| ", training::StrategyName(curves[0]->strategy), " |");
    for (size_t r = 0; r < curves[0]->points.size(); ++r) {
      std::vector<double> percent = AtRound(curves, r, figure);
      for (double& v : percent) v *= 100;
      absl::StrAppend(out, " ", WithSpread(percent, "1"), " |");
    }
    absl::StrAppend(out, "\n");
  }
}

void AppendCounts(const ActiveTable& table, std::string* out) {
  absl::StrAppend(out, "\n| layers measured |");
  for (const ReplayPoint& p : table.curves[0].points) absl::StrAppendFormat(out, " %.0f s |", p.seconds);
  absl::StrAppend(out, " training and choosing, s |\n|---|");
  for (size_t r = 0; r <= table.curves[0].points.size(); ++r) absl::StrAppend(out, "---|");
  absl::StrAppend(out, "\n");
  for (const auto& curves : ByStrategy(table)) {
    absl::StrAppend(out, "| ", training::StrategyName(curves[0]->strategy), " |");
    for (size_t r = 0; r < curves[0]->points.size(); ++r) {
      double layers = 0;
      for (const ReplayCurve* curve : curves) layers += static_cast<double>(curve->points[r].layers);
      absl::StrAppendFormat(out, " %.0f |", layers / static_cast<double>(curves.size()));
    }
    double wall_s = 0;
    for (const ReplayCurve* curve : curves) wall_s += curve->wall_s;
    absl::StrAppendFormat(out, " %.0f |\n", wall_s / static_cast<double>(curves.size()));
  }
}

void AppendSpeedUps(const ActiveTable& table, std::string* out) {
  absl::StrAppend(out, "\n| for a | of | random needs | times the seconds of |   |\n|---|---|---|---|---|\n");
  for (const SpeedUp& s : SpeedUps(table)) {
    const bool always = std::all_of(s.by_seed.begin(), s.by_seed.end(), [](double v) { return v > 0; });
    absl::StrAppendFormat(out, "| %s | %.1f %% | %.0f s | %s | %s |\n", s.figure, 100 * s.error, s.random_s,
                          training::StrategyName(s.strategy),
                          always ? WithSpread(s.by_seed, "2") : std::string("not reached by every seed"));
  }
}

struct Figure {
  const char* title;
  double ReplayPoint::*of;
};
constexpr Figure kFigures[] = {{"mean error", &ReplayPoint::mean},
                               {"median error", &ReplayPoint::median},
                               {"mean error by operator, averaged", &ReplayPoint::by_kind}};

constexpr const char* kColours[] = {"#777777", "#c08a00", "#2a6fbb", "#b3261e"};

}  // namespace

double SecondsToReach(const ReplayCurve& curve, double ReplayPoint::*figure, double error) {
  for (size_t i = 0; i < curve.points.size(); ++i) {
    const ReplayPoint& p = curve.points[i];
    if (p.*figure > error) continue;
    if (i == 0) return p.seconds;
    const ReplayPoint& before = curve.points[i - 1];
    const double part = std::log(before.*figure / error) / std::log(before.*figure / (p.*figure));
    return before.seconds * std::pow(p.seconds / before.seconds, part);
  }
  return std::numeric_limits<double>::infinity();
}

std::vector<SpeedUp> SpeedUps(const ActiveTable& table) {
  const auto groups = ByStrategy(table);
  const std::vector<const ReplayCurve*>& random = groups[0];
  const size_t rounds = random[0]->points.size();
  std::vector<SpeedUp> result;
  for (const Figure& figure : kFigures) {
    for (size_t round = rounds > 4 ? rounds - 3 : 1; round < rounds; ++round) {
      SpeedUp level;
      level.figure = figure.title;
      level.error = MeanOf(AtRound(random, round, figure.of));
      level.random_s = MeanOf(AtRound(random, round, &ReplayPoint::seconds));
      for (size_t g = 1; g < groups.size(); ++g) {
        level.strategy = groups[g][0]->strategy;
        level.by_seed.clear();
        for (size_t s = 0; s < groups[g].size(); ++s) {
          // If the random strategy does not reach this error with this seed, its last round is a
          // lower bound.
          const double random_s =
              std::min(SecondsToReach(*random[s], figure.of, level.error), random[s]->points.back().seconds);
          level.by_seed.push_back(random_s / SecondsToReach(*groups[g][s], figure.of, level.error));
        }
        result.push_back(level);
      }
    }
  }
  return result;
}

std::string ActiveTableToMarkdown(const ActiveTable& table, const std::string& command) {
  std::string out = absl::StrFormat(
      "# Active selection\n\nMade by `%s` on %s: %d test layers (never chosen from), %d in the pool, which would take "
      "%.0f s to measure. Repeatability floor (median difference of %d layers measured twice): %.2f %%. Means over %d "
      "seeds, with the smallest and the largest. Learned by kernel ridge regression on numbers of the call "
      "(lab/variants/kernel_model.h), fitted again after each round; the first round is random for all. While "
      "an "
      "operator has not been measured, one layer of it can be off by a factor of 10,000, and the mean error with it.\n",
      command, table.rows, table.test_layers, table.pool_layers, table.pool_s, table.repeats, 100 * table.floor,
      static_cast<int>(ByStrategy(table)[0].size()));
  AppendSpeedUps(table, &out);
  for (const Figure& figure : kFigures) AppendErrors(table, figure.title, figure.of, &out);
  AppendCounts(table, &out);
  return out;
}

std::string ActiveTableToJson(const ActiveTable& table) {
  json curves = json::array();
  for (const ReplayCurve& curve : table.curves) {
    json points = json::array();
    for (const ReplayPoint& p : curve.points) {
      points.push_back({{"seconds", p.seconds},
                        {"layers", p.layers},
                        {"mean", p.mean},
                        {"median", p.median},
                        {"by_kind", p.by_kind}});
    }
    curves.push_back({{"strategy", std::string(training::StrategyName(curve.strategy))},
                      {"seed", curve.seed},
                      {"points", points},
                      {"wall_s", curve.wall_s}});
  }
  json speed_ups = json::array();
  for (const SpeedUp& s : SpeedUps(table)) {
    speed_ups.push_back({{"figure", s.figure},
                         {"error", s.error},
                         {"random_s", s.random_s},
                         {"strategy", std::string(training::StrategyName(s.strategy))},
                         {"by_seed", s.by_seed}});
  }
  return json{{"rows", table.rows},
              {"test_layers", table.test_layers},
              {"pool_layers", table.pool_layers},
              {"pool_s", table.pool_s},
              {"floor", table.floor},
              {"repeats", table.repeats},
              {"curves", curves},
              {"speed_ups", speed_ups}}
      .dump(1);
}

std::string ActiveTableToSvg(const ActiveTable& table) {
  constexpr double kWidth = 720, kHeight = 440, kLeft = 60, kRight = 150, kTop = 20, kBottom = 50;
  double low_s = 1e300, high_s = 0, low = 1e300, high = 0;
  for (const ReplayCurve& curve : table.curves) {
    for (const ReplayPoint& p : curve.points) {
      low_s = std::min(low_s, p.seconds);
      high_s = std::max(high_s, p.seconds);
      low = std::min(low, p.mean);
      high = std::max(high, p.mean);
    }
  }
  const auto x = [&](double s) {
    return kLeft + (kWidth - kLeft - kRight) * std::log(s / low_s) / std::max(1e-9, std::log(high_s / low_s));
  };
  const auto y = [&](double e) {
    return kTop + (kHeight - kTop - kBottom) * std::log(high / e) / std::max(1e-9, std::log(high / low));
  };
  std::string out = absl::StrFormat(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" "
      "font-size=\"12\">\n"
      "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  const auto text = [&](double at_x, double at_y, const char* anchor, const std::string& what, const char* colour) {
    absl::StrAppendFormat(&out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", at_x, at_y,
                          anchor, colour, what);
  };
  for (double percent : {1., 2., 3., 5., 7., 10., 15., 20., 30., 50., 70., 100., 150.}) {
    if (percent / 100 < low || percent / 100 > high) continue;
    absl::StrAppendFormat(&out, "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#dddddd\"/>\n", kLeft, y(percent / 100),
                          kWidth - kRight);
    text(kLeft - 6, y(percent / 100) + 4, "end", absl::StrFormat("%.0f %%", percent), "black");
  }
  for (const ReplayPoint& p : table.curves[0].points)
    text(x(p.seconds), kHeight - kBottom + 18, "middle", absl::StrFormat("%.0f", p.seconds), "black");
  text((kLeft + kWidth - kRight) / 2, kHeight - 12, "middle",
       "seconds of measuring; mean error on test layers, lines: mean of the seeds", "black");
  for (const auto& curves : ByStrategy(table)) {
    const char* colour = kColours[static_cast<size_t>(curves[0]->strategy)];
    std::string path;
    double end_y = 0;
    for (size_t r = 0; r < curves[0]->points.size(); ++r) {
      const double at_x = x(MeanOf(AtRound(curves, r, &ReplayPoint::seconds)));
      end_y = y(MeanOf(AtRound(curves, r, &ReplayPoint::mean)));
      absl::StrAppendFormat(&path, "%s%.1f %.1f", r == 0 ? "M" : "L", at_x, end_y);
      for (const ReplayCurve* curve : curves) {
        absl::StrAppendFormat(&out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"%s\"/>\n",
                              x(curve->points[r].seconds), y(curve->points[r].mean), colour);
      }
    }
    absl::StrAppendFormat(&out, "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"/>\n", path, colour);
    text(kWidth - kRight + 8, end_y + 4, "start", std::string(training::StrategyName(curves[0]->strategy)), colour);
  }
  return out + "</svg>\n";
}

}  // namespace cobra::lab
