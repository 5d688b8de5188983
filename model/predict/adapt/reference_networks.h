// Small networks of common kinds, built in: the trained targets are compared with each other by
// what they predict for these, so that the differences between devices are known without
// measurements (adapt_prior.h).
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
