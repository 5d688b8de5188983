#include "client/series/sweep_render.h"

#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/text/counted.h"
#include "base/text/json.h"
#include "base/text/without_escapes.h"
#include "client/answer/exit_code.h"
#include "client/answer/memory_fit.h"
#include "client/answer/unknown.h"
#include "client/terminal/output.h"
#include "client/terminal/text_table.h"
#include "nlohmann/json.hpp"
#include "report/question.h"

namespace cobra::client {
namespace {

using nlohmann::json;

constexpr char kKneeDefinition[] =
    "the smallest batch with at least 90 % of the best throughput of the batches that fit into memory, without guesses";

std::string PerSecondText(double per_second) { return absl::StrFormat(per_second < 100 ? "%.1f" : "%.0f", per_second); }

std::string GigabytesText(double gb) { return absl::StrFormat("%.4g GB", gb); }

std::string Notes(const TargetSweep& target, const SweepPoint& point, bool is_knee) {
  std::vector<std::string> notes;
  if (is_knee) notes.emplace_back("knee");
  if (!target.Fits(point)) notes.push_back(LackOfMemory(point.peak_memory_bytes, target.memory_gb));
  if (point.prediction.extrapolating()) notes.emplace_back("extrapolating");
  return absl::StrJoin(notes, ", ");
}

std::vector<std::string> Cells(const TargetSweep& target, const SweepPoint& point, bool is_knee) {
  if (!point.ok()) return {"-", "-", "-", "-", "-", WhyText(point.status)};
  const v1::TargetPrediction& p = point.prediction;
  return {MillisecondsText(p.latency_us()),        IntervalText(p),
          PerSecondText(point.per_second()),       MebibytesText(point.peak_memory_bytes),
          absl::StrFormat("%.2f", p.confidence()), Notes(target, point, is_knee)};
}

std::string KneeText(const TargetSweep& target, const Knee& knee) {
  const SweepPoint& at = target.points[knee.point];
  const SweepPoint& best = target.points[knee.best];
  std::string text = absl::StrCat("knee at batch ", at.batch, ": ", PerSecondText(at.per_second()), " a second, ",
                                  MillisecondsText(at.prediction.latency_us()), " ms");
  if (knee.best != knee.point)
    absl::StrAppend(&text, "; best ", PerSecondText(best.per_second()), " at batch ", best.batch);
  if (knee.is_last)
    absl::StrAppend(&text, "; no larger batch has a known answer and fits: the throughput may rise further");
  if (knee.is_guess) absl::StrAppend(&text, "; a guess, because the model extrapolates there");
  return text;
}

std::string MemoryText(const TargetSweep& target, const MemoryEnd& end) {
  std::string text = absl::StrCat("memory of ", GigabytesText(target.memory_gb), ": ");
  if (end.largest_that_fits.has_value()) {
    absl::StrAppend(&text, "batch ", *end.largest_that_fits, " fits");
  } else {
    absl::StrAppend(&text, "no requested batch fits");
  }
  if (end.estimate.has_value()) absl::StrAppend(&text, ", and it ends at about batch ", *end.estimate);
  return text;
}

std::string Heading(const TargetSweep& target) {
  const v1::TargetSpec& s = target.spec;
  return absl::StrCat(s.name(), " (", s.device(), ", ", s.runtime(), ", ", s.precision(), ", ",
                      Counted(s.threads(), "thread"), ")");
}

json PointJson(const TargetSweep& target, const SweepPoint& point) {
  if (!point.ok()) {
    json j = ParseJson<json>(ErrorJson(point.status));
    j["batch"] = point.batch;
    return j;
  }
  json j = FieldsJson<json>(point.prediction);
  j.erase("target");
  j["batch"] = point.batch;
  j["items_per_s"] = point.per_second();
  j["low_items_per_s"] = point.low_per_second();
  j["high_items_per_s"] = point.high_per_second();
  j["peak_memory_bytes"] = point.peak_memory_bytes;
  j["fits"] = target.memory_gb > 0 ? json(target.Fits(point)) : json();
  return j;
}

json KneeJson(const TargetSweep& target, const std::optional<Knee>& knee) {
  if (!knee.has_value()) return json();
  return {{"batch", target.points[knee->point].batch},
          {"items_per_s", target.points[knee->point].per_second()},
          {"best_batch", target.points[knee->best].batch},
          {"best_items_per_s", target.points[knee->best].per_second()},
          {"is_last", knee->is_last},
          {"extrapolating", knee->is_guess}};
}

json MemoryJson(const std::optional<MemoryEnd>& end) {
  if (!end.has_value()) return json();
  return {{"largest_batch_that_fits", end->largest_that_fits ? json(*end->largest_that_fits) : json()},
          {"ends_at_batch", end->estimate ? json(*end->estimate) : json()}};
}

json PointsJson(const TargetSweep& target) {
  json points = json::array();
  for (const SweepPoint& point : target.points) points.push_back(PointJson(target, point));
  return {{"target", target.spec.name()},
          {"device", target.spec.device()},
          {"runtime", target.spec.runtime()},
          {"precision", target.spec.precision()},
          {"threads", target.spec.threads()},
          {"memory_gb", target.memory_gb > 0 ? json(target.memory_gb) : json()},
          {"points", std::move(points)},
          {"knee", KneeJson(target, KneeOf(target))},
          {"memory", MemoryJson(MemoryEndOf(target))}};
}

// A row for each batch and target.
std::string PointsTable(const Sweep& sweep, const TerminalStyle& style) {
  const bool several = sweep.targets.size() > 1;
  std::vector<std::vector<std::string>> rows = {
      {"batch", "target", "predicted ms", "90 % interval ms", "items/s", "peak memory", "confidence", ""}};
  std::vector<Column> columns = {{true},
                                 {.min_width = 12, .keep_both = true},
                                 {true},
                                 {true},
                                 {true},
                                 {.right = true, .leave_out = 2},
                                 {.right = true, .leave_out = 1},
                                 {.below = true}};
  std::vector<const SweepPoint*> points = {nullptr};
  for (size_t i = 0; i < sweep.batches.size(); ++i) {
    for (const TargetSweep& target : sweep.targets) {
      const std::optional<Knee> knee = KneeOf(target);
      std::vector<std::string> row = {absl::StrCat(sweep.batches[i]), target.spec.name()};
      for (std::string& cell : Cells(target, target.points[i], knee.has_value() && knee->point == i))
        row.push_back(std::move(cell));
      rows.push_back(std::move(row));
      points.push_back(&target.points[i]);
    }
  }
  if (!several) {
    for (std::vector<std::string>& row : rows) row.erase(row.begin() + 1);
    columns.erase(columns.begin() + 1);
  }
  const Painter paint(style.color);
  const size_t interval = several ? 3 : 2, confidence = several ? 6 : 5;
  const auto painted = [&](size_t row, size_t column, const std::string& text) {
    if (row == 0) return paint.Dim(text);
    if (!points[row]->ok()) return paint.Bad(text);
    const v1::TargetPrediction& p = points[row]->prediction;
    if (column == interval) return p.coverage() <= 0 ? paint.Doubt(text) : text;
    if (column == confidence) return PaintedConfidence(paint, p.confidence(), text);
    return text;
  };
  return TextTable(rows, columns, style.width, painted);
}

}  // namespace

std::string SweepLines(const Sweep& sweep) {
  std::string text;
  for (size_t i = 0; i < sweep.batches.size(); ++i) {
    for (const TargetSweep& target : sweep.targets) {
      const SweepPoint& point = target.points[i];
      absl::StrAppend(&text, sweep.batches[i], " ",
                      point.ok() ? absl::StrFormat("%.6g", point.prediction.latency_us() / 1000) : "-", "\n");
    }
  }
  return text;
}

std::string SweepTable(const Sweep& sweep, const TerminalStyle& style) {
  const bool several = sweep.targets.size() > 1;
  const Painter paint(style.color);
  std::string text = absl::StrCat(paint.Heading(WithoutEscapes(sweep.title)), "\n",
                                  WithoutEscapes(absl::StrCat("inputs ", absl::StrJoin(sweep.inputs, " "),
                                                              "; B is the batch\nmodel ", sweep.model_version, "\n")));
  for (const TargetSweep& target : sweep.targets)
    absl::StrAppend(&text, WithoutEscapes(absl::StrCat("target ", Heading(target), "\n")));
  absl::StrAppend(&text, "\n", PointsTable(sweep, style), "\n");
  for (const TargetSweep& target : sweep.targets) {
    const std::string name = several ? absl::StrCat(target.spec.name(), ": ") : "";
    if (const auto knee = KneeOf(target)) absl::StrAppend(&text, name, KneeText(target, *knee), "\n");
    if (const auto end = MemoryEndOf(target)) {
      absl::StrAppend(&text, name, MemoryText(target, *end), "\n");
    } else {
      absl::StrAppend(&text, name, "the memory of the target is unknown: give --memory-gb\n");
    }
  }
  return absl::StrCat(text, "The knee is ", kKneeDefinition, ".\n");
}

json SweepDocument(const Sweep& sweep, const ModelArguments& model) {
  json targets = json::array();
  for (const TargetSweep& target : sweep.targets) targets.push_back(PointsJson(target));
  json j = {{"batches", sweep.batches},
            {"batch_inputs", sweep.inputs},
            {"knee_definition", kKneeDefinition},
            {"model_version", sweep.model_version},
            {"targets", std::move(targets)}};
  report::AddModel(model, &j);
  return j;
}

std::string SweepJson(const Sweep& sweep, const ModelArguments& model) {
  return IndentedJson(SweepDocument(sweep, model));
}

}  // namespace cobra::client
