#include "lab/tables/run/measured_rows.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/file/file.h"
#include "base/status_macros.h"
#include "model/training/rows/metrics.h"

namespace cobra::lab {

std::vector<const training::Sample*> RowsOf(const training::Dataset& data, absl::string_view space,
                                            training::Split split, size_t most) {
  std::vector<const training::Sample*> rows;
  for (const training::Sample& s : data.samples) {
    if (s.space() == space && s.split == split) rows.push_back(&s);
  }
  std::sort(rows.begin(), rows.end(),
            [](const training::Sample* a, const training::Sample* b) { return a->fingerprint() < b->fingerprint(); });
  if (most > 0 && rows.size() > most) rows.resize(most);
  return rows;
}

bool IsOfLibrary(const training::Sample& sample) {
  return std::find(std::begin(kLibraries), std::end(kLibraries), sample.space()) != std::end(kLibraries);
}

std::vector<double> LatencyOf(const std::vector<const training::Sample*>& samples) {
  std::vector<double> us;
  for (const training::Sample* s : samples) us.push_back(s->latency_us());
  return us;
}

MetricValues LatencyMetricValues(const std::vector<double>& predicted_us, const std::vector<double>& measured_us) {
  MetricValues figures = ToMetricValues(training::ComputeMetrics(predicted_us, measured_us));
  double squares = 0;
  for (size_t i = 0; i < predicted_us.size(); ++i) squares += std::pow((predicted_us[i] - measured_us[i]) / 1e3, 2);
  figures.emplace_back("rmse_ms", std::sqrt(squares / static_cast<double>(std::max<size_t>(1, predicted_us.size()))));
  return figures;
}

std::vector<TableColumn> LatencyColumns() {
  return {{"mape", "MAPE, %", 100, 2}, {"rmse_ms", "RMSE, ms", 1, 2}, {"within_1", "within 1 %"},
          {"within_5", "within 5 %"},  {"within_10", "within 10 %"},  {"within_25", "within 25 %"},
          {"n", "test rows", 1, 0}};
}

absl::StatusOr<TableCell> FloorCell(const std::vector<training::Repeat>& repeats) {
  std::vector<double> first, second;
  for (const training::Repeat& r : repeats) {
    first.push_back(r.first_us);
    second.push_back(r.second_us);
  }
  TableCell cell;
  cell.figures = LatencyMetricValues(first, second);
  return cell;
}

absl::StatusOr<training::Predictions> PredictedBy(const std::string& model, const training::Dataset& data,
                                                  const std::vector<const training::Sample*>& rows) {
  COBRA_ASSIGN_OR_RETURN(const int target, training::TargetOf(model, data));
  return training::PredictSamples(model, rows, target);
}

absl::StatusOr<std::vector<std::string>> TargetFolders(const std::string& root) {
  std::vector<std::string> folders;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(root, error)) {
    if (FileExists(absl::StrCat(entry.path().string(), "/target.json"))) folders.push_back(entry.path().string());
  }
  if (error) return absl::NotFoundError(absl::StrCat(root, ": ", error.message()));
  if (folders.empty()) return absl::NotFoundError(absl::StrCat(root, ": has no folder with a target.json"));
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::vector<std::string> SeedsOf(const std::string& directory) {
  std::vector<std::string> seeds;
  for (int seed = 1; FileExists(absl::StrCat(directory, "/seed-", seed, "/manifest.json")); ++seed)
    seeds.push_back(absl::StrCat(directory, "/seed-", seed));
  if (seeds.empty()) seeds.push_back(directory);
  return seeds;
}

}  // namespace cobra::lab
