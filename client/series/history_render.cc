#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/counted.h"
#include "base/text/json_text.h"
#include "client/series/history.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using json = nlohmann::ordered_json;

// Of an RFC 3339 time: "2026-11-25 08:00".
std::string MinuteText(std::string time) {
  time.resize(std::min<size_t>(time.size(), 16));
  std::replace(time.begin(), time.end(), 'T', ' ');
  return time;
}

std::string ChangeText(const HistoryPoint& point) {
  if (!point.change.has_value()) return "";
  // The same network under the same weights has the same number.
  return point.same_network && !point.other_weights ? "=" : absl::StrFormat("%+.1f %%", 100 * *point.change);
}

std::string NoteOf(const HistoryPoint& point) {
  std::vector<std::string> notes;
  if (point.other_weights) {
    notes.push_back(absl::StrCat("other weights: ", point.prediction.model_version(),
                                 point.same_network ? ", the same network" : ""));
  }
  if (point.prediction.extrapolating()) notes.push_back("extrapolating");
  return absl::StrJoin(notes, "; ");
}

json PointJson(const HistoryPoint& point, const std::string& by) {
  const v1::StoredPrediction& p = point.prediction;
  json labels = json::object();
  for (const auto& [name, value] : std::map<std::string, std::string>(p.labels().begin(), p.labels().end()))
    labels[name] = value;
  json j = {{by, point.at},
            {"time", p.time()},
            {"latency_us", p.latency_us()},
            {"low_us", p.low_us()},
            {"high_us", p.high_us()},
            {"confidence", p.confidence()},
            {"extrapolating", p.extrapolating()},
            {"fingerprint", p.fingerprint()},
            {"model_version", p.model_version()},
            {"labels", std::move(labels)}};
  if (point.change.has_value()) {
    j["change"] = *point.change;
    j["same_network"] = point.same_network;
    j["other_weights"] = point.other_weights;
  }
  return j;
}

}  // namespace

std::string HistoryTable(const History& history) {
  std::string text;
  for (const HistorySeries& series : history.series) {
    absl::StrAppend(&text, text.empty() ? "" : "\n", series.model.empty() ? "" : absl::StrCat(series.model, " on "),
                    series.target, "\n");
    std::vector<std::vector<std::string>> rows = {{history.by, "time", "ms", "low ms", "high ms", "change", ""}};
    for (const HistoryPoint& point : series.points) {
      const v1::StoredPrediction& p = point.prediction;
      rows.push_back({point.at, MinuteText(p.time()), MillisecondsText(p.latency_us()), MillisecondsText(p.low_us()),
                      MillisecondsText(p.high_us()), ChangeText(point), NoteOf(point)});
    }
    absl::StrAppend(&text, TextTable(rows, {false, false, true, true, true, true, false}));
  }
  if (history.series.empty()) {
    text = absl::StrCat("no stored prediction matches (label `", history.by, "`); `cobra-client predict --label ",
                        history.by, "=...` stores one within about a second\n");
  }
  if (history.without > 0) {
    absl::StrAppend(&text, "\n", Counted(history.without, "prediction"), " without a label ", history.by,
                    " left out\n");
  }
  if (history.has_more) absl::StrAppend(&text, "\nthere are older ones: --limit, --since\n");
  return text;
}

std::string HistoryJson(const History& history) {
  json all = json::array();
  for (const HistorySeries& series : history.series) {
    json points = json::array();
    for (const HistoryPoint& point : series.points) points.push_back(PointJson(point, history.by));
    all.push_back({{"target", series.target}, {"model", series.model}, {"points", std::move(points)}});
  }
  const json j = {{"by", history.by}, {"series", std::move(all)}, {"has_more", history.has_more}};
  return JsonText(j);
}

}  // namespace cobra::client
