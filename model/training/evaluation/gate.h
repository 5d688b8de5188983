// Decides whether a new version may replace the one that serves. On fixed anchors it must not be
// worse by more than the noise, and no single one may be far worse; on new rows that it was not
// trained on it must be better. Anchors are the test rows of the measurements that the serving
// version was evaluated on, by layer type and network family. They were fixed before anything was
// trained (dataset.h), and no version is trained on them.
#ifndef COBRA_MODEL_TRAINING_EVALUATION_GATE_H_
#define COBRA_MODEL_TRAINING_EVALUATION_GATE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/training/rows/dataset.h"

namespace cobra::training {

struct GateRow {
  std::string name;  // "layer conv2d", "network resnet", "new layers"
  int64_t rows = 0;
  double old_mape = 0, new_mape = 0;
  double allowed = 0;  // upper limit of new_mape
  bool passed = true;
};

struct GateReport {
  std::vector<GateRow> anchors;
  std::vector<GateRow> fresh_rows;
  // Anchors whose predictions were moved far from the measurement, by any amount of training:
  // "layer relu 21f3...".
  std::vector<std::string> moved;
  bool passed = false;
  std::string reason;  // why it was not passed
};

// `before` and `after` are the errors of the same rows by the old and the new version. The noise is
// a multiple of the standard error of the mean difference, and at least `floor`, the difference
// between two measurements of the same subject. REQUIRES: equal sizes.
GateRow CompareOnAnchor(std::string name, absl::Span<const double> before, absl::Span<const double> after,
                        double floor);

// Whether a version has moved one anchor: its prediction is now off by more than a factor of 3, and
// by more than twice as much as before. A mean over thousands of anchors does not show it. Ratios
// are predicted over measured.
bool IsMovedFar(double before_ratio, double after_ratio);

// `anchors`: the known data set; `fresh`: the new rows, some of them kept from training
// (HoldOutSome).
absl::StatusOr<GateReport> CompareVersions(absl::string_view old_directory, absl::string_view new_directory,
                                           const Dataset& anchors, const Dataset& fresh);
std::string GateReportToJson(const GateReport& report);
std::string GateReportToTable(const GateReport& report);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_EVALUATION_GATE_H_
