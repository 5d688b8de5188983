// Whether a latency can be true. Workers and probes report what they like; what no device can do,
// or what contradicts itself, is refused before it is stored. What is merely unexpected is doubted:
// the store holds it until a second measurement agrees (store/queue/review.h).
#ifndef COBRA_MODEL_PREDICT_TARGET_PLAUSIBILITY_H_
#define COBRA_MODEL_PREDICT_TARGET_PLAUSIBILITY_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "graph/graph.h"
#include "model/predict/target/target.h"

namespace cobra::predict {

// A calibration needs this many different layers.
inline constexpr size_t kMinProbeLayers = 8;
// A known layer or network is doubted beyond this factor from its prediction. Of 290 shipped
// measurements drawn at random, 289 are within it, and 99 % within 2.3.
inline constexpr double kDoubtKnown = 4;
// The same if the prediction extrapolates. Of 36 layers of operators that the shipped model has
// never measured, 29 were within it; recurrent layers, which it takes for cheap ones, were off by
// 16 to 90.
inline constexpr double kDoubtUnknown = 10;

// Of a latency in a message: as the caller has given it.
enum class ShownUnit { kMicroseconds, kMilliseconds };

// InvalidArgument if the graph has no calls, or if no device takes `latency_us` for it: less than
// its arithmetic and the bytes that it writes allow, by a wide margin, or a thousand times more
// than they take with generous overheads. `machine` may be null or lack numbers; the bounds are
// then those of any device.
absl::Status CheckPlausible(const graph::Graph& graph, double latency_us, const TargetSpec* machine,
                            ShownUnit unit = ShownUnit::kMicroseconds);

// Whether the times of a network's calls add up to about its latency. Those taken while the machine
// was busy do not.
bool AddsUp(const std::vector<double>& node_us, double latency_us);

// InvalidArgument if the machine's description or a record is implausible, if repetitions
// contradict each other, if fewer than kMinProbeLayers different layers were measured, or if no
// layer comes near the machine's own peak, which means that the unit is wrong.
absl::Status CheckProbe(const ProbeResult& probe);

// Why a measurement is doubted: "60 us is 15 times more than the predicted 4 us". Empty if it is
// not. REQUIRES: both above 0.
std::string DoubtAbout(double measured_us, double predicted_us, bool extrapolating);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_PLAUSIBILITY_H_
