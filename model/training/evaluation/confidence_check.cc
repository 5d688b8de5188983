#include "model/training/evaluation/confidence_check.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/file/csv.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "model/predict/predictor.h"
#include "model/training/rows/metrics.h"

namespace cobra::training {
namespace {

absl::StatusOr<std::vector<AnsweredRow>> Answered(const predict::Predictor& predictor, absl::string_view target,
                                                  const char* kind, const std::vector<const Sample*>& samples) {
  std::vector<AnsweredRow> rows;
  for (const Sample* s : samples) {
    COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction answer, predictor.Predict(s->graph(), target));
    rows.push_back({kind, s->space(), s->label(), s->fingerprint(), s->latency_us(), answer.latency_us, answer.low_us,
                    answer.high_us, answer.confidence});
  }
  return rows;
}

ErrorsByConfidence ErrorsOf(const std::vector<AnsweredRow>& rows, double floor) {
  std::vector<double> sure, others;
  for (const AnsweredRow& row : rows)
    (row.confidence >= kSure ? sure : others).push_back(std::fabs(row.predicted_us / row.measured_us - 1));
  ErrorsByConfidence errors{static_cast<int64_t>(sure.size()), static_cast<int64_t>(others.size())};
  if (!sure.empty()) errors.median_of_sure = Median(std::move(sure));
  if (!others.empty()) errors.median_of_others = Median(std::move(others));
  errors.floor = floor;
  return errors;
}

std::string Line(absl::string_view kind, const ErrorsByConfidence& e) {
  if (e.sure + e.others == 0) return "";
  std::string line = absl::StrFormat("%s: %d with a confidence of %.1f or more", kind, e.sure, kSure);
  if (e.sure > 0) absl::StrAppendFormat(&line, ", median error %.1f %%", 100 * e.median_of_sure);
  absl::StrAppendFormat(&line, "; %d others", e.others);
  if (e.others > 0) absl::StrAppendFormat(&line, ", %.1f %%", 100 * e.median_of_others);
  if (e.sure > 0 && e.median_of_others > 0)
    absl::StrAppendFormat(&line, "; ratio %.2f", e.median_of_sure / e.median_of_others);
  if (e.sure > 0 && e.others > 0 && std::max(e.median_of_sure, e.median_of_others) <= e.floor)
    absl::StrAppendFormat(&line, "; measurements themselves differ by %.1f %%", 100 * e.floor);
  return absl::StrCat(line, "\n");
}

}  // namespace

absl::StatusOr<ConfidenceCheck> CheckConfidence(absl::string_view model_directory, const Dataset& data, Split split) {
  COBRA_ASSIGN_OR_RETURN(const auto predictor, predict::Predictor::Load(model_directory));
  ConfidenceCheck check;
  COBRA_ASSIGN_OR_RETURN(check.rows, Answered(*predictor, data.target.name, "network", RowsOf(data, split, true)));
  check.networks = ErrorsOf(check.rows, RepeatabilityFloor(data.network_repeats));
  COBRA_ASSIGN_OR_RETURN(const std::vector<AnsweredRow> layers,
                         Answered(*predictor, data.target.name, "layer", RowsOf(data, split, false)));
  check.layers = ErrorsOf(layers, RepeatabilityFloor(data.layer_repeats));
  check.rows.insert(check.rows.end(), layers.begin(), layers.end());
  return check;
}

std::string ConfidenceCheckToTable(const ConfidenceCheck& check) {
  return absl::StrCat(Line("layers", check.layers), Line("networks", check.networks));
}

std::string AnsweredRowsToCsv(const ConfidenceCheck& check) {
  std::string out = CsvLine(
      {"kind", "space", "label", "fingerprint", "measured_us", "predicted_us", "low_us", "high_us", "confidence"});
  const auto number = [](double x) { return absl::StrFormat("%.6g", x); };
  for (const AnsweredRow& r : check.rows) {
    absl::StrAppend(&out, CsvLine({r.kind, r.space, r.label, r.fingerprint, number(r.measured_us),
                                   number(r.predicted_us), number(r.low_us), number(r.high_us), number(r.confidence)}));
  }
  return out;
}

}  // namespace cobra::training
