// Whether a new version may replace the one that serves: on fixed anchors it must not be worse by more than the noise,
// on what is new it must be better. Anchors are the test rows of the measurements that the serving version was judged
// on, by layer type and network family; they were fixed before anything was trained (dataset.h) and no version ever
// sees them in training.
#ifndef COBRA_MODEL_FIT_GATE_H_
#define COBRA_MODEL_FIT_GATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/fit/dataset.h"

namespace cobra::fit {

struct GateRow {
  std::string name;  // "layer conv2d", "network resnet", "new layers"
  int64_t rows = 0;
  double old_mape = 0, new_mape = 0;
  double allowed = 0;  // what new_mape may be
  bool passed = true;
};

struct GateReport {
  std::vector<GateRow> anchors;
  std::vector<GateRow> news;
  bool new_rows_held_out = true;  // false: there were too few to keep any from training
  bool passed = false;
  std::string reason;  // why not
};

// Errors of the same rows by the old and the new version. Noise is how far the mean difference strays by the choice of
// rows alone, and never less than `floor`, the difference between two measurements of the same thing. REQUIRES: as many
// of both.
GateRow JudgeAnchor(std::string name, absl::Span<const double> before, absl::Span<const double> after, double floor);

// `anchors`: the known data set; `fresh`: what is new.
absl::StatusOr<GateReport> CompareVersions(absl::string_view old_directory, absl::string_view new_directory,
                                           const Dataset& anchors, const Dataset& fresh);
std::string GateReportToJson(const GateReport& report);
std::string GateReportToTable(const GateReport& report);

}  // namespace cobra::fit

#endif  // COBRA_MODEL_FIT_GATE_H_
