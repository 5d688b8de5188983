// The answer of `cobra-client predict` for people.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/without_escapes.h"
#include "client/answer/folded_calls.h"
#include "client/answer/target_ranking.h"
#include "client/answer/unknown.h"
#include "client/ask/prediction_render.h"
#include "client/terminal/text_table.h"

namespace cobra::client {
namespace {

bool IsOverBudget(const v1::TargetPrediction& p, const PredictionView& view) {
  return view.budget_ms > 0 && p.latency_us() > view.budget_ms * 1000;
}

std::string NoteOf(const v1::PredictResponse& r, const v1::TargetPrediction& p, const PredictionView& view,
                   const std::string& first_version) {
  std::vector<std::string> notes;
  if (p.extrapolating()) notes.push_back("extrapolating");
  if (std::string lack = LackOfMemory(r, p, view.targets); !lack.empty()) notes.push_back(std::move(lack));
  if (p.torch_version() != first_version)  // another graph than the one that is summed up above
    notes.push_back(absl::StrCat("read as for torch ", p.torch_version()));
  if (IsOverBudget(p, view)) notes.push_back(absl::StrFormat("over the budget of %g ms", view.budget_ms));
  return absl::StrJoin(notes, ", ");
}

// That of the network which is summed up above the table.
std::string FirstVersion(const v1::PredictResponse& r, const PredictionView& view) {
  if (!view.torch_version.empty()) return view.torch_version;
  return r.predictions_size() > 0 ? r.predictions(0).torch_version() : "";
}

std::string LatencyTable(const v1::PredictResponse& r, const PredictionView& view, const std::string& first_version) {
  const Painter paint(view.style.color);
  std::vector<std::vector<std::string>> rows = {{"target", "predicted ms", IntervalHeader(r), "confidence", ""}};
  for (const v1::TargetPrediction& p : r.predictions()) {
    rows.push_back({p.target(), MillisecondsText(p.latency_us()), IntervalText(p),
                    absl::StrFormat("%.2f", p.confidence()), NoteOf(r, p, view, first_version)});
  }
  const auto painted = [&](size_t row, size_t column, const std::string& text) {
    if (row == 0) return paint.Dim(text);
    const v1::TargetPrediction& p = r.predictions(static_cast<int>(row) - 1);
    switch (column) {
      case 1: return IsOverBudget(p, view) ? paint.Bad(text) : text;
      case 2: return p.coverage() > 0 ? text : paint.Doubt(text);
      case 3: return PaintedConfidence(paint, p.confidence(), text);
      case 4:
        return IsOverBudget(p, view) || !LackOfMemory(r, p, view.targets).empty() ? paint.Bad(text) : paint.Dim(text);
      default: return text;
    }
  };
  const std::vector<Column> columns = {{.min_width = 14, .keep_both = true}, {true}, {true}, {true}, {.below = true}};
  return TextTable(rows, columns, view.style.width, painted);
}

std::string BreakdownTable(const v1::TargetPrediction& prediction, const TerminalStyle& style) {
  const Painter paint(style.color);
  constexpr double kShownUs = 0.05;  // less is shown as 0.0000
  std::vector<std::vector<std::string>> rows = {{"call", "operator", "module", "ms", "share", "where"}};
  std::vector<double> shares = {0};
  FoldedCalls folded;
  for (const v1::NodeLatency& row : prediction.breakdown()) {
    if (row.latency_us() > -kShownUs && row.latency_us() < kShownUs) {
      folded.Add(row.op(), row.latency_us());
      continue;
    }
    shares.push_back(ShareOf(row, prediction));
    rows.push_back({absl::StrCat(row.node()), row.op(), row.module_path(),
                    absl::StrFormat("%.4f", row.latency_us() / 1000), PercentText(shares.back()), PlaceOf(row)});
  }
  const auto painted = [&](size_t row, size_t, const std::string& text) {
    return row == 0 ? paint.Dim(text) : paint.Weight(text, shares[row]);
  };
  const std::vector<Column> columns = {
      {true}, {.min_width = 8, .keep_both = true}, {false, 20, true}, {true}, {true}, {false, 12, true}};
  std::string text = TextTable(rows, columns, style.width, painted);
  if (!folded.empty()) absl::StrAppend(&text, paint.Dim(WithoutEscapes(folded.Text())), "\n");
  return text;
}

}  // namespace

std::string PredictionTable(const v1::PredictResponse& r, const PredictionView& view) {
  const Painter paint(view.style.color);
  const std::string first_version = FirstVersion(r, view);
  std::string text = absl::StrCat(
      paint.Heading(WithoutEscapes(view.title)), "\n",
      SummaryLine(r.node_count(), r.parameter_count(), r.macs(), r.peak_memory_bytes()), "\n",
      WithoutEscapes(absl::StrCat("model ", r.model_version(),
                                  first_version.empty() ? "" : absl::StrCat("; read as for torch ", first_version))),
      "\n\n", LatencyTable(r, view, first_version));
  for (const v1::TargetPrediction& p : r.predictions()) absl::StrAppend(&text, UndisturbedText(p));
  if (view.all != nullptr) {
    absl::StrAppend(&text, "the ", r.predictions_size(), " fastest; ",
                    view.all->predictions_size() - r.predictions_size(), " more: --all, or --target NAME\n");
  }
  if (r.predictions_size() > 1) absl::StrAppend(&text, "\n", RankingText(r, view.style, view.all, view.targets));
  constexpr int kMostUnsure = 4;  // targets; each has some lines
  int unsure = 0;
  for (const v1::TargetPrediction& p : r.predictions()) {
    const std::string reasons = UnknownText(p);
    if (!reasons.empty() && ++unsure <= kMostUnsure) absl::StrAppend(&text, WithoutEscapes(reasons));
  }
  if (unsure > kMostUnsure)
    absl::StrAppend(&text, "and unsure on ", unsure - kMostUnsure, " more; --target NAME shows why for one of them\n");
  if (!view.breakdown) return text;
  for (const v1::TargetPrediction& p : r.predictions())
    absl::StrAppend(&text, "\n", paint.Heading(WithoutEscapes(p.target())), "\n", BreakdownTable(p, view.style));
  return text;
}

std::string ShortPredictionTable(const v1::PredictResponse& response, PredictionView view) {
  const v1::PredictResponse fastest = FastestOf(response, view.targets);
  if (fastest.predictions_size() < response.predictions_size()) view.all = &response;
  view.torch_version = FirstVersion(response, view);
  return PredictionTable(fastest, view);
}

std::string LatencyLines(const v1::PredictResponse& response) {
  std::string text;
  for (const v1::TargetPrediction& p : response.predictions())
    absl::StrAppendFormat(&text, "%.6g\n", p.latency_us() / 1000);
  return text;
}

}  // namespace cobra::client
