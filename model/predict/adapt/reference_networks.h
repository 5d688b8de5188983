// Small networks of the kinds that people run, built in: on their predictions the trained targets
// are compared with each other, so that what distinguishes devices is known without measurements
// (adapt_prior.h).
#ifndef COBRA_MODEL_PREDICT_ADAPT_REFERENCE_NETWORKS_H_
#define COBRA_MODEL_PREDICT_ADAPT_REFERENCE_NETWORKS_H_

#include <vector>

#include "graph/graph.h"

namespace cobra::predict {

// Residual, depthwise, plain, dense and grouped convolutional networks and transformers of several
// sizes, always the same. float32, batch 1 and 4.
const std::vector<graph::Graph>& ReferenceNetworks();

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_ADAPT_REFERENCE_NETWORKS_H_
