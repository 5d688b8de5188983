// How two operands become one PyTorch call: numbers are arguments there, not tensors.
#ifndef COBRA_FRONTEND_ONNX_ELEMENTWISE_H_
#define COBRA_FRONTEND_ONNX_ELEMENTWISE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "frontend/onnx/node_context.h"

namespace cobra::onnx {

// 0.1 for the float32 nearest to it: what somebody wrote before it was stored as one.
double Shortest(double value);
// As the attribute of a call on tensors of `dtype`.
graph::AttributeValue Number(graph::DType dtype, double value);
// The value of a constant of one element, if it can stand as a number beside `beside` (null: anything).
std::optional<graph::AttributeValue> AsNumber(NodeContext& c, const TensorPtr& tensor, const TensorPtr& beside);
absl::StatusOr<TensorPtr> BinaryCall(NodeContext& c, graph::Op op, const TensorPtr& a, const TensorPtr& b);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_ELEMENTWISE_H_
