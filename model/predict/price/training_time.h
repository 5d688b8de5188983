// What training mode adds to a call on targets that were measured only in inference.
#ifndef COBRA_MODEL_PREDICT_PRICE_TRAINING_TIME_H_
#define COBRA_MODEL_PREDICT_PRICE_TRAINING_TIME_H_

#include "graph/graph.h"
#include "model/predict/target/target.h"
#include "model/predict/weights/manifest.h"

namespace cobra::predict {

// A batch normalization with the statistics of its batch, in eager PyTorch on a processor, given
// the data sheet `spec`: their sums are in double precision, one element after the other, each
// thread with channels of its own. That takes 4.4 cycles of the stated clock for each element, 400
// to 490 us for a MB, and the normalization itself a tenth of it (PyTorch 1.13 and 2.13 on an
// EPYC). Microseconds; 0: any other call, or the target knows what it takes.
double StatisticsUs(const graph::Graph& graph, const graph::Node& call, const TargetSpec& spec,
                    const TargetEntry& target);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_PRICE_TRAINING_TIME_H_
