// The range in which a target was measured, and what lies outside it: why a prediction
// extrapolates, apart from the words of its layers (unknown_reason.h).
#ifndef COBRA_MODEL_PREDICT_PRICE_KNOWN_RANGE_H_
#define COBRA_MODEL_PREDICT_PRICE_KNOWN_RANGE_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "graph/cost/cost.h"
#include "graph/graph.h"
#include "model/predict/price/prediction.h"
#include "model/predict/weights/manifest.h"
#include "model/predict/weights/target_info.h"

namespace cobra::predict {

// A number up to a quarter beyond the range of the training data still counts as known.
inline constexpr double kRangeSlack = 1.25;
// If known layers have less than this share of the latency, the answer is marked as extrapolating.
inline constexpr double kExtrapolatingBelow = 0.9;
// So many timings say what the data sheet cannot.
inline constexpr int kEnoughSamples = 5;

// What a call's extent says about the answer of the networks.
struct CallLimits {
  double least_log_us = -std::numeric_limits<double>::infinity();
  std::string unknown;  // empty: it is within what was measured
};

// A call with more work than the largest measured one of its kind takes at least the time of the
// fitted line, and the time to move its bytes.
CallLimits LimitsOf(const graph::Graph& graph, int32_t call, const TargetEntry& target);

// Lower the known share and add the reason, if there is one. `compute_nodes`: calls that are no
// views.
//
// What training makes of a call (batch statistics) is unknown to targets that measured inference
// alone: they give it the time of inference, so its share of the time says nothing. Its share of
// the calls does.
void JudgeTraining(const graph::Graph& graph, int compute_nodes, LatencyPrediction* prediction);
// A network of known calls that is far larger than all measured ones extrapolates too, as does a
// batch where only single samples were measured: effects on caches and memory are unknown.
void JudgeNetwork(const graph::Graph& graph, const graph::GraphCost& total, const TargetEntry& target,
                  int compute_nodes, LatencyPrediction* prediction);
// Where the GPU waits for its host (launch_time.h), `waiting_share` of the time, and the target was
// launched from C++.
void JudgeLaunching(const TargetSpec& spec, const TargetEntry& target, double waiting_share,
                    LatencyPrediction* prediction);
// The targets that a version was trained on, and what they are.
std::vector<TargetInfo> InfosOf(const Manifest& manifest);
std::vector<TargetSpec> SpecsOf(const Manifest& manifest);

// The prediction; Internal if it has no number.
absl::StatusOr<LatencyPrediction> WithNumber(absl::string_view target, LatencyPrediction prediction);

// A device that was adapted to, where most of what explains it has another runtime, mode or
// precision, is a GPU of another maker in PyTorch, or has less than half of its threads: the data
// sheet says nothing about that, and few timings little. Likewise one without timings whose peak
// nobody knows.
void SetAdaptedConfidence(const Calibration& adapted, absl::Span<const TargetInfo> trained,
                          LatencyPrediction* prediction);

// The largest share first, and no more than can be shown; "0.0 % of the time" is not a reason,
// unless it is the only one.
void OrderReasons(std::vector<UnknownPart>* reasons);

// Samples at a time: the first dimension of the first input that has two or more. 1 without such an
// input.
int64_t BatchOf(const graph::Graph& graph);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_KNOWN_RANGE_H_
