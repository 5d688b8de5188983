#include "client/explain/targets_explained.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/text/counted.h"
#include "base/text/without_escapes.h"
#include "client/answer/target_ranking.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"

namespace cobra::client {
namespace {

using nlohmann::json;

// An operator's time on each target, in the order of the response.
struct OperatorTimes {
  std::string op;
  std::vector<double> us;
  std::vector<int> calls;
  double Spread() const {
    const auto [least, most] = std::minmax_element(us.begin(), us.end());
    return *most - *least;
  }
};

std::vector<OperatorTimes> TimesByOperator(const v1::PredictResponse& response) {
  const auto targets = static_cast<size_t>(response.predictions_size());
  std::map<std::string, OperatorTimes> by_name;
  for (size_t t = 0; t < targets; ++t) {
    for (const v1::NodeLatency& row : response.predictions(static_cast<int>(t)).breakdown()) {
      OperatorTimes& times = by_name.try_emplace(row.op(), OperatorTimes{row.op(), {}, {}}).first->second;
      times.us.resize(targets);
      times.calls.resize(targets);
      times.us[t] += row.latency_us();
      ++times.calls[t];
    }
  }
  std::vector<OperatorTimes> all;
  for (auto& [name, times] : by_name) all.push_back(std::move(times));
  std::stable_sort(all.begin(), all.end(),
                   [](const OperatorTimes& a, const OperatorTimes& b) { return a.Spread() > b.Spread(); });
  return all;
}

// Milliseconds by operator and target. Where the targets' names are too wide as headers, numbers
// stand for them.
std::string OperatorTable(std::vector<std::vector<std::string>> rows, const TerminalStyle& style) {
  constexpr size_t kFirstTarget = 2;
  std::vector<Column> columns = {{.min_width = 8, .keep_both = true}, {true}};
  for (size_t i = kFirstTarget; i < rows[0].size(); ++i) columns.push_back({.right = true, .leave_out = int(i)});
  const auto width_of = [&rows] {
    size_t width = 0;
    for (const std::string& cell : rows[0]) width += cell.size() + 2;
    return static_cast<int>(width);
  };
  std::string legend;
  if (style.width > 0 && width_of() > style.width) {
    for (size_t i = kFirstTarget; i < rows[0].size(); ++i) {
      absl::StrAppend(&legend, "(", i - 1, ") ", rows[0][i], "\n");
      rows[0][i] = absl::StrCat("(", i - 1, ") ms");
    }
  }
  const Painter paint(style.color);
  const auto painted = [&paint](size_t row, size_t, const std::string& text) {
    return row == 0 ? paint.Dim(text) : text;
  };
  return absl::StrCat(WithoutEscapes(legend), TextTable(rows, std::move(columns), style.width, painted));
}

}  // namespace

std::string TargetsExplainedText(const v1::PredictResponse& response, absl::string_view title, int top,
                                 const TerminalStyle& style, const TargetSheets& sheets) {
  std::vector<std::vector<std::string>> rows = {{"operator", "calls"}};
  std::vector<std::string> total = {"all", absl::StrCat(response.node_count())};
  for (const v1::TargetPrediction& p : response.predictions()) {
    rows[0].push_back(absl::StrCat(p.target(), " ms"));
    total.push_back(MillisecondsText(p.latency_us()));
  }
  const std::vector<OperatorTimes> operators = TimesByOperator(response);
  for (const OperatorTimes& times : operators) {
    if (static_cast<int>(rows.size()) > top) break;
    std::vector<std::string> row = {times.op, absl::StrCat(*std::max_element(times.calls.begin(), times.calls.end()))};
    for (const double us : times.us) row.push_back(absl::StrFormat("%.3f", us / 1000));
    rows.push_back(std::move(row));
  }
  const size_t shown = rows.size() - 1;
  rows.push_back(std::move(total));
  const Painter paint(style.color);
  std::string text = absl::StrCat(
      paint.Heading(WithoutEscapes(title)), "\n", RankingText(response, style, nullptr, sheets), "\n",
      paint.Heading("Operators, by how much the targets differ"), "\n", OperatorTable(std::move(rows), style));
  if (shown < operators.size())
    absl::StrAppend(&text, Counted(operators.size() - shown, "more operator"), ": --top ", operators.size(), "\n");
  return text;
}

std::string TargetsExplainedJson(const v1::PredictResponse& response, absl::string_view title,
                                 const TargetSheets& sheets) {
  json operators = json::array();
  for (const OperatorTimes& times : TimesByOperator(response)) {
    json latency_us = json::object(), calls = json::object();
    for (size_t t = 0; t < times.us.size(); ++t) {
      const std::string& target = response.predictions(static_cast<int>(t)).target();
      latency_us[target] = times.us[t];
      calls[target] = times.calls[t];
    }
    operators.push_back({{"op", times.op}, {"latency_us", std::move(latency_us)}, {"calls", std::move(calls)}});
  }
  const json answer = {{"title", std::string(title)},
                       {"ranking", RankingJson(response, sheets)},
                       {"operators", std::move(operators)},
                       {"fingerprint", response.fingerprint()},
                       {"model_version", response.model_version()}};
  return absl::StrCat(IndentedJson(answer), "\n");
}

}  // namespace cobra::client
