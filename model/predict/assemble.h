// The last steps from the contributions of calls to a prediction.
#ifndef COBRA_MODEL_PREDICT_ASSEMBLE_H_
#define COBRA_MODEL_PREDICT_ASSEMBLE_H_

#include "graph/cost/cost.h"
#include "graph/graph.h"
#include "model/infer/contributions.h"
#include "model/predict/layer_embedder.h"
#include "model/predict/price/prediction.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"

namespace cobra::predict {

// What a prediction is put together from, beside the networks' contributions.
struct PredictionParts {
  const graph::Graph& graph;
  const Layers& layers;
  const graph::GraphCost& total;
  const TargetEntry& target;
  const TargetSpec& spec;  // that the networks were given
  const Calibration* calibration;
  const Calibration* adapted = nullptr;  // the device that this is a part of
};

// Contributions within what the data sheet allows, launching, the calibration's corrections, what
// lies outside the training data, the interval.
LatencyPrediction Assemble(const PredictionParts& parts, const infer::NetworkContributions& contributions);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ASSEMBLE_H_
