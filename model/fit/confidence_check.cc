#include "model/fit/confidence_check.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/statistics.h"
#include "base/status_macros.h"
#include "model/predict/predictor.h"

namespace cobra::fit {
namespace {

absl::StatusOr<ErrorsByConfidence> ErrorsOf(const predict::Predictor& predictor, absl::string_view target,
                                            const std::vector<const Sample*>& rows) {
  std::vector<double> sure, others;
  for (const Sample* row : rows) {
    COBRA_ASSIGN_OR_RETURN(const predict::LatencyPrediction answer, predictor.Predict(row->graph, target));
    (answer.confidence >= kSure ? sure : others).push_back(std::fabs(answer.latency_us / row->latency_us() - 1));
  }
  ErrorsByConfidence errors{static_cast<int64_t>(sure.size()), static_cast<int64_t>(others.size())};
  if (!sure.empty()) errors.median_of_sure = Median(std::move(sure));
  if (!others.empty()) errors.median_of_others = Median(std::move(others));
  return errors;
}

std::string Line(absl::string_view kind, const ErrorsByConfidence& e) {
  if (e.sure + e.others == 0) return "";
  std::string line = absl::StrFormat("%s: %d with a confidence of %.1f or more, median error %.1f %%; %d others", kind,
                                     e.sure, kSure, 100 * e.median_of_sure, e.others);
  if (e.others > 0) absl::StrAppendFormat(&line, ", %.1f %%", 100 * e.median_of_others);
  if (e.sure > 0 && e.median_of_others > 0)
    absl::StrAppendFormat(&line, "; ratio %.2f", e.median_of_sure / e.median_of_others);
  return absl::StrCat(line, "\n");
}

}  // namespace

absl::StatusOr<ConfidenceCheck> CheckConfidence(absl::string_view model_directory, const Dataset& data, Split split) {
  COBRA_ASSIGN_OR_RETURN(const auto predictor, predict::Predictor::Load(model_directory));
  ConfidenceCheck check;
  COBRA_ASSIGN_OR_RETURN(check.layers, ErrorsOf(*predictor, data.target.name, RowsOf(data, split, false)));
  COBRA_ASSIGN_OR_RETURN(check.networks, ErrorsOf(*predictor, data.target.name, RowsOf(data, split, true)));
  return check;
}

std::string ConfidenceCheckToTable(const ConfidenceCheck& check) {
  return absl::StrCat(Line("layers", check.layers), Line("networks", check.networks));
}

}  // namespace cobra::fit
