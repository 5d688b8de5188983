// What is predicted for a network, and how certain it is.
#ifndef COBRA_MODEL_PREDICT_PRICE_PREDICTION_H_
#define COBRA_MODEL_PREDICT_PRICE_PREDICTION_H_

#include <cstddef>
#include <string>
#include <vector>

namespace cobra::predict {

// A part of a latency that the model does not know, with the reason.
struct UnknownPart {
  std::string why;   // "lstm was never measured"
  double share = 0;  // of the latency, from 0 to 1
};

// The prediction for a whole network.
struct PredictionTotals {
  double latency_us = 0;
  double low_us = 0, high_us = 0;  // interval of `coverage`
  double coverage = 0.9;           // 0: unknown, because the prediction extrapolates
  // The same while nothing else runs on the machine. Only where a calibration knows what else does
  // (disturbance.h), and what is above includes that; otherwise 0.
  double undisturbed_us = 0;
  double undisturbed_low_us = 0, undisturbed_high_us = 0;
  // In [0, 1]: the share of the latency that is like what the model was trained on.
  double known_share = 0;
  // In [0, 1]: the probability that the true latency is within a factor of 1.5 (SetConfidence).
  double confidence = 0;
  bool extrapolating = false;
  // LatencyPrediction::node_unknown summarised by reason, the largest share first, at most
  // kMaxUnknownParts.
  std::vector<UnknownPart> unknown;
  static constexpr size_t kMaxUnknownParts = 5;
};

// The same, with the contribution of each call.
struct LatencyPrediction : PredictionTotals {
  std::vector<double> node_latency_us;  // one a graph node; sums to latency_us
  // One a graph node: the same call alone. A runtime that takes calls for one gives some of them
  // less.
  std::vector<float> node_alone_us;
  // One a graph node: why it is unlike what the model was trained on; empty where it is like it. At
  // most some 200 bytes, whatever the call's arguments are.
  std::vector<std::string> node_unknown;
};

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_PREDICTION_H_
