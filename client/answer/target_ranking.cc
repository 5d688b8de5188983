#include "client/answer/target_ranking.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/without_escapes.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

// In log-latency, to the side that counts.
double HalfWidth(double end_us, double latency_us) {
  return end_us > 0 && latency_us > 0 ? std::abs(std::log(end_us / latency_us)) : 0;
}

// "fastest: ort (2 others are within the error; 3 guesses not ranked)"
std::string FastestText(const std::vector<RankedTarget>& ranked) {
  if (!ranked[0].lacks_memory.empty()) return "no target has enough memory for the network";
  if (ranked[0].is_guess) return absl::StrCat("fastest by a guess: ", ranked[0].name);
  int uncertain = 0, guesses = 0, small = 0;
  for (size_t i = 1; i < ranked.size(); ++i) {
    const bool fits = ranked[i].lacks_memory.empty();
    small += !fits;
    uncertain += fits && !ranked[i].is_slower && !ranked[i].is_guess;
    guesses += fits && ranked[i].is_guess;
  }
  std::vector<std::string> notes;
  if (uncertain > 0) {
    notes.push_back(absl::StrCat(uncertain, uncertain == 1 ? " other is" : " others are", " within the error"));
  }
  if (guesses > 0) notes.push_back(absl::StrCat(guesses, guesses == 1 ? " guess" : " guesses", " not ranked"));
  if (small > 0) notes.push_back(absl::StrCat(small, " without enough memory"));
  return absl::StrCat("fastest: ", ranked[0].name,
                      notes.empty() ? "" : absl::StrCat(" (", absl::StrJoin(notes, "; "), ")"));
}

json RankedJson(const RankedTarget& target) {
  return {{"target", target.name},         {"latency_us", target.latency_us},    {"ratio", target.ratio},
          {"ratio_low", target.ratio_low}, {"ratio_high", target.ratio_high},    {"is_slower", target.is_slower},
          {"is_guess", target.is_guess},   {"lacks_memory", target.lacks_memory}};
}

}  // namespace

std::vector<RankedTarget> RankTargets(const v1::PredictResponse& response, const TargetSheets& sheets) {
  std::vector<const v1::TargetPrediction*> sorted;
  for (const v1::TargetPrediction& p : response.predictions()) sorted.push_back(&p);
  const auto key = [&](const v1::TargetPrediction* p) {
    return std::tuple(!LackOfMemory(response, *p, sheets).empty(), p->coverage() <= 0, p->latency_us());
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&key](const v1::TargetPrediction* a, const v1::TargetPrediction* b) { return key(a) < key(b); });
  std::vector<RankedTarget> ranked;
  for (const v1::TargetPrediction* p : sorted) {
    RankedTarget target{p->target(), p->latency_us()};
    target.is_guess = p->coverage() <= 0;
    target.lacks_memory = LackOfMemory(response, *p, sheets);
    const v1::TargetPrediction& fastest = *sorted[0];
    if (p != &fastest && fastest.latency_us() > 0) {
      target.ratio = p->latency_us() / fastest.latency_us();
      const double nearer =
          std::hypot(HalfWidth(p->low_us(), p->latency_us()), HalfWidth(fastest.high_us(), fastest.latency_us()));
      const double farther =
          std::hypot(HalfWidth(p->high_us(), p->latency_us()), HalfWidth(fastest.low_us(), fastest.latency_us()));
      target.ratio_low = target.ratio * std::exp(-nearer);
      target.ratio_high = target.ratio * std::exp(farther);
      // An interval that claims no coverage shows nothing.
      target.is_slower = target.ratio_low > 1 && p->coverage() > 0 && fastest.coverage() > 0;
    }
    ranked.push_back(std::move(target));
  }
  return ranked;
}

std::string RankingText(const v1::PredictResponse& response, const TerminalStyle& style, const v1::PredictResponse* all,
                        const TargetSheets& sheets) {
  const std::vector<RankedTarget> ranked = RankTargets(response, sheets);
  if (ranked.size() < 2) return "";
  constexpr size_t kMostOnATerminal = 20;
  const size_t shown = style.width > 0 ? std::min(ranked.size(), kMostOnATerminal + 1) : ranked.size();
  std::vector<std::vector<std::string>> rows = {{"target", "times as long", "from", "to", ""}};
  for (size_t i = 1; i < shown; ++i) {
    const RankedTarget& r = ranked[i];
    rows.push_back({r.name, absl::StrFormat("%.2f", r.ratio), absl::StrFormat("%.2f", r.ratio_low),
                    absl::StrFormat("%.2f", r.ratio_high),
                    !r.lacks_memory.empty() ? r.lacks_memory
                    : r.is_guess            ? "a guess"
                    : r.is_slower           ? ""
                                            : "may be faster"});
  }
  const Painter paint(style.color);
  const auto painted = [&paint](size_t row, size_t column, const std::string& text) {
    return row == 0 ? paint.Dim(text) : column == 4 ? paint.Doubt(text) : text;
  };
  const std::string first = FastestText(all != nullptr ? RankTargets(*all, sheets) : ranked);
  std::string text =
      absl::StrCat(paint.Heading(WithoutEscapes(first)), "\n",
                   TextTable(rows, {{.min_width = 16, .keep_both = true}, {true}, {true}, {true}, {.min_width = 8}},
                             style.width, painted));
  if (shown < ranked.size()) absl::StrAppend(&text, "and ", ranked.size() - shown, " more; --format json has all\n");
  return text;
}

v1::PredictResponse FastestOf(const v1::PredictResponse& response, const TargetSheets& sheets) {
  constexpr int kMostTargets = 20;
  constexpr size_t kFastest = 10;
  v1::PredictResponse fastest = response;
  if (response.predictions_size() <= kMostTargets) return fastest;
  fastest.clear_predictions();
  const std::vector<RankedTarget> ranked = RankTargets(response, sheets);
  for (size_t i = 0; i < kFastest; ++i) {
    for (const v1::TargetPrediction& p : response.predictions()) {
      if (p.target() == ranked[i].name) *fastest.add_predictions() = p;
    }
  }
  return fastest;
}

json RankingJson(const v1::PredictResponse& response, const TargetSheets& sheets) {
  json ranking = json::array();
  for (const RankedTarget& target : RankTargets(response, sheets)) ranking.push_back(RankedJson(target));
  return ranking;
}

}  // namespace cobra::client
