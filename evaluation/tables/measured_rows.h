// What the tables on our own measurements share: rows by split, figures, the versions of ours that are shown.
#ifndef COBRA_EVALUATION_TABLES_MEASURED_ROWS_H_
#define COBRA_EVALUATION_TABLES_MEASURED_ROWS_H_

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/string_view.h"
#include "evaluation/tables/table.h"
#include "model/fit/dataset.h"

namespace cobra::evaluation {

// Of one space ("paper-layers"), by fingerprint, at most `most` (0: all): what is first does not depend on what was
// measured first.
std::vector<const fit::Sample*> RowsOf(const fit::Dataset& data, absl::string_view space, fit::Split split,
                                       size_t most = 0);
std::vector<double> LatencyOf(const std::vector<const fit::Sample*>& samples);  // microseconds

// FiguresOf and the root of the mean squared error, milliseconds.
Figures LatencyFigures(const std::vector<double>& predicted_us, const std::vector<double>& measured_us);
std::vector<TableColumn> LatencyColumns();  // of these

// Measured twice: how far the second is from the first, as if the one had been predicted by the other. A perfect
// prediction of what both scatter around is nearer to each by about a square root of two.
constexpr char kFloor[] = "repeatability floor: measured twice";
absl::StatusOr<TableCell> FloorCell(const std::vector<fit::Repeat>& repeats);

// Directories of a model's seeds: DIRECTORY/seed-1 ... as cobra-train fit leaves them; DIRECTORY itself where there are
// none.
std::vector<std::string> SeedsOf(const std::string& directory);

}  // namespace cobra::evaluation

#endif  // COBRA_EVALUATION_TABLES_MEASURED_ROWS_H_
