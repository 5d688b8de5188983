// The errors of a model version on held-out rows, beside those of the layer-wise sum and of a line
// in FLOPs, and the repeatability floor.
#ifndef COBRA_MODEL_TRAINING_EVALUATION_EVALUATE_H_
#define COBRA_MODEL_TRAINING_EVALUATION_EVALUATE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "model/training/rows/dataset.h"
#include "model/training/rows/metrics.h"

namespace cobra::training {

// A test row beside its prediction.
struct PredictedRow {
  std::string kind;  // "layer", "network"
  std::string space, label, fingerprint;
  double measured_us = 0, predicted_us = 0, low_us = 0, high_us = 0;
};

struct Evaluation {
  std::map<std::string, Metrics> layers;    // by operator, and "all"
  std::map<std::string, Metrics> networks;  // by family, and "all"
  std::map<std::string, Metrics> layers_by_space, networks_by_space;
  double layer_floor = 0, network_floor = 0;
  int64_t layer_repeats = 0, network_repeats = 0;
  // Networks: "layer_sum" (predicted layers added), "layer_sum_scaled" (one factor fitted on
  // training rows), "flops_line" (a + b x FLOPs fitted on training rows). Layers:
  // "layers_flops_bytes_line".
  std::map<std::string, Metrics> baselines;
  // Share of test rows inside the 90 % interval and its median relative width; absent before
  // intervals are fitted.
  double layer_coverage = 0, network_coverage = 0;
  double layer_interval_width = 0, network_interval_width = 0;
  std::vector<PredictedRow> rows;  // networks, then layers; those that are furthest off first
};

absl::StatusOr<Evaluation> Evaluate(absl::string_view model_directory, const Dataset& data, Split split = Split::kTest);

// Fits the intervals on the rows kept for them, measures the errors on the test rows, and writes
// both, the operators and the probe references into the manifest: of the target of each data set.
// One of few networks, finished alone, keeps the width that it got together with others
// (PoolFewNetworks).
absl::StatusOr<std::vector<Evaluation>> FinishVersion(absl::string_view model_directory,
                                                      absl::Span<const Dataset> sets);

std::string EvaluationToJson(const Evaluation& evaluation);   // `cobra-train evaluate --json`; scripts read its keys
std::string EvaluationToTable(const Evaluation& evaluation);  // for people
// kind,space,label,fingerprint,measured_us,predicted_us,low_us,high_us
std::string EvaluatedRowsToCsv(const Evaluation& evaluation);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_EVALUATION_EVALUATE_H_
