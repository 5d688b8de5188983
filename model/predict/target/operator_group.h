// Operators that other machines speed up or slow down together: the terms of a calibration.
#ifndef COBRA_MODEL_PREDICT_TARGET_OPERATOR_GROUP_H_
#define COBRA_MODEL_PREDICT_TARGET_OPERATOR_GROUP_H_

#include "graph/graph.h"

namespace cobra::predict {

enum OperatorGroup {
  kConvDense,
  kConvPointwise,
  kConvGrouped,
  kProduct,
  kNorm,
  kPool,
  kElementwise,
  kOther,
  kNumOperatorGroups
};

OperatorGroup OperatorGroupOf(const graph::Graph& graph, const graph::Node& node);

}  // namespace cobra::predict

#endif  // COBRA_MODEL_PREDICT_TARGET_OPERATOR_GROUP_H_
