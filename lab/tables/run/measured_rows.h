// Code shared by the tables on our own measurements: rows by split, figures, model versions.
#ifndef COBRA_LAB_TABLES_RUN_MEASURED_ROWS_H_
#define COBRA_LAB_TABLES_RUN_MEASURED_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lab/tables/run/table.h"
#include "model/training/rows/dataset.h"
#include "model/training/trainer.h"

namespace cobra::lab {

// Of one space ("paper-layers"), by fingerprint, at most `most` (0: all), so that the selection
// does not depend on the order of measuring.
std::vector<const training::Sample*> RowsOf(const training::Dataset& data, absl::string_view space,
                                            training::Split split, size_t most = 0);
// Libraries of published networks, which are split by family.
inline constexpr const char* kLibraries[] = {"torchvision", "timm"};
bool IsOfLibrary(const training::Sample& sample);

std::vector<double> LatencyOf(const std::vector<const training::Sample*>& samples);  // microseconds

// ToMetricValues and the root of the mean squared error, milliseconds.
MetricValues LatencyMetricValues(const std::vector<double>& predicted_us, const std::vector<double>& measured_us);
std::vector<TableColumn> LatencyColumns();  // of these

// Subjects measured twice: the error of the first measurement as a prediction of the second. A
// perfect prediction of their mean has a smaller error by about a square root of two.
constexpr char kFloor[] = "repeatability floor: measured twice";
absl::StatusOr<TableCell> FloorCell(const std::vector<training::Repeat>& repeats);

// What a version says of rows of `data`'s target.
absl::StatusOr<training::Predictions> PredictedBy(const std::string& model, const training::Dataset& data,
                                                  const std::vector<const training::Sample*>& rows);

// The folders of `root` that have a target.json, by name. NotFound if there is none.
absl::StatusOr<std::vector<std::string>> TargetFolders(const std::string& root);

// Directories of a model's seeds: DIRECTORY/seed-1 ... as written by cobra-train fit; DIRECTORY
// itself if there are none.
std::vector<std::string> SeedsOf(const std::string& directory);

}  // namespace cobra::lab

#endif  // COBRA_LAB_TABLES_RUN_MEASURED_ROWS_H_
