#include "client/series/history.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/text/utc_text.h"
#include "base/user_error.h"

namespace cobra::client {
namespace {

constexpr char kModel[] = "model";

std::string LabelOf(const v1::StoredPrediction& prediction, const std::string& name) {
  const auto label = prediction.labels().find(name);
  return label == prediction.labels().end() ? "" : label->second;
}

void CompareNeighbours(HistorySeries* series) {
  for (size_t i = 1; i < series->points.size(); ++i) {
    const v1::StoredPrediction& before = series->points[i - 1].prediction;
    HistoryPoint& point = series->points[i];
    if (before.latency_us() > 0) point.change = point.prediction.latency_us() / before.latency_us() - 1;
    point.same_network = point.prediction.fingerprint() == before.fingerprint();
    point.other_weights = point.prediction.model_version() != before.model_version();
  }
}

}  // namespace

History MakeHistory(const v1::ListPredictionsResponse& response, absl::string_view by) {
  History history;
  history.by = std::string(by);
  history.has_more = response.has_more();
  std::map<std::pair<std::string, std::string>, size_t> series_of;                              // by target and model
  std::map<std::string, size_t> place_of;                                                       // in `order`
  for (auto it = response.predictions().rbegin(); it != response.predictions().rend(); ++it) {  // the oldest first
    const std::string at = LabelOf(*it, history.by), model = LabelOf(*it, kModel);
    if (at.empty()) {
      ++history.without;
      continue;
    }
    if (place_of.emplace(at, history.order.size()).second) history.order.push_back(at);
    const auto [found, is_new] = series_of.emplace(std::make_pair(it->target(), model), history.series.size());
    if (is_new) history.series.push_back({it->target(), model, {}});
    std::vector<HistoryPoint>& points = history.series[found->second].points;
    const auto known = std::find_if(points.begin(), points.end(), [&at](const HistoryPoint& p) { return p.at == at; });
    if (known == points.end()) {
      points.push_back({at, *it, std::nullopt, false, false});
    } else {
      known->prediction = *it;
    }
  }
  for (HistorySeries& series : history.series) {
    std::sort(series.points.begin(), series.points.end(), [&place_of](const HistoryPoint& a, const HistoryPoint& b) {
      return place_of.at(a.at) < place_of.at(b.at);
    });
    CompareNeighbours(&series);
  }
  return history;
}

absl::StatusOr<std::string> ParseSince(absl::string_view text, absl::Time now) {
  if (text.empty()) return std::string();
  double count = 0;
  const char unit = text.back();
  if ((unit == 'd' || unit == 'h') && absl::SimpleAtod(text.substr(0, text.size() - 1), &count) && count >= 0 &&
      count < 1e6) {
    return UtcText(now - count * absl::Hours(unit == 'd' ? 24 : 1));
  }
  absl::Time time;
  std::string why;
  if (absl::ParseTime("%Y-%m-%d", text, &time, &why) || absl::ParseTime(absl::RFC3339_full, text, &time, &why))
    return UtcText(time);
  return UsageError(absl::StrCat("--since ", text, ": is not a time"),
                    "write 30d, 12h, 2026-11-25 or 2026-11-25T08:00:00Z");
}

}  // namespace cobra::client
