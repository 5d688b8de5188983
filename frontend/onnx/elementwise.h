// Converts two operands to one PyTorch call, in which numbers are arguments and not tensors.
#ifndef COBRA_FRONTEND_ONNX_ELEMENTWISE_H_
#define COBRA_FRONTEND_ONNX_ELEMENTWISE_H_

#include <optional>

#include "absl/status/statusor.h"
#include "frontend/onnx/node_context.h"

namespace cobra::onnx {

// The shortest decimal that rounds to the same float32: 0.1 for the float32 nearest to it.
double Shortest(double value);
// As the attribute of a call on tensors of `dtype`.
graph::AttributeValue Number(graph::DType dtype, double value);
// The value of a constant of one element, if it can be a number argument beside the tensor `beside`
// (null: any tensor).
std::optional<graph::AttributeValue> AsNumber(NodeContext& c, const TensorPtr& tensor, const TensorPtr& beside);
// REQUIRES: `op` is one of WithOperandsSwapped (ops_elementwise.cc), unless both are tensors.
absl::StatusOr<TensorPtr> BinaryCall(NodeContext& c, graph::Op op, const TensorPtr& a, const TensorPtr& b);

}  // namespace cobra::onnx

#endif  // COBRA_FRONTEND_ONNX_ELEMENTWISE_H_
