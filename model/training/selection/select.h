// `cobra-train select`: selects, from candidates that a worker has drawn, those whose measurement
// improves a model version most in a given time (active.h).
#ifndef COBRA_MODEL_TRAINING_SELECTION_SELECT_H_
#define COBRA_MODEL_TRAINING_SELECTION_SELECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/file/data_path.h"

namespace cobra::training {

struct SelectOptions {
  std::string pool;     // candidates: JSON lines with "graph" (cobra-worker sample), or records
  std::string targets;  // layers that will be predicted, in the same form; empty: the pool
  std::string model = DataPath("model/pretrained");
  // Measurements that it was trained and evaluated on; they are not measured again
  std::string rows = DataPath("data/measurements/cpu-epyc-genoa-1t");
  double budget_s = 0;
  uint64_t seed = 1;  // of the targets and the shortlist
  size_t max_targets = 4000;
};

struct SelectedKind {
  std::string kind;
  int64_t candidates = 0, chosen = 0;
  double seconds = 0;  // of the chosen layers, expected
  // Mean |log(predicted / measured)| of rows that the model was not trained on; 0 without rows
  double held_out_error = 0;
  int64_t held_out = 0;
};

struct SelectReport {
  // Of the chosen layers, unchanged from the pool, the most valuable first.
  std::string lines;
  int64_t candidates = 0, known = 0, chosen = 0;  // known: measured before, or equal to another candidate
  double seconds = 0;
  std::vector<SelectedKind> kinds;  // by seconds, descending
};

absl::StatusOr<SelectReport> SelectCandidates(const SelectOptions& options);
std::string SelectReportToTable(const SelectReport& report);

}  // namespace cobra::training

#endif  // COBRA_MODEL_TRAINING_SELECTION_SELECT_H_
