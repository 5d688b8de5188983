// Compares a network's measured latency with the sums of its layers' measured latencies: each layer
// alone (as nn-Meter and others predict), and each layer in context (the profile of the network).
// No model is involved. lab/results/layer_sum.md has the table and the conclusions.
#ifndef COBRA_LAB_SUMS_LAYER_SUM_H_
#define COBRA_LAB_SUMS_LAYER_SUM_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/training/evaluation/evaluate.h"
#include "model/training/rows/dataset.h"
#include "model/training/rows/metrics.h"

namespace cobra::lab {

// Networks of a family. Ratios of sums of time are over all calls that compute, without views and
// aliases, which take about a microsecond.
struct LayerSumRow {
  int64_t networks = 0;
  double profile_over_measured = 0;  // median: sum of all calls in context over the latency
  double covered = 0;                // share of the time in context whose layers were measured alone too
  double alone_over_inside = 0;      // of that share: the sum alone over the sum in context
  int64_t complete = 0;              // networks of which every layer was measured alone
  double sum_over_measured = 0;      // of these: median of the sum alone over the latency; 0 if there are none
  training::Metrics sum;             // of these: the sum alone as a prediction
};

// Calls of one kind that were measured both ways.
struct PairedCalls {
  int64_t calls = 0;
  double inside_us = 0, alone_us = 0;  // added up
  double median_ratio = 0;             // alone over in context
};

struct LayerSum {
  std::map<std::string, LayerSumRow> families;  // and "all"
  std::map<std::string, PairedCalls> operators;
  // By the bytes that a call reads and writes, weights included: up to the key, above the key
  // before
  std::map<int64_t, PairedCalls> sizes;
};

// The networks of `data` that were profiled. Layers measured alone: those of `data`, and `more`,
// which take precedence.
absl::StatusOr<LayerSum> CompareLayerSums(const training::Dataset& data, absl::Span<const training::Sample> more);

// With the predictions of a model for test networks: the sum of its layers' predictions, and its
// graph network.
std::string LayerSumToTable(const LayerSum& sum, const training::Evaluation& evaluation);  // Markdown
std::string LayerSumToJson(const LayerSum& sum, const training::Evaluation& evaluation);

}  // namespace cobra::lab

#endif  // COBRA_LAB_SUMS_LAYER_SUM_H_
